"""The exact profile of an unlabelled graph: its walk moments v^T A^i w, one number per length.

One pass over the adjacency entries per length. On an undirected graph whose walks start and stop alike,
v^T A^(2k) v = |A^k v|^2, so that half the passes do. Every sum runs in an order fixed by the graph alone: the same
bits come out for any number of threads and any split into batches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys._kernels.cpu.matvec import dot, is_repacked, moments_of_large, row_sum
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.endpoints import compute_endpoint
from gvoys.threads import balanced_chunks, n_threads

__all__ = ["compute_moments"]

_LARGE = 1 << 21  # entries from which the threads share one graph instead of taking a graph each


def compute_moments(
    batch: GraphBatch,
    max_length: int,
    start: Any = "uniform",
    stop: Any = "uniform",
    scale: float = 1.0,
    make: Any = None,
) -> NDArray[np.float64]:
    """Moments H_i = v^T (A / scale)^i w for i = 0 … max_length.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    max_length : int
        Longest walk.
    start : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the start of a walk: 1 / n, 1, or one number per node of all graphs.
    stop : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the end of a walk, like `start`.
    scale : float, default=1.0
        Divide adjacency matrices by this number.
    make : callable or None, default=None
        What computes them in place of the CPU.

    Returns
    -------
    ndarray of shape (n_graphs, max_length + 1, 1)
        The moments.

    Raises
    ------
    ParameterError
        If moments leave the range of float64.

    Notes
    -----
    Cost: O(max_length * n_entries) additions, two node vectors per thread. A power of two as `scale` changes no
    bit of the result but its exponent.
    """
    v, w = compute_endpoint(batch, start, "start"), compute_endpoint(batch, stop, "stop")
    if make is not None:
        made = make(batch, max_length, v, w, scale)
        _check_finite(made)
        return np.asarray(made)[:, :, None]
    mirrored = not batch.directed and bool(np.array_equal(v, w))
    # unsigned, for then Numba does not look for negative indices: twice as fast
    arrays = (
        batch.node_offsets,
        batch.indptr,
        batch.indices.view(np.uint32),
        batch.edge_weights,
        v,
        w,
        1.0 / scale,
        mirrored,
    )
    out = np.empty((len(batch), max_length + 1))
    large = np.diff(batch.entry_offsets) > _LARGE
    small = np.flatnonzero(~large)
    work = np.diff(batch.entry_offsets)[small] + batch.graph_sizes[small]
    with np.errstate(over="ignore"):
        _moments_of_small(small, balanced_chunks(work, 8 * n_threads()), *arrays, out)
        sizes = zip(batch.graph_sizes[large].tolist(), np.diff(batch.entry_offsets)[large].tolist(), strict=True)
        room = np.empty(max((entries for nodes, entries in sizes if is_repacked(nodes, entries)), default=0), np.uint16)
        for graph in np.flatnonzero(large):
            nodes = slice(batch.node_offsets[graph], batch.node_offsets[graph + 1])
            out[graph] = moments_of_large(
                batch[int(graph)], v[nodes], w[nodes], 1.0 / scale, mirrored, max_length, room
            )
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


@kernel(parallel=True)
def _moments_of_small(
    graphs: Any,
    chunks: Any,
    node_offsets: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    start: Any,
    stop: Any,
    factor: float,
    mirrored: bool,
    out: Any,
) -> None:  # pragma: no cover
    for chunk in prange(len(chunks) - 1):
        chosen = graphs[chunks[np.int64(chunk)] : chunks[np.int64(chunk) + 1]]
        room = 0
        for g in chosen:
            if node_offsets[g + 1] - node_offsets[g] > room:
                room = node_offsets[g + 1] - node_offsets[g]
        x = np.empty(room)
        y = np.empty(room)
        for g in chosen:
            first = np.int64(node_offsets[g])
            n = np.int64(node_offsets[g + 1]) - first
            v = start[first : first + n]
            x[:n] = stop[first : first + n]
            if not mirrored:
                out[g, 0] = dot(v, x, 0, n)
            i = 0
            while i < out.shape[1]:
                if mirrored:
                    out[g, i] = dot(x, x, 0, n)
                i += 1
                if i == out.shape[1]:
                    break
                for u in range(n):
                    y[u] = factor * row_sum(indptr[first + u], indptr[first + u + 1], indices, weights, x)
                if mirrored:
                    out[g, i] = dot(x, y, 0, n)
                    i += 1
                else:
                    out[g, i] = dot(v, y, 0, n)
                x, y = y, x
