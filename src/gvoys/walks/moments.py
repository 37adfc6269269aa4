"""The exact profile of an unlabelled graph: its walk moments v^T A^i w, one number per length.

One pass over the adjacency entries per length. On an undirected graph whose walks start and stop alike,
v^T A^(2k) v = |A^k v|^2, so that half the passes do. Every sum runs in an order fixed by the graph alone: the same
bits come out for any number of threads and any split into batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gvoys._kernels.cpu.matvec import is_repacked, moments_of_large
from gvoys._kernels.cpu.moments import moments_of_small
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.threads import balanced_chunks, n_threads
from gvoys.walks.dense import DenseProfiles
from gvoys.walks.device import backend
from gvoys.walks.growth import choose_exponents
from gvoys.walks.method import Cost, Support, WalkMethod
from gvoys.walks.walk import Walk

__all__ = ["Moments"]

_LARGE = 1 << 21  # entries from which the threads share one graph instead of taking a graph each


@dataclass(frozen=True)
class Moments(WalkMethod):
    """Exact profiles without labels: one number per walk length.

    Parameters
    ----------
    device : {"cpu", "cuda"}, default="cpu"
        Where to compute.
    """

    name: ClassVar[str] = "moments"
    device: str = "cpu"

    @property
    def width(self) -> int:
        return 1

    def supports(self, walk: Walk, batch: GraphBatch) -> Support:
        if walk.plain:
            return Support(True, "no labels or attributes are used, so that one number per length is exact")
        return Support(
            False,
            "method 'moments' cannot use labels, node attributes, refine or backtrack=False; "
            "use method='sequences' or 'sketch'",
        )

    def cost(self, walk: Walk, batch: GraphBatch) -> Cost:
        return Cost(walk.max_length * float(batch.n_entries), 8.0 * len(batch) * walk.n_lengths)

    def profile(self, batch: GraphBatch, walk: Walk, out: NDArray[Any] | None = None) -> DenseProfiles:
        exponents = choose_exponents(batch, walk.max_length)
        return DenseProfiles(self.compute(batch, walk, np.ldexp(1.0, exponents)), exponents)

    def compute(self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64]) -> NDArray[np.float64]:
        """Moments H_i = v^T (A / scale)^i w for i = 0 … max_length.

        Parameters
        ----------
        batch : GraphBatch
            The graphs.
        walk : Walk
            What is walked.
        scales : ndarray of shape (n_graphs,)
            Number that each graph's adjacency matrix is divided by.

        Returns
        -------
        ndarray of shape (n_graphs, n_lengths, 1)
            The moments.

        Raises
        ------
        ParameterError
            If moments leave the range of float64.

        Notes
        -----
        Cost: O(max_length * n_entries) additions, two node vectors per thread. Powers of two as `scales` change no
        bit of the result but exponents.
        """
        v, w = walk.ends(batch)
        gpu = backend(self.device)
        if gpu is not None:
            out = gpu.compute_moments(batch, walk.max_length, v, w, scales)
        else:
            out = _on_cpu(batch, walk.n_lengths, v, w, 1.0 / scales)
        _check_finite(out)
        return out[:, :, None]


def _on_cpu(
    batch: GraphBatch,
    n_lengths: int,
    v: NDArray[np.float64],
    w: NDArray[np.float64],
    factors: NDArray[np.float64],
) -> NDArray[np.float64]:
    mirrored = not batch.directed and bool(np.array_equal(v, w))
    # unsigned, for then Numba does not look for negative indices: twice as fast
    indices = batch.indices.view(np.uint32)
    out = np.empty((len(batch), n_lengths))
    n_entries = np.diff(batch.entry_offsets)
    large = n_entries > _LARGE
    small = np.flatnonzero(~large)
    chunks = balanced_chunks(n_entries[small] + batch.graph_sizes[small], 8 * n_threads())
    with np.errstate(over="ignore"):
        moments_of_small(
            small, chunks, batch.node_offsets, batch.indptr, indices, batch.edge_weights, v, w, factors, mirrored, out
        )
        sizes = zip(batch.graph_sizes[large].tolist(), n_entries[large].tolist(), strict=True)
        room = np.empty(max((entries for nodes, entries in sizes if is_repacked(nodes, entries)), default=0), np.uint16)
        for graph in np.flatnonzero(large):
            nodes = slice(batch.node_offsets[graph], batch.node_offsets[graph + 1])
            out[graph] = moments_of_large(
                batch[int(graph)], v[nodes], w[nodes], float(factors[graph]), mirrored, n_lengths - 1, room
            )
    return out


def _check_finite(out: NDArray[np.float64]) -> None:
    bad = ~np.isfinite(out)
    if bad.any():
        graph, length = (int(index[0]) for index in np.nonzero(bad))
        raise ParameterError(
            f"graph {graph}: its walks of length {length} are too many for float64; "
            "pass scale=2**k near its maximum degree, and the same scale to compute_gram"
        )
