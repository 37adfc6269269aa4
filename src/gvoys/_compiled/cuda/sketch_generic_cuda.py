"""The generic path on the GPU: every option of the sketch, graphs of any size, states in the device's memory.

One block per node, one thread per coordinate. A thread reads its coordinate of the neighbours' states with both shifts,
of the edge's label and of the node's, folded into the address; only attributes, which mix coordinates, need shared
memory. The arithmetic is that of `cpu/sketch/options.py`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cuda

GROUP_COMPONENTS = 128


class Arcs(NamedTuple):
    """Entries as steps that must not be taken back."""

    reverse: Any  # (n_entries, 2), where the entries back begin and end
    nonbacktracking: Any


class EdgeMaps(NamedTuple):
    """The random maps of edge labels at one step."""

    codes: Any  # (n_entries,)
    signs: Any  # (n_labels, width)
    shifts: Any  # (n_labels,)
    labelled: Any


class States(NamedTuple):
    """States before and after a step."""

    x: Any  # (n_nodes, width)
    y: Any
    others: Any  # (n_entries, width), what an entry's node has along its other entries, for non-backtracking walks
    next_others: Any
    arriving: Any  # what comes along each entry


@cuda.jit(device=True)
def _along(t, e, j, first, graphs, arcs, edges, states):
    """Coordinate j of what comes along an entry: the neighbour's state without backtracking, turned by its label."""
    coordinate, turn = j, np.float32(1.0)
    if edges.labelled:
        width = np.int64(cuda.blockDim.x)
        edge = edges.codes[e]
        turn = edges.signs[edge, j]
        coordinate = (j + width - np.int64(edges.shifts[edge])) % width
    if arcs.nonbacktracking and t > 1 and arcs.reverse[e, 0] < arcs.reverse[e, 1]:
        value = states.others[arcs.reverse[e, 0], coordinate]
    else:
        value = states.x[first + graphs.indices[e], coordinate]
    return value * turn


@cuda.jit(device=True)
def _add_others(begin, end, j, zero, indices, arriving, others):
    """Coordinate j of the sum over a row; others[e, j] = the same without the entries that lead where e leads."""
    total = zero
    e = begin
    while e < end:
        last = e + 1
        while last < end and indices[last] == indices[e]:
            last += 1
        for k in range(e, last):
            others[k, j] = total
        for k in range(e, last):
            total += arriving[k, j]
        e = last
    running = zero
    e = end
    while e > begin:
        head = e - 1
        while head > begin and indices[head - 1] == indices[e - 1]:
            head -= 1
        for k in range(head, e):
            others[k, j] += running
        for k in range(head, e):
            running += arriving[k, j]
        e = head
    return total


@cuda.jit
def step_of_nodes(t, graphs, arcs, nodes, edges, ends, states):
    """States after t steps from those after t - 1, for every node (grid) and coordinate (block).

    The maps of nodes and edges are those of step t: signs, (n_labels, width), and shifts, (n_labels,).
    """
    u, j, width = np.int64(cuda.blockIdx.x), np.int64(cuda.threadIdx.x), np.int64(cuda.blockDim.x)
    label = nodes.codes[u]
    sign = nodes.signs[label, j]
    if t == 0:
        states.y[u, j] = sign * ends.stop[u]
        return
    own = (j + width - np.int64(nodes.shifts[label])) % width  # the coordinate before the node's own shift
    g = graphs.owners[u]
    first, factor = np.int64(graphs.node_offsets[g]), ends.factors[g]
    begin, end = np.int64(graphs.indptr[u]), np.int64(graphs.indptr[u + 1])
    total = np.float32(0.0)
    for e in range(begin, end):
        value = _along(t, e, own, first, graphs, arcs, edges, states)
        value *= factor * graphs.weights[e] if graphs.weighted else factor
        if arcs.nonbacktracking:
            states.arriving[e, j] = value * sign
        else:
            total += value
    if arcs.nonbacktracking:
        states.y[u, j] = _add_others(begin, end, j, total, graphs.indices, states.arriving, states.next_others)
    else:
        states.y[u, j] = sign * total


@cuda.jit(device=True)
def _attend(vector, j, u, attributes):
    """Multiply by exp(i omega_j . a), then rotate pairs of coordinates; all threads of a block together."""
    width, mixing = np.int64(cuda.blockDim.x), attributes.mixing
    angle = 0.0
    for k in range(attributes.values.shape[1]):
        angle += attributes.omega[k, j] * attributes.values[u, k]
    vector[j] *= np.complex64(complex(math.cos(angle), math.sin(angle)))
    cuda.syncthreads()
    for level in range(mixing.shape[0]):
        stride = 1 << np.int64(mixing[level, 0, width])
        other = j ^ stride
        if j < other and other < width:
            a, b = vector[j], vector[other]
            vector[j] = mixing[level, 0, j] * a - mixing[level, 1, j] * b
            vector[other] = mixing[level, 1, j] * a + mixing[level, 0, j] * b
        cuda.syncthreads()


@cuda.jit
def step_with_attributes(t, graphs, arcs, nodes, edges, ends, states, attributes):
    """The same with attributes: coordinates are complex, and what comes to a node is mixed before its shift."""
    u, j, width = np.int64(cuda.blockIdx.x), np.int64(cuda.threadIdx.x), np.int64(cuda.blockDim.x)
    vector = cuda.shared.array(GROUP_COMPONENTS, numba.complex64)
    label = nodes.codes[u]
    sign = nodes.signs[label, j]
    own = (j + width - np.int64(nodes.shifts[label])) % width
    if t == 0:
        vector[j] = ends.stop[u]
        _attend(vector, j, u, attributes)
        states.y[u, j] = sign * vector[own]
        return
    g = graphs.owners[u]
    first, factor = np.int64(graphs.node_offsets[g]), ends.factors[g]
    begin, end = np.int64(graphs.indptr[u]), np.int64(graphs.indptr[u + 1])
    total = np.complex64(0.0)
    for e in range(begin, end):
        value = _along(t, e, j, first, graphs, arcs, edges, states)
        value *= factor * graphs.weights[e] if graphs.weighted else factor
        if arcs.nonbacktracking:
            vector[j] = value
            _attend(vector, j, u, attributes)
            states.arriving[e, j] = sign * vector[own]
            cuda.syncthreads()  # before another entry writes to the vector
        else:
            total += value
    if arcs.nonbacktracking:
        states.y[u, j] = _add_others(begin, end, j, total, graphs.indices, states.arriving, states.next_others)
        return
    vector[j] = total
    _attend(vector, j, u, attributes)
    states.y[u, j] = sign * vector[own]


@cuda.jit
def add_up_blocks(begins, ends, start, y, sums):
    """sums[block] = sum of start[u] y[u] over a block's nodes: grid over blocks, a thread per coordinate."""
    block, j = np.int64(cuda.blockIdx.x), np.int64(cuda.threadIdx.x)
    total = 0.0
    for u in range(begins[block], ends[block]):
        total += start[u] * y[u, j]
    sums[block, j] = total


@cuda.jit
def add_up_graphs(graphs, blocks, sums, t, first, norm, out):
    """Blocks of each graph in order, scaled, into out[graphs[g], t, first:]: grid over graphs, a thread per number."""
    g, j = np.int64(cuda.blockIdx.x), np.int64(cuda.threadIdx.x)
    total = 0.0
    for block in range(blocks[g], blocks[g + 1]):
        total += sums[block, j]
    out[graphs[g], t, first + j] = np.float32(total * norm)
