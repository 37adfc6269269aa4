"""Hashes of nodes by the walks that return to them, and by those that lead to others; counts modulo two primes.

Nodes run in parallel: the walks of one are counted by additions alone, step by step, on its graph or on a ball in it.
With labels, a walk counts as the product of random numbers, one for each label and step: sums of such products agree
where as many walks spell each label sequence, and hardly elsewhere (Schwartz and Zippel). Both counts are modulo the
first prime then, where products are cheap, with random numbers of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._jit import kernel
from gvoys._kernels.cpu.hashes import mixed

PRIMES = (2**61 - 1, 2**61 - 31)

_FIRST, _SECOND = np.uint64(PRIMES[0]), np.uint64(PRIMES[1])
_ODD = np.uint64(0xD6E8FEB86659FD93)
_ONE, _S3, _S30, _S31, _S61 = (np.uint64(bits) for bits in (1, 3, 30, 31, 61))
_LOW30, _LOW31 = np.uint64(2**30 - 1), np.uint64(2**31 - 1)


@kernel()
def _chained(before: Any, counts: Any) -> Any:  # pragma: no cover
    """A hash of what was before and of a count."""
    return mixed((before ^ counts[0]) + _ODD * counts[1])


@kernel()
def _product(a: Any, b: Any) -> Any:  # pragma: no cover
    """a b modulo 2^61 - 1, by halves of 31 and 30 bits: 2^61 counts as 1."""
    low_a, high_a, low_b, high_b = a & _LOW31, a >> _S31, b & _LOW31, b >> _S31
    middle = low_a * high_b + high_a * low_b
    total = (high_a * high_b << _ONE) + (middle >> _S30) + ((middle & _LOW30) << _S31) + low_a * low_b
    total = (total & _FIRST) + (total >> _S61)
    return min(total, total - _FIRST)


@kernel()
def _step(pointers: Any, columns: Any, labels: Any, first: Any, t: Any, x: Any, y: Any) -> None:  # pragma: no cover
    """y = A x modulo both primes, on the nodes from `first` on; with labels, times their random numbers of step t."""
    labelled, salt = len(labels) > 0, mixed(np.uint64(t))
    first_prime, second_prime = _FIRST, _FIRST if labelled else _SECOND
    for v in range(len(x)):
        a, b = np.uint64(0), np.uint64(0)
        for entry in range(pointers[first + v], pointers[first + v + 1]):
            w = columns[entry] - first
            a += x[w, 0]
            b += x[w, 1]
            a = min(a, a - first_prime)  # the smaller one: without its sign, a difference below zero is large
            b = min(b, b - second_prime)
        if labelled:
            bits = mixed(labels[first + v] ^ salt)
            a, b = _product(a, bits >> _S3), _product(b, mixed(bits) >> _S3)
        y[v, 0], y[v, 1] = a, b


@kernel()
def _hash_of_closed(
    pointers: Any, columns: Any, labels: Any, first: Any, u: Any, longest: Any, x: Any, y: Any
) -> Any:  # pragma: no cover
    """A hash of the number of walks of each length that lead from u back to u; x and y are room."""
    x[:] = np.uint64(0)
    x[u, 0] = x[u, 1] = np.uint64(1)
    found = np.uint64(0)
    for t in range(longest):
        _step(pointers, columns, labels, first, t, x, y)
        found = _chained(found, y[u])
        x, y = y, x
    return found


@kernel(parallel=True)
def hash_closed(
    chunks: Any, graph_of: Any, starts: Any, pointers: Any, columns: Any, labels: Any, longest: Any, out: Any
) -> None:  # pragma: no cover
    """Of every node the walks of length 1 … longest that return to it."""
    for chunk in prange(len(chunks) - 1):
        begin, end = chunks[np.int64(chunk)], chunks[np.int64(chunk) + 1]
        _closed_of_chunk(begin, end, graph_of, starts, pointers, columns, labels, longest, out)


@kernel()
def _closed_of_chunk(
    begin: Any, end: Any, graph_of: Any, starts: Any, pointers: Any, columns: Any, labels: Any, longest: Any, out: Any
) -> None:  # pragma: no cover
    """What one thread does."""
    for u in range(begin, end):
        first, last = starts[graph_of[u]], starts[graph_of[u] + 1]
        x, y = np.empty((last - first, 2), np.uint64), np.empty((last - first, 2), np.uint64)
        out[u] = _hash_of_closed(pointers, columns, labels, first, u - first, longest, x, y)


@kernel(parallel=True)
def hash_pairs(
    chunks: Any, graph_of: Any, starts: Any, pointers: Any, columns: Any, labels: Any, longest: Any, own: Any, out: Any
) -> None:  # pragma: no cover
    """Of every node the walks to each node of its graph: a multiset of their numbers, and of what `own` says of it."""
    for chunk in prange(len(chunks) - 1):
        begin, end = chunks[np.int64(chunk)], chunks[np.int64(chunk) + 1]
        _pairs_of_chunk(begin, end, graph_of, starts, pointers, columns, labels, longest, own, out)


@kernel()
def _pairs_of_chunk(
    begin: Any,
    end: Any,
    graph_of: Any,
    starts: Any,
    pointers: Any,
    columns: Any,
    labels: Any,
    longest: Any,
    own: Any,
    out: Any,
) -> None:  # pragma: no cover
    """What one thread does."""
    for u in range(begin, end):
        first, last = starts[graph_of[u]], starts[graph_of[u] + 1]
        size = last - first
        x, y = np.zeros((size, 2), np.uint64), np.empty((size, 2), np.uint64)
        found = np.zeros(size, np.uint64)
        x[u - first, 0] = x[u - first, 1] = np.uint64(1)
        for t in range(longest):
            _step(pointers, columns, labels, first, t, x, y)
            for v in range(size):
                found[v] = _chained(found[v], y[v])
            x, y = y, x
        total = np.uint64(0)
        for v in range(size):
            total += mixed(found[v] + mixed(own[first + v]))
        out[u] = mixed(mixed(found[u - first] + mixed(own[u])) + total)


@kernel(parallel=True)
def hash_balls(
    chunks: Any,
    graph_of: Any,
    starts: Any,
    pointers: Any,
    columns: Any,
    labels: Any,
    longest: Any,
    radius: Any,
    out: Any,
) -> None:  # pragma: no cover
    """Of every node the closed walks of all nodes within `radius` steps, inside of that ball."""
    for chunk in prange(len(chunks) - 1):
        begin, end = chunks[np.int64(chunk)], chunks[np.int64(chunk) + 1]
        _balls_of_chunk(begin, end, graph_of, starts, pointers, columns, labels, longest, radius, out)


@kernel()
def _balls_of_chunk(
    begin: Any,
    end: Any,
    graph_of: Any,
    starts: Any,
    pointers: Any,
    columns: Any,
    labels: Any,
    longest: Any,
    radius: Any,
    out: Any,
) -> None:  # pragma: no cover
    """What one thread does, with room for the largest graph among its own."""
    size = 0
    for graph in range(graph_of[begin], graph_of[end - 1] + 1):
        size = max(size, starts[graph + 1] - starts[graph])
    place, nodes, far = np.full(size, -1, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    for u in range(begin, end):
        first = starts[graph_of[u]]
        count = _gather(pointers, columns, first, u - first, radius, place, nodes, far)
        own_pointers, own_columns = _induced(pointers, columns, first, nodes[:count], place)
        own_labels = labels[first + nodes[:count]] if len(labels) else labels
        x, y = np.empty((count, 2), np.uint64), np.empty((count, 2), np.uint64)
        total = np.uint64(0)
        for v in range(count):
            found = _hash_of_closed(own_pointers, own_columns, own_labels, 0, v, longest, x, y)
            total += mixed(found + mixed(np.uint64(far[v])))  # the node itself is the only one that is 0 steps away
        out[u] = mixed(total)
        for v in range(count):
            place[nodes[v]] = -1


@kernel()
def _gather(
    pointers: Any, columns: Any, first: Any, u: Any, radius: Any, place: Any, nodes: Any, far: Any
) -> Any:  # pragma: no cover
    """Nodes within `radius` steps of u, their steps, and in `place` their numbers; returns how many there are."""
    nodes[0], far[0], place[u], count, done = u, 0, 0, 1, 0
    while done < count and far[done] < radius:
        v = nodes[done]
        for entry in range(pointers[first + v], pointers[first + v + 1]):
            w = columns[entry] - first
            if place[w] < 0:
                nodes[count], far[count], place[w] = w, far[done] + 1, count
                count += 1
        done += 1
    return count


@kernel()
def _induced(pointers: Any, columns: Any, first: Any, nodes: Any, place: Any) -> Any:  # pragma: no cover
    """Rows of the graph that some nodes have among them."""
    own = np.zeros(len(nodes) + 1, np.int64)
    for i in range(len(nodes)):
        node, count = first + nodes[i], 0
        for entry in range(pointers[node], pointers[node + 1]):
            count += place[columns[entry] - first] >= 0
        own[i + 1] = own[i] + count
    kept, count = np.empty(own[-1], np.int64), 0
    for i in range(len(nodes)):
        node = first + nodes[i]
        for entry in range(pointers[node], pointers[node + 1]):
            w = place[columns[entry] - first]
            if w >= 0:
                kept[count] = w
                count += 1
    return own, kept
