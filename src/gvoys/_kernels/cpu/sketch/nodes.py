"""The fast path: labels on nodes only. Graphs in parallel, a graph's state in the first caches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._jit import kernel
from gvoys._kernels.arguments import Ends, Graphs, Labels
from gvoys._kernels.cpu.sketch.lanes import WIDTH, finish_row, sum_row, sum_weighted_row

__all__ = ["sketch_large_graph", "sketch_small_graphs"]


@kernel(inline="always")
def _row(indptr: Any, indices: Any, weights: Any, row: Any, state: Any, scratch: Any) -> None:  # pragma: no cover
    begin, end = np.int64(indptr[row]), np.int64(indptr[row + 1])
    if weights is None:
        sum_row(state, indices, begin, end, scratch)
    else:
        sum_weighted_row(state, indices, begin, end, scratch, weights)


@kernel(parallel=True)
def sketch_small_graphs(
    tasks: Any, graphs: Any, labels: Any, ends: Any, norm: Any, out: Any
) -> None:  # pragma: no cover
    """Profiles of the tasks' graphs into out, (n_graphs, n_steps, n_groups * 128); graph by graph, group by group."""
    for chunk in prange(len(tasks.bounds) - 1):
        chosen = tasks.graphs[tasks.bounds[np.int64(chunk)] : tasks.bounds[np.int64(chunk) + 1]]
        _sketch(chosen, graphs, graphs.weights, labels, ends, norm, out)


@kernel()
def _sketch(
    chosen: Any, graphs: Any, weights: Any, labels: Any, ends: Any, norm: Any, out: Any
) -> None:  # pragma: no cover
    """What one thread does: graph after graph."""
    node_offsets, indptr, indices = graphs.node_offsets, graphs.indptr, graphs.indices
    codes, signs, shifts = labels
    start, stop, factors = ends
    n_steps, n_groups, n_codes = out.shape[1], out.shape[2] // WIDTH, shifts.shape[2]
    room = 0
    for g in chosen:
        if node_offsets[g + 1] - node_offsets[g] > room:
            room = np.int64(node_offsets[g + 1] - node_offsets[g])
    x = np.empty(room * WIDTH, np.float32)
    y = np.empty(room * WIDTH, np.float32)
    scratch = np.empty(2 * WIDTH, np.float32)
    part = np.empty(WIDTH, np.float32)
    sums = np.empty(WIDTH)
    for g in chosen:
        first = np.int64(node_offsets[g])
        n = np.int64(node_offsets[g + 1]) - first
        factor = factors[g]
        for r in range(n_groups):
            for t in range(n_steps):
                base = (r * n_steps + t) * n_codes
                sums[:] = 0.0
                part[:] = 0.0
                scratch[:] = 1.0
                for u in range(n):
                    code = np.int64(codes[first + u])
                    scale, offset = stop[first + u], np.int64(0)
                    if t > 0:
                        _row(indptr, indices, weights, first + u, x, scratch)
                        scale, offset = factor, np.int64(WIDTH - shifts[r, t, code]) % WIDTH
                    finish_row(scratch, offset, signs, base + code, scale, y, u, start[first + u], part, 0)
                    if u % 64 == 63:  # sums of many nodes lose digits in float32
                        for j in range(WIDTH):
                            sums[j] += part[j]
                            part[j] = 0.0
                for j in range(WIDTH):
                    out[g, t, r * WIDTH + j] = np.float32((sums[j] + part[j]) * norm)
                x, y = y, x


@kernel(parallel=True)
def _large_step(place: Any, graphs: Any, labels: Any, ends: Any, x: Any, y: Any, sums: Any) -> None:  # pragma: no cover
    """One step of all nodes from x to y, and the blocks' shares of the profile in sums.

    place: graph, group, step, and nodes of a block.
    """
    for part in prange(len(sums) // WIDTH):
        share = sums[np.int64(part) * WIDTH : (np.int64(part) + 1) * WIDTH]
        _large_block(np.int64(part), place, graphs, graphs.weights, labels, ends, (x, y), share)


@kernel()
def _large_block(
    part: Any, place: Any, graphs: Any, weights: Any, labels: Any, ends: Any, states: Any, share: Any
) -> None:  # pragma: no cover
    """What one thread does: a block of nodes."""
    g, r, t, block = place
    indptr, indices = graphs.indptr, graphs.indices
    codes, signs, shifts = labels
    start, stop, factors = ends
    x, y = states
    first = np.int64(graphs.node_offsets[g])
    n = np.int64(graphs.node_offsets[g + 1]) - first
    base = (r * shifts.shape[1] + t) * shifts.shape[2]
    scratch = np.ones(2 * WIDTH, np.float32)
    share[:] = 0.0
    for u in range(part * block, min((part + 1) * block, n)):
        code = np.int64(codes[first + u])
        scale, offset = stop[first + u], np.int64(0)
        if t > 0:
            _row(indptr, indices, weights, first + u, x, scratch)
            scale, offset = factors[g], np.int64(WIDTH - shifts[r, t, code]) % WIDTH
        finish_row(scratch, offset, signs, base + code, scale, y, u, start[first + u], share, 0)


def sketch_large_graph(
    graph: int, block: int, graphs: Graphs, labels: Labels, ends: Ends, norm: np.float32, out: Any
) -> None:
    """The profile of one graph into out[graph], all threads on it, one group at a time."""
    n = int(graphs.node_offsets[graph + 1]) - int(graphs.node_offsets[graph])
    x, y = (np.empty(n * WIDTH, np.float32) for _ in range(2))
    sums = np.empty(-(-n // block) * WIDTH, np.float32)
    for r in range(out.shape[2] // WIDTH):
        for t in range(out.shape[1]):
            _large_step((graph, r, t, block), graphs, labels, ends, x, y, sums)
            # block by block in double precision: the same for any number of threads
            whole = sums.reshape(-1, WIDTH).sum(axis=0, dtype=np.float64)
            out[graph, t, r * WIDTH : (r + 1) * WIDTH] = whole * norm
            x, y = y, x
