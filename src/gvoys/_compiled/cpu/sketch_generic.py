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
from numpy.typing import NDArray

from gvoys._compiled.arguments import Graphs, Maps
from gvoys._compiled.cpu.sketch_large import Cuts, sketch_large
from gvoys._jit import kernel

TURNS_PER_RADIAN = 0.5 / np.pi


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
def turn(source, shift, signs, out):
    """out = signs * source shifted by `shift`, plane by plane."""
    width = len(signs)
    for plane in range(0, len(source), width):
        left = plane + width - shift
        signed(source[plane:left], signs[shift:], out[plane + shift : plane + width])
        signed(source[left : plane + width], signs[:shift], out[plane : plane + shift])


@kernel()
def signed(source, signs, out):
    for j in range(len(source)):
        out[j] = signs[j] * source[j]


@kernel(fastmath=True)
def turn_by(angles, real, imaginary):
    """Multiply by exp(i angle), to the last bits of float32: polynomials of the rest beside a multiple of pi / 2.

    Calls of cos and sin would leave the vector registers.
    """
    one, two = np.float32(1.0), np.float32(2.0)
    for j in range(len(angles)):
        turns = angles[j] * TURNS_PER_RADIAN
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
def copy_row(source, out):
    for j in range(len(out)):  # not as a slice, which Numba compiles with its error message, in a second or more
        out[j] = source[j]


@kernel()
def _add_row(source, out):
    for j in range(len(out)):
        out[j] += source[j]


@kernel()
def _attend(vector, item, t, maps, angles, room):
    """Multiply by exp(i omega_j . a) with the attributes a of a node or entry, then mix coordinates, in where."""
    width = len(angles)
    real, imaginary, attributes, omega = vector[:width], vector[width:], maps.values[item], maps.omega[t]
    cosines, sines, partners = maps.cosines[t], maps.sines[t], maps.partners[t]
    angles[:] = 0.0
    for k in range(len(attributes)):
        value, row = attributes[k], omega[k]
        for j in range(width):
            angles[j] += value * row[j]
    turn_by(angles, real, imaginary)
    for level in range(len(cosines)):
        _mix(real, cosines[level], sines[level], partners[level], room[:width])
        _mix(imaginary, cosines[level], sines[level], partners[level], room[width:])
        copy_row(room, vector)


@kernel()
def _mix(source, cosines, sines, partners, out):
    """Rotate pairs of coordinates; a gather, since partners may be too near for vectors of those between."""
    for j in range(len(source)):
        out[j] = cosines[j] * source[j] + sines[j] * source[partners[j]]


@kernel()
def add_others(begin, end, base, indices, arriving, running, others, total):
    """total = sum of arriving; others[e] = the same without the entries that lead where e leads."""
    total[:] = 0.0
    e = begin
    while e < end:
        last = _end_of_parallel(e, end, indices)
        for k in range(e, last):
            copy_row(total, others[k - base])
        for k in range(e, last):
            _add_row(arriving[k - begin], total)
        e = last
    running[:] = 0.0
    e = end
    while e > begin:
        head = e - 1
        while head > begin and indices[head - 1] == indices[e - 1]:
            head -= 1
        for k in range(head, e):
            _add_row(running, others[k - base])
        for k in range(head, e):
            _add_row(arriving[k - begin], running)
        e = head


@kernel()
def _end_of_parallel(e, end, indices):
    """The first entry of a row after e that leads elsewhere."""
    last = e + 1
    while last < end and indices[last] == indices[e]:
        last += 1
    return last


@kernel()
def weight_of(e, weights, factor):
    if len(weights) == 0:  # asked at run time, so that half as many kernels are compiled
        return factor
    return factor * weights[e]


