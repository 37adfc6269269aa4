"""Hashes of nodes by the walks that return to them, and by those that lead to others; counts modulo two primes.

Nodes run in parallel: the walks of one are counted by additions alone, step by step, on its graph or on a ball in it.
With labels, a walk counts as the product of random numbers, one for each label and step: sums of such products agree
where as many walks spell each label sequence, and hardly elsewhere (Schwartz and Zippel). Both counts are modulo the
first prime then, where products are cheap, with random numbers of their own.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from gvoys._compiled.cpu.sequence_keys import mixed
from gvoys._jit import kernel

PRIMES = (2**61 - 1, 2**61 - 31)

_FIRST, _SECOND = np.uint64(PRIMES[0]), np.uint64(PRIMES[1])
_ODD = np.uint64(0xD6E8FEB86659FD93)
_ONE, _S3, _S30, _S31, _S61 = (np.uint64(bits) for bits in (1, 3, 30, 31, 61))
_LOW30, _LOW31 = np.uint64(2**30 - 1), np.uint64(2**31 - 1)


@kernel()
def _chained(before, counts):
    """A hash of what was before and of a count."""
    return mixed((before ^ counts[0]) + _ODD * counts[1])


@kernel()
def _product(a, b):
    """a b modulo 2^61 - 1, by halves of 31 and 30 bits: 2^61 counts as 1."""
    low_a, high_a, low_b, high_b = a & _LOW31, a >> _S31, b & _LOW31, b >> _S31
    middle = low_a * high_b + high_a * low_b
    total = (high_a * high_b << _ONE) + (middle >> _S30) + ((middle & _LOW30) << _S31) + low_a * low_b
    total = (total & _FIRST) + (total >> _S61)
    return min(total, total - _FIRST)


@kernel()
def _step(pointers, columns, labels, first, t, x, y):
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
def _hash_of_closed(pointers, columns, labels, first, u, longest, rooms):
    """A hash of the number of walks of each length that lead from u back to u; `rooms` are two arrays to work in."""
    x, y = rooms
    x[:] = np.uint64(0)
    x[u, 0] = x[u, 1] = np.uint64(1)
    total = np.uint64(0)
    for t in range(longest):
        _step(pointers, columns, labels, first, t, x, y)
        total = _chained(total, y[u])
        x, y = y, x
    return total


@kernel(parallel=True)
def hash_closed(nodes, labels, longest, out):
    """Hash of the walks of length 1 … longest that return to each node."""
    for chunk in prange(len(nodes.bounds) - 1):
        _closed_of_chunk(nodes.bounds[np.int64(chunk)], nodes.bounds[np.int64(chunk) + 1], nodes, labels, longest, out)


@kernel()
def _closed_of_chunk(begin, end, nodes, labels, longest, out):
    """Do the work of one thread."""
    _, graph_of, starts, pointers, columns = nodes
    for u in range(begin, end):
        first, last = starts[graph_of[u]], starts[graph_of[u] + 1]
        rooms = np.empty((last - first, 2), np.uint64), np.empty((last - first, 2), np.uint64)
        out[u] = _hash_of_closed(pointers, columns, labels, first, u - first, longest, rooms)


@kernel(parallel=True)
def hash_pairs(nodes, labels, longest, own, out):
    """Hash of the walks from each node to each of its graph: a multiset of their numbers, and of `own` of that node."""
    for chunk in prange(len(nodes.bounds) - 1):
        begin, end = nodes.bounds[np.int64(chunk)], nodes.bounds[np.int64(chunk) + 1]
        _pairs_of_chunk(begin, end, nodes, labels, longest, own, out)


@kernel()
def _pairs_of_chunk(begin, end, nodes, labels, longest, own, out):
    """Do the work of one thread."""
    _, graph_of, starts, pointers, columns = nodes
    for u in range(begin, end):
        first, last = starts[graph_of[u]], starts[graph_of[u] + 1]
        size = last - first
        x, y = np.zeros((size, 2), np.uint64), np.empty((size, 2), np.uint64)
        hashes = np.zeros(size, np.uint64)
        x[u - first, 0] = x[u - first, 1] = np.uint64(1)
        for t in range(longest):
            _step(pointers, columns, labels, first, t, x, y)
            for v in range(size):
                hashes[v] = _chained(hashes[v], y[v])
            x, y = y, x
        total = np.uint64(0)
        for v in range(size):
            total += mixed(hashes[v] + mixed(own[first + v]))
        out[u] = mixed(mixed(hashes[u - first] + mixed(own[u])) + total)


@kernel(parallel=True)
def hash_balls(nodes, labels, longest, radius, out):
    """Hash of the closed walks of all nodes within `radius` steps of each node, inside of that ball."""
    for chunk in prange(len(nodes.bounds) - 1):
        begin, end = nodes.bounds[np.int64(chunk)], nodes.bounds[np.int64(chunk) + 1]
        _balls_of_chunk(begin, end, nodes, labels, longest, radius, out)


@kernel()
def _balls_of_chunk(begin, end, nodes, labels, longest, radius, out):
    """Do the work of one thread, with room for the largest of its graphs."""
    _, graph_of, starts, pointers, columns = nodes
    size = 0
    for graph in range(graph_of[begin], graph_of[end - 1] + 1):
        size = max(size, starts[graph + 1] - starts[graph])
    numbers, ball, steps = np.full(size, -1, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    for u in range(begin, end):
        first = starts[graph_of[u]]
        count = _gather(pointers, columns, first, u - first, radius, numbers, ball, steps)
        ball_pointers, ball_columns = _induced(pointers, columns, first, ball[:count], numbers)
        ball_labels = labels[first + ball[:count]] if len(labels) else labels
        rooms = np.empty((count, 2), np.uint64), np.empty((count, 2), np.uint64)
        total = np.uint64(0)
        for v in range(count):
            walks = _hash_of_closed(ball_pointers, ball_columns, ball_labels, 0, v, longest, rooms)
            total += mixed(walks + mixed(np.uint64(steps[v])))  # the node itself is the only one that is 0 steps away
        out[u] = mixed(total)
        for v in range(count):
            numbers[ball[v]] = -1


@kernel()
def _gather(pointers, columns, first, u, radius, numbers, ball, steps):
    """Nodes within `radius` steps of u, their steps, and their `numbers` in the ball; returns how many there are."""
    ball[0], steps[0], numbers[u], count, done = u, 0, 0, 1, 0
    while done < count and steps[done] < radius:
        v = ball[done]
        for entry in range(pointers[first + v], pointers[first + v + 1]):
            w = columns[entry] - first
            if numbers[w] < 0:
                ball[count], steps[count], numbers[w] = w, steps[done] + 1, count
                count += 1
        done += 1
    return count


@kernel()
def _induced(pointers, columns, first, ball, numbers):
    """Rows of the graph that the nodes of a ball have among them."""
    ball_pointers, count = np.zeros(len(ball) + 1, np.int64), 0
    for i in range(len(ball)):
        for entry in range(pointers[first + ball[i]], pointers[first + ball[i] + 1]):
            count += numbers[columns[entry] - first] >= 0
        ball_pointers[i + 1] = count
    ball_columns, count = np.empty(count, np.int64), 0
    for i in range(len(ball)):
        for entry in range(pointers[first + ball[i]], pointers[first + ball[i] + 1]):
            w = numbers[columns[entry] - first]
            if w >= 0:
                ball_columns[count] = w
                count += 1
    return ball_pointers, ball_columns
