"""Walk: what is counted, spelled and checked in this one place."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import LABEL_CHOICES
from gvoys.graphs.transform import ENDS, compute_endpoint
from gvoys.series import Parameters
from gvoys.walk_fields import WalkFields
from gvoys.walks.checks import check_count, check_flag, check_length, is_auto
from gvoys.walks.structure import LOCAL, check_structure, structural_labels

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False, repr=False)
class Walk(WalkFields, Parameters):
    """The walk that is counted; the same for all graphs that are compared.

    A walk is immutable: `set_params` returns a changed copy. As a parameter of an estimator its fields can be searched,
    as in ``GridSearchCV(model, {"kernel__walk__refine": [0, 1, 2]})``.

    Parameters
    ----------
    max_length : int or None, default=6
        Longest walk that is counted. None means the infinite series, truncated with an error of at most 1e-9 of a bound
        on it; only kernels, features, `estimate` and `exact_kernel` take it, which have a series.
    labels : {"auto", "node", "edge", "both"} or None, default="auto"
        Labels that two walks must share; "auto" uses node labels if the graphs have them.
    refine : int, default=0
        Number of Weisfeiler–Lehman iterations of the labels; the kernel is the sum over the iterations 0
        to `refine`.
    backtrack : bool, default=True
        Whether walks may backtrack; False counts non-backtracking walks only.
    structure : str, sequence of str or None, default=None
        Structural labels of the nodes, which go with their own: "degree", "core", or by walks up to `max_length`
        "closed", "rows", "deleted", "ball1", "ball2"; see :func:`gvoys.walks.structural_labels`.
    attribute_bandwidth : float, sequence of float or None, default=None
        Compare node attributes by ``exp(-|a - b|^2 / (2 bandwidth^2))``, with one bandwidth for all or one for each;
        None ignores them.
    edge_attribute_bandwidth : float, sequence of float or None, default=None
        Compare edge attributes in the same way.
    start : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the start of a walk: 1 / n, 1, or one number per node of all graphs.
    stop : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the end of a walk, like `start`.

    Examples
    --------
    >>> import gvoys as gv
    >>> walk = gv.Walk(max_length=4, backtrack=False)
    >>> walk.set_params(refine=1)
    Walk(max_length=4, refine=1, backtrack=False)
    >>> gv.RandomWalkKernel(gv.Geometric(0.1), walk).fit_transform(gv.datasets.molecules(20)).shape
    (20, 20)
    """

    def __repr__(self) -> str:
        changed = [item.name for item in fields(self) if _comparable(getattr(self, item.name)) != item.default]
        return f"Walk({', '.join(f'{name}={getattr(self, name)!r}' for name in changed)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Walk) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return tuple(_comparable(getattr(self, name)) for name in FIELDS)

    # -- what methods ask

    def on(self, batch: GraphBatch) -> Walk:
        """Check every field, and resolve ``labels="auto"`` for these graphs.

        Parameters
        ----------
        batch : GraphBatch
            The graphs.

        Returns
        -------
        Walk
            The walk, with its labels named.
        """
        labels = _choose_labels(batch, self.labels)
        if self.max_length is not None:
            check_length(self.max_length)
        check_count(self.refine, "refine", least=0)
        check_flag(self.backtrack, "backtrack")
        check_structure(self.structure)
        nodes, edges = (batch.node_attributes, batch.n_nodes), (batch.edge_attributes, batch.n_entries)
        _check_bandwidth(self.attribute_bandwidth, "attribute_bandwidth", "node", *nodes)
        _check_bandwidth(self.edge_attribute_bandwidth, "edge_attribute_bandwidth", "edge", *edges)
        for name, end in (("start", self.start), ("stop", self.stop)):
            if not isinstance(end, str) or end not in ENDS:
                compute_endpoint(batch, end, name)
        return self if labels == self.labels else replace(self, labels=labels)

    def labelled_by_structure(self, batch: GraphBatch) -> tuple[GraphBatch, Walk]:
        """Return the graphs with their structural labels, where these are wanted, and the walk by such labels.

        Parameters
        ----------
        batch : GraphBatch
            The graphs.

        Returns
        -------
        tuple of GraphBatch and Walk
            Both as they are where no structure is wanted.
        """
        names = check_structure(self.structure)
        if not names:
            return batch, self
        if self.max_length is None and not set(names) <= LOCAL:
            raise UnsupportedError(
                f"structure={self.structure!r} labels nodes by walks up to max_length, which is None; give a number"
            )
        hashed = structural_labels(batch, names, self.max_length or 0, labelled=self.node_labels)
        return batch._with(node_labels=hashed), self.by_structure

    @property
    def by_structure(self) -> Walk:
        """The walk by structural labels, where these are wanted, and else by those as they are."""
        if not check_structure(self.structure):
            return self
        return replace(self.in_iteration(1), refine=self.refine, structure=None)

    def in_iteration(self, iteration: int) -> Walk:
        """Return the walk by the labels of one Weisfeiler–Lehman iteration, which are on nodes after the first.

        Parameters
        ----------
        iteration : int
            Number of the iteration, 0 for the labels as given.

        Returns
        -------
        Walk
            The walk without refinement.
        """
        labels = self.labels if iteration == 0 else "both" if self.edge_labels else "node"
        return replace(self, refine=0, labels=labels)

    @property
    def node_labels(self) -> bool:
        """Whether two walks must share their node labels."""
        return self._uses[0]

    @property
    def edge_labels(self) -> bool:
        """Whether two walks must share their edge labels."""
        return self._uses[1]

    @property
    def _uses(self) -> tuple[bool, bool]:
        if is_auto(self.labels):
            raise ParameterError('labels="auto" says nothing without graphs; walk.on(batch) chooses for them')
        return LABEL_CHOICES[self.labels]

    @property
    def labelled(self) -> bool:
        """Whether two walks must share labels, given, refined or of the structure."""
        return bool(self.node_labels or self.edge_labels or self.refine or check_structure(self.structure))

    @property
    def attributed(self) -> bool:
        """Whether attributes of nodes or edges are compared."""
        return self.attribute_bandwidth is not None or self.edge_attribute_bandwidth is not None

    @property
    def plain(self) -> bool:
        """Whether walks are only counted: no labels or attributes are used, and walks may backtrack."""
        return not self.labelled and not self.attributed and self.backtrack

    @property
    def sampled(self) -> bool:
        """Whether the walk can be sampled step by step, by the labels as they are."""
        return not self.refine and self.backtrack and not self.attributed

    @property
    def longest(self) -> int:
        """The longest walk, where it is a number."""
        if self.max_length is None:
            raise ParameterError("max_length=None is for the infinite series; profiles need a number")
        return self.max_length

    @property
    def n_lengths(self) -> int:
        """Number of walk lengths, 0 included."""
        return self.longest + 1

    @property
    def n_iterations(self) -> int:
        """Number of Weisfeiler–Lehman iterations, iteration 0 (the labels as given) included."""
        return self.refine + 1

    def ends(self, batch: GraphBatch) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the start and stop weights of all nodes.

        Parameters
        ----------
        batch : GraphBatch
            The graphs.

        Returns
        -------
        tuple of two ndarray of shape (n_nodes,)
            The weights.
        """
        start = compute_endpoint(batch, self.start, "start")
        same = isinstance(self.start, str) and isinstance(self.stop, str) and self.start == self.stop
        return start, start if same else compute_endpoint(batch, self.stop, "stop")

    def within(self, batch: GraphBatch, graphs: slice) -> Walk:
        """Return the walk on ``batch[graphs]``: arrays of start and stop weights are cut with them.

        Parameters
        ----------
        batch : GraphBatch
            All graphs.
        graphs : slice
            Consecutive ones of them.

        Returns
        -------
        Walk
            The walk on these.
        """
        nodes = slice(int(batch.node_offsets[graphs.start]), int(batch.node_offsets[graphs.stop]))
        return self._with_ends(lambda name, values: np.asarray(values)[nodes])

    def on_pair(self, n_nodes: int) -> tuple[Walk, Walk]:
        """Return the walks on two graphs, of `n_nodes` and others; arrays of weights are for all nodes, or pairs.

        Parameters
        ----------
        n_nodes : int
            Number of nodes of the first graph.

        Returns
        -------
        tuple of two Walk
            A walk for each graph.
        """

        def take(name: str, values: Any, side: int) -> Any:
            is_pair = isinstance(values, (tuple, list)) and len(values) == 2
            if is_pair and not all(not isinstance(value, str) and np.ndim(value) == 0 for value in values):
                return values[side]
            if np.ndim(values) == 1:
                return np.asarray(values)[n_nodes:] if side else np.asarray(values)[:n_nodes]
            raise ParameterError(
                f'{name} must be "uniform", "ones", one number for each node of both graphs, or a pair of arrays'
            )

        one, other = (self._with_ends(partial(take, side=side)) for side in (0, 1))
        return one, other

    def _with_ends(self, change: Callable[[str, Any], Any]) -> Walk:
        """Return the walk with arrays of weights changed, and weights that have a name as they are."""
        ends = {name: getattr(self, name) for name in ("start", "stop")}
        new = {name: change(name, values) for name, values in ends.items() if not isinstance(values, str)}
        return replace(self, **new) if new else self


