"""The exact solvers as a method of RandomWalkKernel: pair by pair, slow, for checking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gvoys.exact import exact_kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import LABEL_CHOICES
from gvoys.series import Series
from gvoys.walks.method import Cost, Method, Support
from gvoys.walks.profiles import Comparable
from gvoys.walks.walk import Walk

__all__ = ["PairSolver"]


@dataclass(frozen=True)
class PairSolver(Method):
    """A solver on every pair of graphs; what it calls profiles are the graphs themselves.

    Parameters
    ----------
    infinite : bool, default=False
        Whether the series is infinite; else it ends after the longest walk.
    """

    name: ClassVar[str] = "exact"
    infinite: bool = False

    def supports(self, walk: Walk, batch: GraphBatch) -> Support:
        if not walk.sampled:
            return Support(
                False,
                "method='exact' cannot use refine, backtrack=False or attributes; use 'sequences' or 'sketch'",
            )
        if not isinstance(walk.start, str) or not isinstance(walk.stop, str):
            return Support(
                False,
                "method='exact' cannot use arrays for start and stop; use 'uniform' or 'ones', or another method",
            )
        return Support(True)

    def cost(self, walk: Walk, batch: GraphBatch) -> Cost:
        pairs = len(batch) * (len(batch) + 1) / 2.0
        return Cost(pairs * walk.n_lengths * float(batch.n_entries) ** 2, 8.0 * float(batch.n_nodes) ** 2)

    def profile(self, batch: GraphBatch, walk: Walk, out: NDArray[Any] | None = None) -> Comparable:
        return _Graphs(batch, walk, self.infinite)


class _Graphs(Comparable):
    """Graphs whose kernel is solved for when it is asked for."""

    def __init__(self, batch: GraphBatch, walk: Walk, infinite: bool) -> None:
        self.batch, self.walk, self.infinite = batch, walk, infinite

    def __len__(self) -> int:
        return len(self.batch)

    def take(self, graphs: Any) -> _Graphs:
        return _Graphs(self.batch[graphs], self.walk, self.infinite)

    def joined(self, others: list[_Graphs]) -> _Graphs:
        batch = GraphBatch.concatenate([self.batch, *(other.batch for other in others)])
        return _Graphs(batch, self.walk, self.infinite)

    def diagonal(self, mu: Any) -> NDArray[np.float64]:
        return np.array([self._pair(graph, graph, mu) for graph in self.batch])

    def _products(self, mu: Any, right: Any, cosine: bool, error: bool) -> tuple[Any, Any]:
        K = np.array([[self._pair(g, h, mu) for h in right.batch] for g in self.batch])
        K = K.reshape(len(self), len(right))
        return K, np.zeros(K.shape)

    def _pair(self, g: GraphBatch, h: GraphBatch, series: Series) -> float:
        walk = self.walk
        used = (walk.node_labels, walk.edge_labels)
        labels = next(name for name, flags in LABEL_CHOICES.items() if flags == used)
        series = series if self.infinite else series.truncated(walk.max_length)
        return float(exact_kernel(g, h, series, start=walk.start, stop=walk.stop, labels=labels))
