"""Signs of labels and lengths, which walkers on different graphs share.

Numbers are a function of (seed, side, walker, step, label) alone, never of a graph, so that walks with equal labels and
equal lengths agree on them and all others cancel on average.
"""

from __future__ import annotations

import numpy as np

from gvoys._jit import kernel
from gvoys._kernels.cpu.randomness import LENGTH, random_bits, uniform

# Distributions of mean 0 and variance 1 for the variables g of lengths.
DISTRIBUTIONS = ("rademacher", "gaussian", "uniform")

_HALF = np.uint64(32)
_ONE = np.uint64(1)


@kernel()
def _bits(seed, purpose, side, walker, block, label):
    """Random signs of 128 consecutive steps."""
    a, b, c, d = random_bits(seed, purpose, side, walker, block, label)
    return a | (b << _HALF), c | (d << _HALF)


@kernel()
def fill_signs(seed, purpose, side, walker, hashes, out):
    """The signs z of the first 128 steps for every label, (n_labels, 2) of 64 bits each."""
    for label in range(len(hashes)):
        out[label, 0], out[label, 1] = _bits(seed, purpose, side, walker, 0, hashes[label])


@kernel(inline="always")
def _pick(low, high, step):
    return ((high if step & 64 else low) >> np.uint64(step & 63)) & _ONE


@kernel()
def label_parity(table, code, step, seed, purpose, side, walker, hashes):
    """0 for z = 1 and 1 for z = -1; past 128 steps drawn where needed, which few walks reach."""
    if step < 128:
        return _pick(table[code, 0], table[code, 1], step)
    low, high = _bits(seed, purpose, side, walker, step >> 7, hashes[code])
    return _pick(low, high, step)


@kernel()
def fill_lengths(seed, side, walker, distribution, factors, out):
    """factors[l] * g(l) for the lengths that fit into `out`; distribution -1 means g = 1."""
    low = high = np.uint64(0)
    for step in range(len(out)):
        if distribution == 0 and step & 127 == 0:
            low, high = _bits(seed, LENGTH, side, walker, step >> 7, 0)
        g = 1.0
        if distribution == 0:
            g = 1.0 - 2.0 * np.float64(_pick(low, high, step))
        elif distribution > 0:
            a, b, c, d = random_bits(seed, LENGTH, side, walker, step & 0xFFFF, 1 + (step >> 16))
            if distribution == 1:
                g = np.sqrt(-2.0 * np.log(uniform(a, b))) * np.cos(2.0 * np.pi * uniform(c, d))
            else:
                g = np.sqrt(3.0) * (2.0 * uniform(a, b) - 1.0)
        out[step] = factors[step] * g
