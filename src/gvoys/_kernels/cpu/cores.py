"""Core numbers: the largest k such that a node is in a subgraph in which all have k neighbours or more."""

from __future__ import annotations

import numpy as np
from numba import prange

from gvoys._jit import kernel


@kernel(parallel=True)
def core_numbers(starts, pointers, columns, out):
    """Core number of every node, in O(edges): nodes of least degree are taken away first (Batagelj, Zaversnik 2003)."""
    for graph in prange(len(starts) - 1):
        _peel(starts[graph], starts[graph + 1], pointers, columns, out)


@kernel()
def _peel(first, end, pointers, columns, out):
    size, most = end - first, 0
    for u in range(first, end):
        out[u] = 0
        for entry in range(pointers[u], pointers[u + 1]):
            out[u] += columns[entry] != u
        most = max(most, out[u])
    bins = np.zeros(most + 2, np.int64)  # where nodes of each degree begin in `order`
    for u in range(first, end):
        bins[out[u] + 1] += 1
    bins = np.cumsum(bins)
    order, position, used = np.empty(size, np.int64), np.empty(size, np.int64), bins.copy()
    for u in range(first, end):
        position[u - first] = used[out[u]]
        order[position[u - first]] = u
        used[out[u]] += 1
    for i in range(size):
        u = order[i]
        for entry in range(pointers[u], pointers[u + 1]):
            v = columns[entry]
            if out[v] > out[u]:  # v goes to the front of its degree, which begins one place later then
                front = order[bins[out[v]]]
                here, there = position[v - first], bins[out[v]]
                order[here], order[there] = front, v
                position[front - first], position[v - first] = here, there
                bins[out[v]] += 1
                out[v] -= 1
