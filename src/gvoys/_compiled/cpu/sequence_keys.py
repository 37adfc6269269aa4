"""Keys of label sequences: numbering distinct ones, and looking them up among others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel


def number_keys(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The distinct keys, sorted, and the position of each key among them: np.unique without sorting all."""
    kept, numbers = _numbered(keys)
    order = np.argsort(kept)
    rank = np.empty(len(kept), np.int32)
    rank[order] = np.arange(len(kept), dtype=np.int32)
    return kept[order], rank[numbers]


@kernel()
def _numbered(keys):
    """The distinct keys as they come, and the number of each key."""
    size, count = 1024, 0
    slots, kept = np.full(size, -1, np.int32), np.empty(size, np.uint64)
    numbers = np.empty(len(keys), np.int32)
    for k in range(len(keys)):
        if 2 * count >= size:
            size *= 4
            kept = grown(kept, count, size)
            slots = table_of(kept[:count], size)
        slot = find_slot(slots, kept, keys[k])
        if slots[slot] < 0:
            slots[slot], kept[count] = count, keys[k]
            count += 1
        numbers[k] = slots[slot]
    return kept[:count], numbers


class Table(NamedTuple):
    """Distinct keys that are looked up: slots, a power of two of them, hold numbers among the keys, or -1."""

    keys: NDArray[np.uint64]
    slots: NDArray[np.int32]

    @classmethod
    def from_keys(cls, keys: NDArray[np.uint64]) -> Table:
        """At most half of the slots are taken."""
        return cls(keys, table_of(keys, 1 << (2 * len(keys) + 1).bit_length()))


def look_up(
    pointers: NDArray[Any], listed: NDArray[np.uint64], values: NDArray[np.float64], table: Table
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Rows of listed keys as sparse rows (pointers, columns, values), whose columns are those of a table."""
    numbers, counts = np.empty(len(listed), np.int32), np.zeros(len(pointers), np.int32)
    _find(pointers, listed, *table, numbers, counts)
    begins = np.cumsum(counts, dtype=np.int32)
    columns, kept = np.empty(begins[-1], np.int32), np.empty(begins[-1])
    _keep(pointers, numbers, values, begins, columns, kept)
    return begins, columns, kept


@kernel(parallel=True)
def _find(pointers, listed, keys, slots, numbers, counts):
    for row in prange(len(pointers) - 1):
        for entry in range(pointers[row], pointers[row + 1]):
            slot = find_slot(slots, keys, listed[entry])
            numbers[entry] = slots[slot]
            counts[row + 1] += slots[slot] >= 0


@kernel(parallel=True)
def _keep(pointers, numbers, values, begins, columns, kept):
    for row in prange(len(pointers) - 1):
        position = begins[row]
        for entry in range(pointers[row], pointers[row + 1]):
            if numbers[entry] >= 0:
                columns[position], kept[position] = numbers[entry], values[entry]
                position += 1


@kernel(inline="always")
def find_slot(slots, keys, key):
    """The slot of a key, or the free one that it may take; slots are a power of two."""
    mask = np.uint64(len(slots) - 1)
    slot = key & mask
    while slots[slot] >= 0 and keys[slots[slot]] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel()
def table_of(keys, size):
    """A table of distinct keys."""
    slots, mask = np.full(size, -1, np.int32), np.uint64(size - 1)
    for k in range(len(keys)):
        slot = keys[k] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = k
    return slots


@kernel()
def grown(array, used, needed):
    """The array, or a longer copy of its first `used` numbers."""
    if needed <= len(array):
        return array
    longer = np.empty(max(needed, 2 * len(array)), array.dtype)
    for k in range(used):  # one by one: Numba compiles slices with their error message, which takes two seconds
        longer[k] = array[k]
    return longer


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
