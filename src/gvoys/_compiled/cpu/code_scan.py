"""Looking through many short codes for the most similar ones: a bound on similarities, and the largest of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from gvoys._jit import kernel


class Codes(NamedTuple):
    """Unit vectors by some coordinates, a byte each, and the length of what is orthogonal to these."""

    values: Any  # (n_rows, width) int8
    scales: Any  # (n_rows,) float32, of a byte
    rests: Any  # (n_rows,) float32


@kernel(parallel=True)
def scan(codes, queries, rests, bounds, scores, rows):
    """Rows with the largest <code, query> + rest * rest of each query, chunk by chunk of the rows.

    queries: (n_queries, width) float32, rests: (n_queries,) float32, bounds: (n_chunks + 1,), scores and rows:
    (n_chunks, n_queries, count), as heaps whose first is the least; rows are -1 where there are fewer.
    """
    for c in prange(len(bounds) - 1):
        chunk = np.int64(c)
        _scan(codes, queries, rests, bounds[chunk], bounds[chunk + 1], scores[chunk], rows[chunk])


@kernel()
def _scan(codes, queries, rests, begin, end, scores, rows):
    """Do the work of one thread: rows one after the other, each with all queries while it is in registers."""
    values, scales, lengths = codes
    scores[:], rows[:] = -np.inf, -1
    row = np.empty(values.shape[1], np.float32)
    for i in range(begin, end):
        _widened(values[i], scales[i], row)
        rest = lengths[i]
        for q in range(len(queries)):
            score = _inner_product(row, queries[q]) + rest * rests[q]
            if score > scores[q, 0]:
                _replace_least(scores[q], rows[q], score, i)


@kernel()
def _widened(values, scale, out):
    for j in range(len(out)):
        out[j] = scale * np.float32(values[j])


@kernel(fastmath=True)
def _inner_product(a, b):
    total = np.float32(0.0)
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@kernel()
def _replace_least(scores, rows, score, row):
    """Put a score in place of the least of a heap."""
    at, size = 0, len(scores)
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and scores[child + 1] < scores[child]:
            child += 1
        if scores[child] >= score:
            break
        scores[at], rows[at] = scores[child], rows[child]
        at = child
    scores[at], rows[at] = score, row
