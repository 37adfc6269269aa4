"""Adjacency matrix times vector: for rows of any graph, and for one large graph shared by all threads.

A large graph of high degree is repacked first: blocks of rows, and within each block windows of columns whose part of
the vector stays in the first cache, with 16-bit column numbers. That halves what a pass reads and keeps the time per
entry the same whatever the number of nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys.graphs.batch import GraphBatch

BLOCK_ROWS = 256  # that a thread takes at a time
WINDOW_COLUMNS = 2048  # 16 KB of the vector
REPACKED_ENTRIES = 32  # per row and window, from which repacking pays
MOST_REPACKED_ENTRIES = 1 << 30  # up to which the repacked graph is kept in memory; larger ones stay where they are


@kernel(inline="always")
def _entry(e, indices, weights, x):
    if weights is None:  # a type of its own, so that the question is settled at compile time
        return x[indices[e]]
    return weights[e] * x[indices[e]]


@kernel(inline="always")
def row_sum(begin, end, indices, weights, x):
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


@kernel()
def dot(x, y, begin, end):
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


@kernel(parallel=True)
def _pointers(indptr, indices, block, window, n_windows):
    """Where row r of block b enters window k once repacked, (n_blocks, n_windows, block + 1)."""
    n = len(indptr) - 1
    pointers = np.empty(((n + block - 1) // block, n_windows, block + 1), np.int64)
    for part in prange(len(pointers)):
        begin = np.int64(part) * block
        rows = min(block, n - begin)
        position = np.int64(indptr[begin])
        for k in range(n_windows):
            for r in range(rows):
                pointers[part, k, r] = position
                row = indices[indptr[begin + r] : indptr[begin + r + 1]]
                above = np.searchsorted(row, np.uint32((k + 1) * window)) if k + 1 < n_windows else len(row)
                position += above - (np.searchsorted(row, np.uint32(k * window)) if k > 0 else 0)
            pointers[part, k, rows:] = position
    return pointers


@kernel(parallel=True)
def _repack(indptr, values, pointers, block, window, out):
    """Copy entries into the order of the pointers; columns are counted from their window, `window` = 0 copies as is."""
    for part in prange(len(pointers)):
        begin = np.int64(part) * block
        for r in range(min(block, len(indptr) - 1 - begin)):
            source = np.int64(indptr[begin + r])
            for k in range(pointers.shape[1]):
                target = pointers[part, k, r]
                length = pointers[part, k, r + 1] - target
                shift = values.dtype.type(k * window)
                for e in range(length):
                    out[target + e] = values[source + e] - shift
                source += length


@kernel(parallel=True)
def _step(pointers, indices, weights, factor, window, left, x, y):
    """y = factor A x; also x . x and left . y, summed block by block in a fixed order."""
    block = pointers.shape[2] - 1
    sums = np.empty((len(pointers), 2))
    for part in prange(len(pointers)):
        begin = np.int64(part) * block
        rows = min(block, len(x) - begin)
        y[begin : begin + rows] = 0.0
        for k in range(pointers.shape[1]):
            visible = x[k * window :]
            for r in range(rows):
                total = row_sum(pointers[part, k, r], pointers[part, k, r + 1], indices, weights, visible)
                y[begin + r] += factor * total
        sums[part, 0] = dot(x, x, begin, begin + rows)
        sums[part, 1] = dot(left, y, begin, begin + rows)
    squares = products = 0.0
    for part in range(len(pointers)):
        squares += sums[part, 0]
        products += sums[part, 1]
    return squares, products


def is_repacked(n_nodes: int, n_entries: int) -> bool:
    """Whether a graph of this size is of high degree, and may be copied."""
    return REPACKED_ENTRIES * n_nodes * -(-n_nodes // WINDOW_COLUMNS) <= n_entries <= MOST_REPACKED_ENTRIES


def _packed(
    graph: GraphBatch, room: NDArray[np.uint16]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.float64] | None, int]:
    """Pointers, columns (in `room`) and weights for `_step`, and the width of a window."""
    n_windows = -(-graph.n_nodes // WINDOW_COLUMNS)
    indices, weights = graph.indices.view(np.uint32), graph.edge_weights
    if not is_repacked(graph.n_nodes, graph.n_entries):
        return _pointers(graph.indptr, indices, BLOCK_ROWS, WINDOW_COLUMNS, 1), indices, weights, 0
    pointers = _pointers(graph.indptr, indices, BLOCK_ROWS, WINDOW_COLUMNS, n_windows)
    columns = room[: graph.n_entries]
    _repack(graph.indptr, indices, pointers, BLOCK_ROWS, WINDOW_COLUMNS, columns)
    if weights is not None:
        moved = np.empty(graph.n_entries)
        _repack(graph.indptr, weights, pointers, BLOCK_ROWS, 0, moved)
        weights = moved
    return pointers, columns, weights, WINDOW_COLUMNS


def moments_of_large(
    graph: GraphBatch,
    start: NDArray[np.float64],
    stop: NDArray[np.float64],
    factor: float,
    mirrored: bool,
    max_length: int,
    room: NDArray[np.uint16],
) -> NDArray[np.float64]:
    """Moments v^T (factor A)^i w of one graph, all threads on it; `mirrored` if v = w and A is symmetric.

    `room` has a place for each entry; one for all graphs saves the system the work of handing out memory.
    """
    pointers, indices, weights, window = _packed(graph, room)
    x, y = stop.copy(), np.empty_like(stop)
    out = np.empty(max_length + 2)
    out[0] = start @ stop
    for i in range(0, max_length + 1, 2 if mirrored else 1):
        squares, out[i + 1] = _step(pointers, indices, weights, factor, window, x if mirrored else start, x, y)
        if mirrored:  # after k steps, lengths 2k and 2k + 1
            out[i] = squares
        x, y = y, x
    return out[: max_length + 1]


VECTORS = 8  # 64 bytes of float64
_BLOCK_ROWS = 512  # that a thread takes at a time


@kernel(parallel=True)
def multiply(pointers, columns, weights, x, y):
    """y = A x, both (n_nodes, VECTORS); `weights` is empty where all are 1."""
    n = len(pointers) - 1
    for part in prange((n + _BLOCK_ROWS - 1) // _BLOCK_ROWS):
        begin = np.int64(part) * _BLOCK_ROWS
        _rows(begin, min(begin + _BLOCK_ROWS, n), pointers, columns, weights, x, y)


@kernel()
def _rows(begin, end, pointers, columns, weights, x, y):
    weighted = len(weights) > 0
    for u in range(begin, end):
        total = y[u]
        for j in range(VECTORS):
            total[j] = 0.0
        for entry in range(pointers[u], pointers[u + 1]):
            other, weight = x[columns[entry]], weights[entry] if weighted else 1.0
            for j in range(VECTORS):
                total[j] += weight * other[j]
