"""The generic path on the GPU: every option of the sketch, graphs of any size, states in the device's memory.

One block per node, one thread per coordinate. A thread reads its coordinate of the neighbours' states with both shifts,
of the edge's label and of the node's, folded into the address; only attributes, which mix coordinates, need shared
memory. The arithmetic is that of `walks/sketch/options.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba import cuda

__all__ = ["add_up_blocks", "add_up_graphs", "step_of_nodes", "step_with_attributes"]

MOST = 128  # coordinates of a group


@cuda.jit(device=True)
def _along(
    t: Any, e: Any, j: Any, width: Any, first: Any, indices: Any, weights: Any, weighted: Any, reverse: Any,
    nonbacktracking: Any, edge_codes: Any, edge_signs: Any, edge_shifts: Any, edge_labelled: Any, factor: Any, x: Any,
    others: Any,
) -> Any:  # pragma: no cover  # fmt: skip
    """Coordinate j of what comes along an entry: the neighbour's state without backtracking, turned by its label."""
    place, turn = j, np.float32(1.0)
    if edge_labelled:
        edge = edge_codes[e]
        turn = edge_signs[edge, j]
        place = (j + width - np.int64(edge_shifts[edge])) % width
    if nonbacktracking and t > 1 and reverse[e, 0] < reverse[e, 1]:
        value = others[reverse[e, 0], place]
    else:
        value = x[first + indices[e], place]
    value *= factor * weights[e] if weighted else factor
    return value * turn


@cuda.jit(device=True)
def _add_others(
    begin: Any, end: Any, j: Any, zero: Any, indices: Any, arriving: Any, others: Any
) -> Any:  # pragma: no cover
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
def step_of_nodes(
    t: Any, indptr: Any, indices: Any, firsts: Any, weights: Any, weighted: Any, reverse: Any, nonbacktracking: Any,
    codes: Any, signs: Any, shifts: Any, edge_codes: Any, edge_signs: Any, edge_shifts: Any, edge_labelled: Any,
    stop: Any, factor: Any, x: Any, y: Any, others: Any, next_others: Any, arriving: Any,
) -> None:  # pragma: no cover  # fmt: skip
    """States after t steps from those after t - 1, for every node (grid) and coordinate (block).

    signs and edge_signs are those of step t, (n_labels, width); `firsts` gives for each node where its graph begins.
    """
    u, j, width = np.int64(cuda.blockIdx.x), np.int64(cuda.threadIdx.x), np.int64(cuda.blockDim.x)
    label = codes[u]
    sign = signs[label, j]
    if t == 0:
        y[u, j] = sign * stop[u]
        return
    own = (j + width - np.int64(shifts[label])) % width  # the coordinate before the node's own shift
    total = np.float32(0.0)
    first, begin, end = np.int64(firsts[u]), np.int64(indptr[u]), np.int64(indptr[u + 1])
    for e in range(begin, end):
        value = _along(
            t, e, own, width, first, indices, weights, weighted, reverse, nonbacktracking, edge_codes, edge_signs,
            edge_shifts, edge_labelled, factor, x, others,
        )  # fmt: skip
        if nonbacktracking:
            arriving[e, j] = value * sign
        else:
            total += value
    if nonbacktracking:
        y[u, j] = _add_others(begin, end, j, total, indices, arriving, next_others)
    else:
        y[u, j] = sign * total


@cuda.jit(device=True)
def _attend(
    vector: Any, j: Any, width: Any, attributes: Any, u: Any, omega: Any, mixing: Any
) -> None:  # pragma: no cover
    """Multiply by exp(i omega_j . a), then rotate pairs of coordinates; all threads of a block together."""
    angle = 0.0
    for k in range(attributes.shape[1]):
        angle += omega[j, k] * attributes[u, k]
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
def step_with_attributes(
    t: Any, indptr: Any, indices: Any, firsts: Any, weights: Any, weighted: Any, reverse: Any, nonbacktracking: Any,
    codes: Any, signs: Any, shifts: Any, edge_codes: Any, edge_signs: Any, edge_shifts: Any, edge_labelled: Any,
    attributes: Any, omega: Any, mixing: Any, stop: Any, factor: Any, x: Any, y: Any, others: Any, next_others: Any,
    arriving: Any,
) -> None:  # pragma: no cover  # fmt: skip
    """The same with attributes: coordinates are complex, and what comes to a node is mixed before its shift."""
    u, j, width = np.int64(cuda.blockIdx.x), np.int64(cuda.threadIdx.x), np.int64(cuda.blockDim.x)
    vector = cuda.shared.array(MOST, numba.complex64)
    label = codes[u]
    sign = signs[label, j]
    own = (j + width - np.int64(shifts[label])) % width
    if t == 0:
        vector[j] = stop[u]
        _attend(vector, j, width, attributes, u, omega, mixing)
        y[u, j] = sign * vector[own]
        return
    total = np.complex64(0.0)
    first, begin, end = np.int64(firsts[u]), np.int64(indptr[u]), np.int64(indptr[u + 1])
    for e in range(begin, end):
        value = _along(
            t, e, j, width, first, indices, weights, weighted, reverse, nonbacktracking, edge_codes, edge_signs,
            edge_shifts, edge_labelled, factor, x, others,
        )  # fmt: skip
        if nonbacktracking:
            vector[j] = value
            _attend(vector, j, width, attributes, u, omega, mixing)
            arriving[e, j] = sign * vector[own]
            cuda.syncthreads()  # before another entry writes to the vector
        else:
            total += value
    if nonbacktracking:
        y[u, j] = _add_others(begin, end, j, total, indices, arriving, next_others)
        return
    vector[j] = total
    _attend(vector, j, width, attributes, u, omega, mixing)
    y[u, j] = sign * vector[own]


@cuda.jit
def add_up_blocks(begins: Any, ends: Any, start: Any, y: Any, sums: Any) -> None:  # pragma: no cover
    """sums[block] = sum of start[u] y[u] over a block's nodes: grid over blocks, a thread per coordinate."""
    block, j = np.int64(cuda.blockIdx.x), np.int64(cuda.threadIdx.x)
    total = 0.0
    for u in range(begins[block], ends[block]):
        total += start[u] * y[u, j]
    sums[block, j] = total


@cuda.jit
def add_up_graphs(
    graphs: Any, blocks: Any, sums: Any, t: Any, first: Any, norm: Any, out: Any
) -> None:  # pragma: no cover
    """Blocks of each graph in order, scaled, into out[graphs[g], t, first:]: grid over graphs, a thread per number."""
    g, j = np.int64(cuda.blockIdx.x), np.int64(cuda.threadIdx.x)
    total = 0.0
    for block in range(blocks[g], blocks[g + 1]):
        total += sums[block, j]
    out[graphs[g], t, first + j] = np.float32(total * norm)
