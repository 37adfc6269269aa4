"""The random maps of entries u -> x: R of the edge's label after R of x's label at the step before.

Both are a cyclic shift of 128 coordinates followed by signs, and so is their product: one map per pair of labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel

Bits = tuple[NDArray[np.uint64], NDArray[np.uint8]]  # signs (n_groups, n_steps, n_labels, 2), shifts without the 2

_SPARSE = 4  # times as many possible pairs as entries, from which a table of all of them is not worth its memory
_WORD = np.uint64(64)
_NONE = np.uint64(0)


def number_pairs(first: NDArray[Any], second: NDArray[Any], n_second: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Number the distinct pairs of two codes; the table has the two codes of each pair, (2, n_pairs)."""
    keys = first.astype(np.int64) * n_second + second
    count = int(keys.max(initial=-1)) + 1
    if count > _SPARSE * len(keys):
        present, codes = np.unique(keys, return_inverse=True)
    else:
        seen = np.zeros(count, bool)
        seen[keys] = True
        present, codes = np.flatnonzero(seen), (np.cumsum(seen) - 1)[keys]
    return codes.astype(np.int32), np.stack(np.divmod(present, n_second)).astype(np.int32)


def compose_maps(pairs: NDArray[np.int32], edges: Bits, nodes: Bits) -> Bits:
    """Signs and shifts of the pairs (edge label, node label) at each step but 0, at which no entry is walked."""
    shape = (*nodes[1].shape[:2], pairs.shape[1])
    signs, shifts = np.zeros((*shape, 2), np.uint64), np.zeros(shape, np.uint8)
    _compose(pairs, *edges, *nodes, signs, shifts)
    return signs, shifts


@kernel()
def _rotated(low, high, count):
    """128 bits, each moved up by some count, those at the top back to the bottom."""
    if count >= _WORD:
        low, high, count = high, low, count - _WORD
    if count == _NONE:
        return low, high
    back = _WORD - count
    return (low << count) | (high >> back), (high << count) | (low >> back)


@kernel(parallel=True)
def _compose(pairs, edge_signs, edge_shifts, node_signs, node_shifts, signs, shifts):
    n_steps = signs.shape[1]
    for index in prange(signs.shape[0] * n_steps):
        r, t = np.int64(index) // n_steps, np.int64(index) % n_steps
        if t > 0:
            for p in range(pairs.shape[1]):
                a, b = pairs[0, p], pairs[1, p]
                bits, shift = edge_signs[r, t, a], edge_shifts[r, t, a]
                low, high = _rotated(node_signs[r, t - 1, b, 0], node_signs[r, t - 1, b, 1], np.uint64(shift))
                signs[r, t, p, 0], signs[r, t, p, 1] = bits[0] ^ low, bits[1] ^ high
                shifts[r, t, p] = (shift + node_shifts[r, t - 1, b]) & 127
