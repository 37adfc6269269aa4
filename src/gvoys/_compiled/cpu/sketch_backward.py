"""The generic path backwards: shares of nodes and entries in a sum over walks that is linear in the sketch.

With a gradient g_i for each length, the sum over lengths of <g_i, H_i> is a sum over walks. Forwards, states of all
steps are kept. Backwards, the adjoint of a state is what the sum grows by with it: it begins with the gradient, goes
through the transposed maps, and its product with the state is what all walks add that pass there.

A walk of length i is shared by its i + 1 nodes and, apart from that, by its i edges: hence rows of two adjoints, of
gradients divided by i + 1 and by i. Shares are products in single precision, added up in double precision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import prange
from numba.core import cgutils, types
from numba.extending import intrinsic

from gvoys._compiled.arguments import Maps
from gvoys._compiled.cpu.sketch_generic import States, add_others, copy_row, room_of, signed, step, turn_by, weight_of
from gvoys._compiled.cpu.sketch_rows import (
    I64,
    LANES,
    ROW,
    WIDTH,
    add_to,
    data_of,
    integer,
    registers,
    sum_row,
    sum_weighted_row,
    vector_at,
    zeros,
)
from gvoys._jit import kernel


@kernel(inline="always")
def turn_back(source, shift, signs, row, out):
    """The transpose of `turn`, plane by plane: signs first, then shifted back; `row` is room for 144 numbers."""
    if len(signs) % LANES == 0:
        plane = 0
        while plane < len(source):
            _turn_lanes_back(source, plane, shift, signs, len(signs), row, out)
            plane += len(signs)
    else:
        _turn_pieces_back(source, shift, signs, out)


@kernel()
def _turn_pieces_back(source, shift, signs, out):
    width = len(signs)
    for plane in range(0, len(source), width):
        left = plane + width - shift
        signed(source[plane + shift : plane + width], signs[shift:], out[plane:left])
        signed(source[plane : plane + shift], signs[:shift], out[left : plane + width])


@intrinsic
def _turn_lanes_back(typing, source, plane, shift, signs, width, row, out):
    """The same of one plane, a multiple of 16: `row` has its first vector twice, so that any 16 are read at once."""

    def codegen(context, builder, signature, args):
        data, factors, turned, target = (data_of(context, builder, signature.args[i], args[i]) for i in (0, 3, 5, 6))
        plane, shift, end = args[1], args[2], args[4]
        with cgutils.for_range_slice(builder, integer(0), end, integer(LANES), I64) as (position, _):
            sign = builder.load(vector_at(builder, factors, position), align=4)
            value = builder.load(vector_at(builder, data, builder.add(plane, position)), align=4)
            builder.store(builder.fmul(sign, value), vector_at(builder, turned, position), align=4)
        builder.store(
            builder.load(vector_at(builder, turned, integer(0)), align=4), vector_at(builder, turned, end), align=4
        )
        with cgutils.for_range_slice(builder, integer(0), end, integer(LANES), I64) as (position, _):
            begin = builder.add(shift, position)
            over = builder.icmp_signed(">=", begin, end)
            begin = builder.select(over, builder.sub(begin, end), begin)
            value = builder.load(vector_at(builder, turned, begin), align=4)
            builder.store(value, vector_at(builder, target, builder.add(plane, position)), align=4)
        return context.get_dummy_value()

    return types.void(source, types.int64, types.int64, signs, types.int64, row, out), codegen


@kernel()
def attend_back(vectors, item, t, maps, angles, phases, row):
    """Transposed maps of attributes, of complex vectors in place: rotations back, the last first, then phases."""
    width = len(angles)
    attributes, omega = maps.values[item], maps.omega[t]
    cosines, sines, partners = maps.cosines[t], maps.sines[t], maps.partners[t]
    for level in range(len(cosines) - 1, -1, -1):
        for plane in range(0, len(vectors), width):
            _mix_back(vectors[plane : plane + width], cosines[level], sines[level], partners[level], row[:width])
    angles[:] = 0.0
    for k in range(len(attributes)):
        value, frequencies = attributes[k], omega[k]
        for j in range(width):
            angles[j] -= value * frequencies[j]
    real, imaginary = phases[0], phases[1]
    real[:] = 1.0
    imaginary[:] = 0.0
    turn_by(angles, real, imaginary)  # once for all vectors
    for plane in range(0, len(vectors), 2 * width):
        _rotate(vectors[plane : plane + width], vectors[plane + width : plane + 2 * width], real, imaginary)


@kernel()
def _mix_back(vector, cosines, sines, partners, room):
    """Rotate pairs of coordinates the other way."""
    for j in range(len(vector)):
        room[j] = cosines[j] * vector[j] - sines[j] * vector[partners[j]]
    copy_row(room, vector)


@kernel()
def _rotate(real, imaginary, cosines, sines):
    for j in range(len(real)):
        a, b = real[j], imaginary[j]
        real[j] = a * cosines[j] - b * sines[j]
        imaginary[j] = a * sines[j] + b * cosines[j]


@kernel(inline="always")
def product(a, begin, b):
    """The scalar product of b with what begins at a[begin], in single precision and a fixed order."""
    whole = len(b) - len(b) % LANES
    total = _product_of_lanes(a, begin, b, whole)
    for j in range(whole, len(b)):
        total += a[begin + j] * b[j]
    return total


@intrinsic
def _product_of_lanes(typing, a, begin, b, end):
    """The same of the first coordinates, a multiple of 16: lane by lane, then halves of the lanes."""

    def codegen(context, builder, signature, args):
        left, right = (data_of(context, builder, signature.args[i], args[i]) for i in (0, 2))
        (lanes,) = registers(builder, [zeros()])
        with cgutils.for_range_slice(builder, integer(0), args[3], integer(LANES), I64) as (position, _):
            one = builder.load(vector_at(builder, left, builder.add(args[1], position)), align=4)
            other = builder.load(vector_at(builder, right, position), align=4)
            add_to(builder, lanes, builder.fmul(one, other))
        total, count = builder.load(lanes), LANES
        while count > 1:
            count //= 2
            kind = ir.VectorType(ir.IntType(32), count)
            low, high = (
                builder.shuffle_vector(total, total, ir.Constant(kind, list(range(first, first + count))))
                for first in (0, count)
            )
            total = builder.fadd(low, high)
        return builder.fpext(builder.extract_element(total, ir.Constant(ir.IntType(32), 0)), ir.DoubleType())

    return types.float64(a, types.int64, b, types.int64), codegen


class Gradients(NamedTuple):
    """Gradients of all groups, and which of them are those of one group."""

    values: Any  # (n_graphs, n_steps, n_columns)
    begin: Any  # first column of the group
    width: Any  # number of its columns
    norm: Any  # factor of the sketch


class SketchShares(NamedTuple):
    """Shares of nodes and entries in the sum, in double precision."""

    nodes: Any  # (n_nodes,), of walks that pass the node, each shared by as many as it has nodes
    entries: Any  # (n_entries,), the same by edges


class _Adjoints(NamedTuple):
    """Adjoints of one graph's states at one step, of walks shared by nodes and of walks shared by edges."""

    nodes: Any  # (n_nodes, 2 * width)
    others: Any  # (n_entries, 2 * width), of what non-backtracking walks read instead


