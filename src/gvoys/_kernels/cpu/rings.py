"""The lengths of the smallest cycles through the edges of each node, by a search of bounded depth around it."""

from __future__ import annotations

import numpy as np
from numba import prange

from gvoys._jit import kernel


@kernel(parallel=True)
def ring_sizes(starts, pointers, columns, longest, out):
    """Bit k of out[u]: some edge of u has k as the length of the smallest cycle through it, up to `longest`.

    Nodes around u belong to the branch of the neighbour of u that they are reached through. An edge between two
    branches closes a cycle through u, and the smallest cycle through an edge of u is closed by such an edge.
    """
    for graph in prange(len(starts) - 1):
        first, size = starts[graph], starts[graph + 1] - starts[graph]
        depth, branch = np.full(size, -1, np.int64), np.empty(size, np.int64)
        queue, smallest = np.empty(size, np.int64), np.empty(size, np.int64)
        for u in range(size):
            _search(u, first, pointers, columns, longest, (depth, branch, queue, smallest))
            for entry in range(pointers[first + u], pointers[first + u + 1]):
                v = columns[entry] - first
                if v != u and smallest[v] <= longest:
                    out[first + u] |= np.uint64(1) << np.uint64(smallest[v])


@kernel()
def _search(u, first, pointers, columns, longest, rooms):
    """The smallest cycle through the edge from u to each of its neighbours; depths are -1 before and after."""
    depth, branch, queue, smallest = rooms
    depth[u], branch[u], queue[0] = 0, u, u
    head, tail = 0, 1
    while head < tail:
        x = queue[head]
        head += 1
        for entry in range(pointers[first + x], pointers[first + x + 1]):
            y = columns[entry] - first
            if depth[y] < 0:
                if 2 * depth[x] < longest:  # deeper nodes close longer cycles only
                    depth[y], branch[y], queue[tail] = depth[x] + 1, (y if x == u else branch[x]), y
                    tail += 1
                    if x == u:
                        smallest[y] = longest + 1
            elif x != u and y != u and branch[x] != branch[y]:
                length = depth[x] + depth[y] + 1
                smallest[branch[x]] = min(smallest[branch[x]], length)
                smallest[branch[y]] = min(smallest[branch[y]], length)
    for item in range(tail):
        depth[queue[item]] = -1
