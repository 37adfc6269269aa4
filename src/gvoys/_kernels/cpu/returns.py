"""Walks that return to their start, node by node, from the nodes that they can reach alone."""

from __future__ import annotations

import numpy as np
from numba import prange

from gvoys._jit import kernel


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