class _Incoming(NamedTuple):
    """The entries of one graph by the node they lead to."""

    pointers: Any  # (n_nodes + 1,)
    rows: Any  # (n_entries,), twice the node that each entry belongs to: its row among single adjoints
    weights: Any  # (n_entries,); unset where all are one


class _Room(NamedTuple):
    """Rows that are written over and over."""

    message: Any  # (2 * width,), adjoints on their way along an entry
    turned: Any  # (2 * width,)
    arriving: Any  # (largest degree, 2 * width), adjoints of what comes along all entries of a node
    row: Any  # (144,)
    angles: Any  # (width,), or half as many for complex states
    phases: Any  # (2, n_angles), cosines and sines


@kernel(parallel=True)
def spread_group(tasks, graphs, nodes, edges, attributes, along, gradients, shares):
    """Add what nodes and entries of the tasks' graphs have of the sum of gradients times the sketch of one group."""
    for chunk in prange(len(tasks.bounds) - 1):
        chosen = tasks.graphs[tasks.bounds[np.int64(chunk)] : tasks.bounds[np.int64(chunk) + 1]]
        _spread(chosen, graphs, nodes, edges, attributes, along, gradients, shares)


@kernel()
def _spread(chosen, graphs, nodes, edges, attributes, along, gradients, shares):
    """Do the work of one thread: graph after graph, in room for the largest."""
    maps = Maps(nodes, edges, attributes, along)
    n_steps, width, kind = gradients.values.shape[1], gradients.width, gradients.values.dtype
    n_frequencies = nodes.signs.shape[2]
    n_nodes, n_entries, n_arcs, largest = _largest(chosen, graphs)
    x, others = np.empty((n_steps, n_nodes, width), kind), np.empty((n_steps, n_arcs, width), kind)
    gradient, arriving, no_sums = np.empty((n_steps, width), kind), np.empty((largest, width), kind), np.empty(0)
    adjoints = _Adjoints(np.empty((n_nodes, 2 * width), kind), np.empty((n_arcs, 2 * width), kind))
    before = _Adjoints(np.empty((n_nodes, 2 * width), kind), np.empty((n_arcs, 2 * width), kind))
    incoming = _Incoming(np.empty(n_nodes + 1, np.int64), np.empty(n_entries, np.uint32), np.empty(n_entries, kind))
    room = _Room(
        np.empty(2 * width, kind),
        np.empty(2 * width, kind),
        np.empty((largest, 2 * width), kind),
        np.empty(ROW, kind),
        np.empty(n_frequencies),
        np.empty((2, n_frequencies), kind),
    )
    # asked at run time, so that one kernel is compiled for all options
    onward, mapped = len(graphs.reverse) > 0, len(edges.codes) > 0 or len(along.cosines) > 0
    for g in chosen:
        _take_gradient(g, gradients, n_frequencies, gradient)
        last = _last_step(gradient)
        if last < 0:
            continue
        first = np.int64(graphs.node_offsets[g])
        n = np.int64(graphs.node_offsets[g + 1]) - first
        for t in range(last + 1):
            old = max(t - 1, 0)
            states = States(
                x[old], x[t], others[old], others[t], room.message[:width], room.turned[:width], arriving, no_sums
            )
            step((g, t, np.int64(0), n), graphs, maps, states)
        if not (onward or mapped):
            _list_incoming(g, graphs, incoming)
        _clear(g, n, graphs, adjoints)
        for back in range(last + 1):
            t = last - back
            where = (g, t, n)
            _add_gradient(where, graphs, gradient[t], adjoints.nodes)
            if t == 0 or not onward:
                for u in range(n):
                    shares.nodes[first + u] += product(adjoints.nodes[u], 0, x[t, u])
            if t == 0:
                break
            if onward:
                _clear(g, n, graphs, before)
                sources = (x[t - 1], others[t - 1])
                _step_onward_back(where, graphs, maps, sources, adjoints, before, room, shares)
                adjoints, before = before, adjoints
            else:  # what arrives at the nodes is kept in `before`
                _turn_nodes_back(where, graphs, nodes, attributes, adjoints.nodes, before.nodes, room)
                if mapped:
                    _scatter(where, graphs, maps, x[t - 1], before.nodes, adjoints.nodes, room, shares)
                else:
                    _gather(where, graphs, incoming, x[t - 1], before.nodes, adjoints.nodes, room.row, shares)


