"""One step of a three-term recurrence with a matrix of a graph, on one vector, on four or on sixteen at once.

The numbers of a node lie beside each other, so that a neighbour's are fetched together and every entry is read once for
all of them. Four vectors take little more time than one. Sixteen take less time each where near nodes have near rows,
and more where neighbours are anywhere, since fewer of them fit into the cache.

`parts` holds where the rows of each part begin, and the number of rows: parts with as much work each, whatever hubs
there are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from gvoys._jit import kernel

LANES, WIDE = 4, 16
DEVICE_LANES = 8  # on a GPU, whose memory sends 32 bytes at a time


class Sparse(NamedTuple):
    """A matrix M with (M x)_u = left_u sum_e weight_e x_e + diagonal_u x_u; weights that are not there are one."""

    indptr: Any  # (n_nodes + 1,)
    indices: Any  # (n_entries,), unsigned
    weights: Any  # (n_entries,) or (0,)
    left: Any  # (n_nodes,)
    diagonal: Any  # (n_nodes,) or (0,)


class Terms(NamedTuple):
    """y becomes matrix M x + itself x + before y, and `kept` times that is added to the sum."""

    matrix: Any
    itself: Any
    before: Any
    kept: Any


@kernel(parallel=True)
def step_one(matrix, parts, terms, x, y, total):
    """One step; x, y and the sum have shape (n_nodes, 1)."""
    for part in prange(len(parts) - 1):
        p = np.int64(part)
        _rows_of_one(parts[p], parts[p + 1], matrix, terms, x, y, total)


@kernel(parallel=True)
def step_four(matrix, parts, terms, x, y, total):
    """One step; x, y and the sum have shape (n_nodes, 4)."""
    for part in prange(len(parts) - 1):
        p = np.int64(part)
        _rows_of_four(parts[p], parts[p + 1], matrix, terms, x, y, total)


@kernel(parallel=True)
def step_wide(matrix, parts, terms, x, y, total):
    """One step; x, y and the sum have shape (n_nodes, 16), or any other width."""
    for part in prange(len(parts) - 1):
        p = np.int64(part)
        _rows_of_many(parts[p], parts[p + 1], matrix, terms, x, y, total, np.empty(x.shape[1], x.dtype))


@kernel()
def _rows_of_one(begin, end, matrix, terms, x, y, total):
    indptr, indices, weights, left, diagonal = matrix
    weighted, shifted = len(weights) > 0, len(diagonal) > 0
    nothing = terms.kept - terms.kept  # of the precision of the vectors: a 0 would make it double
    for u in range(begin, end):
        a = nothing
        if weighted:
            for e in range(indptr[u], indptr[u + 1]):
                a += weights[e] * x[indices[e], 0]
        else:
            for e in range(indptr[u], indptr[u + 1]):
                a += x[indices[e], 0]
        itself = terms.itself + (terms.matrix * diagonal[u] if shifted else nothing)
        y[u, 0] = terms.matrix * left[u] * a + itself * x[u, 0] + terms.before * y[u, 0]
        total[u, 0] += terms.kept * y[u, 0]


@kernel()
def _rows_of_four(begin, end, matrix, terms, x, y, total):
    indptr, indices, weights, left, diagonal = matrix
    weighted, shifted = len(weights) > 0, len(diagonal) > 0
    nothing = terms.kept - terms.kept
    sums = np.empty(LANES, x.dtype)  # which compilers keep in one register
    for u in range(begin, end):
        for j in range(LANES):
            sums[j] = 0
        for e in range(indptr[u], indptr[u + 1]):
            other = x[indices[e]]
            if weighted:
                for j in range(LANES):
                    sums[j] += weights[e] * other[j]
            else:
                for j in range(LANES):
                    sums[j] += other[j]
        itself = terms.itself + (terms.matrix * diagonal[u] if shifted else nothing)
        factor = terms.matrix * left[u]
        for j in range(LANES):
            y[u, j] = factor * sums[j] + itself * x[u, j] + terms.before * y[u, j]
            total[u, j] += terms.kept * y[u, j]


@kernel()
def _rows_of_many(begin, end, matrix, terms, x, y, total, sums):
    """With a width that the compiler does not know it makes faster loops of sixteen than with one that it knows."""
    indptr, indices, weights, left, diagonal = matrix
    weighted, shifted = len(weights) > 0, len(diagonal) > 0
    nothing = terms.kept - terms.kept
    for u in range(begin, end):
        sums[:] = 0
        for e in range(indptr[u], indptr[u + 1]):
            other = x[indices[e]]
            if weighted:
                for j in range(len(sums)):
                    sums[j] += weights[e] * other[j]
            else:
                for j in range(len(sums)):
                    sums[j] += other[j]
        itself = terms.itself + (terms.matrix * diagonal[u] if shifted else nothing)
        factor = terms.matrix * left[u]
        for j in range(len(sums)):
            y[u, j] = factor * sums[j] + itself * x[u, j] + terms.before * y[u, j]
            total[u, j] += terms.kept * y[u, j]
