"""The exact profile of an unlabelled graph: its walk moments v^T A^i w, one number per length.

One pass over the adjacency entries per length. On an undirected graph whose walks start and stop alike,
v^T A^(2k) v = |A^k v|^2, so that half the passes do. Every sum runs in an order fixed by the graph alone: the same
bits come out for any number of threads and any split into batches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.walks.checks import is_auto
from gvoys.walks.dense import DenseProfiles
from gvoys.walks.method import Cost, Support, WalkMethod, backend
from gvoys.walks.walk import Walk


@dataclass(frozen=True)
class Moments(WalkMethod):
    """Exact profiles without labels: one number per walk length."""

    name: ClassVar[str] = "moments"
    device: str = "cpu"

    @property
    def width(self) -> int:
        return 1

    def resolve(self, walk: Walk, batch: GraphBatch) -> Walk:
        """Ignore labels that nobody asked for."""
        return (replace(walk, labels=None) if is_auto(walk.labels) else walk).on(batch)

    def supports(self, walk: Walk, batch: GraphBatch) -> Support:
        if self.resolve(walk, batch).plain:
            return Support(True, "no labels or attributes are used, so that one number per length is exact")
        return Support(
            False,
            "method 'moments' cannot use labels, attributes, refine or backtrack=False; "
            "use method='sequences' or 'sketch'",
        )

    def cost(self, walk: Walk, batch: GraphBatch) -> Cost:
        return Cost(walk.longest * float(batch.n_entries), 8.0 * len(batch) * walk.n_lengths)

    def _collect(self, made: Any, exponents: NDArray[np.int64], batch: GraphBatch, walk: Walk) -> DenseProfiles:
        return DenseProfiles(made, exponents)

    def _compute(self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], out: NDArray[Any] | None) -> Any:
        v, w = walk.ends(batch)
        out = backend(self.device).moments(batch, walk.longest, v, w, scales)
        _check_finite(out)
        return out[:, :, None]


def _check_finite(out: NDArray[np.float64]) -> None:
    bad = ~np.isfinite(out)
    if bad.any():
        graph, length = (int(index[0]) for index in np.nonzero(bad))
        raise ParameterError(
            f"graph {graph}: its walks of length {length} are too many for float64; "
            "pass scale=2**k near its maximum degree, and the same scale to compute_gram"
        )
