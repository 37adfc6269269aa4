"""Visits of walkers from each node of one graph, for graph random features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from gvoys._jit import kernel
from gvoys._kernels.cpu.randomness import HALT, uniform
from gvoys._kernels.cpu.voyagers.steps import draw, halting_length, neighbour, step_bits


class Origins(NamedTuple):
    """Nodes that walkers start from."""

    nodes: Any  # (n,)
    lengths: Any  # (n, n_walks), steps of each walker
    ends: Any  # (n,), where the visits of each node's walkers end


class Deposits(NamedTuple):
    """Deposits that walkers leave at nodes."""

    factors: Any  # (n_lengths,)
    inverse: Any  # 1 / scale
    anchors: Any  # (n_nodes,), which nodes take deposits


@kernel(parallel=True)
def draw_lengths(nodes, key, limit, p_halt, side, antithetic, out):
    """Steps before each walker halts, (n, n_walks); antithetic ones halt in pairs, one after the other."""
    for index in prange(len(out)):
        i = np.int64(index)
        n_walks = out.shape[1]
        in_pairs = n_walks - n_walks % 2 if antithetic else 0
        for w in range(0, in_pairs, 2):
            _draw_pair(key, nodes[i], w, side, limit, p_halt, out[i, w : w + 2])
        for w in range(in_pairs, n_walks):
            out[i, w] = halting_length(limit, p_halt, key, nodes[i], w, side)


@kernel()
def _draw_pair(key, node, walker, side, limit, p_halt, lengths):
    """Lengths of two walkers whose coins of a step are half a turn apart (Reid et al. 2023)."""
    lengths[:] = limit
    for step in range(limit):
        a, b, _, _ = draw(key, node, walker, HALT, side, step)
        coin = uniform(a, b)
        if lengths[0] == limit and coin < p_halt:
            lengths[0] = step
        if lengths[1] == limit and (coin + 0.5) % 1.0 < p_halt:
            lengths[1] = step
        if lengths[0] < limit and lengths[1] < limit:
            break


@kernel(parallel=True)
def fill_visits(origins, key, side, adjacency, deposits, columns, values):
    """Node and deposit of every visit, one after the other."""
    for index in prange(len(origins.lengths)):
        i = np.int64(index)
        u = origins.nodes[i]
        slot = origins.ends[i - 1] if i else np.int64(0)
        for w in range(origins.lengths.shape[1]):
            c, load = u, 1.0
            r0 = r1 = r2 = r3 = np.uint64(0)
            for step in range(origins.lengths[i, w] + 1):
                if deposits.anchors[c]:
                    columns[slot] = c
                    values[slot] = load * deposits.factors[step]
                    slot += 1
                row = np.int64(adjacency.indptr[c])
                degree = np.int64(adjacency.indptr[c + 1]) - row
                if degree == 0:
                    break
                if step & 3 == 0:
                    r0, r1, r2, r3 = step_bits(key, u, w, side, step)
                e = neighbour(r0, row, degree)
                r0, r1, r2 = r1, r2, r3
                load *= degree * deposits.inverse
                if len(adjacency.weights):
                    load *= adjacency.weights[e]
                c = np.int64(adjacency.indices[e])
