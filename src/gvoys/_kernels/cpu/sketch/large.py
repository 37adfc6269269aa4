"""Walks with edge labels, and non-backtracking walks, on one large graph: all threads on it, one group at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from gvoys._jit import kernel
from gvoys._kernels.arguments import Ends, Graphs, Labels
from gvoys._kernels.cpu.sketch.arcs import (
    Arcs,
    add_shares,
    allocate_rows,
    along_entries,
    begin_walks,
    make_room,
    own_rows,
    step_nodes,
)
from gvoys._kernels.cpu.sketch.hubs import Cuts
from gvoys._kernels.cpu.sketch.turned import FEW, leave_one_out, sum_after, sum_turned
from gvoys._kernels.cpu.sketch.vectors import ROW, WIDTH


class _Pieces(NamedTuple):
    """A row for each piece of a hub: its sum, and the sums of the pieces before it and after it."""

    own: Any
    before: Any
    after: Any


def sketch_arcs_of_large(
    graph: int, cuts: Cuts, graphs: Graphs, arcs: Arcs, nodes: Labels, entries: Labels, ends: Ends, norm: Any, out: Any
) -> None:
    """The profile of one graph into out[graph].

    Two states are kept, or one where each entry u -> x has a way back: the row that u reads along it is read by no
    other, so that what u writes can take its place. Rows then belong to entries and to their ways back in turn.
    """
    first, last = int(graphs.node_offsets[graph]), int(graphs.node_offsets[graph + 1])
    begin, end = int(graphs.indptr[first]), int(graphs.indptr[last])
    n_arcs = end - begin if len(arcs.targets) else 0
    in_place = n_arcs > 0 and int(arcs.sources[begin:end].max()) < n_arcs
    turns = (Arcs(arcs.targets, arcs.targets), Arcs(arcs.sources, arcs.sources)) if in_place else (arcs, arcs)
    x = allocate_rows(n_arcs + last - first)
    y = x if in_place else allocate_rows(n_arcs + last - first)
    pieces = _Pieces(*(np.empty(len(cuts.begins) * ROW, np.float32) for _ in range(3)))
    sums = np.empty((len(cuts.blocks) - 1, WIDTH))
    for r in range(out.shape[2] // WIDTH):
        for t in range(out.shape[1]):
            place = (graph, r, t, n_arcs - first)
            rows = arcs if t == 0 else turns[t % 2]
            if t > 0 and len(cuts.hubs):
                _step_hubs(place, cuts, graphs, rows, entries, ends, (x, y), pieces)
            _step_blocks(place, cuts, graphs, rows, nodes, entries, ends, (x, y), sums)
            # block by block: the same for any number of threads
            out[graph, t, r * WIDTH : (r + 1) * WIDTH] = sums.sum(axis=0) * norm
            x, y = y, x


def _step_hubs(
    place: Any, cuts: Cuts, graphs: Graphs, rows: Arcs, entries: Labels, ends: Ends, states: Any, pieces: _Pieces
) -> None:
    _sum_pieces(place, cuts, graphs, rows, entries, ends, states[0], pieces.own)
    _sum_hubs(place, cuts, pieces, states[1])
    if len(rows.targets):
        _leave_out_of_pieces(place, cuts, graphs, rows, entries, ends, states, pieces)


@kernel(parallel=True)
def _sum_pieces(
    place: Any, cuts: Any, graphs: Any, rows: Any, entries: Any, ends: Any, x: Any, out: Any
) -> None:  # pragma: no cover
    """What comes along the entries of each piece."""
    for piece in prange(len(cuts.begins)):
        _sum_piece(np.int64(piece), place, cuts, graphs, rows, entries, ends, x, out)


@kernel()
def _sum_piece(
    piece: Any, place: Any, cuts: Any, graphs: Any, rows: Any, entries: Any, ends: Any, x: Any, out: Any
) -> None:  # pragma: no cover
    codes, signs, shifts = entries
    messages = along_entries(place, x, rows.sources, graphs.weights, ends.factors, codes, signs, shifts)
    sum_turned(messages, cuts.begins[piece], cuts.ends[piece], out, piece * ROW)


@kernel(parallel=True)
def _sum_hubs(place: Any, cuts: Any, pieces: Any, y: Any) -> None:  # pragma: no cover
    """The rows of hubs, and the sums of the pieces before and after each of their pieces."""
    for hub in prange(len(cuts.hubs)):
        _sum_hub(np.int64(hub), place[3], cuts, pieces, y)


@kernel()
def _sum_hub(hub: Any, shift: Any, cuts: Any, pieces: Any, y: Any) -> None:  # pragma: no cover
    own, before, after = pieces
    row, begin, end = cuts.hubs[hub] + shift, cuts.pieces[hub], cuts.pieces[hub + 1]
    total = y[row * ROW : (row + 1) * ROW]
    total[:] = 0.0
    for j in range((end - 1) * ROW, end * ROW):
        after[j] = 0.0
    for j in range((end - 1) * ROW - 1, begin * ROW - 1, -1):
        after[j] = own[j + ROW] + after[j + ROW]
    for piece in range(begin, end):
        for j in range(ROW):
            before[piece * ROW + j] = total[j]
            total[j] += own[piece * ROW + j]


@kernel(parallel=True)
def _leave_out_of_pieces(
    place: Any, cuts: Any, graphs: Any, rows: Any, entries: Any, ends: Any, states: Any, pieces: Any
) -> None:  # pragma: no cover
    """The rows of the hubs' entries."""
    for piece in prange(len(cuts.begins)):
        _leave_out_of_piece(np.int64(piece), place, cuts, graphs, rows, entries, ends, states, pieces)


