"""Hashes of 64 bits, one at a time, as gvoys.graphs.labels has them for arrays."""

from __future__ import annotations

import numpy as np

from gvoys._jit import kernel

_SALT = np.uint64(0x243F6A8885A308D3)


@kernel()
def mixed(x):
    """`hash_integers` of one hash."""
    x += np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel()
def half_combined(first):
    """Mix the first hash as `combine_hashes` does, before the second comes."""
    return mixed(first ^ _SALT)
