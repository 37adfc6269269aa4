"""Walkers that start where the start distribution says, in numbers that do not depend on the graph's size."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from gvoys._jit import kernel
from gvoys._kernels.cpu.hashes import mixed
from gvoys._kernels.cpu.randomness import STEP
from gvoys._kernels.cpu.voyagers.steps import draw, neighbour

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
