"""Steps of a sampled walk: to a neighbour drawn uniformly, with the probability of doing so divided out.

Every draw is a pure function of (seed, replicate, graph, node, walker, side, step), where a hash of its content stands
for the graph. So walks of different graphs are independent, and a graph walks the same in any batch, thread or process.
"""

from __future__ import annotations

import numpy as np

from gvoys._jit import kernel
from gvoys._kernels.cpu.randomness import HALT, START, STEP, philox, uniform

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@kernel(inline="always")
def draw(key, first, second, purpose, side, count):
    """Four times 32 random bits of one graph, by their purpose."""
    what = (np.uint64(purpose) << np.uint64(28)) | (np.uint64(side) << np.uint64(24)) | np.uint64(count)
    return philox(
        np.uint64(first) ^ (key[1] & _LOW), np.uint64(second) ^ (key[1] >> _HALF), what, np.uint64(0),
        key[0] & _LOW, key[0] >> _HALF,
    )  # fmt: skip


@kernel(inline="always")
def step_bits(key, node, walker, side, step):
    """Four times 32 random bits: the draws of the steps 4k … 4k + 3 of one walker that started at `node`."""
    return draw(key, node, walker, STEP, side, np.uint64(step) >> np.uint64(2))


@kernel()
def starting_place(key, origin, n_starts, n_nodes, walker, side):
    """One of n_starts nodes, drawn from n_nodes / n_starts consecutive ones."""
    a, b, _, _ = draw(key, origin, walker, START, side, 0)
    return min(np.int64((origin + uniform(a, b)) * (n_nodes / n_starts)), n_nodes - 1)


@kernel(inline="always")
def neighbour(bits, begin, degree):
    """An entry of a row, each as likely as the others to one part in 2^32 / degree."""
    return begin + np.int64((bits * np.uint64(degree)) >> _HALF)


@kernel()
def halting_length(limit, p_halt, key, node, walker, side):
    """Steps before a walker halts, P(length >= l) = (1 - p_halt)^l, or `limit` if that comes first.

    A coin of 53 bits cannot resolve very long lengths; a walker that reaches step 20 / p_halt draws anew from there,
    which changes nothing, since halting has no memory.
    """
    reach = np.int64(20.0 / p_halt) + 1
    steps = np.int64(0)
    for attempt in range(limit // reach + 1):
        a, b, _, _ = draw(key, node, walker, HALT, side, attempt)
        more = np.int64(np.log(uniform(a, b)) / np.log1p(-p_halt))
        if more < reach:
            return min(steps + more, limit)
        steps += reach
    return limit
