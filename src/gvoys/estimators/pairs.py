"""The exact solvers as a method of RandomWalkKernel: pair by pair, slow, for checking."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gvoys.exact import exact_kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.series import Series
from gvoys.walks.method import Cost, Method, Support
from gvoys.walks.profiles import Comparable
from gvoys.walks.walk import Walk


@dataclass(frozen=True)
class PairSolver(Method):
    """A solver on every pair of graphs; what it calls profiles are the graphs themselves."""

    name: ClassVar[str] = "exact"
    infinite: bool = False  # whether the series is infinite; else it ends after the longest walk

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
        batch, walk = self.prepare(walk, batch)
        return _Graphs(batch, replace(walk, max_length=None) if self.infinite else walk)


class _Graphs(Comparable):
    """Graphs whose kernel is solved for when it is asked for."""

    def __init__(self, batch: GraphBatch, walk: Walk) -> None:
        self.batch, self.walk = batch, walk

    def __len__(self) -> int:
        return len(self.batch)

    def take(self, graphs: Any) -> _Graphs:
        return _Graphs(self.batch[graphs], self.walk)

    def joined(self, others: list[_Graphs]) -> _Graphs:
        batch = GraphBatch.concatenate([self.batch, *(other.batch for other in others)])
        return _Graphs(batch, self.walk)

    def diagonal(self, mu: Any) -> NDArray[np.float64]:
        return np.array([self._pair(graph, graph, mu) for graph in self.batch])

    def _products(self, mu: Any, right: Any, cosine: bool, error: bool) -> tuple[Any, Any]:
        K = np.array([[self._pair(g, h, mu) for h in right.batch] for g in self.batch])
        K = K.reshape(len(self), len(right))
        return K, np.zeros(K.shape)

    def _pair(self, g: GraphBatch, h: GraphBatch, series: Series) -> float:
        return float(exact_kernel(g, h, series, self.walk))
