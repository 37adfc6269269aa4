"""Adjacency matrix times several vectors at once: a neighbour's numbers lie in one line of the cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._jit import kernel

WIDTH = 8  # vectors: 64 bytes of float64
_BLOCK = 512  # rows that a thread takes at a time


@kernel(parallel=True)
def multiply(pointers: Any, columns: Any, weights: Any, x: Any, y: Any) -> None:  # pragma: no cover
    """y = A x, both (n_nodes, WIDTH); `weights` is empty where all are 1."""
    n = len(pointers) - 1
    for part in prange((n + _BLOCK - 1) // _BLOCK):
        begin = np.int64(part) * _BLOCK
        _rows(begin, min(begin + _BLOCK, n), pointers, columns, weights, x, y)


@kernel()
def _rows(begin: Any, end: Any, pointers: Any, columns: Any, weights: Any, x: Any, y: Any) -> None:  # pragma: no cover
    weighted = len(weights) > 0
    for u in range(begin, end):
        total = y[u]
        for j in range(WIDTH):
            total[j] = 0.0
        for entry in range(pointers[u], pointers[u + 1]):
            other, weight = x[columns[entry]], weights[entry] if weighted else 1.0
            for j in range(WIDTH):
                total[j] += weight * other[j]
