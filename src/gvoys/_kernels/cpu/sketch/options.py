"""The generic path: edge labels, non-backtracking walks, attributes, groups of any width. One group at a time.

Graphs run in parallel; a large one is shared by all threads.

A step takes the state h of the neighbours to the state of a node by linear maps that all graphs share:

    edge label    R shifts and signs what comes along the edge
    backtrack     without it, what came from the node itself is skipped: states on directed edges, and for each of them
                  the sum of the others of its node, by adding those before it to those after it. Subtracting it from
                  the sum of all would leave nothing but rounding where it is much the largest
    attributes    of nodes or entries: coordinate j is multiplied by exp(i omega_j . a), then pairs of coordinates are
                  rotated, which mixes them: a diagonal map alone would leave the variance growing with the length
    node label    R shifts and signs the sum

Complex states are two planes, real parts before imaginary ones, which fill vector registers as pairs would not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from gvoys._jit import kernel
from gvoys._kernels.arguments import Ends, Graphs, Maps

_TURNS = 0.5 / np.pi  # in an angle of one


class States(NamedTuple):
    """States of one graph before and after a step, and room for what comes to one node."""

    x: Any  # (n_nodes, width)
    y: Any
    others: Any  # (n_entries, width), what an entry's node has along its other entries, for non-backtracking walks
    next_others: Any
    message: Any  # (width,), what comes along an entry
    turned: Any  # the same, turned by the entry's label
    arriving: Any  # (largest degree, width), what comes along all entries of a node
    sums: Any  # (width,), the nodes' share of the profile


@kernel()
def turn(source: Any, shift: Any, signs: Any, out: Any) -> None:  # pragma: no cover
    """out = signs * source shifted by `shift`, plane by plane."""
    width = len(signs)
    for plane in range(0, len(source), width):
        left = plane + width - shift
        signed(source[plane:left], signs[shift:], out[plane + shift : plane + width])
        signed(source[left : plane + width], signs[:shift], out[plane : plane + shift])


@kernel()
def signed(source: Any, signs: Any, out: Any) -> None:  # pragma: no cover
    for j in range(len(source)):
        out[j] = signs[j] * source[j]


@kernel(fastmath=True)
def turn_by(angles: Any, real: Any, imaginary: Any) -> None:  # pragma: no cover
    """Multiply by exp(i angle), to the last bits of float32: polynomials of the rest beside a multiple of pi / 2.

    Calls of cos and sin would leave the vector registers.
    """
    one, two = np.float32(1.0), np.float32(2.0)
    for j in range(len(angles)):
        turns = angles[j] * _TURNS
        turns -= np.floor(turns + 0.5)
        quarter = np.float32(np.floor(4.0 * turns + 0.5))  # -2 … 2
        r = np.float32((turns - 0.25 * quarter) * (2 * np.pi))
        s = r * r
        sine = np.float32(1 / 362880)
        sine = sine * s - np.float32(1 / 5040)
        sine = sine * s + np.float32(1 / 120)
        sine = sine * s - np.float32(1 / 6)
        sine = r * (sine * s + one)
        cosine = np.float32(1 / 40320)
        cosine = cosine * s - np.float32(1 / 720)
        cosine = cosine * s + np.float32(1 / 24)
        cosine = cosine * s - np.float32(0.5)
        cosine = cosine * s + one
        odd, half = abs(quarter) == one, abs(quarter) == two
        x = -quarter * sine if odd else (-cosine if half else cosine)
        y = quarter * cosine if odd else (-sine if half else sine)
        a, b = real[j], imaginary[j]
        real[j] = a * x - b * y
        imaginary[j] = a * y + b * x


@kernel()
def _attend(vector: Any, item: Any, t: Any, maps: Any, angles: Any, room: Any) -> None:  # pragma: no cover
    """Multiply by exp(i omega_j . a) with the attributes a of a node or entry, then mix coordinates, in place."""
    width = len(angles)
    real, imaginary = vector[:width], vector[width:]
    attributes, omega, own, other, partners = (
        maps.values[item],
        maps.omega[t],
        maps.own[t],
        maps.other[t],
        maps.partners[t],
    )
    angles[:] = 0.0
    for k in range(len(attributes)):
        value, row = attributes[k], omega[k]
        for j in range(width):
            angles[j] += value * row[j]
    turn_by(angles, real, imaginary)
    for level in range(len(own)):
        _mix(real, own[level], other[level], partners[level], room[:width])
        _mix(imaginary, own[level], other[level], partners[level], room[width:])
        vector[:] = room


@kernel()
def _mix(source: Any, own: Any, other: Any, partners: Any, out: Any) -> None:  # pragma: no cover
    """Rotate pairs of coordinates; a gather, since partners may be too near for vectors of those between."""
    for j in range(len(source)):
        out[j] = own[j] * source[j] + other[j] * source[partners[j]]


@kernel()
def add_others(
    begin: Any, end: Any, base: Any, indices: Any, arriving: Any, running: Any, others: Any, total: Any
) -> None:  # pragma: no cover
    """total = sum of arriving; others[e] = the same without the entries that lead where e leads."""
    total[:] = 0.0
    e = begin
    while e < end:
        last = _end_of_parallel(e, end, indices)
        for k in range(e, last):
            others[k - base] = total
        for k in range(e, last):
            total += arriving[k - begin]
        e = last
    running[:] = 0.0
    e = end
    while e > begin:
        head = e - 1
        while head > begin and indices[head - 1] == indices[e - 1]:
            head -= 1
        for k in range(head, e):
            others[k - base] += running
        for k in range(head, e):
            running += arriving[k - begin]
        e = head


@kernel()
def _end_of_parallel(e: Any, end: Any, indices: Any) -> Any:  # pragma: no cover
    """The first entry of a row after e that leads elsewhere."""
    last = e + 1
    while last < end and indices[last] == indices[e]:
        last += 1
    return last


@kernel()
def _largest_degree(indptr: Any, first: Any, last: Any) -> Any:  # pragma: no cover
    largest = np.int64(0)
    for u in range(first, last):
        largest = max(largest, np.int64(indptr[u + 1]) - np.int64(indptr[u]))
    return largest


@kernel()
def weight_of(e: Any, weights: Any, factor: Any) -> Any:  # pragma: no cover
    if len(weights) == 0:  # asked at run time, so that half as many kernels are compiled
        return factor
    return factor * weights[e]


@kernel()
def step(
    place: Any, graphs: Any, reverse: Any, nodes: Any, edges: Any, attributes: Any, along: Any, ends: Any, states: Any
) -> None:  # pragma: no cover
    """States y of some nodes after t steps, from their neighbours' states x after one step less.

    place: graph, step, first node and node after the last. `attributes` are those of nodes, `along` those of entries.
    """
    g, t, begin_node, end_node = place
    indptr, indices, weights, factor = graphs.indptr, graphs.indices, graphs.weights, ends.factors[g]
    first = np.int64(graphs.node_offsets[g])
    base = np.int64(indptr[first])
    codes, signs, shifts = nodes.codes, nodes.signs[t], nodes.shifts[t]
    x, y, others, next_others, message, turned, arriving, sums = states
    start, stop = ends.start, ends.stop
    # asked at run time, so that one kernel is compiled for all options
    onward, by_edge, by_node, by_entry = (
        len(reverse) > 0,
        len(edges.codes) > 0,
        len(attributes.own) > 0,
        len(along.own) > 0,
    )
    angles = np.empty(signs.shape[1])
    sums[:] = 0.0
    for u in range(begin_node, end_node):
        node, total = first + u, y[u]
        label = codes[node]
        begin, end = np.int64(indptr[node]), np.int64(indptr[node + 1])
        if t == 0:
            message[: len(signs[label])] = stop[node]
            message[len(signs[label]) :] = 0.0
        elif not (onward or by_edge or by_entry):  # most of the time; one pass over the neighbour's state
            message[:] = 0.0
            for e in range(begin, end):
                weight, state = weight_of(e, weights, factor), x[indices[e]]
                for j in range(len(message)):
                    message[j] += weight * state[j]
        else:
            total[:] = 0.0
            for e in range(begin, end):
                if onward and t > 1 and reverse[e, 0] < reverse[e, 1]:
                    message[:] = others[reverse[e, 0] - base]
                else:
                    message[:] = x[indices[e]]
                message *= weight_of(e, weights, factor)
                if by_edge:
                    turn(message, edges.shifts[t][edges.codes[e]], edges.signs[t][edges.codes[e]], turned)
                    message[:] = turned
                if by_entry:
                    _attend(message, e, t, along, angles, turned)
                if not onward:
                    total += message
                else:
                    if by_node:
                        _attend(message, node, t, attributes, angles, turned)
                    turn(message, shifts[label], signs[label], arriving[e - begin])
            if not onward:
                message[:] = total
            else:
                add_others(begin, end, base, indices, arriving, message, next_others, total)
        if t == 0 or not onward:
            if by_node:
                _attend(message, node, t, attributes, angles, turned)
            turn(message, shifts[label], signs[label], total)
        for j in range(len(sums)):
            sums[j] += start[node] * total[j]


@kernel()
def room_of(reverse: Any, indptr: Any, first: Any, last: Any) -> Any:  # pragma: no cover
    """Entries of some nodes and the largest degree, for non-backtracking walks; else 0."""
    if len(reverse) == 0:
        return np.int64(0), np.int64(0)
    return np.int64(indptr[last]) - np.int64(indptr[first]), _largest_degree(indptr, first, last)


@kernel(parallel=True)
def sketch_group(
    tasks: Any, graphs: Any, nodes: Any, edges: Any, attributes: Any, along: Any, ends: Any, out: Any
) -> None:  # pragma: no cover
    """Profiles of the tasks' graphs in one group into out, (n_graphs, n_steps, width); two planes with attributes."""
    for chunk in prange(len(tasks.bounds) - 1):
        chosen = tasks.graphs[tasks.bounds[np.int64(chunk)] : tasks.bounds[np.int64(chunk) + 1]]
        _sketch(chosen, graphs, nodes, edges, attributes, along, ends, out)