FIELDS = tuple(item.name for item in fields(Walk))


def check_walk(walk: Any) -> Walk:
    """Check that a parameter is a walk."""
    if not isinstance(walk, Walk):
        raise ParameterError(f"walk must be a gv.Walk, such as gv.Walk(max_length=4), not {walk!r}")
    return walk


def takes_walk(**instead: str) -> Callable[[F], F]:
    """Make a function say how a parameter of version 0.2 is written now: as a field of `walk`, or as in `instead`."""

    def decorate(function: F) -> F:
        name, known = function.__qualname__.removesuffix(".__init__"), inspect.signature(function).parameters

        @wraps(function)
        def called(*args: Any, **values: Any) -> Any:
            old = [item for item in values if item not in known]
            if old:
                raise TypeError(f"{name} has no parameter {old[0]}" + _now(old[0], values, known, instead))
            return function(*args, **values)

        return called  # type: ignore[return-value]

    return decorate


def _now(old: str, values: dict[str, Any], known: Any, instead: dict[str, str]) -> str:
    """Say how a parameter of version 0.2 is written now."""
    if old in instead:
        return f"; {instead[old]}"
    if old not in FIELDS or "walk" not in known:
        return ""
    moved = [item for item in values if item in FIELDS and item not in known]
    return f"; write walk=gv.Walk({', '.join(f'{item}={reprlib.repr(values[item])}' for item in moved)})"


