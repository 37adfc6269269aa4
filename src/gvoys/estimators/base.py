"""Base classes of estimators: parameter checks and fitted state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import DivergenceError, ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import max_degree
from gvoys.io.convert import as_batch
from gvoys.kernels.inputs import check_has_labels, missing_labels
from gvoys.kernels.progress import wants_progress
from gvoys.series import check_series
from gvoys.walks.checks import check_length, check_seed
from gvoys.walks.growth import choose_truncation, walk_rate
from gvoys.walks.method import check_device
from gvoys.walks.methods import resolve_walk
from gvoys.walks.walk import FIELDS, Walk, check_walk

TRUNCATION = 1e-9  # truncation error of an infinite series, relative
SLACK = 1e3  # how much larger the truncation error may be for graphs that were not fitted
_PARTS = ("series", "walk")  # parameters that have parameters
_BLOCK = 1 << 26  # bytes that are in the making at once


class TakesGraphs(BaseEstimator):
    """An estimator whose samples are graphs, not rows of an array; scikit-learn asks for that."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


class TakesParts(TakesGraphs):
    """An estimator with a series or a walk, whose parameters are set through it: ``set_params(walk__refine=1)``.

    Parts are replaced and never changed: others, and the constructor's default, may hold the same one.
    """

    def set_params(self, **params: Any) -> Any:
        """Set parameters, those of the series and the walk included.

        Parameters
        ----------
        **params : dict
            Values by name; ``series__decay`` is the decay of the series, and ``walk__refine`` a field of the walk.

        Returns
        -------
        object
            The estimator itself.
        """
        nested = {name: params.pop(name) for name in list(params) if name.partition("__")[0] in _PARTS and "__" in name}
        known = self.get_params(deep=False)
        for name in params:
            if name in FIELDS and name not in known and "walk" in known:
                raise TypeError(f"{type(self).__name__} has no parameter {name}; write set_params(walk__{name}=…)")
        super().set_params(**params)
        for name, value in nested.items():
            part, _, field = name.partition("__")
            if not hasattr(getattr(self, part, None), "set_params"):
                raise ParameterError(f"{name} cannot be set, since {part} is {getattr(self, part, None)!r}")
            setattr(self, part, getattr(self, part).set_params(**{field: value}))
        return self


class WalkEstimator(TakesParts):
    """Base class of the estimators: fitting that every estimator begins with; subclasses list the parameters."""

    def _fit_walk(self, X: Any) -> GraphBatch:
        """Read the graphs; keep series_ and walk_, whose labels and length are resolved."""
        check_device(self.device)
        batch = as_batch(X)
        walk = resolve_walk(check_walk(self.walk), self.method, batch)
        self.seed_ = as_seed(self.random_state)
        self.directed_, self.n_attributes_ = batch.directed, _n_attributes(batch.node_attributes)
        self.n_edge_attributes_ = _n_attributes(batch.edge_attributes)
        self.series_ = check_series(self.series, walk.n_iterations).resolved(lambda: max_degree(batch))
        length, self.rate_ = self._choose_length(batch)
        self.walk_ = replace(walk, max_length=length)
        return batch

    @property
    def max_length_(self) -> int:
        """The longest walk."""
        return self.walk_.longest

    def _choose_length(self, batch: GraphBatch) -> tuple[int, float | None]:
        """Choose the longest walk, and for the infinite series the growth rate of the fitted graphs' walks."""
        if self.walk.max_length is not None:
            return check_length(self.walk.max_length), None
        return choose_truncation(batch, self.series_, TRUNCATION)

    def _read(self, X: Any) -> GraphBatch:
        """Read graphs to transform: labelled as the fitted ones were, and within reach of the fitted length."""
        check_is_fitted(self, "walk_")
        batch, walk = as_batch(X), self.walk_
        if missing_labels(batch, walk.node_labels, walk.edge_labels) == "node":
            raise UnsupportedError(
                "the fitted graphs had node labels and these have none; pass labels=None to ignore them"
            )
        check_has_labels(batch, walk.node_labels, walk.edge_labels)
        if walk.refine and batch.n_entries and batch.directed != self.directed_:
            raise UnsupportedError(
                "refined labels differ between directed and undirected graphs; fit on graphs like these"
            )
        if walk.attribute_bandwidth is not None and batch.n_nodes:
            _check_as_many("node", self.n_attributes_, _n_attributes(batch.node_attributes))
        if walk.edge_attribute_bandwidth is not None and batch.n_entries:
            _check_as_many("edge", self.n_edge_attributes_, _n_attributes(batch.edge_attributes))
        walk.on(batch)
        if self.rate_ is not None and not self._surely_reaches(batch):
            growth = self._growth(walk_rate(batch, lambda rate: self._length_at(self._growth(rate))))
            self.series_.check_convergence(growth)
            if not self._reaches(growth):
                raise DivergenceError(
                    f"the series was truncated at length {self.max_length_}, which is too short for these graphs; "
                    "fit on graphs like these"
                )
        return batch

    def _growth(self, rate: float) -> float:
        """Return the growth rate of walks in pairs of such graphs: with each other, and with the fitted ones."""
        return rate * max(rate, self.rate_ or 0.0)

    def _length_at(self, growth: float) -> int:
        """The longest walk that the infinite series needs where walks multiply like this."""
        return self.series_.truncation_length(growth, SLACK * TRUNCATION)

    def _surely_reaches(self, batch: GraphBatch) -> bool:
        """A quick look, by the largest degree alone."""
        growth = self._growth(max_degree(batch))
        return growth < self.series_.radius and self._reaches(growth)

    def _reaches(self, growth: float) -> bool:
        """Whether the fitted length is enough for graphs whose walks multiply like this."""
        return self.series_.relative_tail(self.max_length_, growth) <= SLACK * TRUNCATION

    def _shows_progress(self) -> bool:
        return wants_progress(self.verbose)

    def _blocks(self, batch: GraphBatch, walk: Walk, bytes_per_graph: int) -> Iterator[tuple[slice, GraphBatch, Walk]]:
        """Yield consecutive graphs of bounded size, with a progress bar where verbose."""
        step = max(_BLOCK // max(bytes_per_graph, 1), 1)
        starts: Iterable[int] = range(0, len(batch), step)
        if self._shows_progress():
            from rich.progress import track

            starts = track(starts, description=type(self).__name__)
        for start in starts:
            block = slice(start, min(start + step, len(batch)))
            yield block, batch[block], walk.within(batch, block)


def as_seed(random_state: Any) -> int:
    """The seed of a random_state: as given, or drawn from a RandomState."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return check_seed(random_state)
    if random_state is not None and not isinstance(random_state, np.random.RandomState):
        raise ParameterError(f"random_state must be an integer, a RandomState or None, not {random_state!r}")
    return int(check_random_state(random_state).randint(2**31 - 1))


def _n_attributes(attributes: NDArray[np.float64] | None) -> int:
    return 0 if attributes is None else attributes.shape[1]


def _check_as_many(kind: str, fitted: int, found: int) -> None:
    if found != fitted:
        raise UnsupportedError(
            f"the fitted graphs had {fitted} {kind} attributes and these have {found}; fit on graphs like these"
        )
