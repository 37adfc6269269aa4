"""Walks that return to their start, node by node, from the nodes that they can reach alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._jit import kernel


@kernel(parallel=True)
def add_returns(
    chunks: Any, graph_of: Any, starts: Any, pointers: Any, columns: Any, steps: Any, degrees: Any, out: Any
) -> None:  # pragma: no cover
    """out[u, k] = (P^k)_uu with the numbers `steps` of P, one for each entry.

    With degrees, to which P is reversible (d_v P_vu = d_u P_uv), walks of half the length tell all: P^(a + b)_uu =
    d_u sum_v P^a_uv P^b_uv / d_v. Without (an empty array) they go all the way.
    """
    for chunk in prange(len(chunks) - 1):
        begin, end = chunks[np.int64(chunk)], chunks[np.int64(chunk) + 1]
        _of_chunk(begin, end, graph_of, starts, pointers, columns, steps, degrees, out)


@kernel()
def _of_chunk(
    begin: Any, end: Any, graph_of: Any, starts: Any, pointers: Any, columns: Any, steps: Any, degrees: Any, out: Any
) -> None:  # pragma: no cover
    """What one thread does: node after node, with room for the largest graph among theirs."""
    size = 0
    for graph in range(graph_of[begin], graph_of[end - 1] + 1):
        size = max(size, starts[graph + 1] - starts[graph])
    x, y, mark = np.zeros(size), np.zeros(size), np.full(size, -1, np.int64)
    here, there = np.empty(size, np.int64), np.empty(size, np.int64)
    for u in range(begin, end):
        _of_node(u, starts[graph_of[u]], pointers, columns, steps, degrees, x, y, mark, here, there, out[u])


@kernel()
def _of_node(
    u: Any,
    first: Any,
    pointers: Any,
    columns: Any,
    steps: Any,
    degrees: Any,
    x: Any,
    y: Any,
    mark: Any,
    here: Any,
    there: Any,
    out: Any,
) -> None:  # pragma: no cover
    """x and y are zero before and after; `mark` tells the nodes that this step has reached."""
    longest, halved = len(out) - 1, len(degrees) > 0
    here[0], x[u - first], count = u - first, 1.0, 1
    out[0] = 1.0
    for step in range((longest + 1) // 2 if halved else longest):
        reached, stamp = 0, u * (longest + 1) + step
        for place in range(count):
            v = here[place]
            for entry in range(pointers[first + v], pointers[first + v + 1]):
                w = columns[entry] - first
                if mark[w] != stamp:
                    mark[w], there[reached] = stamp, w
                    reached += 1
                y[w] += x[v] * steps[entry]
        if halved:
            odd, even = 0.0, 0.0
            for place in range(reached):
                v = there[place]
                odd += x[v] * y[v] / degrees[first + v]
                even += y[v] * y[v] / degrees[first + v]
            out[2 * step + 1] = odd * degrees[u]
            if 2 * step + 2 <= longest:
                out[2 * step + 2] = even * degrees[u]
        else:
            out[step + 1] = y[u - first]
        for place in range(count):
            x[here[place]] = 0.0
        x, y, here, there, count = y, x, there, here, reached
    for place in range(count):
        x[here[place]] = 0.0
