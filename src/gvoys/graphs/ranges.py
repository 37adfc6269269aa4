"""Passes over arrays at the speed of memory that find the first number out of its range, without temporaries."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys.threads import n_threads

NONE = -1
_BLOCK = 4096  # numbers looked at together: a loop that may stop at each of them is not vectorised
_ROWS = 512  # whose entries stay in the cache while they are looked at twice
_LARGE = 1 << 20  # numbers from which a second thread pays
# bits of a float's exponent, all ones in inf and nan: by its bytes
_EXPONENTS: dict[int, Any] = {4: np.uint32(0x7F800000), 8: np.uint64(0x7FF0000000000000)}


def first_fall(pointers: NDArray[Any]) -> int:
    """The first i with pointers[i + 1] < pointers[i]."""
    return _first(_find_fall, len(pointers) - 1, read_only(pointers))


def first_above(codes: NDArray[np.int32], count: int) -> int:
    """The first code that is not among 0 … count - 1."""
    return _first(_find_above, len(codes), read_only(codes.view(np.uint32)), count)


def first_not_finite(values: NDArray[np.float32] | NDArray[np.float64]) -> int:
    """The first inf or nan in the flattened array."""
    exponent = _EXPONENTS[values.itemsize]
    return _first(_find_not_finite, values.size, read_only(values.reshape(-1).view(exponent.dtype)), exponent)


def first_bad_entry(node_offsets: NDArray[Any], indptr: NDArray[Any], indices: NDArray[np.int32]) -> int:
    """The first entry that leads out of its graph or is below the one before it in its row."""
    offsets, pointers, columns = node_offsets.astype(np.int64), read_only(indptr), read_only(indices.view(np.uint32))
    if len(indptr) + len(indices) < _LARGE:  # without threads and their bookkeeping, as most batches are small
        node = int(_find_bad_rows(offsets, pointers, columns, 0, len(indptr) - 1))
    else:
        node = _smallest(each_stretch(_find_bad_rows, shared_cuts(indptr), offsets, pointers, columns))
    return NONE if node == NONE else int(_find_bad_entry(offsets, pointers, columns, node))


def shared_cuts(indptr: NDArray[Any]) -> NDArray[np.int64]:
    """Split a batch into one stretch of nodes per thread, of about equal numbers of entries."""
    n_nodes, n_entries = len(indptr) - 1, int(indptr[-1])
    parts = n_threads() if n_nodes + n_entries >= _LARGE else 1
    inner = np.searchsorted(indptr, np.linspace(0, n_entries, parts + 1)[1:-1].astype(indptr.dtype))
    return np.concatenate([[0], np.minimum(inner, n_nodes), [n_nodes]]).astype(np.int64)


def _first(find: Callable[..., int], length: int, *arguments: Any) -> int:
    if length < _LARGE:
        return int(find(*arguments, 0, length))
    cuts = np.linspace(0, length, n_threads() + 1).astype(np.int64)
    return _smallest(each_stretch(find, cuts, *arguments))


def _smallest(positions: list[int]) -> int:
    return min((position for position in positions if position != NONE), default=NONE)


def each_stretch(find: Callable[..., int], cuts: NDArray[np.int64], *arguments: Any) -> list[int]:
    """Call find(…, begin, end) for each stretch, in Python's threads, which unlike OpenMP's survive a fork."""
    spans = [(int(begin), int(end)) for begin, end in pairwise(cuts)]
    if len(spans) == 1:
        return [int(find(*arguments, *spans[0]))]
    with ThreadPoolExecutor(len(spans)) as pool:
        return [int(first) for first in pool.map(lambda span: find(*arguments, *span), spans)]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view, so that each kernel is compiled once for arrays of users and of stores."""
    view = array.view()
    view.flags.writeable = False
    return view


@kernel()
def _find_fall(pointers: Any, begin: int, end: int) -> int:  # pragma: no cover
    for first in range(begin, end, _BLOCK):
        block = pointers[first : min(first + _BLOCK, end) + 1]
        falls = False
        for i in range(1, len(block)):
            falls |= block[i] < block[i - 1]
        if falls:
            for i in range(1, len(block)):
                if block[i] < block[i - 1]:
                    return first + i - 1
    return NONE


@kernel()
def _find_above(codes: Any, count: int, begin: int, end: int) -> int:  # pragma: no cover
    for first in range(begin, end, _BLOCK):
        block = codes[first : min(first + _BLOCK, end)]
        largest = np.uint32(0)
        for i in range(len(block)):
            largest = max(largest, block[i])
        if np.int64(largest) >= count:
            for i in range(len(block)):
                if np.int64(block[i]) >= count:
                    return first + i
    return NONE


@kernel()
def _find_not_finite(bits: Any, exponent: Any, begin: int, end: int) -> int:  # pragma: no cover
    for first in range(begin, end, _BLOCK):
        block = bits[first : min(first + _BLOCK, end)]
        any_bad = False
        for i in range(len(block)):
            any_bad |= (block[i] & exponent) == exponent
        if any_bad:
            for i in range(len(block)):
                if (block[i] & exponent) == exponent:
                    return first + i
    return NONE


@kernel()
def _find_bad_rows(offsets: Any, indptr: Any, columns: Any, begin: int, end: int) -> int:  # pragma: no cover
    """Find the first node of a block of nodes that has a bad entry."""
    # all falls from an entry to the next are counted at once, which is vectorised, and those from one row to the next
    # are taken off again; in rows that never fall the last entry is the largest
    graph = np.searchsorted(offsets, begin, side="right") - 1
    one = np.uint64(1)  # unsigned places spare the question whether they count from the end
    for node in range(begin, end, _ROWS):
        last = min(node + _ROWS, end)
        first, stop = np.uint64(indptr[node]), np.uint64(indptr[last])
        if first == stop:
            continue
        falls = _count_falls(columns[np.int64(first) : np.int64(stop)])
        outside = False
        before = columns[first]  # the last entry of the row before
        u = node
        while u < last:
            while offsets[graph + 1] <= u:
                graph += 1
            size = offsets[graph + 1] - offsets[graph]
            until = min(offsets[graph + 1], last)
            for row in range(np.uint64(u) + one, np.uint64(until) + one):
                after = np.uint64(indptr[row])
                if after > first:
                    falls -= columns[first] < before
                    before = columns[after - one]
                    outside |= np.int64(before) >= size
                    first = after
            u = until
        if falls != 0 or outside:
            return node
    return NONE


@kernel()
def _count_falls(entries: Any) -> int:  # pragma: no cover
    falls = 0
    for e in range(1, len(entries)):
        falls += entries[e] < entries[e - 1]
    return falls


@kernel()
def _find_bad_entry(offsets: Any, indptr: Any, columns: Any, node: int) -> int:  # pragma: no cover
    """The first bad entry of `node` or of those after it."""
    graph = np.searchsorted(offsets, node, side="right") - 1
    for u in range(node, len(indptr) - 1):
        while offsets[graph + 1] <= u:
            graph += 1
        begin = np.int64(indptr[u])
        for e in range(begin, np.int64(indptr[u + 1])):
            if np.int64(columns[e]) >= offsets[graph + 1] - offsets[graph] or (
                e > begin and columns[e] < columns[e - 1]
            ):
                return e
    return NONE
