"""Walk moments on the GPU: a thread per node and step, sums in an order that the graph alone fixes."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import cuda
from numpy.typing import NDArray

from gvoys.gpu.blocks import THREADS, add_up, node_blocks
from gvoys.gpu.device import to_device
from gvoys.graphs.batch import GraphBatch

__all__ = ["compute_moments"]


@cuda.jit
def _multiply(
    indptr: Any, indices: Any, firsts: Any, weights: Any, weighted: Any, factor: Any, x: Any, y: Any
) -> None:  # pragma: no cover
    """y = factor A x, a thread per node."""
    u = np.int64(cuda.grid(1))
    if u >= len(x):
        return
    total = 0.0
    for e in range(indptr[u], indptr[u + 1]):
        value = x[firsts[u] + indices[e]]
        total += weights[e] * value if weighted else value
    y[u] = factor * total


@cuda.jit
def _dots(begins: Any, ends: Any, v: Any, x: Any, length: Any, sums: Any) -> None:  # pragma: no cover
    """sums[length, block] = v . x over a block's nodes."""
    shares = cuda.shared.array(THREADS, numba.float64)
    thread, block = np.int64(cuda.threadIdx.x), np.int64(cuda.blockIdx.x)
    u = begins[block] + thread
    shares[thread] = v[u] * x[u] if u < ends[block] else 0.0
    add_up(shares, thread)
    if thread == 0:
        sums[length, block] = shares[0]


def compute_moments(
    batch: GraphBatch, max_length: int, start: NDArray[np.float64], stop: NDArray[np.float64], scale: float
) -> NDArray[np.float64]:
    """Moments v^T (A / scale)^i w for i = 0 … max_length.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    max_length : int
        Longest walk.
    start : ndarray of shape (n_nodes,)
        Start weights v.
    stop : ndarray of shape (n_nodes,)
        Stop weights w.
    scale : float
        Divide adjacency matrices by this number.

    Returns
    -------
    ndarray of shape (n_graphs, max_length + 1)
        The moments.
    """
    out = np.zeros((len(batch), max_length + 1))
    if not batch.n_nodes:
        return out
    _, begins, ends, pointers = node_blocks(batch, THREADS)
    firsts = to_device(np.repeat(batch.node_offsets[:-1], batch.graph_sizes))
    matrix = (to_device(batch.indptr), to_device(batch.indices), firsts)
    weighted = batch.edge_weights is not None
    weights = to_device(batch.weights() if weighted else np.empty(0))
    v, x, y = to_device(start), to_device(stop), to_device(np.zeros(batch.n_nodes))
    blocks = (to_device(begins), to_device(ends))
    sums = to_device(np.zeros((max_length + 1, len(begins))))
    for length in range(max_length + 1):
        if length:
            grid = -(-batch.n_nodes // THREADS)
            _multiply[grid, THREADS](*matrix, weights, weighted, 1.0 / scale, x, y)
            x, y = y, x
        _dots[len(begins), THREADS](*blocks, v, x, length, sums)
    filled = np.flatnonzero(batch.graph_sizes)
    out[filled] = np.add.reduceat(sums.copy_to_host(), pointers[filled], axis=1).T
    return out
