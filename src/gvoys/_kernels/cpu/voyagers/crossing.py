"""Sampling the walks, for Algorithm 1 and for one-sided walks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._jit import kernel
from gvoys._kernels.cpu.randomness import ANCHOR, WALK_EDGE, WALK_NODE
from gvoys._kernels.cpu.voyagers.signs import fill_lengths, fill_signs, label_parity
from gvoys._kernels.cpu.voyagers.steps import draw, halting_length, neighbour, step_bits

__all__ = ["drop_anchors", "sample_both_sides", "sample_one_side"]

AT_ONCE = 128  # walkers that are advanced together: their state fits into the first cache
_HALF = np.uint64(32)


@kernel(parallel=True)
def sample_both_sides(
    seed: Any, chunks: Any, offsets: Any, keys: Any, ahead: Any, back: Any, codes: Any, hashes: Any, edge_hashes: Any,
    start: Any, stop: Any, factors: Any, inverses: Any, distribution: Any, n_walks: Any, p_halt: Any, n_anchors: Any,
    share_signs: Any, share_halting: Any, out: Any,
) -> None:  # pragma: no cover  # fmt: skip
    """(v^T C)(D^T w) for every graph and component: both sides are multiplied at the anchors."""
    n_components, n_chunks = out.shape[1], len(chunks) - 1
    for task in prange(n_components * n_chunks):
        component, chunk = np.int64(task) // n_chunks, np.int64(task) % n_chunks
        first = offsets[chunks[chunk]]
        n = offsets[chunks[chunk + 1]] - first
        gathered = np.zeros((2, n))
        anchors = np.ones(n if n_anchors >= 0 else 0, np.bool_)
        if n_anchors >= 0:
            for g in range(chunks[chunk], chunks[chunk + 1]):
                drop_anchors(keys[g], component, n_anchors, anchors[offsets[g] - first : offsets[g + 1] - first])
        for side in range(2):
            _cross(
                seed, component, side, chunks[chunk], chunks[chunk + 1], offsets, keys,
                ahead if side == 0 else back, codes, hashes, edge_hashes, start if side == 0 else stop, start, factors,
                inverses, distribution, n_walks, p_halt, share_signs, share_halting, False, anchors, gathered[side],
            )  # fmt: skip
        for g in range(chunks[chunk], chunks[chunk + 1]):
            total = 0.0
            for u in range(offsets[g] - first, offsets[g + 1] - first):
                total += gathered[0, u] * gathered[1, u]
            size = offsets[g + 1] - offsets[g]
            if 0 <= n_anchors < size:
                total *= size / n_anchors
            out[g, component] = total


@kernel(parallel=True)
def sample_one_side(
    seed: Any, chunks: Any, offsets: Any, keys: Any, ahead: Any, codes: Any, hashes: Any, edge_hashes: Any,
    start: Any, stop: Any, factors: Any, inverses: Any, n_walks: Any, p_halt: Any, share_signs: Any, share_halting: Any,
    out: Any,
) -> None:  # pragma: no cover  # fmt: skip
    """Every length apart, (n_graphs, n_lengths, n_components): walkers end where `stop` says."""
    n_lengths, n_components, n_chunks = out.shape[1], out.shape[2], len(chunks) - 1
    for task in prange(n_components * n_chunks):
        component, chunk = np.int64(task) // n_chunks, np.int64(task) % n_chunks
        first, last = chunks[chunk], chunks[chunk + 1]
        sums = np.zeros((last - first) * n_lengths)
        anchors = np.ones(0, np.bool_)
        _cross(
            seed, component, 0, first, last, offsets, keys, ahead, codes, hashes, edge_hashes, start, stop, factors,
            inverses, -1, n_walks, p_halt, share_signs, share_halting, True, anchors, sums,
        )  # fmt: skip
        for g in range(first, last):
            for step in range(n_lengths):
                out[g, step, component] = sums[(g - first) * n_lengths + step]


@kernel()
def drop_anchors(key: Any, component: Any, n_anchors: Any, anchors: Any) -> None:  # pragma: no cover
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
def _cross(
    seed: Any, component: Any, side: Any, first_graph: Any, last_graph: Any, offsets: Any, keys: Any, adjacency: Any,
    codes: Any, hashes: Any, edge_hashes: Any, loads: Any, ends: Any, factors: Any, inverses: Any, distribution: Any,
    n_walks: Any, p_halt: Any, share_signs: Any, share_halting: Any, apart: Any, anchors: Any, gathered: Any,
) -> None:  # pragma: no cover  # fmt: skip
    """All walkers of one component and side, on all graphs of a chunk.

    Deposits gather in `gathered` by node, or, where lengths are kept apart, by graph and length.
    """
    signs = np.empty((len(hashes), 2), np.uint64)
    edge_signs = np.empty((len(edge_hashes), 2), np.uint64)
    deposits = np.empty(len(factors))
    limit = np.int64(len(factors) - 1)
    coins = np.array([seed, np.uint64(0)])
    buffers = (
        np.empty(AT_ONCE, np.int64), np.empty(AT_ONCE, np.int64), np.empty(AT_ONCE, np.int64),
        np.empty(AT_ONCE, np.int64), np.empty(AT_ONCE), np.empty((4, AT_ONCE), np.uint64),
    )  # fmt: skip
    for w in range(n_walks):
        walker = component * n_walks + w
        shared = component * n_walks if share_signs else walker  # who holds the signs and the shared coins
        length = limit
        if share_halting and p_halt > 0:
            length = halting_length(limit, p_halt, coins, 0, shared, side)
        if w == 0 or not share_signs:
            fill_signs(seed, WALK_NODE, side, shared, hashes, signs)
            fill_signs(seed, WALK_EDGE, side, shared, edge_hashes, edge_signs)
            fill_lengths(seed, side, shared, distribution, factors, deposits[: length + 1])
        for g in range(first_graph, last_graph):
            row = (g - first_graph) * len(factors)
            _walk(
                seed, keys[g], walker, shared, side, length, 0.0 if share_halting else p_halt, offsets[g],
                offsets[g + 1], offsets[first_graph], adjacency, codes, hashes, signs, edge_hashes, edge_signs, loads,
                ends, deposits, inverses[g], apart, anchors,
                gathered[row : row + len(factors)] if apart else gathered, buffers,
            )  # fmt: skip


@kernel()
def _walk(
    seed: Any, key: Any, walker: Any, shared: Any, side: Any, longest: Any, p_halt: Any, first: Any, last: Any,
    base: Any, adjacency: Any, codes: Any, hashes: Any, signs: Any, edge_hashes: Any, edge_signs: Any, loads: Any,
    ends: Any, deposits: Any, inverse: Any, apart: Any, anchors: Any, gathered: Any, buffers: Any,
) -> None:  # pragma: no cover  # fmt: skip
    """One walker from every node of one graph, many at a time: while one waits for memory, others go on."""
    indptr, indices, weights, edge_codes = adjacency
    origins, places, lengths, entries, load, draws = buffers
    labelled, edge_labelled, weighted = len(codes) > 0, len(edge_codes) > 0, len(weights) > 0
    for begin in range(first, last, AT_ONCE):
        n = min(AT_ONCE, last - begin)
        for i in range(n):
            origins[i], places[i], load[i] = begin + i - first, begin + i, loads[begin + i]
            lengths[i] = longest if p_halt == 0 else halting_length(longest, p_halt, key, origins[i], walker, side)
        for step in range(longest + 1):
            if labelled:
                for i in range(n):
                    if label_parity(signs, codes[places[i]], step, seed, WALK_NODE, side, shared, hashes):
                        load[i] = -load[i]
            if apart:
                for i in range(n):
                    gathered[step] += load[i] * deposits[step] * ends[places[i]]
            elif len(anchors) == 0:
                for i in range(n):
                    gathered[places[i] - base] += load[i] * deposits[step]
            else:
                for i in range(n):
                    if anchors[places[i] - base]:
                        gathered[places[i] - base] += load[i] * deposits[step]
            if step == longest:
                break
            if step & 3 == 0:
                n = _drop_out(n, step, origins, places, lengths, load)
                if n == 0:
                    break
                for i in range(n):
                    draws[0, i], draws[1, i], draws[2, i], draws[3, i] = step_bits(key, origins[i], walker, side, step)
            for i in range(n):  # short loops, one fetch each, so that many are under way at once
                row = np.int64(indptr[places[i]])
                degree = np.int64(indptr[places[i] + 1]) - row
                if lengths[i] <= step:
                    degree = 0
                entries[i] = neighbour(draws[step & 3, i], row, degree)
                load[i] = load[i] * (degree * inverse) if degree > 0 else 0.0  # not inf * 0, which is not 0
            for i in range(n):
                if load[i] != 0.0:
                    places[i] = first + indices[entries[i]]
            if weighted:
                for i in range(n):
                    if load[i] != 0.0:
                        load[i] *= weights[entries[i]]
            if edge_labelled:
                for i in range(n):
                    if load[i] != 0.0 and label_parity(
                        edge_signs, edge_codes[entries[i]], step, seed, WALK_EDGE, side, shared, edge_hashes
                    ):
                        load[i] = -load[i]


@kernel()
def _drop_out(n: Any, step: Any, origins: Any, places: Any, lengths: Any, load: Any) -> Any:  # pragma: no cover
    """Remove walkers that have halted or are stuck; returns how many are left."""
    kept = 0
    for i in range(n):
        if lengths[i] > step and load[i] != 0.0:
            origins[kept], places[kept], lengths[kept], load[kept] = origins[i], places[i], lengths[i], load[i]
            kept += 1
    return kept
