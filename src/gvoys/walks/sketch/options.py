"""The general road: edge labels, no way back, attributes, groups of any width. One group at a time, graphs in parallel.

A step takes the state h of the neighbours to the state of a node by linear maps that all graphs share:

    edge label    R shifts and signs what comes along the edge
    no way back   what came from the node itself is taken out: S_x - m_(x -> u), states on directed edges
    attributes    coordinate j is multiplied by exp(i omega_j . a), then pairs of coordinates are rotated, which mixes
                  them: a diagonal map alone would leave the variance growing with the length
    node label    R shifts and signs the sum
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys.kernels import kernel

__all__ = ["sketch_group"]


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


@kernel(parallel=True)
def sketch_group(
    chunks: Any,
    node_offsets: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    reverse: Any,
    codes: Any,
    signs: Any,
    shifts: Any,
    edge_codes: Any,
    edge_signs: Any,
    edge_shifts: Any,
    attributes: Any,
    omega: Any,
    mixing: Any,
    start: Any,
    stop: Any,
    factor: Any,
    wide: Any,
    out: Any,
) -> None:  # pragma: no cover
    """Profiles of all graphs in one group into out, (n_graphs, n_steps, width), complex where there are attributes.

    `wide` gives the type that sums over nodes are kept in. `reverse` (None: walks may turn back) tells for each
    entry u -> x where the entries x -> u begin and end.
    """
    n_steps, width = out.shape[1], out.shape[2]
    for chunk in prange(len(chunks) - 1):
        message = np.empty(width, out.dtype)
        turned = np.empty(width, out.dtype)
        for g in range(chunks[np.int64(chunk)], chunks[np.int64(chunk) + 1]):
            first, last = np.int64(node_offsets[g]), np.int64(node_offsets[g + 1])
            n, base = last - first, np.int64(indptr[first])
            x = np.empty((n, width), out.dtype)
            y = np.empty((n, width), out.dtype)
            n_arcs = np.int64(indptr[last]) - base if reverse is not None else 0
            arcs = np.empty((n_arcs, width), out.dtype)
            next_arcs = np.empty((n_arcs, width), out.dtype)
            for t in range(n_steps):
                sums = np.zeros_like(wide)
                for u in range(n):
                    total = y[u]
                    if t == 0:
                        message[:] = stop[first + u]
                        _to_node(message, first + u, t, codes, signs, shifts, attributes, omega, mixing, total)
                    else:
                        total[:] = 0.0
                        for e in range(np.int64(indptr[first + u]), np.int64(indptr[first + u + 1])):
                            weight = factor if weights is None else factor * weights[e]
                            message[:] = x[indices[e]]
                            if reverse is not None and t > 1:
                                for back in range(reverse[e, 0], reverse[e, 1]):
                                    message -= arcs[back - base]
                            message *= weight
                            if edge_codes is not None:
                                _turn(message, edge_shifts[t, edge_codes[e]], edge_signs[t, edge_codes[e]], turned)
                                message[:] = turned
                            if reverse is not None:
                                arc = next_arcs[e - base]
                                _to_node(message, first + u, t, codes, signs, shifts, attributes, omega, mixing, arc)
                                message[:] = arc
                            total += message
                        if reverse is None:
                            message[:] = total
                            _to_node(message, first + u, t, codes, signs, shifts, attributes, omega, mixing, total)
                    for j in range(width):
                        sums[j] += start[first + u] * total[j]
                for j in range(width):
                    out[g, t, j] = sums[j]
                x, y = y, x
                if reverse is not None:
                    arcs, next_arcs = next_arcs, arcs
