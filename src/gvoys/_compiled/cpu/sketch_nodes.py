"""The fast path for labels on nodes only. Graphs in parallel, a graph's state in the first caches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._compiled.arguments import Graphs, Labels
from gvoys._compiled.cpu.sketch_large import Cuts, sketch_large
from gvoys._compiled.cpu.sketch_rows import ROW, WIDTH, finish_row, sum_row, sum_weighted_row
from gvoys._jit import kernel

SHARE_NODES = 64  # whose share of a profile is a sum in float32: sums of many nodes lose digits


@kernel(inline="always")
def _sum(state, indices, weights, begin, end, out, position):
    if weights is None:
        sum_row(state, indices, begin, end, out, position)
    else:
        sum_weighted_row(state, indices, begin, end, out, position, weights)


@kernel(inline="always")
def _add_shares(nodes, first, state, start, part, sums):
    """Add what nodes give to a profile; `first` is the node whose row is the first."""
    for node in range(nodes[0], nodes[1], SHARE_NODES):
        sum_weighted_row(state, -first, node, min(node + SHARE_NODES, nodes[1]), part, 0, start)
        for j in range(WIDTH):
            sums[j] += part[j]


@kernel(parallel=True)
def sketch_nodes(tasks, graphs, labels, norm, out):
    """Profiles of the tasks' graphs into out, (n_graphs, n_steps, n_groups * 128); graph by graph, group by group."""
    for chunk in prange(len(tasks.bounds) - 1):
        chosen = tasks.graphs[tasks.bounds[np.int64(chunk)] : tasks.bounds[np.int64(chunk) + 1]]
        _sketch(chosen, graphs, graphs.weights, labels, norm, out)


@kernel()
def _sketch(chosen, graphs, weights, labels, norm, out):
    """Do the work of one thread: graph after graph."""
    node_offsets, indptr, indices = graphs.node_offsets, graphs.indptr, graphs.indices
    start, stop, factors = graphs.start, graphs.stop, graphs.factors
    codes, signs, shifts = labels
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


def sketch_nodes_of_large(graph: int, cuts: Cuts, graphs: Graphs, labels: Labels, norm: Any, out: Any) -> None:
    """The profile of one graph into out[graph], all threads on it."""
    n = int(graphs.node_offsets[graph + 1]) - int(graphs.node_offsets[graph])
    pieces = np.empty(len(cuts.begins) * ROW, np.float32)
    sums = np.empty((len(cuts.blocks) - 1, WIDTH))

    def step(group: int, t: int, x: Any, y: Any) -> Any:
        if t > 0 and len(cuts.hubs):
            _sum_pieces(cuts, graphs, x, pieces)
        _step_blocks((graph, group, t), cuts, graphs, labels, (x, y, pieces), sums)
        return sums

    sketch_large(graph, [np.empty(n * WIDTH, np.float32) for _ in range(2)], step, norm, out)


@kernel(parallel=True)
def _sum_pieces(cuts, graphs, x, out):
    """Sums over the entries of each piece of a hub."""
    for piece in prange(len(cuts.begins)):
        p = np.int64(piece)
        _sum_piece(cuts.begins[p], cuts.ends[p], graphs.indices, graphs.weights, x, out, p * ROW)


@kernel()
def _sum_piece(begin, end, indices, weights, x, out, position):
    _sum(x, indices, weights, begin, end, out, position)


@kernel(parallel=True)
def _step_blocks(where, cuts, graphs, labels, states, sums):
    """One step of all nodes, and the blocks' shares of the profile in sums; where: graph, group and step."""
    for block in prange(len(sums)):
        b = np.int64(block)
        nodes = (cuts.blocks[b], cuts.blocks[b + 1])
        _step_block(nodes, where, cuts, graphs, graphs.weights, labels, states, sums[b])


@kernel()
def _step_block(nodes, where, cuts, graphs, weights, labels, states, sums):
    """Do the work of one thread: a block of nodes."""
    g, r, t = where
    indptr, indices, (codes, signs, shifts) = graphs.indptr, graphs.indices, labels
    hubs, bounds, longest = cuts.hubs, cuts.pieces, cuts.longest
    start, stop, (x, y, pieces) = graphs.start, graphs.stop, states
    first, base = np.int64(graphs.node_offsets[g]), (r * shifts.shape[1] + t) * shifts.shape[2]
    scale = graphs.factors[g]
    row = np.ones(ROW, np.float32)
    for node in range(nodes[0], nodes[1]):
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
    _add_shares(nodes, first, y, start, row, sums)


@kernel()
def _add_pieces(begin, end, pieces, row):
    row[:] = 0.0
    for piece in range(begin, end):
        for j in range(ROW):
            row[j] += pieces[piece * ROW + j]
