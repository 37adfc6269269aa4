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


@kernel()
def ring_sizes(starts, pointers, columns, longest, out):
    """Bit k of out[u]: some edge of u has k as the length of the smallest cycle through it, up to `longest`.

    Nodes around u belong to the branch of the neighbour of u that they are reached through. An edge between two
    branches closes a cycle through u, and the smallest cycle through an edge of u is closed by such an edge.
    """
    for graph in range(len(starts) - 1):  # by one thread: it takes less time than to compile a parallel loop
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


@kernel(parallel=True)
def add_returns(nodes, steps, degrees, out):
    """out[u, k] = (P^k)_uu with the numbers `steps` of P, one for each entry.

    With degrees, to which P is reversible (d_v P_vu = d_u P_uv), walks of half the length tell all: P^(a + b)_uu =
    d_u sum_v P^a_uv P^b_uv / d_v. Without (an empty array) they go all the way.
    """
    for chunk in prange(len(nodes.bounds) - 1):
        _returns_of_chunk(nodes.bounds[np.int64(chunk)], nodes.bounds[np.int64(chunk) + 1], nodes, steps, degrees, out)


@kernel()
def _returns_of_chunk(begin, end, nodes, steps, degrees, out):
    """Do the work of one thread: node after node, with room for the largest of its graphs."""
    graph_of, starts, size = nodes.graph_of, nodes.starts, 0
    for graph in range(graph_of[begin], graph_of[end - 1] + 1):
        size = max(size, starts[graph + 1] - starts[graph])
    vectors, stamps = (np.zeros(size), np.zeros(size)), np.full(size, -1, np.int64)
    lists = np.empty(size, np.int64), np.empty(size, np.int64)
    for u in range(begin, end):
        _returns_of_node(u, nodes, steps, degrees, vectors, stamps, lists, out[u])


@kernel()
def _returns_of_node(u, nodes, steps, degrees, vectors, stamps, lists, out):
    """Fill the row of a node. The vectors are zero before and after; `stamps` marks nodes that a step has reached."""
    _, graph_of, starts, pointers, columns = nodes
    first, (x, y), (here, there) = starts[graph_of[u]], vectors, lists
    longest, halved = len(out) - 1, len(degrees) > 0
    here[0], x[u - first], count = u - first, 1.0, 1
    out[0] = 1.0
    for step in range((longest + 1) // 2 if halved else longest):
        reached, stamp = 0, u * (longest + 1) + step
        for k in range(count):
            v = here[k]
            for entry in range(pointers[first + v], pointers[first + v + 1]):
                w = columns[entry] - first
                if stamps[w] != stamp:
                    stamps[w], there[reached] = stamp, w
                    reached += 1
                y[w] += x[v] * steps[entry]
        if halved:
            odd, even = 0.0, 0.0
            for k in range(reached):
                v = there[k]
                odd += x[v] * y[v] / degrees[first + v]
                even += y[v] * y[v] / degrees[first + v]
            out[2 * step + 1] = odd * degrees[u]
            if 2 * step + 2 <= longest:
                out[2 * step + 2] = even * degrees[u]
        else:
            out[step + 1] = y[u - first]
        for k in range(count):
            x[here[k]] = 0.0
        x, y, here, there, count = y, x, there, here, reached
    for k in range(count):
        x[here[k]] = 0.0


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
