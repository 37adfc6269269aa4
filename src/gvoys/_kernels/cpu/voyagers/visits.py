"""Visits of walkers from each node of one graph, for graph random features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from gvoys._jit import kernel
from gvoys._kernels.cpu.voyagers.steps import halting_length, neighbour, step_bits

__all__ = ["Deposits", "Origins", "draw_lengths", "fill_visits"]


class Origins(NamedTuple):
    """Nodes that walkers start from."""

    nodes: Any  # (n,)
    lengths: Any  # (n, n_walks), steps of each walker
    ends: Any  # (n,), where the visits of each node's walkers end


class Deposits(NamedTuple):
    """What walkers leave where."""

    factors: Any  # (n_lengths,)
    inverse: Any  # 1 / scale
    anchors: Any  # (n_nodes,), which nodes take deposits


@kernel(parallel=True)
def draw_lengths(nodes: Any, key: Any, limit: Any, p_halt: Any, side: Any, out: Any) -> None:  # pragma: no cover
    """Steps before each walker halts, (n, n_walks)."""
    for index in prange(len(out)):
        i = np.int64(index)
        for w in range(out.shape[1]):
            out[i, w] = halting_length(limit, p_halt, key, nodes[i], w, side)


@kernel(parallel=True)
def fill_visits(
    origins: Any, key: Any, side: Any, adjacency: Any, deposits: Any, columns: Any, values: Any
) -> None:  # pragma: no cover
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
