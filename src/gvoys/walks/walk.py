"""What a walk is: the one place where the options of walks are spelled and checked."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.endpoints import ENDS, compute_endpoint
from gvoys.graphs.labels import LABEL_CHOICES
from gvoys.walks.checks import check_count, check_flag, check_length, is_auto
from gvoys.walks.structure import check_structure, with_structure

__all__ = ["Walk", "choose_labels"]


@dataclass(frozen=True)
class Walk:
    """How graphs are walked; the same for all graphs that are compared.

    Parameters
    ----------
    max_length : int
        Longest walk.
    node_labels : bool, default=False
        Whether two walks must share their node labels.
    edge_labels : bool, default=False
        Whether two walks must share their edge labels.
    refine : int, default=0
        Number of Weisfeiler–Lehman iterations of the labels.
    backtrack : bool, default=True
        Whether walks may backtrack; False counts non-backtracking walks only.
    attribute_bandwidth : float, sequence of float or None, default=None
        Compare node attributes by ``exp(-|a - b|^2 / (2 bandwidth^2))``, with one bandwidth for all or one for each;
        None ignores them.
    start : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the start of a walk: 1 / n, 1, or one number per node of all graphs.
    stop : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the end of a walk, like `start`.
    structure : str, sequence of str or None, default=None
        Structural labels that stand in front of the nodes' own, as in `structural_labels`: by walks up to `max_length`.
    edge_attribute_bandwidth : float, sequence of float or None, default=None
        Compare edge attributes in the same way.
    """

    max_length: int
    node_labels: bool = False
    edge_labels: bool = False
    refine: int = 0
    backtrack: bool = True
    attribute_bandwidth: Any = None
    start: Any = "uniform"
    stop: Any = "uniform"
    structure: Any = None
    edge_attribute_bandwidth: Any = None

    @classmethod
    def on(cls, batch: GraphBatch, max_length: int, labels: Any = "auto", **options: Any) -> Walk:
        """Choose the labels that these graphs have, and check every option.

        Parameters
        ----------
        batch : GraphBatch
            The graphs.
        max_length : int
            Longest walk.
        labels : {"auto", "node", "edge", "both"} or None, default="auto"
            Labels that two walks must share; "auto" uses node labels if the graphs have them.
        **options : dict
            The other options by name.

        Returns
        -------
        Walk
            The walk.
        """
        node, edge = choose_labels(batch, labels)
        return cls(max_length, node, edge, **options).checked(batch)

    @classmethod
    def options_of(cls, estimator: Any) -> dict[str, Any]:
        """The options that an estimator has as attributes, all but length and labels.

        Parameters
        ----------
        estimator : object
            An estimator, whose parameters are named as here.

        Returns
        -------
        dict
            Values by name; what the estimator lacks is left at its default.
        """
        resolved = ("max_length", "node_labels", "edge_labels")
        names = [each.name for each in fields(cls) if each.name not in resolved]
        return {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}

    def checked(self, batch: GraphBatch) -> Walk:
        """Check that the options are in range, and that the graphs have what they need.

        Parameters
        ----------
        batch : GraphBatch
            The graphs.

        Returns
        -------
        Walk
            The walk itself.
        """
        check_length(self.max_length)
        check_count(self.refine, "refine", least=0)
        check_flag(self.backtrack, "backtrack")
        check_structure(self.structure)
        _check_bandwidth(self.attribute_bandwidth, "attribute_bandwidth", "node", batch.node_attributes, batch.n_nodes)
        _check_bandwidth(
            self.edge_attribute_bandwidth, "edge_attribute_bandwidth", "edge", batch.edge_attributes, batch.n_entries
        )
        for name, end in (("start", self.start), ("stop", self.stop)):
            if not isinstance(end, str) or end not in ENDS:
                compute_endpoint(batch, end, name)
        return self

    def labels_on(self, batch: GraphBatch) -> tuple[GraphBatch, Walk]:
        """Label nodes by structure, where that is wanted.

        Parameters
        ----------
        batch : GraphBatch
            The graphs.

        Returns
        -------
        batch : GraphBatch
            The graphs with the labels that walks go by.
        walk : Walk
            The walk by these labels.
        """
        names = check_structure(self.structure)
        if not names:
            return batch, self
        labelled = with_structure(batch, names, self.max_length, self.node_labels)
        return labelled, replace(self, node_labels=True, structure=None)

    @property
    def labelled(self) -> bool:
        """Whether two walks must share labels, given or refined."""
        return bool(self.node_labels or self.edge_labels or self.refine)

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
    def n_lengths(self) -> int:
        """Number of walk lengths, 0 included."""
        return self.max_length + 1

    @property
    def n_iterations(self) -> int:
        """Number of Weisfeiler–Lehman iterations, iteration 0 (the labels as given) included."""
        return self.refine + 1

    def ends(self, batch: GraphBatch) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Start and stop weights of all nodes.

        Parameters
        ----------
        batch : GraphBatch
            The graphs.

        Returns
        -------
        tuple of two ndarrays of shape (n_nodes,)
            The weights.
        """
        start = compute_endpoint(batch, self.start, "start")
        alike = isinstance(self.start, str) and isinstance(self.stop, str) and self.start == self.stop
        return start, start if alike else compute_endpoint(batch, self.stop, "stop")

    def within(self, batch: GraphBatch, graphs: slice) -> Walk:
        """The same walk on consecutive graphs: arrays of start and stop weights are cut with them.

        Parameters
        ----------
        batch : GraphBatch
            All graphs.
        graphs : slice
            Which of them.

        Returns
        -------
        Walk
            The walk on ``batch[graphs]``.
        """
        nodes = slice(int(batch.node_offsets[graphs.start]), int(batch.node_offsets[graphs.stop]))
        cut: dict[str, Any] = {
            name: np.asarray(value)[nodes]
            for name, value in (("start", self.start), ("stop", self.stop))
            if not isinstance(value, str)
        }
        return replace(self, **cut) if cut else self


def _check_bandwidth(bandwidth: Any, name: str, kind: str, held: NDArray[np.float64] | None, count: int) -> None:
    """Positive, one number or one for each attribute, which must be there."""
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
    if count and held is None:
        raise UnsupportedError(f"{name} is given, but the graphs have no {kind} attributes; pass {name}=None")
    if count and held is not None and values.ndim and len(values) != held.shape[1]:
        raise ParameterError(f"{name} has {len(values)} numbers, and the graphs have {held.shape[1]} {kind} attributes")


def choose_labels(batch: GraphBatch, labels: Any) -> tuple[bool, bool]:
    """Choose whether node and edge labels are used.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    labels : {"auto", "node", "edge", "both"} or None
        The choice; "auto" uses node labels if the batch has them.

    Returns
    -------
    tuple of (bool, bool)
        Whether node labels, and whether edge labels are used.
    """
    if is_auto(labels):
        return batch.node_labels is not None, False
    if labels is not None and (not isinstance(labels, str) or labels not in LABEL_CHOICES):
        raise ParameterError(f'labels must be "auto", "node", "edge", "both" or None, not {labels!r}')
    wanted = LABEL_CHOICES[labels]
    for kind, used, held in (("node", wanted[0], batch.n_nodes), ("edge", wanted[1], batch.n_entries)):
        if used and held and getattr(batch, f"{kind}_labels") is None:
            raise UnsupportedError(
                f"labels={labels!r}, but the graphs have no {kind} labels; pass labels=None or add the labels"
            )
    return wanted
