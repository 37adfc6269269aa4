"""Adjacency matrix times several vectors at once: a neighbour's numbers lie in one line of the cache."""

from __future__ import annotations

import numpy as np
from numba import prange

from gvoys._jit import kernel

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