@kernel()
def step(where, graphs, maps, states):
    """States y of a range of nodes after t steps, from their neighbours' states x after one step less.

    where: graph, step, first node and node after the last.
    """
    g, t, begin_node, end_node = where
    indptr, indices, weights, reverse = graphs.indptr, graphs.indices, graphs.weights, graphs.reverse
    start, stop, factor = graphs.start, graphs.stop, graphs.factors[g]
    first = np.int64(graphs.node_offsets[g])
    base = np.int64(indptr[first])
    nodes, edges, attributes, along = maps
    codes, signs, shifts = nodes.codes, nodes.signs[t], nodes.shifts[t]
    x, y, others, next_others, message, turned, arriving, sums = states
    # asked at run time, so that one kernel is compiled for all options
    onward, by_edge, by_node, by_entry = (
        len(reverse) > 0,
        len(edges.codes) > 0,
        len(attributes.cosines) > 0,
        len(along.cosines) > 0,
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
                source, weight = x[indices[e]], weight_of(e, weights, factor)
                if onward and t > 1 and reverse[e, 0] < reverse[e, 1]:
                    source = others[reverse[e, 0] - base]
                for j in range(len(message)):
                    message[j] = weight * source[j]
                if by_edge:
                    turn(message, edges.shifts[t][edges.codes[e]], edges.signs[t][edges.codes[e]], turned)
                    copy_row(turned, message)
                if by_entry:
                    _attend(message, e, t, along, angles, turned)
                if not onward:
                    _add_row(message, total)
                else:
                    if by_node:
                        _attend(message, node, t, attributes, angles, turned)
                    turn(message, shifts[label], signs[label], arriving[e - begin])
            if not onward:
                copy_row(total, message)
            else:
                add_others(begin, end, base, indices, arriving, message, next_others, total)
        if t == 0 or not onward:
            if by_node:
                _attend(message, node, t, attributes, angles, turned)
            turn(message, shifts[label], signs[label], total)
        for j in range(len(sums)):
            sums[j] += start[node] * total[j]


@kernel()
def room_of(reverse, indptr, first, last):
    """Entries of a range of nodes and the largest degree, for non-backtracking walks; else 0."""
    if len(reverse) == 0:
        return np.int64(0), np.int64(0)
    largest = np.int64(0)
    for u in range(first, last):
        largest = max(largest, np.int64(indptr[u + 1]) - np.int64(indptr[u]))
    return np.int64(indptr[last]) - np.int64(indptr[first]), largest


@kernel(parallel=True)
def sketch_group(tasks, graphs, nodes, edges, attributes, along, out):
    """Profiles of the tasks' graphs in one group into out, (n_graphs, n_steps, width); two planes with attributes.

    `attributes` are the maps of nodes' attributes, `along` those of entries.
    """
    for chunk in prange(len(tasks.bounds) - 1):
        chosen = tasks.graphs[tasks.bounds[np.int64(chunk)] : tasks.bounds[np.int64(chunk) + 1]]
        _sketch(chosen, graphs, nodes, edges, attributes, along, out)


@kernel()
def _sketch(chosen, graphs, nodes, edges, attributes, along, out):
    """Do the work of one thread: graph after graph."""
    width, maps = out.shape[2], Maps(nodes, edges, attributes, along)
    message, turned, sums = np.empty(width, out.dtype), np.empty(width, out.dtype), np.empty(width)
    for g in chosen:
        first, last = np.int64(graphs.node_offsets[g]), np.int64(graphs.node_offsets[g + 1])
        n_arcs, largest = room_of(graphs.reverse, graphs.indptr, first, last)
        x, y = np.empty((last - first, width), out.dtype), np.empty((last - first, width), out.dtype)
        others, next_others = np.empty((n_arcs, width), out.dtype), np.empty((n_arcs, width), out.dtype)
        arriving = np.empty((largest, width), out.dtype)
        for t in range(out.shape[1]):
            states = States(x, y, others, next_others, message, turned, arriving, sums)
            step((g, t, np.int64(0), last - first), graphs, maps, states)
            for j in range(width):
                out[g, t, j] = sums[j]
            x, y, others, next_others = y, x, next_others, others


class _Blocks(NamedTuple):
    """Blocks of a large graph's nodes."""

    bounds: Any  # (n_blocks + 1,), nodes at which they begin and end
    shares: Any  # (n_blocks, width), of the profile


@kernel(parallel=True)
def _step_blocks(where, blocks, graphs, nodes, edges, attributes, along, states):
    """One step of all nodes, and the blocks' shares of the profile; where: graph, step, its first node."""
    for part in prange(len(blocks.shares)):
        begin, end = blocks.bounds[np.int64(part)], blocks.bounds[np.int64(part) + 1]
        rows = (where[0], where[1], begin - where[2], end - where[2])
        _step_block(rows, graphs, nodes, edges, attributes, along, states, blocks.shares[np.int64(part)])


@kernel()
def _step_block(where, graphs, nodes, edges, attributes, along, states, share):
    """Do the work of one thread: a block of nodes."""
    x, y, others, next_others = states
    first, width = np.int64(graphs.node_offsets[where[0]]), x.shape[1]
    largest = room_of(graphs.reverse, graphs.indptr, first + where[2], first + where[3])[1]
    message, turned = np.empty(width, x.dtype), np.empty(width, x.dtype)
    arriving = np.empty((largest, width), x.dtype)
    rooms = States(x, y, others, next_others, message, turned, arriving, share)
    step(where, graphs, Maps(nodes, edges, attributes, along), rooms)


def sketch_group_of_large(
    graph: int, cuts: Cuts, graphs: Graphs, nodes: Any, edges: Any, attributes: Any, along: Any, out: NDArray[Any]
) -> None:
    """The profile of one graph in one group into out[graph], all threads on it, by blocks of nodes.

    Entries are read in order, once per step, so that they may lie in a file that is mapped into memory; two states of
    (n_nodes, width) are kept, and two of (n_entries, width) for non-backtracking walks.
    """
    first, last = int(graphs.node_offsets[graph]), int(graphs.node_offsets[graph + 1])
    n_arcs = 0 if not len(graphs.reverse) else int(graphs.indptr[last]) - int(graphs.indptr[first])
    states = [tuple(np.empty((n, out.shape[2]), out.dtype) for n in (last - first, n_arcs)) for _ in range(2)]
    blocks = _Blocks(cuts.blocks, np.empty((len(cuts.blocks) - 1, out.shape[2])))

    def step_all(group: int, t: int, before: Any, after: Any) -> Any:
        rows = (before[0], after[0], before[1], after[1])
        _step_blocks((graph, t, first), blocks, graphs, nodes, edges, attributes, along, rows)
        return blocks.shares

    sketch_large(graph, states, step_all, 1.0, out)