@kernel()
def _leave_out_of_piece(
    piece: Any, place: Any, cuts: Any, graphs: Any, rows: Any, entries: Any, ends: Any, states: Any, pieces: Any
) -> None:  # pragma: no cover
    codes, signs, shifts = entries
    begin, end, targets = cuts.begins[piece], cuts.ends[piece], rows.targets
    here = slice(piece * ROW, (piece + 1) * ROW)
    room = make_room(end - begin, 0, end - begin)
    messages = along_entries(place, states[0], rows.sources, graphs.weights, ends.factors, codes, signs, shifts)
    sum_after(messages, targets, begin, end, pieces.after[here], room.after, room.part, 0)
    leave_one_out(messages, targets, begin, end, pieces.before[here], room.after, states[1])


@kernel(parallel=True)
def _step_blocks(
    place: Any, cuts: Any, graphs: Any, rows: Any, nodes: Any, entries: Any, ends: Any, states: Any, sums: Any
) -> None:  # pragma: no cover
    """The rows of all nodes but hubs, and the shares of the profile; place: graph, group, step, shift of nodes."""
    for block in prange(len(sums)):
        some = (cuts.blocks[np.int64(block)], cuts.blocks[np.int64(block) + 1])
        _step_block(some, place, cuts.longest, graphs, rows, nodes, entries, ends, states, sums[np.int64(block)])


@kernel()
def _step_block(
    some: Any,
    place: Any,
    longest: Any,
    graphs: Any,
    rows: Any,
    nodes: Any,
    entries: Any,
    ends: Any,
    states: Any,
    sums: Any,
) -> None:  # pragma: no cover
    indptr, (codes, signs, shifts), (x, y) = graphs.indptr, entries, states
    room = make_room(longest, 0 if x is y else FEW, longest)
    if place[2] == 0:
        begin_walks(some, indptr, rows.targets, ends.stop, place[3], y)
    else:
        messages = along_entries(place, x, rows.sources, graphs.weights, ends.factors, codes, signs, shifts)
        step_nodes(some, indptr, messages, rows.targets, room, place[3], y)
    sums[:] = 0.0
    codes, signs, shifts = nodes
    add_shares(some, own_rows(place, y, place[3], ends.start, codes, signs, shifts), room.part, sums)
