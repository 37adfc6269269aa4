"""The fast path of walks with edge labels, and of non-backtracking walks.

States are the sums of nodes before their own map. An entry u -> x has one map, its own after that of x. Walks that
backtrack have a row per node. Non-backtracking walks have one per entry u -> x too: the sum over the other entries of
u, by adding those before it to those after it. Subtracting it from the sum of all would leave nothing but rounding
where it is much the largest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._compiled.arguments import Graphs, Labels, frozen
from gvoys._compiled.cpu.sketch_large import Cuts, sketch_large
from gvoys._compiled.cpu.sketch_nodes import SHARE_NODES
from gvoys._compiled.cpu.sketch_rows import (
    FEW_ENTRIES,
    ROW,
    WIDTH,
    Turned,
    leave_one_out,
    leave_out_few,
    sum_after,
    sum_turned,
)
from gvoys._jit import kernel

_one, _two, _three, _four = leave_out_few


class Arcs(NamedTuple):
    """Rows of states, numbered within a graph: those of its entries, if walks may not backtrack, then of its nodes."""

    sources: Any  # (n_entries,), the row that comes along an entry
    targets: Any  # (n_entries,), the row of an entry; (0,) where walks backtrack


def number_rows(graphs: Graphs, reverse: NDArray[np.int64] | None) -> Arcs:
    """Number the rows of all graphs; `reverse` is None where walks backtrack."""
    if reverse is None:
        return Arcs(graphs.indices, frozen(np.empty(0, np.uint32)))
    sources, targets = (np.empty(len(graphs.indices), np.uint32) for _ in range(2))
    _number(graphs.node_offsets, graphs.indptr, graphs.indices, reverse, sources, targets)
    return Arcs(frozen(sources), frozen(targets))


@kernel()
def _number(node_offsets, indptr, indices, reverse, sources, targets):
    """Parallel entries share the row of the last of them; an entry without a way back reads the row of a node."""
    for g in range(len(node_offsets) - 1):
        first, last = np.int64(node_offsets[g]), np.int64(node_offsets[g + 1])
        base, n_arcs = np.int64(indptr[first]), np.int64(indptr[last]) - np.int64(indptr[first])
        for node in range(first, last):
            begin, end = np.int64(indptr[node]), np.int64(indptr[node + 1])
            for e in range(end - 1, begin - 1, -1):
                same = e + 1 < end and indices[e + 1] == indices[e]
                targets[e] = targets[e + 1] if same else e - base
                sources[e] = reverse[e, 1] - 1 - base if reverse[e, 0] < reverse[e, 1] else n_arcs + indices[e]


def allocate_rows(count: Any) -> Any:
    """Rows that begin with a cache line each; NumPy, unlike Numba, asks for large pages where there are many."""
    room = np.empty(count * ROW + 16, np.float32)
    skipped = (-(room.ctypes.data // 4)) % 16
    return room[skipped : skipped + count * ROW]


_make_rows = kernel()(allocate_rows)


class _Room(NamedTuple):
    """Rows that a thread works with."""

    after: Any  # rows of 128 numbers, as many as a node has entries
    zeros: Any  # a row
    part: Any  # a row
    few: Any  # most entries of a node whose rows are all written at once, which takes states of their own; or 0
    longest: Any  # most entries of a node; hubs, which have more, are left to others


@kernel()
def _make_room(degree, few, longest):
    return _Room(_make_rows(degree), np.zeros(ROW, np.float32), _make_rows(1), few, longest)


@kernel(inline="always")
def _along_entries(where, x, sources, weights, factors, codes, signs, shifts):
    """Messages along entries in a step; where: graph, group and step."""
    first = _first_map(where, shifts)
    stride = np.int64(len(weights) == len(sources))
    return Turned(x, sources, codes, signs, shifts, first, weights, stride, factors[where[0]])


@kernel(inline="always")
def _node_rows(where, y, shift, start, codes, signs, shifts):
    """Rows of nodes as they enter a profile; `shift` leads from nodes to their rows."""
    return Turned(y, shift, codes, signs, shifts, _first_map(where, shifts), start, np.int64(1), np.float32(1.0))


@kernel(inline="always")
def _first_map(where, shifts):
    return (where[1] * shifts.shape[1] + where[2]) * shifts.shape[2]


@kernel(inline="always")
def _begin_walks(nodes, indptr, targets, stop, shift, y):
    """Write the rows of nodes and of their entries before the first step."""
    for node in range(nodes[0], nodes[1]):
        _fill_row(node + shift, stop[node], y)
        if len(targets) > 0:
            for e in range(np.int64(indptr[node]), np.int64(indptr[node + 1])):
                _fill_row(np.int64(targets[e]), stop[node], y)


@kernel(inline="always")
def _fill_row(row, value, y):
    for j in range(row * ROW, (row + 1) * ROW):
        y[j] = value


@kernel(inline="always")
def _step_nodes(nodes, indptr, messages, targets, room, shift, y):
    """Write the rows of nodes and of their entries after a step, except those of hubs."""
    for node in range(nodes[0], nodes[1]):
        begin, end = np.int64(indptr[node]), np.int64(indptr[node + 1])
        if end - begin <= room.longest:
            if len(targets) == 0:
                sum_turned(messages, begin, end, y, (node + shift) * ROW)
            else:
                _leave_out(messages, targets, begin, end, room, y, (node + shift) * ROW)


@kernel(inline="always")
def _leave_out(messages, targets, begin, end, room, y, position):
    count = end - begin
    unlike = 0 < count <= room.few
    for e in range(begin + 1, end if unlike else begin):
        unlike = unlike and targets[e] != targets[e - 1]
    if not unlike:
        sum_after(messages, targets, begin, end, room.zeros, room.after, y, position)
        leave_one_out(messages, targets, begin, end, room.zeros, room.after, y)
    elif count == 1:
        _one(messages, targets, begin, y, position)
    elif count == 2:
        _two(messages, targets, begin, y, position)
    elif count == 3:
        _three(messages, targets, begin, y, position)
    else:
        _four(messages, targets, begin, y, position)


@kernel(inline="always")
def _add_shares(nodes, rows, part, sums):
    """Add what nodes, turned by their own maps, give to a profile."""
    for node in range(nodes[0], nodes[1], SHARE_NODES):
        sum_turned(rows, node, min(node + SHARE_NODES, nodes[1]), part, 0)
        for j in range(WIDTH):
            sums[j] += part[j]


# -- small graphs


@kernel(parallel=True)
def sketch_arcs(tasks, graphs, arcs, nodes, entries, norm, out):
    """Profiles of the tasks' graphs into out, (n_graphs, n_steps, n_groups * 128); graph by graph, group by group."""
    for chunk in prange(len(tasks.bounds) - 1):
        chosen = tasks.graphs[tasks.bounds[np.int64(chunk)] : tasks.bounds[np.int64(chunk) + 1]]
        _sketch(chosen, graphs, arcs, nodes, entries, norm, out)


