"""Triangles of one large graph, each found once, from its node of least degree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._jit import kernel


@kernel(parallel=True)
def sum_triangles(chunks: Any, pointers: Any, columns: Any, weights: Any, sums: Any) -> None:  # pragma: no cover
    """sums[c] = sum of products of weights over triangles of the nodes of chunk c; entries lead to later nodes alone.

    No node has more than sqrt(2 n_edges) later ones if nodes are ordered by degree, so that all takes O(n_edges^1.5).
    """
    for chunk in prange(len(chunks) - 1):
        begin, end = chunks[np.int64(chunk)], chunks[np.int64(chunk) + 1]
        sums[chunk] = _of_chunk(begin, end, pointers, columns, weights)


@kernel()
def _of_chunk(begin: Any, end: Any, pointers: Any, columns: Any, weights: Any) -> Any:  # pragma: no cover
    beside, total = np.zeros(len(pointers) - 1), 0.0  # weights of the edges of the node at hand
    for u in range(begin, end):
        row = range(pointers[u], pointers[u + 1])
        for entry in row:
            beside[columns[entry]] += weights[entry]
        for entry in row:
            v = columns[entry]
            closing = 0.0
            for other in range(pointers[v], pointers[v + 1]):
                closing += weights[other] * beside[columns[other]]
            total += weights[entry] * closing
        for entry in row:
            beside[columns[entry]] = 0.0
    return total
