"""The generic path: edge labels, non-backtracking walks, attributes, groups of any width. One group at a time.

Graphs run in parallel; a large one is shared by all threads.

A step takes the state h of the neighbours to the state of a node by linear maps that all graphs share:

    edge label    R shifts and signs what comes along the edge
    backtrack     without it, what came from the node itself is skipped: states on directed edges, and for each of them
                  the sum of the others of its node, by adding those before it to those after it. Subtracting it from
                  the sum of all would leave nothing but rounding where it is much the largest
    attributes    coordinate j is multiplied by exp(i omega_j . a), then pairs of coordinates are rotated, which mixes
                  them: a diagonal map alone would leave the variance growing with the length
    node label    R shifts and signs the sum
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._jit import kernel

__all__ = ["sketch_group", "sketch_group_of_large"]


@kernel()
def _turn(source: Any, shift: Any, signs: Any, out: Any) -> None:  # pragma: no cover
    """out = signs * source shifted by `shift`."""
    width = len(source)
    for j in range(shift, width):
        out[j] = signs[j] * source[j - shift]
    for j in range(shift):
        out[j] = signs[j] * source[j - shift + width]


@kernel()
def _attend(vector: Any, attributes: Any, omega: Any, mixing: Any) -> None:  # pragma: no cover
    """Multiply by exp(i omega_j . a), then rotate pairs of coordinates, in place."""
    width = len(vector)
    for j in range(width):
        angle = 0.0
        for k in range(len(attributes)):
            angle += omega[j, k] * attributes[k]
        vector[j] *= np.complex64(complex(np.cos(angle), np.sin(angle)))
    for level in range(len(mixing)):
        stride = 1 << np.int64(mixing[level, 0, width])
        for j in range(width):
            other = j ^ stride
            if j < other and other < width:
                a, b = vector[j], vector[other]
                vector[j] = mixing[level, 0, j] * a - mixing[level, 1, j] * b
                vector[other] = mixing[level, 1, j] * a + mixing[level, 0, j] * b


@kernel()
def _to_node(
    vector: Any, u: Any, t: Any, codes: Any, signs: Any, shifts: Any, attributes: Any, omega: Any, mixing: Any, out: Any
) -> None:  # pragma: no cover
    """out = R vector, with the node's attributes before it."""
    if omega is not None:
        _attend(vector, attributes[u], omega[t], mixing[t])
    _turn(vector, shifts[t, codes[u]], signs[t, codes[u]], out)


@kernel()
def _visit(
    u: Any, t: Any, first: Any, base: Any, indptr: Any, indices: Any, weights: Any, reverse: Any, codes: Any,
    signs: Any, shifts: Any, edge_codes: Any, edge_signs: Any, edge_shifts: Any, attributes: Any, omega: Any,
    mixing: Any, stop: Any, factor: Any, x: Any, others: Any, next_others: Any, message: Any, turned: Any,
    arriving: Any, total: Any,
) -> None:  # pragma: no cover  # fmt: skip
    """total = the state of node u after t steps, from its neighbours' states x after one step less.

    For non-backtracking walks, others[e] is what entry e's node has along its other entries.
    """
    if t == 0:
        message[:] = stop[first + u]
        _to_node(message, first + u, t, codes, signs, shifts, attributes, omega, mixing, total)
        return
    begin, end = np.int64(indptr[first + u]), np.int64(indptr[first + u + 1])
    total[:] = 0.0
    if reverse is None and edge_codes is None:  # most of the time; one pass over the neighbour's state
        for e in range(begin, end):
            weight = factor if weights is None else factor * weights[e]
            state = x[indices[e]]
            for j in range(len(total)):
                total[j] += weight * state[j]
    else:
        for e in range(begin, end):
            weight = factor if weights is None else factor * weights[e]
            if reverse is not None and t > 1 and reverse[e, 0] < reverse[e, 1]:
                message[:] = others[reverse[e, 0] - base]
            else:
                message[:] = x[indices[e]]
            message *= weight
            if edge_codes is not None:
                _turn(message, edge_shifts[t, edge_codes[e]], edge_signs[t, edge_codes[e]], turned)
                message[:] = turned
            if reverse is not None:
                _to_node(
                    message, first + u, t, codes, signs, shifts, attributes, omega, mixing, arriving[e - begin]
                )  # fmt: skip
            else:
                total += message
        if reverse is not None:
            _add_others(begin, end, base, indices, arriving, message, next_others, total)
    if reverse is None:
        message[:] = total
        _to_node(message, first + u, t, codes, signs, shifts, attributes, omega, mixing, total)