@kernel()
def _sketch(
    chosen: Any, graphs: Any, nodes: Any, edges: Any, attributes: Any, along: Any, ends: Any, out: Any
) -> None:  # pragma: no cover
    """What one thread does: graph after graph."""
    width = out.shape[2]
    message, turned, sums = np.empty(width, out.dtype), np.empty(width, out.dtype), np.empty(width)
    for g in chosen:
        first, last = np.int64(graphs.node_offsets[g]), np.int64(graphs.node_offsets[g + 1])
        n_arcs, largest = room_of(graphs.reverse, graphs.indptr, first, last)
        x = np.empty((last - first, width), out.dtype)
        y = np.empty((last - first, width), out.dtype)
        others = np.empty((n_arcs, width), out.dtype)
        next_others = np.empty((n_arcs, width), out.dtype)
        arriving = np.empty((largest, width), out.dtype)
        for t in range(out.shape[1]):
            place = (g, t, np.int64(0), last - first)
            states = States(x, y, others, next_others, message, turned, arriving, sums)
            step(place, graphs, graphs.reverse, nodes, edges, attributes, along, ends, states)
            for j in range(width):
                out[g, t, j] = sums[j]
            x, y, others, next_others = y, x, next_others, others


@kernel(parallel=True)
def _large_step(
    place: Any,
    blocks: Any,
    graphs: Any,
    nodes: Any,
    edges: Any,
    attributes: Any,
    along: Any,
    ends: Any,
    states: Any,
    sums: Any,
) -> None:  # pragma: no cover
    """One step of all nodes, and the blocks' shares of the profile in sums; place: graph, step, its first node."""
    for part in prange(len(sums)):
        begin, end = blocks[np.int64(part)], blocks[np.int64(part) + 1]
        rows = (place[0], place[1], begin - place[2], end - place[2])
        _large_block(rows, graphs, nodes, edges, attributes, along, ends, states, sums[np.int64(part)])