@kernel()
def _sketch(chosen, graphs, arcs, nodes, entries, norm, out):
    """Do the work of one thread: graph after graph."""
    node_offsets, indptr, weights = graphs.node_offsets, graphs.indptr, graphs.weights
    start, stop, factors = graphs.start, graphs.stop, graphs.factors
    codes, signs, shifts = nodes
    entry_codes, entry_signs, entry_shifts = entries
    sources, targets = arcs
    n_rows, degree = _size(chosen, node_offsets, indptr, targets)
    x, y, sums = _make_rows(n_rows), _make_rows(n_rows), np.empty(WIDTH)
    room = _make_room(degree, FEW_ENTRIES, degree)
    for g in chosen:
        bounds = (np.int64(node_offsets[g]), np.int64(node_offsets[g + 1]))
        shift = _n_arcs(bounds, indptr, targets) - bounds[0]
        for r in range(out.shape[2] // WIDTH):
            for t in range(out.shape[1]):
                if t == 0:
                    _begin_walks(bounds, indptr, targets, stop, shift, y)
                else:
                    messages = _along_entries(
                        (g, r, t), x, sources, weights, factors, entry_codes, entry_signs, entry_shifts
                    )
                    _step_nodes(bounds, indptr, messages, targets, room, shift, y)
                sums[:] = 0.0
                _add_shares(bounds, _node_rows((g, r, t), y, shift, start, codes, signs, shifts), room.part, sums)
                for j in range(WIDTH):
                    out[g, t, r * WIDTH + j] = np.float32(sums[j] * norm)
                x, y = y, x


@kernel()
def _n_arcs(nodes, indptr, targets):
    """Entries of a range of nodes that have rows: none where walks backtrack."""
    return np.int64(indptr[nodes[1]]) - np.int64(indptr[nodes[0]]) if len(targets) > 0 else np.int64(0)


@kernel()
def _size(chosen, node_offsets, indptr, targets):
    """Most rows of a graph, and the largest degree."""
    n_rows, degree = np.int64(0), np.int64(0)
    for g in chosen:
        nodes = (np.int64(node_offsets[g]), np.int64(node_offsets[g + 1]))
        n_rows = max(n_rows, nodes[1] - nodes[0] + _n_arcs(nodes, indptr, targets))
        for node in range(nodes[0], nodes[1]):
            degree = max(degree, np.int64(indptr[node + 1]) - np.int64(indptr[node]))
    return n_rows, degree


# -- one large graph


class _Pieces(NamedTuple):
    """A row for each piece of a hub: its sum, and the sums of the pieces before it and after it."""

    sums: Any
    before: Any
    after: Any


def sketch_arcs_of_large(
    graph: int, cuts: Cuts, graphs: Graphs, arcs: Arcs, nodes: Labels, entries: Labels, norm: Any, out: Any
) -> None:
    """The profile of one graph into out[graph], all threads on it.

    Two states are kept, or one where each entry u -> x has a way back: the row that u reads along it is read by no
    other, so that what u writes can take its place. Rows then belong to entries and to their ways back in turn.
    """
    first, last = int(graphs.node_offsets[graph]), int(graphs.node_offsets[graph + 1])
    begin, end = int(graphs.indptr[first]), int(graphs.indptr[last])
    n_arcs = end - begin if len(arcs.targets) else 0
    in_place = n_arcs > 0 and int(arcs.sources[begin:end].max()) < n_arcs
    turns = (Arcs(arcs.targets, arcs.targets), Arcs(arcs.sources, arcs.sources)) if in_place else (arcs, arcs)
    state = allocate_rows(n_arcs + last - first)
    states = (state, state if in_place else allocate_rows(n_arcs + last - first))
    pieces = _Pieces(*(np.empty(len(cuts.begins) * ROW, np.float32) for _ in range(3)))
    sums = np.empty((len(cuts.blocks) - 1, WIDTH))

    def step(group: int, t: int, x: Any, y: Any) -> Any:
        where = (graph, group, t, n_arcs - first, cuts.longest)
        rows = arcs if t == 0 else turns[t % 2]
        if t > 0 and len(cuts.hubs):
            _sum_pieces(where, cuts, graphs, rows, entries, x, pieces.sums)
            _sum_hubs(where, cuts, pieces, y)
            if len(rows.targets):
                _leave_out_of_pieces(where, cuts, graphs, rows, entries, (x, y), pieces)
        _step_blocks(where, cuts, graphs, rows, nodes, entries, (x, y), sums)
        return sums

    sketch_large(graph, states, step, norm, out)


@kernel(parallel=True)
def _sum_pieces(where, cuts, graphs, rows, entries, x, out):
    """Sums of the messages along the entries of each piece."""
    for piece in prange(len(cuts.begins)):
        _sum_piece(np.int64(piece), where, cuts, graphs, rows, entries, x, out)


@kernel()
def _sum_piece(piece, where, cuts, graphs, rows, entries, x, out):
    codes, signs, shifts = entries
    messages = _along_entries(where, x, rows.sources, graphs.weights, graphs.factors, codes, signs, shifts)
    sum_turned(messages, cuts.begins[piece], cuts.ends[piece], out, piece * ROW)


@kernel(parallel=True)
def _sum_hubs(where, cuts, pieces, y):
    """The rows of hubs, and the sums of the pieces before and after each of their pieces."""
    for hub in prange(len(cuts.hubs)):
        _sum_hub(np.int64(hub), where[3], cuts, pieces, y)


@kernel()
def _sum_hub(hub, shift, cuts, pieces, y):
    sums, before, after = pieces
    row, begin, end = cuts.hubs[hub] + shift, cuts.pieces[hub], cuts.pieces[hub + 1]
    total = y[row * ROW : (row + 1) * ROW]
    total[:] = 0.0
    for j in range((end - 1) * ROW, end * ROW):
        after[j] = 0.0
    for j in range((end - 1) * ROW - 1, begin * ROW - 1, -1):
        after[j] = sums[j + ROW] + after[j + ROW]
    for piece in range(begin, end):
        for j in range(ROW):
            before[piece * ROW + j] = total[j]
            total[j] += sums[piece * ROW + j]


@kernel(parallel=True)
def _leave_out_of_pieces(where, cuts, graphs, rows, entries, states, pieces):
    """The rows of the hubs' entries."""
    for piece in prange(len(cuts.begins)):
        _leave_out_of_piece(np.int64(piece), where, cuts, graphs, rows, entries, states, pieces)


@kernel()
def _leave_out_of_piece(piece, where, cuts, graphs, rows, entries, states, pieces):
    codes, signs, shifts = entries
    begin, end, targets = cuts.begins[piece], cuts.ends[piece], rows.targets
    here = slice(piece * ROW, (piece + 1) * ROW)
    room = _make_room(end - begin, 0, end - begin)
    messages = _along_entries(where, states[0], rows.sources, graphs.weights, graphs.factors, codes, signs, shifts)
    sum_after(messages, targets, begin, end, pieces.after[here], room.after, room.part, 0)
    leave_one_out(messages, targets, begin, end, pieces.before[here], room.after, states[1])


@kernel(parallel=True)
def _step_blocks(where, cuts, graphs, rows, nodes, entries, states, sums):
    """The rows of all nodes but hubs, and the shares of the profile; where: graph, group, step, shift of nodes,
    most entries of a node that is no hub."""
    for block in prange(len(sums)):
        bounds = (cuts.blocks[np.int64(block)], cuts.blocks[np.int64(block) + 1])
        _step_block(bounds, where, graphs, rows, nodes, entries, states, sums[np.int64(block)])


@kernel()
def _step_block(bounds, where, graphs, rows, nodes, entries, states, sums):
    indptr, (codes, signs, shifts), (x, y) = graphs.indptr, entries, states
    longest = where[4]
    room = _make_room(longest, 0 if x is y else FEW_ENTRIES, longest)
    if where[2] == 0:
        _begin_walks(bounds, indptr, rows.targets, graphs.stop, where[3], y)
    else:
        messages = _along_entries(where, x, rows.sources, graphs.weights, graphs.factors, codes, signs, shifts)
        _step_nodes(bounds, indptr, messages, rows.targets, room, where[3], y)
    sums[:] = 0.0
    codes, signs, shifts = nodes
    _add_shares(bounds, _node_rows(where, y, where[3], graphs.start, codes, signs, shifts), room.part, sums)
