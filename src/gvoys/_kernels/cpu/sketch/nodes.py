"""The fast path for labels on nodes only. Graphs in parallel, a graph's state in the first caches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._jit import kernel
from gvoys._kernels.arguments import Ends, Graphs, Labels
from gvoys._kernels.cpu.sketch.hubs import Cuts
from gvoys._kernels.cpu.sketch.lanes import ROW, WIDTH, finish_row, sum_row, sum_weighted_row

SHARE = 64  # nodes whose share of a profile is a sum in float32: sums of many nodes lose digits


@kernel(inline="always")
def _sum(
    state: Any, indices: Any, weights: Any, begin: Any, end: Any, out: Any, place: Any
) -> None:  # pragma: no cover
    if weights is None:
        sum_row(state, indices, begin, end, out, place)
    else:
        sum_weighted_row(state, indices, begin, end, out, place, weights)


@kernel(inline="always")
def _add_shares(nodes: Any, first: Any, state: Any, start: Any, part: Any, sums: Any) -> None:  # pragma: no cover
    """Add what nodes give to a profile; `first` is the node whose row is the first."""
    for node in range(nodes[0], nodes[1], SHARE):
        sum_weighted_row(state, -first, node, min(node + SHARE, nodes[1]), part, 0, start)
        for j in range(WIDTH):
            sums[j] += part[j]


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
    n_steps, n_codes = out.shape[1], shifts.shape[2]
    room = 0
    for g in chosen:
        room = max(room, np.int64(node_offsets[g + 1] - node_offsets[g]))
    x, y = np.empty(room * WIDTH, np.float32), np.empty(room * WIDTH, np.float32)
    row, sums = np.empty(ROW, np.float32), np.empty(WIDTH)
    for g in chosen:
        first, last = np.int64(node_offsets[g]), np.int64(node_offsets[g + 1])
        for r in range(out.shape[2] // WIDTH):
            for t in range(n_steps):
                base, scale = (r * n_steps + t) * n_codes, factors[g]
                row[:] = 1.0
                for node in range(first, last):
                    code, shift = np.int64(codes[node]), np.int64(0)
                    if t > 0:
                        _sum(x, indices, weights, np.int64(indptr[node]), np.int64(indptr[node + 1]), row, 0)
                        shift = np.int64(shifts[r, t, code])
                    else:
                        scale = stop[node]
                    finish_row(row, shift, signs, base + code, scale, y, (node - first) * WIDTH)
                sums[:] = 0.0
                _add_shares((first, last), first, y, start, row, sums)
                for j in range(WIDTH):
                    out[g, t, r * WIDTH + j] = np.float32(sums[j] * norm)
                x, y = y, x


# -- one large graph


def sketch_large_graph(
    graph: int, cuts: Cuts, graphs: Graphs, labels: Labels, ends: Ends, norm: np.float32, out: Any
) -> None:
    """The profile of one graph into out[graph], all threads on it, one group at a time."""
    n = int(graphs.node_offsets[graph + 1]) - int(graphs.node_offsets[graph])
    x, y = (np.empty(n * WIDTH, np.float32) for _ in range(2))
    pieces = np.empty(len(cuts.begins) * ROW, np.float32)
    sums = np.empty((len(cuts.blocks) - 1, WIDTH))
    for r in range(out.shape[2] // WIDTH):
        for t in range(out.shape[1]):
            if t > 0 and len(cuts.hubs):
                _sum_pieces(cuts, graphs, x, pieces)
            _step_blocks((graph, r, t), cuts, graphs, labels, ends, (x, y), pieces, sums)
            # block by block: the same for any number of threads
            out[graph, t, r * WIDTH : (r + 1) * WIDTH] = sums.sum(axis=0) * norm
            x, y = y, x


@kernel(parallel=True)
def _sum_pieces(cuts: Any, graphs: Any, x: Any, out: Any) -> None:  # pragma: no cover
    """What comes along the entries of each piece of a hub."""
    for piece in prange(len(cuts.begins)):
        p = np.int64(piece)
        _sum_piece(cuts.begins[p], cuts.ends[p], graphs.indices, graphs.weights, x, out, p * ROW)


@kernel()
def _sum_piece(
    begin: Any, end: Any, indices: Any, weights: Any, x: Any, out: Any, place: Any
) -> None:  # pragma: no cover
    _sum(x, indices, weights, begin, end, out, place)


@kernel(parallel=True)
def _step_blocks(
    place: Any, cuts: Any, graphs: Any, labels: Any, ends: Any, states: Any, pieces: Any, sums: Any
) -> None:  # pragma: no cover
    """One step of all nodes, and the blocks' shares of the profile in sums; place: graph, group and step."""
    for block in prange(len(sums)):
        b = np.int64(block)
        some = (cuts.blocks[b], cuts.blocks[b + 1])
        _step_block(some, place, cuts, graphs, graphs.weights, labels, ends, states, pieces, sums[b])


@kernel()
def _step_block(
    some: Any,
    place: Any,
    cuts: Any,
    graphs: Any,
    weights: Any,
    labels: Any,
    ends: Any,
    states: Any,
    pieces: Any,
    sums: Any,
) -> None:  # pragma: no cover
    """What one thread does: a block of nodes."""
    g, r, t = place
    indptr, indices, (codes, signs, shifts) = graphs.indptr, graphs.indices, labels
    hubs, bounds, longest = cuts.hubs, cuts.pieces, cuts.longest
    (start, stop, factors), (x, y) = ends, states
    first, base, scale = np.int64(graphs.node_offsets[g]), (r * shifts.shape[1] + t) * shifts.shape[2], factors[g]
    row = np.ones(ROW, np.float32)
    for node in range(some[0], some[1]):
        code, shift = np.int64(codes[node]), np.int64(0)
        if t > 0:
            begin, end = np.int64(indptr[node]), np.int64(indptr[node + 1])
            if end - begin > longest:
                hub = np.searchsorted(hubs, node)
                _add_pieces(bounds[hub], bounds[hub + 1], pieces, row)
            else:
                _sum(x, indices, weights, begin, end, row, 0)
            shift = np.int64(shifts[r, t, code])
        else:
            scale = stop[node]
        finish_row(row, shift, signs, base + code, scale, y, (node - first) * WIDTH)
    sums[:] = 0.0
    _add_shares(some, first, y, start, row, sums)


@kernel()
def _add_pieces(begin: Any, end: Any, pieces: Any, row: Any) -> None:  # pragma: no cover
    row[:] = 0.0
    for piece in range(begin, end):
        for j in range(ROW):
            row[j] += pieces[piece * ROW + j]