def _comparable(value: Any) -> Any:
    """Return a value that can be compared and hashed: arrays and lists as tuples."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(map(_comparable, value)) if isinstance(value, (list, tuple)) else value


def _check_bandwidth(bandwidth: Any, name: str, kind: str, given: NDArray[np.float64] | None, count: int) -> None:
    """Check a bandwidth: positive, one number or one for each attribute, which must be there."""
    if bandwidth is None:
        return
    try:
        values = np.asarray(bandwidth, np.float64)
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if isinstance(bandwidth, (bool, str)) or values.ndim > 1 or not values.size or not np.all(values > 0):
        raise ParameterError(f"{name} must be None or a positive number, or one for each attribute, not {bandwidth!r}")
    if not np.all(np.isfinite(values)):
        raise ParameterError(f"{name} must be finite, not {bandwidth!r}")
    if count and given is None:
        raise UnsupportedError(f"{name} is given, but the graphs have no {kind} attributes; pass {name}=None")
    width = 0 if given is None else given.shape[1]
    if count and values.ndim and len(values) != width:
        raise ParameterError(f"{name} has {len(values)} numbers, and the graphs have {width} {kind} attributes")


def check_labels(labels: Any) -> None:
    """Check that labels are chosen by one of the known names."""
    if labels is not None and (not isinstance(labels, str) or labels not in ("auto", *LABEL_CHOICES)):
        raise ParameterError(f'labels must be "auto", "node", "edge", "both" or None, not {labels!r}')


def _choose_labels(batch: GraphBatch, labels: Any) -> str | None:
    """Choose the labels that are used; "auto" means node labels if the batch has them."""
    check_labels(labels)
    if is_auto(labels):
        return None if batch.node_labels is None else "node"
    for kind, used in zip(("node", "edge"), LABEL_CHOICES[labels], strict=True):
        count = batch.n_nodes if kind == "node" else batch.n_entries
        if used and count and getattr(batch, f"{kind}_labels") is None:
            raise UnsupportedError(
                f"labels={labels!r}, but the graphs have no {kind} labels; pass labels=None or add the labels"
            )
    return labels
