"""Random bits as a pure function of their purpose: Philox4x32-10 (Salmon et al. 2011), no generator state.

Each (seed, purpose, group, step, label) has bits of its own: any thread, batch, process or machine gets the same ones,
in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel

# Purposes: bits of different purposes are independent.
NODE, EDGE, OMEGA, MIXING = range(4)  # the sketch
LENGTH, WALK_NODE, WALK_EDGE, HALT, WALK, STEP, ANCHOR = range(4, 11)  # sampled walks
EDGE_OMEGA, EDGE_MIXING = range(11, 13)  # the sketch again
START = 13  # sampled walks again

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)


@kernel()
def philox(c0, c1, c2, c3, k0, k1):
    """Four times 32 random bits for a counter of four numbers and a key of two, all held in uint64."""
    for _ in range(10):
        p0 = _M0 * c0
        p1 = _M1 * c2
        c0, c1, c2, c3 = (p1 >> _HALF) ^ c1 ^ k0, p1 & _LOW, (p0 >> _HALF) ^ c3 ^ k1, p0 & _LOW
        k0 = (k0 + _W0) & _LOW
        k1 = (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@kernel()
def random_bits(seed, purpose, call, group, step, label):
    """Four times 32 random bits for (seed, purpose, call, group, step, label); step < 2^16, purpose and call < 2^8."""
    what = (np.uint64(purpose) << np.uint64(24)) | (np.uint64(call) << np.uint64(16)) | np.uint64(step)
    name = np.uint64(label)
    key = np.uint64(seed)
    return philox(name & _LOW, name >> _HALF, np.uint64(group), what, key & _LOW, key >> _HALF)


@kernel()
def uniform(a, b):
    """A number in (0, 1) of 53 random bits; never 0, so that its logarithm exists."""
    high, low = a >> np.uint64(5), b >> np.uint64(6)
    return (np.float64(high * np.uint64(67108864) + low) + 0.5) * 2.0**-53


@kernel(parallel=True)
def _fill(seed, purpose, groups, labels, signs, draws):
    n_steps = signs.shape[1]
    for index in prange(len(groups) * n_steps):
        r, t = np.int64(index) // n_steps, np.int64(index) % n_steps
        for c in range(len(labels)):
            a, b, e, d = random_bits(seed, purpose, 0, groups[r], t, labels[c])
            signs[r, t, c, 0] = a | (b << _HALF)
            signs[r, t, c, 1] = e | (d << _HALF)
            draws[r, t, c] = np.uint32(random_bits(seed, purpose, 1, groups[r], t, labels[c])[0])


def sign_table(
    seed: int, purpose: int, groups: NDArray[Any], n_steps: int, labels: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """128 sign bits, (n_groups, n_steps, n_labels, 2), and 32 bits to draw a shift from for each of them."""
    shape = (len(groups), n_steps, len(labels))
    signs, draws = np.empty((*shape, 2), np.uint64), np.empty(shape, np.uint32)
    _fill(np.uint64(seed), purpose, groups, labels, signs, draws)
    return signs, draws


@kernel()
def _fill_uniform(seed, purpose, groups, out):
    for r in range(out.shape[0]):
        for t in range(out.shape[1]):
            for i in range(out.shape[2]):
                a, b, _, _ = random_bits(seed, purpose, 0, groups[r], t, i)
                out[r, t, i] = uniform(a, b)


def uniform_table(seed: int, purpose: int, groups: NDArray[Any], n_steps: int, count: int) -> NDArray[np.float64]:
    """Uniform numbers in (0, 1), (n_groups, n_steps, count)."""
    out = np.empty((len(groups), n_steps, count))
    _fill_uniform(np.uint64(seed), purpose, groups, out)
    return out


def normal_table(seed: int, purpose: int, groups: NDArray[Any], n_steps: int, count: int) -> NDArray[np.float64]:
    """Standard normal numbers by Box and Muller, (n_groups, n_steps, count)."""
    uniform = uniform_table(seed, purpose, groups, n_steps, 2 * count)
    return np.sqrt(-2.0 * np.log(uniform[..., :count])) * np.cos(2.0 * np.pi * uniform[..., count:])


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