@kernel()
def _largest(chosen, graphs):
    """Most nodes and entries of a graph; for non-backtracking walks, once more its entries, and the largest degree."""
    n_nodes, n_entries, n_arcs, largest = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for g in chosen:
        first, last = np.int64(graphs.node_offsets[g]), np.int64(graphs.node_offsets[g + 1])
        n_nodes = max(n_nodes, last - first)
        n_entries = max(n_entries, np.int64(graphs.indptr[last]) - np.int64(graphs.indptr[first]))
        arcs, degree = room_of(graphs.reverse, graphs.indptr, first, last)
        n_arcs, largest = max(n_arcs, arcs), max(largest, degree)
    return n_nodes, n_entries, n_arcs, largest


@kernel()
def _take_gradient(g, gradients, n_frequencies, out):
    """One graph's gradients; those of real parts before those of imaginary ones, where the group has pairs of them."""
    values, begin, width, norm = gradients
    n_planes = width // n_frequencies
    for t in range(len(out)):
        for plane in range(n_planes):
            for j in range(n_frequencies):
                out[t, plane * n_frequencies + j] = norm * values[g, t, begin + j * n_planes + plane]


@kernel()
def _last_step(gradient):
    """The longest length with a gradient, or -1."""
    for back in range(len(gradient)):
        t = len(gradient) - 1 - back
        for j in range(gradient.shape[1]):
            if gradient[t, j] != 0:
                return t
    return -1


