"""Triangles of one large graph, each found once, from its node of least degree."""

from __future__ import annotations

import numpy as np
from numba import prange

from gvoys._jit import kernel


@kernel(parallel=True)
def sum_triangles(chunks, pointers, columns, weights, sums):
    """sums[c] = sum of products of weights over triangles of the nodes of chunk c; entries lead to later nodes alone.

    No node has more than sqrt(2 n_edges) later ones if nodes are ordered by degree, so that all takes O(n_edges^1.5).
    """
    for chunk in prange(len(chunks) - 1):
        begin, end = chunks[np.int64(chunk)], chunks[np.int64(chunk) + 1]
        sums[chunk] = _triangles_of_chunk(begin, end, pointers, columns, weights)


@kernel()
def _triangles_of_chunk(begin, end, pointers, columns, weights):
    closing_weights, total = np.zeros(len(pointers) - 1), 0.0  # weights of the edges of the node at hand
    for u in range(begin, end):
        row = range(pointers[u], pointers[u + 1])
        for entry in row:
            closing_weights[columns[entry]] += weights[entry]
        for entry in row:
            v = columns[entry]
            closing = 0.0
            for other in range(pointers[v], pointers[v + 1]):
                closing += weights[other] * closing_weights[columns[other]]
            total += weights[entry] * closing
        for entry in row:
            closing_weights[columns[entry]] = 0.0
    return total
