"""Keys of label sequences: numbering distinct ones, and looking them up among others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel


def number_keys(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The distinct keys, sorted, and the place of each key among them: np.unique without sorting all."""
    found, places = _numbered(keys)
    order = np.argsort(found)
    rank = np.empty(len(found), np.int32)
    rank[order] = np.arange(len(found), dtype=np.int32)
    return found[order], rank[places]


@kernel()
def _numbered(keys: Any) -> Any:  # pragma: no cover
    """The distinct keys as they come, and the number of each key."""
    size, count = 1024, 0
    slots, found = np.full(size, -1, np.int32), np.empty(size, np.uint64)
    numbers = np.empty(len(keys), np.int32)
    for k in range(len(keys)):
        if 2 * count >= size:
            size *= 4
            found = grown(found, count, size)
            slots = table_of(found[:count], size)
        key, mask = keys[k], np.uint64(size - 1)
        slot = key & mask
        while slots[slot] >= 0 and found[slots[slot]] != key:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot], found[count] = count, key
            count += 1
        numbers[k] = slots[slot]
    return found[:count], numbers


class Table(NamedTuple):
    """Distinct keys that are looked up: slots, a power of two of them, hold places among the keys, or -1."""

    keys: NDArray[np.uint64]
    slots: NDArray[np.int32]

    @classmethod
    def of(cls, keys: NDArray[np.uint64]) -> Table:
        """At most half of the slots are taken."""
        return cls(keys, table_of(keys, 1 << (2 * len(keys) + 1).bit_length()))


def look_up(
    pointers: NDArray[Any], listed: NDArray[np.uint64], values: NDArray[np.float64], table: Table
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Rows of listed keys as sparse rows (pointers, columns, values), whose columns are those of a table."""
    places, counts = np.empty(len(listed), np.int32), np.zeros(len(pointers), np.int32)
    _find(pointers, listed, *table, places, counts)
    found = np.cumsum(counts, dtype=np.int32)
    columns, kept = np.empty(found[-1], np.int32), np.empty(found[-1])
    _keep(pointers, places, values, found, columns, kept)
    return found, columns, kept


@kernel(parallel=True)
def _find(pointers: Any, listed: Any, keys: Any, slots: Any, places: Any, counts: Any) -> None:  # pragma: no cover
    mask = np.uint64(len(slots) - 1)
    for row in prange(len(pointers) - 1):
        for entry in range(pointers[row], pointers[row + 1]):
            slot = listed[entry] & mask
            while slots[slot] >= 0 and keys[slots[slot]] != listed[entry]:
                slot = (slot + np.uint64(1)) & mask
            places[entry] = slots[slot]
            counts[row + 1] += slots[slot] >= 0


@kernel(parallel=True)
def _keep(pointers: Any, places: Any, values: Any, found: Any, columns: Any, kept: Any) -> None:  # pragma: no cover
    for row in prange(len(pointers) - 1):
        place = found[row]
        for entry in range(pointers[row], pointers[row + 1]):
            if places[entry] >= 0:
                columns[place], kept[place] = places[entry], values[entry]
                place += 1


@kernel()
def table_of(keys: Any, size: int) -> Any:  # pragma: no cover
    """A table of distinct keys."""
    slots, mask = np.full(size, -1, np.int32), np.uint64(size - 1)
    for k in range(len(keys)):
        slot = keys[k] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = k
    return slots


@kernel()
def grown(array: Any, used: int, needed: int) -> Any:  # pragma: no cover
    """The array, or a longer copy of its first `used` numbers."""
    if needed <= len(array):
        return array
    longer = np.empty(max(needed, 2 * len(array)), array.dtype)
    for k in range(used):  # one by one: Numba compiles slices with their error message, which takes two seconds
        longer[k] = array[k]
    return longer