@kernel()
def _add_others(
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


@kernel(parallel=True)
def sketch_group(
    graphs: Any, chunks: Any, node_offsets: Any, indptr: Any, indices: Any, weights: Any, reverse: Any, codes: Any,
    signs: Any, shifts: Any, edge_codes: Any, edge_signs: Any, edge_shifts: Any, attributes: Any, omega: Any,
    mixing: Any, start: Any, stop: Any, factors: Any, wide: Any, out: Any,
) -> None:  # pragma: no cover  # fmt: skip
    """Profiles of `graphs` in one group into out, (n_graphs, n_steps, width), complex where there are attributes.

    `wide` gives the type that sums over nodes are kept in. `reverse` (None: walks may backtrack) gives for each
    entry u -> x where the entries x -> u begin and end.
    """
    n_steps, width = out.shape[1], out.shape[2]
    for chunk in prange(len(chunks) - 1):
        message = np.empty(width, out.dtype)
        turned = np.empty(width, out.dtype)
        for g in graphs[chunks[np.int64(chunk)] : chunks[np.int64(chunk) + 1]]:
            first, last = np.int64(node_offsets[g]), np.int64(node_offsets[g + 1])
            n, base, factor = last - first, np.int64(indptr[first]), factors[g]
            x = np.empty((n, width), out.dtype)
            y = np.empty((n, width), out.dtype)
            n_arcs = np.int64(indptr[last]) - base if reverse is not None else 0
            others = np.empty((n_arcs, width), out.dtype)
            next_others = np.empty((n_arcs, width), out.dtype)
            arriving = np.empty((_largest_degree(indptr, first, last) if n_arcs else 0, width), out.dtype)
            for t in range(n_steps):
                sums = np.zeros_like(wide)
                for u in range(n):
                    total = y[u]
                    _visit(
                        u, t, first, base, indptr, indices, weights, reverse, codes, signs, shifts, edge_codes,
                        edge_signs, edge_shifts, attributes, omega, mixing, stop, factor, x, others, next_others,
                        message, turned, arriving, total,
                    )  # fmt: skip
                    for j in range(width):
                        sums[j] += start[first + u] * total[j]
                for j in range(width):
                    out[g, t, j] = sums[j]
                x, y = y, x
                if reverse is not None:
                    others, next_others = next_others, others


@kernel(parallel=True)
def _large_step(
    t: Any, first: Any, base: Any, block: Any, indptr: Any, indices: Any, weights: Any, reverse: Any, codes: Any,
    signs: Any, shifts: Any, edge_codes: Any, edge_signs: Any, edge_shifts: Any, attributes: Any, omega: Any,
    mixing: Any, start: Any, stop: Any, factor: Any, x: Any, y: Any, others: Any, next_others: Any, sums: Any,
) -> None:  # pragma: no cover  # fmt: skip
    """One step of all nodes from x to y, and the blocks' shares of the profile in sums."""
    n, width = x.shape
    for part in prange(len(sums)):
        message = np.empty(width, x.dtype)
        turned = np.empty(width, x.dtype)
        share = sums[np.int64(part)]
        share[:] = 0.0
        begin = np.int64(part) * block
        end = min(begin + block, n)
        largest = _largest_degree(indptr, first + begin, first + end) if reverse is not None else 0
        arriving = np.empty((largest, width), x.dtype)
        for u in range(begin, end):
            total = y[u]
            _visit(
                u, t, first, base, indptr, indices, weights, reverse, codes, signs, shifts, edge_codes, edge_signs,
                edge_shifts, attributes, omega, mixing, stop, factor, x, others, next_others, message, turned,
                arriving, total,
            )  # fmt: skip
            for j in range(width):
                share[j] += start[first + u] * total[j]


def sketch_group_of_large(
    graph: int, block: int, node_offsets: Any, indptr: Any, indices: Any, weights: Any, reverse: Any, codes: Any,
    signs: Any, shifts: Any, edge_codes: Any, edge_signs: Any, edge_shifts: Any, attributes: Any, omega: Any,
    mixing: Any, start: Any, stop: Any, factors: Any, wide: Any, out: Any,
) -> None:  # fmt: skip
    """The profile of one graph in one group into out[graph], all threads on it.

    Entries are read in order, once per step, so that they may lie in a file that is mapped into memory; two states of
    (n_nodes, width) are kept, and two of (n_entries, width) for non-backtracking walks.
    """
    first, last = int(node_offsets[graph]), int(node_offsets[graph + 1])
    base, width, kind = int(indptr[first]), out.shape[2], out.dtype
    x, y = (np.empty((last - first, width), kind) for _ in range(2))
    n_arcs = 0 if reverse is None else int(indptr[last]) - base
    others, next_others = (np.empty((n_arcs, width), kind) for _ in range(2))
    sums = np.empty((-(-(last - first) // block), width), wide.dtype)
    for t in range(out.shape[1]):
        _large_step(
            t, first, base, block, indptr, indices, weights, reverse, codes, signs, shifts, edge_codes, edge_signs,
            edge_shifts, attributes, omega, mixing, start, stop, factors[graph], x, y, others, next_others, sums,
        )  # fmt: skip
        out[graph, t] = sums.sum(axis=0)  # block by block: the same for any number of threads
        x, y, others, next_others = y, x, next_others, others