@kernel()
def _list_incoming(g, graphs, incoming):
    """Entries in the order of the nodes that they lead to, by counting."""
    pointers, rows, in_weights = incoming
    indptr, indices, weights = graphs.indptr, graphs.indices, graphs.weights
    first, last = np.int64(graphs.node_offsets[g]), np.int64(graphs.node_offsets[g + 1])
    n = last - first
    pointers[: n + 1] = 0
    for e in range(np.int64(indptr[first]), np.int64(indptr[last])):
        pointers[indices[e] + 1] += 1
    for u in range(n):
        pointers[u + 1] += pointers[u]
    for u in range(n):
        for e in range(np.int64(indptr[first + u]), np.int64(indptr[first + u + 1])):
            item = pointers[indices[e]]
            rows[item] = 2 * u
            if len(weights):
                in_weights[item] = weights[e]
            pointers[indices[e]] += 1
    for u in range(n, 0, -1):  # each has moved to where the next began
        pointers[u] = pointers[u - 1]
    pointers[0] = 0


@kernel()
def _clear(g, n, graphs, adjoints):
    adjoints.nodes[:n] = 0.0
    if len(graphs.reverse):
        first = np.int64(graphs.node_offsets[g])
        adjoints.others[: np.int64(graphs.indptr[first + n]) - np.int64(graphs.indptr[first])] = 0.0


@kernel()
def _add_gradient(where, graphs, gradient, out):
    """Walks that are complete after t steps: each node's start times the gradient, by nodes and by edges."""
    g, t, n = where
    first, start, width = np.int64(graphs.node_offsets[g]), graphs.start, len(gradient)
    for u in range(n):
        by_node, by_edge = start[first + u] / np.float32(t + 1), start[first + u] / np.float32(max(t, 1))
        of_nodes, of_edges = out[u, :width], out[u, width:]
        for j in range(width):
            of_nodes[j] += by_node * gradient[j]
        for j in range(width):
            of_edges[j] += by_edge * gradient[j]


@kernel()
def _turn_nodes_back(where, graphs, nodes, attributes, adjoints, out, room):
    """Adjoints of what arrives at the nodes, from those of their states: the transposed maps of the nodes."""
    g, t, n = where
    codes, signs, shifts, first = nodes.codes, nodes.signs[t], nodes.shifts[t], np.int64(graphs.node_offsets[g])
    by_node, row, angles, phases = len(attributes.cosines) > 0, room.row, room.angles, room.phases
    for u in range(n):
        label = codes[first + u]
        turn_back(adjoints[u], shifts[label], signs[label], row, out[u])
        if by_node:
            attend_back(out[u], first + u, t, attributes, angles, phases, row)


@kernel()
def _gather(where, graphs, incoming, x, arriving, out, row, shares):
    """One step back where entries have weights alone: a node's adjoints are sums over the entries that lead to it."""
    g, t, n = where
    indptr, indices, weights, factor = graphs.indptr, graphs.indices, graphs.weights, graphs.factors[g]
    first, entries, width = np.int64(graphs.node_offsets[g]), shares.entries, x.shape[1]
    for u in range(n):
        adjoint = arriving[u]
        for e in range(np.int64(indptr[first + u]), np.int64(indptr[first + u + 1])):
            entries[e] += weight_of(e, weights, factor) * product(adjoint, width, x[indices[e]])
    pointers, rows, in_weights = incoming
    weighted, singles, targets = len(weights) > 0, arriving.reshape(-1, width), out.reshape(-1, width)
    for half in range(_n_halves(t)):
        state = singles[half:].reshape(-1)
        for u in range(n):
            begin, end, target = pointers[u], pointers[u + 1], targets[2 * u + half]
            if width != WIDTH:
                target[:] = 0.0
                for item in range(begin, end):
                    weight, source = factor, singles[rows[item] + half]
                    if weighted:
                        weight *= in_weights[item]
                    for j in range(width):
                        target[j] += weight * source[j]
            else:  # sums stay in registers
                if weighted:
                    sum_weighted_row(state, rows, begin, end, row, 0, in_weights)
                else:
                    sum_row(state, rows, begin, end, row, 0)
                for j in range(WIDTH):
                    target[j] = factor * row[j]


