"""Sampling the walks, for Algorithm 1 and for one-sided walks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._compiled.arguments import Adjacency, Ends, SignedLabels, WalkedGraphs, Walkers
from gvoys._compiled.cpu.randomness import ANCHOR, WALK_EDGE, WALK_NODE
from gvoys._compiled.cpu.voyager_steps import (
    draw,
    fill_lengths,
    fill_signs,
    halting_length,
    label_parity,
    neighbour,
    starting_place,
    step_bits,
)
from gvoys._jit import kernel
from gvoys.threads import balanced_chunks, n_threads

WALKERS_AT_ONCE = 128  # that are advanced together: their state fits into the first cache
_HALF = np.uint64(32)


class _Task(NamedTuple):
    """One component and side, on consecutive graphs."""

    component: Any
    side: Any
    first: Any  # graph
    last: Any  # graph after the last
    apart: Any  # whether lengths are kept apart


class _Shared(NamedTuple):
    """Numbers that one walker of each node shares on all graphs."""

    seed: Any
    side: Any
    walker: Any
    holder: Any  # of the signs: the walker itself, or the first of its component
    longest: Any
    p_halt: Any  # 0 where walkers halt together, at the longest length
    deposits: Any  # (n_lengths,)
    signs: Any  # (n_labels, 2)
    edge_signs: Any
    n_starts: Any


class _Buffers(NamedTuple):
    """Walkers that are under way."""

    origins: Any
    nodes: Any
    lengths: Any
    entries: Any
    load: Any
    draws: Any  # (4, n)


def sample_both_sides(
    graphs: WalkedGraphs,
    ahead: Adjacency,
    back: Adjacency,
    labels: SignedLabels,
    ends: Ends,
    walkers: Walkers,
    n_components: int,
) -> NDArray[np.float64]:
    """Algorithm 1: the sum over walkers of (v^T C)(D^T w), (n_graphs, n_components)."""
    out = np.empty((len(graphs.keys), n_components))
    _both_sides(_chunks(graphs, n_components), graphs, ahead, back, labels, ends, walkers, out)
    return out


def sample_one_side(
    graphs: WalkedGraphs, ahead: Adjacency, labels: SignedLabels, ends: Ends, walkers: Walkers, n_components: int
) -> NDArray[np.float64]:
    """One-sided walks, summed over walkers, (n_graphs, n_lengths, n_components)."""
    out = np.empty((len(graphs.keys), len(walkers.factors), n_components))
    _one_side(_chunks(graphs, n_components), graphs, ahead, labels, ends, walkers, out)
    return out


def _chunks(graphs: WalkedGraphs, n_components: int) -> NDArray[np.int64]:
    """Components are tasks of their own; where they are few, the graphs are shared out too."""
    return balanced_chunks(np.diff(graphs.node_offsets), -(-4 * n_threads() // n_components))


@kernel(parallel=True)
def _both_sides(chunks, graphs, ahead, back, labels, ends, walkers, out):
    """(v^T C)(D^T w) for every graph and component."""
    n_components, n_chunks = out.shape[1], len(chunks) - 1
    for task in prange(n_components * n_chunks):
        component, chunk = np.int64(task) // n_chunks, np.int64(task) % n_chunks
        chosen = (component, chunks[chunk], chunks[chunk + 1])
        _multiply_sides(chosen, graphs, ahead, back, labels, ends, walkers, out)


@kernel()
def _multiply_sides(chosen, graphs, ahead, back, labels, ends, walkers, out):
    """Both sides of one component on consecutive graphs, which are multiplied at the anchors."""
    component, begin, end = chosen
    offsets, n_anchors, first = graphs.node_offsets, walkers.n_anchors, graphs.node_offsets[begin]
    n = offsets[end] - first
    anchors = np.ones(n if n_anchors >= 0 else 0, np.bool_)
    if n_anchors >= 0:
        for g in range(begin, end):
            drop_anchors(graphs.keys[g], component, n_anchors, anchors[offsets[g] - first : offsets[g + 1] - first])
    sides = np.zeros((2, n))
    for side in range(2):
        weights = Ends(ends.start if side == 0 else ends.stop, ends.start, ends.factors)
        task = _Task(component, side, begin, end, False)
        _cross(task, graphs, ahead if side == 0 else back, labels, weights, walkers, anchors, sides[side])
    for g in range(begin, end):
        total = 0.0
        for u in range(offsets[g] - first, offsets[g + 1] - first):
            total += sides[0, u] * sides[1, u]
        size = offsets[g + 1] - offsets[g]
        if 0 <= n_anchors < size:
            total *= size / n_anchors
        out[g, component] = total


@kernel(parallel=True)
def _one_side(chunks, graphs, ahead, labels, ends, walkers, out):
    """Every length apart, (n_graphs, n_lengths, n_components): walkers end where `stop` says."""
    n_components, n_chunks = out.shape[2], len(chunks) - 1
    for task in prange(n_components * n_chunks):
        component, chunk = np.int64(task) // n_chunks, np.int64(task) % n_chunks
        chosen = (component, chunks[chunk], chunks[chunk + 1])
        _sum_lengths(chosen, graphs, ahead, labels, ends, walkers, out)


@kernel()
def _sum_lengths(chosen, graphs, ahead, labels, ends, walkers, out):
    component, begin, end = chosen
    n_lengths = out.shape[1]
    sums = np.zeros((end - begin) * n_lengths)
    task = _Task(component, 0, begin, end, True)
    _cross(task, graphs, ahead, labels, ends, walkers, np.ones(0, np.bool_), sums)
    for g in range(begin, end):
        for step in range(n_lengths):
            out[g, step, component] = sums[(g - begin) * n_lengths + step]


@kernel()
def drop_anchors(key, component, n_anchors, anchors):
    """Mark `n_anchors` different nodes, each set as likely as any other (Floyd's method); all nodes if they are few."""
    n = len(anchors)
    if n_anchors >= n:
        return
    anchors[:] = False
    for j in range(n - n_anchors, n):
        a, b, _, _ = draw(key, j, component, ANCHOR, 0, 0)
        place = np.int64((a | (b << _HALF)) % np.uint64(j + 1))
        anchors[j if anchors[place] else place] = True


@kernel()
def _cross(task, graphs, adjacency, labels, ends, walkers, anchors, gathered):
    """All walkers of one component and side, on all graphs of a chunk.

    Deposits gather in `gathered` by node, or, where lengths are kept apart, by graph and length.
    """
    seed, side, n_walks, factors = walkers.seed, task.side, walkers.n_walks, walkers.factors
    signs = np.empty((len(labels.hashes), 2), np.uint64)
    edge_signs = np.empty((len(labels.edge_hashes), 2), np.uint64)
    deposits = np.empty(len(factors))
    limit = np.int64(len(factors) - 1)
    coins = np.array([seed, np.uint64(0)])
    buffers = _Buffers(
        np.empty(WALKERS_AT_ONCE, np.int64), np.empty(WALKERS_AT_ONCE, np.int64), np.empty(WALKERS_AT_ONCE, np.int64),
        np.empty(WALKERS_AT_ONCE, np.int64), np.empty(WALKERS_AT_ONCE), np.empty((4, WALKERS_AT_ONCE), np.uint64),
    )  # fmt: skip
    for w in range(n_walks):
        walker = task.component * n_walks + w
        holder = task.component * n_walks if walkers.share_signs else walker  # of the signs and the shared coins
        longest = limit
        if walkers.share_halting and walkers.p_halt > 0:
            longest = halting_length(limit, walkers.p_halt, coins, 0, holder, side)
        if w == 0 or not walkers.share_signs:
            fill_signs(seed, WALK_NODE, side, holder, labels.hashes, signs)
            fill_signs(seed, WALK_EDGE, side, holder, labels.edge_hashes, edge_signs)
            fill_lengths(seed, side, holder, walkers.distribution, factors, deposits[: longest + 1])
        own_coin = 0.0 if walkers.share_halting else walkers.p_halt
        shared = _Shared(seed, side, walker, holder, longest, own_coin, deposits, signs, edge_signs, walkers.n_starts)
        _walk(task, shared, graphs, adjacency, labels, ends, (anchors, gathered), buffers)


@kernel()
def _walk(task, shared, graphs, adjacency, labels, ends, target, buffers):
    """One walker from every node of each graph, or from some of a large one, many at a time: while one waits for
    memory, others go on.
    """
    seed, side, walker, holder, longest, p_halt, deposits, signs, edge_signs, most = shared
    indptr, indices, weights, edge_codes = adjacency
    codes, hashes, edge_hashes = labels
    loads, stops, inverses = ends
    offsets, keys = graphs
    anchors, gathered = target
    origins, nodes, lengths, entries, load, draws = buffers
    apart, base = task.apart, offsets[task.first]
    labelled, edge_labelled, weighted = len(codes) > 0, len(edge_codes) > 0, len(weights) > 0
    for g in range(task.first, task.last):
        key, first, last, inverse = keys[g], offsets[g], offsets[g + 1], inverses[g]
        slot = (g - task.first) * len(deposits)  # where its lengths begin, if they are kept apart
        n_nodes = last - first
        n_starts = most if 0 < most < n_nodes else n_nodes
        for begin in range(0, n_starts, WALKERS_AT_ONCE):
            n = min(WALKERS_AT_ONCE, n_starts - begin)
            for i in range(n):
                origins[i], nodes[i] = begin + i, first + begin + i
                if n_starts < n_nodes:
                    nodes[i] = first + starting_place(key, begin + i, n_starts, n_nodes, walker, side)
                load[i] = loads[nodes[i]] * (n_nodes / n_starts)
                lengths[i] = longest if p_halt == 0 else halting_length(longest, p_halt, key, origins[i], walker, side)
            for step in range(longest + 1):
                if labelled:
                    for i in range(n):
                        if label_parity(signs, codes[nodes[i]], step, seed, WALK_NODE, side, holder, hashes):
                            load[i] = -load[i]
                if apart:
                    for i in range(n):
                        gathered[slot + step] += load[i] * deposits[step] * stops[nodes[i]]
                elif len(anchors) == 0:
                    for i in range(n):
                        gathered[nodes[i] - base] += load[i] * deposits[step]
                else:
                    for i in range(n):
                        if anchors[nodes[i] - base]:
                            gathered[nodes[i] - base] += load[i] * deposits[step]
                if step == longest:
                    break
                if step & 3 == 0:
                    n = _drop_out(n, step, origins, nodes, lengths, load)
                    if n == 0:
                        break
                    for i in range(n):
                        draws[0, i], draws[1, i], draws[2, i], draws[3, i] = step_bits(
                            key, origins[i], walker, side, step
                        )
                for i in range(n):  # short loops, one fetch each, so that many are under way at once
                    row = np.int64(indptr[nodes[i]])
                    degree = np.int64(indptr[nodes[i] + 1]) - row
                    if lengths[i] <= step:
                        degree = 0
                    entries[i] = neighbour(draws[step & 3, i], row, degree)
                    load[i] = load[i] * (degree * inverse) if degree > 0 else 0.0  # not inf * 0, which is not 0
                for i in range(n):
                    if load[i] != 0.0:
                        nodes[i] = first + indices[entries[i]]
                if weighted:
                    for i in range(n):
                        if load[i] != 0.0:
                            load[i] *= weights[entries[i]]
                if edge_labelled:
                    for i in range(n):
                        if load[i] != 0.0 and label_parity(
                            edge_signs, edge_codes[entries[i]], step, seed, WALK_EDGE, side, holder, edge_hashes
                        ):
                            load[i] = -load[i]


@kernel()
def _drop_out(n, step, origins, nodes, lengths, load):
    """Remove walkers that have halted or are stuck; returns how many are left."""
    kept = 0
    for i in range(n):
        if lengths[i] > step and load[i] != 0.0:
            origins[kept], nodes[kept], lengths[kept], load[kept] = origins[i], nodes[i], lengths[i], load[i]
            kept += 1
    return kept
