"""Walkers that start where the start distribution says, in numbers that do not depend on the graph's size."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from gvoys._compiled.cpu.randomness import HALT, STEP, uniform
from gvoys._compiled.cpu.sequence_keys import mixed
from gvoys._compiled.cpu.voyager_steps import draw, halting_length, neighbour, step_bits
from gvoys._jit import kernel

WALKERS_AT_ONCE = 256  # that a thread takes at a time
_GOLDEN = 0.6180339887498949  # its multiples fill (0, 1) evenly, however many there are


class DrawnWalkers(NamedTuple):
    """Nodes of walkers, and their weights."""

    nodes: Any  # (n_walkers,), int64
    loads: Any  # (n_walkers,)
    hashes: Any  # (n_walkers,), of the labels so far; or (0,)


@kernel(parallel=True)
def place_walkers(shifts, cumulative, total, codes, label_hashes, n_nodes, walkers):
    """Places of walkers of weight 1, by batches in turn, each of which is spread evenly over the start distribution.

    `cumulative` holds the sums of absolute start weights, and `total` the last of them, which Numba would read before
    the loop even where there is none; an empty `cumulative` means that all nodes are as likely.
    """
    nodes, _, hashes = walkers
    n_batches, labelled = len(shifts), len(hashes) > 0
    for walker in prange(len(nodes)):
        w = np.int64(walker)
        x = shifts[w % n_batches] + (w // n_batches) * _GOLDEN
        x -= np.floor(x)
        u = np.int64(x * n_nodes)
        if len(cumulative):
            u = np.int64(np.searchsorted(cumulative, x * total, "right"))
        nodes[w] = min(u, n_nodes - 1)
        if labelled:
            hashes[w] = mixed(label_hashes[codes[nodes[w]]] if len(codes) else np.uint64(0))


@kernel(parallel=True)
def move_walkers(key, first, step, n_alive, inverse, adjacency, labels, walkers):
    """One step of the first walkers, to a neighbour drawn uniformly; a walker that is stuck has no load any more."""
    for part in prange((n_alive + WALKERS_AT_ONCE - 1) // WALKERS_AT_ONCE):
        begin = np.int64(part) * WALKERS_AT_ONCE
        end = min(begin + WALKERS_AT_ONCE, n_alive)
        _move(begin, end, (key, first, step, inverse), adjacency, labels, walkers)


@kernel()
def _move(begin, end, draws, adjacency, labels, walkers):
    key, first, step, inverse = draws
    indptr, indices, weights, edge_codes = adjacency
    codes, node_hashes, edge_hashes = labels
    nodes, loads, hashes = walkers
    for w in range(begin, end):
        row = np.int64(indptr[nodes[w]])
        degree = np.int64(indptr[nodes[w] + 1]) - row
        if degree == 0:
            loads[w] = 0.0
        if loads[w] == 0.0:
            continue
        entry = neighbour(draw(key, first + w, 0, STEP, 0, step)[0], row, degree)
        loads[w] *= degree * inverse
        if len(weights):
            loads[w] *= weights[entry]
        nodes[w] = np.int64(indices[entry])
        if len(hashes):
            seen = hashes[w]
            if len(edge_codes):
                seen = mixed(seen ^ edge_hashes[edge_codes[entry]])
            hashes[w] = mixed(seen + (node_hashes[codes[nodes[w]]] if len(codes) else np.uint64(step)))


class Origins(NamedTuple):
    """Nodes that walkers start from."""

    nodes: Any  # (n,)
    lengths: Any  # (n, n_walks), steps of each walker
    ends: Any  # (n,), where the visits of each node's walkers end


class Deposits(NamedTuple):
    """Deposits that walkers leave at nodes."""

    factors: Any  # (n_lengths,)
    inverse: Any  # 1 / scale
    anchors: Any  # (n_nodes,), which nodes take deposits


@kernel(parallel=True)
def draw_lengths(nodes, key, limit, p_halt, side, antithetic, out):
    """Steps before each walker halts, (n, n_walks); antithetic ones halt in pairs, one after the other."""
    for index in prange(len(out)):
        i = np.int64(index)
        n_walks = out.shape[1]
        in_pairs = n_walks - n_walks % 2 if antithetic else 0
        for w in range(0, in_pairs, 2):
            _draw_pair(key, nodes[i], w, side, limit, p_halt, out[i, w : w + 2])
        for w in range(in_pairs, n_walks):
            out[i, w] = halting_length(limit, p_halt, key, nodes[i], w, side)


@kernel()
def _draw_pair(key, node, walker, side, limit, p_halt, lengths):
    """Lengths of two walkers whose coins of a step are half a turn apart (Reid et al. 2023)."""
    lengths[:] = limit
    for step in range(limit):
        a, b, _, _ = draw(key, node, walker, HALT, side, step)
        coin = uniform(a, b)
        if lengths[0] == limit and coin < p_halt:
            lengths[0] = step
        if lengths[1] == limit and (coin + 0.5) % 1.0 < p_halt:
            lengths[1] = step
        if lengths[0] < limit and lengths[1] < limit:
            break


@kernel(parallel=True)
def fill_visits(origins, key, side, adjacency, deposits, columns, values):
    """Node and deposit of every visit, one after the other."""
    for index in prange(len(origins.lengths)):
        i = np.int64(index)
        u = origins.nodes[i]
        slot = origins.ends[i - 1] if i else np.int64(0)
        for w in range(origins.lengths.shape[1]):
            c, load = u, 1.0
            r0 = r1 = r2 = r3 = np.uint64(0)
            for step in range(origins.lengths[i, w] + 1):
                if deposits.anchors[c]:
                    columns[slot] = c
                    values[slot] = load * deposits.factors[step]
                    slot += 1
                row = np.int64(adjacency.indptr[c])
                degree = np.int64(adjacency.indptr[c + 1]) - row
                if degree == 0:
                    break
                if step & 3 == 0:
                    r0, r1, r2, r3 = step_bits(key, u, w, side, step)
                e = neighbour(r0, row, degree)
                r0, r1, r2 = r1, r2, r3
                load *= degree * deposits.inverse
                if len(adjacency.weights):
                    load *= adjacency.weights[e]
                c = np.int64(adjacency.indices[e])