@kernel(inline="always")
def _n_halves(t):
    """Number of the two adjoints that are wanted one step before t: walks of no edge have no share for edges."""
    return 1 if t == 1 else 2


@kernel()
def _scatter(where, graphs, maps, x, arriving, out, room, shares):
    """One step back where entries have maps of their own."""
    g, t, n = where
    indptr, indices, weights, factor = graphs.indptr, graphs.indices, graphs.weights, graphs.factors[g]
    first, entries, width = np.int64(graphs.node_offsets[g]), shares.entries, x.shape[1]
    edges, along = maps.edges, maps.edge_attributes
    by_entry, message, turned, reach = len(along.cosines) > 0, room.message, room.turned, width * _n_halves(t)
    out[:n] = 0.0
    for u in range(n):
        for e in range(np.int64(indptr[first + u]), np.int64(indptr[first + u + 1])):
            source = arriving[u]
            if by_entry:
                copy_row(source, turned)
                source = turned
            _walk_back(source, e, t, edges, along, room)
            weight, target = weight_of(e, weights, factor), out[indices[e]]
            entries[e] += weight * product(message, width, x[indices[e]])
            for j in range(reach):
                target[j] += weight * message[j]


@kernel()
def _walk_back(source, e, t, edges, along, room):
    """room.message = what arrives along an entry, by the transposed maps of the entry; attributes write to `source`."""
    if len(along.cosines):
        attend_back(source, e, t, along, room.angles, room.phases, room.row)
    if len(edges.codes):
        code = edges.codes[e]
        turn_back(source, edges.shifts[t, code], edges.signs[t, code], room.row, room.message)
    else:
        copy_row(source, room.message)


@kernel()
def _step_onward_back(where, graphs, maps, sources, adjoints, before, room, shares):
    """One step back of non-backtracking walks.

    What arrives along an entry goes into the state of its node, and into what all entries have that lead elsewhere.
    """
    g, t, n = where
    indptr, indices, weights, factor = graphs.indptr, graphs.indices, graphs.weights, graphs.factors[g]
    nodes, edges, attributes, along = maps
    codes, signs, shifts, reverse = nodes.codes, nodes.signs[t], nodes.shifts[t], graphs.reverse
    (x, others), (of_nodes, of_others), (of_x, of_read) = sources, adjoints, before
    message, turned, arriving, row = room.message, room.turned, room.arriving, room.row
    first, of_node, of_entry, width = np.int64(graphs.node_offsets[g]), shares.nodes, shares.entries, x.shape[1]
    base, reach = np.int64(indptr[first]), width * _n_halves(t)
    by_node, mapped = len(attributes.cosines) > 0, len(edges.codes) > 0 or len(along.cosines) > 0
    for u in range(n):
        node, state = first + u, of_nodes[u]
        label, begin, end = codes[node], np.int64(indptr[node]), np.int64(indptr[node + 1])
        add_others(begin, end, begin, indices, of_others[begin - base : end - base], message, arriving, turned)
        for e in range(begin, end):
            incoming, target = arriving[e - begin], turned if mapped else message
            for j in range(2 * width):
                incoming[j] += state[j]
            turn_back(incoming, shifts[label], signs[label], row, target)
            if by_node:
                attend_back(target, node, t, attributes, room.angles, room.phases, row)
            if mapped:
                _walk_back(turned, e, t, edges, along, room)
            weight, source, target = weight_of(e, weights, factor), x[indices[e]], of_x[indices[e]]
            if t > 1 and reverse[e, 0] < reverse[e, 1]:
                source, target = others[reverse[e, 0] - base], of_read[reverse[e, 0] - base]
            of_node[node] += weight * product(message, 0, source)
            of_entry[e] += weight * product(message, width, source)
            for j in range(reach):
                target[j] += weight * message[j]
