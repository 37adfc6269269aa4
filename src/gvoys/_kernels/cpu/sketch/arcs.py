"""One step of walks with edge labels, and of non-backtracking walks, for some nodes of a graph.

States are the sums of nodes before their own map. An entry u -> x has one map, its own after that of x. Walks that
backtrack have a row per node. Non-backtracking walks have one per entry u -> x too: the sum over the other entries of
u, by adding those before it to those after it. Subtracting it from the sum of all would leave nothing but rounding
where it is much the largest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys._kernels.arguments import Graphs, frozen
from gvoys._kernels.cpu.sketch.nodes import SHARE
from gvoys._kernels.cpu.sketch.turned import Turned, leave_one_out, leave_out_few, sum_after, sum_turned
from gvoys._kernels.cpu.sketch.vectors import ROW, WIDTH

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
def _number(
    node_offsets: Any, indptr: Any, indices: Any, reverse: Any, sources: Any, targets: Any
) -> None:  # pragma: no cover
    """Parallel entries share the row of the last of them; an entry without a way back reads the row of a node."""
    for g in range(len(node_offsets) - 1):
        first, last = np.int64(node_offsets[g]), np.int64(node_offsets[g + 1])
        base, n_arcs = np.int64(indptr[first]), np.int64(indptr[last]) - np.int64(indptr[first])
        for node in range(first, last):
            begin, end = np.int64(indptr[node]), np.int64(indptr[node + 1])
            for e in range(end - 1, begin - 1, -1):
                alike = e + 1 < end and indices[e + 1] == indices[e]
                targets[e] = targets[e + 1] if alike else e - base
                sources[e] = reverse[e, 1] - 1 - base if reverse[e, 0] < reverse[e, 1] else n_arcs + indices[e]


def allocate_rows(count: Any) -> Any:
    """Rows that begin with a cache line each; NumPy, unlike Numba, asks for large pages where there are many."""
    room = np.empty(count * ROW + 16, np.float32)
    skipped = (-(room.ctypes.data // 4)) % 16
    return room[skipped : skipped + count * ROW]


make_rows = kernel()(allocate_rows)


class Room(NamedTuple):
    """What a thread works with."""

    after: Any  # rows of 128 numbers, as many as a node has entries
    zeros: Any  # a row
    part: Any  # a row
    few: Any  # most entries of a node whose rows are all written at once, which takes states of their own; or 0
    longest: Any  # most entries of a node; hubs, which have more, are left to others


@kernel()
def make_room(degree: Any, few: Any, longest: Any) -> Any:  # pragma: no cover
    return Room(make_rows(degree), np.zeros(ROW, np.float32), make_rows(1), few, longest)


@kernel(inline="always")
def along_entries(
    place: Any, x: Any, sources: Any, weights: Any, factors: Any, codes: Any, signs: Any, shifts: Any
) -> Any:  # pragma: no cover
    """What comes along entries in a step; place: graph, group and step."""
    first = _first_map(place, shifts)
    stride = np.int64(len(weights) == len(sources))
    return Turned(x, sources, codes, signs, shifts, first, weights, stride, factors[place[0]])


@kernel(inline="always")
def own_rows(
    place: Any, y: Any, shift: Any, start: Any, codes: Any, signs: Any, shifts: Any
) -> Any:  # pragma: no cover
    """Rows of nodes as they enter a profile; `shift` leads from nodes to their rows."""
    return Turned(y, shift, codes, signs, shifts, _first_map(place, shifts), start, np.int64(1), np.float32(1.0))


@kernel(inline="always")
def _first_map(place: Any, shifts: Any) -> Any:  # pragma: no cover
    return (place[1] * shifts.shape[1] + place[2]) * shifts.shape[2]


@kernel(inline="always")
def begin_walks(nodes: Any, indptr: Any, targets: Any, stop: Any, shift: Any, y: Any) -> None:  # pragma: no cover
    """Write the rows of nodes and of their entries before the first step."""
    for node in range(nodes[0], nodes[1]):
        _fill_row(node + shift, stop[node], y)
        if len(targets) > 0:
            for e in range(np.int64(indptr[node]), np.int64(indptr[node + 1])):
                _fill_row(np.int64(targets[e]), stop[node], y)


@kernel(inline="always")
def _fill_row(row: Any, value: Any, y: Any) -> None:  # pragma: no cover
    for j in range(row * ROW, (row + 1) * ROW):
        y[j] = value


@kernel(inline="always")
def step_nodes(
    nodes: Any, indptr: Any, messages: Any, targets: Any, room: Any, shift: Any, y: Any
) -> None:  # pragma: no cover
    """Write the rows of nodes and of their entries after a step, except those of hubs."""
    for node in range(nodes[0], nodes[1]):
        begin, end = np.int64(indptr[node]), np.int64(indptr[node + 1])
        if end - begin <= room.longest:
            if len(targets) == 0:
                sum_turned(messages, begin, end, y, (node + shift) * ROW)
            else:
                _leave_out(messages, targets, begin, end, room, y, (node + shift) * ROW)


@kernel(inline="always")
def _leave_out(
    messages: Any, targets: Any, begin: Any, end: Any, room: Any, y: Any, place: Any
) -> None:  # pragma: no cover
    count = end - begin
    unlike = 0 < count <= room.few
    for e in range(begin + 1, end if unlike else begin):
        unlike = unlike and targets[e] != targets[e - 1]
    if not unlike:
        sum_after(messages, targets, begin, end, room.zeros, room.after, y, place)
        leave_one_out(messages, targets, begin, end, room.zeros, room.after, y)
    elif count == 1:
        _one(messages, targets, begin, y, place)
    elif count == 2:
        _two(messages, targets, begin, y, place)
    elif count == 3:
        _three(messages, targets, begin, y, place)
    else:
        _four(messages, targets, begin, y, place)


@kernel(inline="always")
def add_shares(nodes: Any, own: Any, part: Any, sums: Any) -> None:  # pragma: no cover
    """Add what nodes, turned by their own maps, give to a profile."""
    for node in range(nodes[0], nodes[1], SHARE):
        sum_turned(own, node, min(node + SHARE, nodes[1]), part, 0)
        for j in range(WIDTH):
            sums[j] += part[j]
