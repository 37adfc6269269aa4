"""The exact profile of an unlabelled graph: its walk moments v^T A^i w, one number per length.

One pass over the adjacency entries per length. On an undirected graph whose walks start and stop alike,
v^T A^(2k) v = |A^k v|^2, so that half the passes do. Every sum runs in an order fixed by the graph alone: the same
bits come out for any number of threads and any split into batches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.endpoints import compute_endpoint
from gvoys.threads import balanced_chunks, n_threads

__all__ = ["compute_moments"]

_LARGE = 1 << 20  # entries from which the threads share one graph instead of taking a graph each
_BLOCK = 256  # nodes a thread takes at a time in a large graph


def compute_moments(
    batch: GraphBatch, max_length: int, start: Any = "uniform", stop: Any = "uniform", scale: float = 1.0
) -> NDArray[np.float64]:
    """H_i = v^T (A / scale)^i w for i = 0 … max_length, (n_graphs, max_length + 1, 1).

    Cost: O(max_length * n_entries) additions, two node vectors per thread. Moments past the range of float64 are
    refused; a power of two as `scale` changes no bit of the others.
    """
    v, w = compute_endpoint(batch, start, "start"), compute_endpoint(batch, stop, "stop")
    mirrored = not batch.directed and bool(np.array_equal(v, w))
    weights = np.empty(0) if batch.edge_weights is None else batch.edge_weights
    arrays = (batch.node_offsets, batch.indptr, batch.indices, weights, v, w, 1.0 / scale, mirrored)
    out = np.empty((len(batch), max_length + 1))
    large = np.diff(batch.entry_offsets) > _LARGE
    small = np.flatnonzero(~large)
    work = np.diff(batch.entry_offsets)[small] + batch.graph_sizes[small]
    with np.errstate(over="ignore"):
        _moments_of_small(small, balanced_chunks(work, 8 * n_threads()), *arrays, out)
        for graph in np.flatnonzero(large):
            _moments_of_large(int(graph), *arrays, _BLOCK, out)
    _check_finite(out)
    return out[:, :, None]


def _check_finite(out: NDArray[np.float64]) -> None:
    bad = ~np.isfinite(out)
    if bad.any():
        graph, length = (int(index[0]) for index in np.nonzero(bad))
        raise ParameterError(
            f"graph {graph}: its walks of length {length} are too many for float64; "
            "pass scale=2**k near its maximum degree, and the same scale to series.coefficients"
        )


@njit(cache=True, inline="always")
def _entry(e: Any, indices: Any, weights: Any, x: Any) -> Any:  # pragma: no cover
    return x[indices[e]] if weights.size == 0 else weights[e] * x[indices[e]]


@njit(cache=True, inline="always")
def _row_sum(begin: Any, end: Any, indices: Any, weights: Any, x: Any) -> Any:  # pragma: no cover
    """Sum a row, a long one in four strands for speed, in an order that no compiler may change."""
    a = b = c = d = 0.0
    e = begin
    if end - begin >= 16:
        while e + 4 <= end:
            a += _entry(e, indices, weights, x)
            b += _entry(e + 1, indices, weights, x)
            c += _entry(e + 2, indices, weights, x)
            d += _entry(e + 3, indices, weights, x)
            e += 4
    while e < end:
        a += _entry(e, indices, weights, x)
        e += 1
    return (a + b) + (c + d)


@njit(cache=True)
def _dot(x: Any, y: Any, begin: Any, end: Any) -> Any:  # pragma: no cover
    a = b = c = d = 0.0
    i = begin
    while i + 4 <= end:
        a += x[i] * y[i]
        b += x[i + 1] * y[i + 1]
        c += x[i + 2] * y[i + 2]
        d += x[i + 3] * y[i + 3]
        i += 4
    while i < end:
        a += x[i] * y[i]
        i += 1
    return (a + b) + (c + d)


@njit(parallel=True, cache=True)
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
                out[g, 0] = _dot(v, x, 0, n)
            i = 0
            while i < out.shape[1]:
                if mirrored:
                    out[g, i] = _dot(x, x, 0, n)
                i += 1
                if i == out.shape[1]:
                    break
                for u in range(n):
                    y[u] = factor * _row_sum(indptr[first + u], indptr[first + u + 1], indices, weights, x)
                if mirrored:
                    out[g, i] = _dot(x, y, 0, n)
                    i += 1
                else:
                    out[g, i] = _dot(v, y, 0, n)
                x, y = y, x


@njit(parallel=True, cache=True)
def _step(
    first: Any, n: Any, indptr: Any, indices: Any, weights: Any, factor: float, block: Any, x: Any, y: Any
) -> None:  # pragma: no cover
    for part in prange((n + block - 1) // block):
        begin = np.int64(part) * block
        for u in range(begin, min(begin + block, n)):
            y[u] = factor * _row_sum(indptr[first + u], indptr[first + u + 1], indices, weights, x)


@njit(parallel=True, cache=True)
def _block_dot(x: Any, y: Any, block: Any) -> Any:  # pragma: no cover
    n = len(x)
    parts = np.empty((n + block - 1) // block)
    for part in prange(len(parts)):
        begin = np.int64(part) * block
        parts[part] = _dot(x, y, begin, min(begin + block, n))
    total = 0.0
    for part in range(len(parts)):  # one after the other: the same order for any number of threads
        total += parts[part]
    return total


def _moments_of_large(
    graph: int,
    node_offsets: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    start: Any,
    stop: Any,
    factor: float,
    mirrored: bool,
    block: Any,
    out: Any,
) -> None:
    first, last = int(node_offsets[graph]), int(node_offsets[graph + 1])
    v, x = start[first:last], stop[first:last].copy()
    y = np.empty_like(x)
    for i in range(out.shape[1]):
        if mirrored:  # after k steps, lengths 2k and 2k + 1
            out[graph, i] = _block_dot(x, y, block) if i % 2 else _block_dot(x, x, block)
        else:
            out[graph, i] = _block_dot(v, x, block)
        if mirrored and i % 2:
            x, y = y, x
        elif i + 1 < out.shape[1]:
            _step(first, last - first, indptr, indices, weights, factor, block, x, y)
            if not mirrored:
                x, y = y, x
