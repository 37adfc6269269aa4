"""Core numbers: the largest k such that a node is in a subgraph in which all have k neighbours or more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._jit import kernel

__all__ = ["core_numbers"]


@kernel(parallel=True)
def core_numbers(starts: Any, pointers: Any, columns: Any, out: Any) -> None:  # pragma: no cover
    """The node of least degree is taken away, one after the other (Batagelj and Zaveršnik 2003): O(entries).

    Nodes are kept sorted by their degree so far; a node whose degree falls changes places with the first of its degree.
    """
    for graph in prange(len(starts) - 1):
        first, size = starts[graph], starts[graph + 1] - starts[graph]
        most = 0
        for u in range(first, first + size):
            out[u] = pointers[u + 1] - pointers[u]
            most = max(most, out[u])
        begins = np.zeros(most + 2, np.int64)  # where the nodes of each degree begin
        for u in range(first, first + size):
            begins[out[u] + 1] += 1
        for degree in range(most + 1):
            begins[degree + 1] += begins[degree]
        order, place, free = np.empty(size, np.int64), np.empty(size, np.int64), begins.copy()
        for u in range(size):
            place[u] = free[out[first + u]]
            order[place[u]] = u
            free[out[first + u]] += 1
        for step in range(size):
            u = order[step]
            for entry in range(pointers[first + u], pointers[first + u + 1]):
                v = columns[entry] - first
                degree = out[first + v]
                if degree > out[first + u]:
                    head = begins[degree]
                    w = order[head]
                    order[head], order[place[v]] = v, w
                    place[w], place[v] = place[v], head
                    begins[degree] += 1
                    out[first + v] = degree - 1
