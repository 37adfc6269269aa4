"""The fast path: labels on nodes only. Graphs in parallel, a graph's state in the first caches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._jit import kernel
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
    graphs: Any,
    chunks: Any,
    node_offsets: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    codes: Any,
    n_codes: Any,
    signs: Any,
    shifts: Any,
    start: Any,
    stop: Any,
    factors: Any,
    norm: Any,
    out: Any,
) -> None:  # pragma: no cover
    """Profiles of `graphs` into out, (n_graphs, n_steps, n_groups * 128); graph by graph, group by group."""
    n_steps, n_groups = out.shape[1], out.shape[2] // WIDTH
    for chunk in prange(len(chunks) - 1):
        chosen = graphs[chunks[np.int64(chunk)] : chunks[np.int64(chunk) + 1]]
        room = 0
        for g in chosen:
            if node_offsets[g + 1] - node_offsets[g] > room:
                room = np.int64(node_offsets[g + 1] - node_offsets[g])
        x = np.empty(room * WIDTH, np.float32)
        y = np.empty(room * WIDTH, np.float32)
        scratch = np.empty(2 * WIDTH, np.float32)
        part = np.empty(WIDTH, np.float32)
        for g in chosen:
            first = np.int64(node_offsets[g])
            n = np.int64(node_offsets[g + 1]) - first
            factor = factors[g]
            for r in range(n_groups):
                for t in range(n_steps):
                    base = (r * n_steps + t) * n_codes
                    sums = np.zeros(WIDTH)
                    part[:] = 0.0
                    scratch[:] = 1.0
                    for u in range(n):
                        which = base + np.int64(codes[first + u])
                        scale, offset = stop[first + u], np.int64(0)
                        if t > 0:
                            _row(indptr, indices, weights, first + u, x, scratch)
                            scale, offset = factor, np.int64(WIDTH - shifts[which]) % WIDTH
                        finish_row(scratch, offset, signs, which, scale, y, u, start[first + u], part, 0)
                        if u % 64 == 63:  # sums of many nodes lose digits in float32
                            for j in range(WIDTH):
                                sums[j] += part[j]
                                part[j] = 0.0
                    for j in range(WIDTH):
                        out[g, t, r * WIDTH + j] = np.float32((sums[j] + part[j]) * norm)
                    x, y = y, x


@kernel(parallel=True)
def _large_step(
    t: Any,
    first: Any,
    n: Any,
    block: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    codes: Any,
    base: Any,
    signs: Any,
    shifts: Any,
    start: Any,
    stop: Any,
    factor: Any,
    x: Any,
    y: Any,
    sums: Any,
) -> None:  # pragma: no cover
    """One step of all nodes from x to y, and the blocks' shares of the profile in sums."""
    for part in prange(len(sums) // WIDTH):
        scratch = np.ones(2 * WIDTH, np.float32)
        place = np.int64(part) * WIDTH
        sums[place : place + WIDTH] = 0.0
        begin = np.int64(part) * block
        for u in range(begin, min(begin + block, n)):
            which = base + np.int64(codes[first + u])
            scale, offset = stop[first + u], 0
            if t > 0:
                _row(indptr, indices, weights, first + u, x, scratch)
                scale, offset = factor, np.int64(WIDTH - shifts[which]) % WIDTH
            finish_row(scratch, offset, signs, which, scale, y, u, start[first + u], sums, place)


def sketch_large_graph(
    graph: int,
    block: int,
    node_offsets: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    codes: Any,
    n_codes: int,
    signs: Any,
    shifts: Any,
    start: Any,
    stop: Any,
    factors: Any,
    norm: Any,
    out: Any,
) -> None:
    """The profile of one graph into out[graph], all threads on it, one group at a time."""
    first, last = int(node_offsets[graph]), int(node_offsets[graph + 1])
    n_steps, n_groups = out.shape[1], out.shape[2] // WIDTH
    n = last - first
    x, y = (np.empty(n * WIDTH, np.float32) for _ in range(2))
    sums = np.empty(-(-n // block) * WIDTH, np.float32)
    for r in range(n_groups):
        for t in range(n_steps):
            base = (r * n_steps + t) * n_codes
            _large_step(
                t,
                first,
                n,
                block,
                indptr,
                indices,
                weights,
                codes,
                base,
                signs,
                shifts,
                start,
                stop,
                factors[graph],
                x,
                y,
                sums,
            )
            # block by block in double precision: the same for any number of threads
            whole = sums.reshape(-1, WIDTH).sum(axis=0, dtype=np.float64)
            out[graph, t, r * WIDTH : (r + 1) * WIDTH] = whole * norm
            x, y = y, x