@kernel()
def _large_block(
    place: Any, graphs: Any, nodes: Any, edges: Any, attributes: Any, along: Any, ends: Any, states: Any, share: Any
) -> None:  # pragma: no cover
    """What one thread does: a block of nodes."""
    x, y, others, next_others = states
    first, width = np.int64(graphs.node_offsets[place[0]]), x.shape[1]
    largest = room_of(graphs.reverse, graphs.indptr, first + place[2], first + place[3])[1]
    message, turned = np.empty(width, x.dtype), np.empty(width, x.dtype)
    arriving = np.empty((largest, width), x.dtype)
    own = States(x, y, others, next_others, message, turned, arriving, share)
    step(place, graphs, graphs.reverse, nodes, edges, attributes, along, ends, own)


def sketch_group_of_large(graph: int, blocks: Any, graphs: Graphs, maps: Maps, ends: Ends, out: Any) -> None:
    """The profile of one graph in one group into out[graph], all threads on it, by blocks of nodes.

    Entries are read in order, once per step, so that they may lie in a file that is mapped into memory; two states of
    (n_nodes, width) are kept, and two of (n_entries, width) for non-backtracking walks.
    """
    first, last = int(graphs.node_offsets[graph]), int(graphs.node_offsets[graph + 1])
    width, kind = out.shape[2], out.dtype
    x, y = (np.empty((last - first, width), kind) for _ in range(2))
    n_arcs = 0 if not len(graphs.reverse) else int(graphs.indptr[last]) - int(graphs.indptr[first])
    others, next_others = (np.empty((n_arcs, width), kind) for _ in range(2))
    sums = np.empty((len(blocks) - 1, width))
    for t in range(out.shape[1]):
        states = (x, y, others, next_others)
        _large_step((graph, t, first), blocks, graphs, *maps, ends, states, sums)
        out[graph, t] = sums.sum(axis=0)  # block by block: the same for any number of threads
        x, y, others, next_others = y, x, next_others, others
