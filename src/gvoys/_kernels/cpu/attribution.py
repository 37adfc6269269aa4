"""What each place has of a sum over walks in which every label sequence has a weight: forward times backward messages.

Forward, states (place, sequence) have the weight of the walks that spell the sequence from there; backward, what a walk
that passes there adds to the sum. States are those of `count_sequences`, found again by the same hashes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from gvoys._jit import kernel
from gvoys._kernels.cpu.hashes import half_combined, mixed
from gvoys._kernels.cpu.sequences import Places, fans, first_states, halves, stepped, table_size

__all__ = ["Shares", "Weighted", "spread_sequences"]


class Weighted(NamedTuple):
    """Label sequences of every graph and length with their weights."""

    longest: Any  # (n_graphs,), the longest walk that is counted
    pointers: Any  # (n_graphs, n_lengths + 1), where the sequences of each length begin
    keys: Any  # sorted within graph and length
    weights: Any


class Shares(NamedTuple):
    """What comes of it."""

    nodes: Any  # (n_places,), of walks that pass the place, each shared by as many as it has nodes
    last: Any  # (n_places,), of those that end there alone
    edges: Any  # the same by edges: (n_entries,), or (n_places,) if places are arcs


@kernel(parallel=True)
def spread_sequences(places: Places, first_length: int, weighted: Weighted, shares: Shares) -> None:  # pragma: no cover
    """Spread the weights of label sequences over the places of their walks; first_length is 1 if places are arcs."""
    for graph in prange(len(places.offsets) - 1):
        _spread(np.int64(graph), places, first_length, weighted, shares)


@kernel()
def _spread(graph: Any, places: Any, first_length: Any, weighted: Any, shares: Any) -> None:  # pragma: no cover
    """What one thread does: one graph."""
    longest, pointers, keys, weights = weighted
    nodes, last, edges = shares
    begin, end = places.offsets[graph], places.offsets[graph + 1]
    level_keys, level_values, level_bounds = first_states(places, begin, end)
    all_keys, all_values, all_bounds = [level_keys], [level_values], [level_bounds]
    for _ in range(longest[graph] - first_length):
        total, most = fans(places, begin, end, level_bounds)
        level_keys, level_values, level_bounds = stepped(
            places, begin, end, level_keys, level_values, level_bounds, total, most
        )
        all_keys.append(level_keys)
        all_values.append(level_values)
        all_bounds.append(level_bounds)
    by_node, by_edge = np.zeros(0), np.zeros(0)  # of the level at hand, from walks that go on before it
    for back in range(len(all_keys)):
        level = len(all_keys) - 1 - back
        length = level + first_length
        if back == 0:
            by_node, by_edge = np.zeros(len(all_keys[level])), np.zeros(len(all_keys[level]))
        own = slice(pointers[graph, length], pointers[graph, length + 1])
        own_keys, own_weights = keys[own], weights[own]
        for place in range(begin, end):
            for state in range(all_bounds[level][place - begin], all_bounds[level][place - begin + 1]):
                found = np.searchsorted(own_keys, all_keys[level][state])
                if found < len(own_keys) and own_keys[found] == all_keys[level][state]:
                    share = places.start[place] * own_weights[found]
                    by_node[state] += share / (length + 1)
                    by_edge[state] += share / max(length, 1)
                through = by_node[state] * all_values[level][state]
                nodes[place] += through
                if level == 0:
                    last[place] += through
                if first_length == 1:
                    edges[place] += by_edge[state] * all_values[level][state]
        if level > 0:
            by_node, by_edge = _stepped_back(
                places, begin, end, all_keys[level - 1], all_values[level - 1], all_bounds[level - 1],
                all_keys[level], all_bounds[level], by_node, by_edge, first_length, edges,
            )  # fmt: skip


@kernel()
def _stepped_back(
    places: Any, begin: Any, end: Any, keys: Any, values: Any, bounds: Any, later_keys: Any, later_bounds: Any,
    by_node: Any, by_edge: Any, first_length: Any, out: Any,
) -> Any:  # pragma: no cover  # fmt: skip
    """What walks add that go on from the states of one level, from those of states that are one step longer."""
    new_node, new_edge = np.zeros(len(keys)), np.zeros(len(keys))
    has_edges = len(places.edges) > 0
    rests = halves(keys, has_edges)
    most = 0
    for place in range(end - begin):
        most = max(most, later_bounds[place + 1] - later_bounds[place])
    size = table_size(most)
    slots, turns, mask = np.empty(size, np.int64), np.zeros(size, np.int64), np.uint64(size - 1)
    for place in range(begin, end):
        turn, label = place - begin + 1, places.labels[place]
        for state in range(later_bounds[place - begin], later_bounds[place - begin + 1]):
            slot = later_keys[state] & mask
            while turns[slot] == turn:
                slot = (slot + np.uint64(1)) & mask
            turns[slot], slots[slot] = turn, state
        for entry in range(places.begins[place], places.ends[place]):
            if len(places.back) and entry >= places.back[place, 0] and entry < places.back[place, 1]:
                continue
            other, weight = places.targets[entry] - begin, places.weights[entry]
            for state in range(bounds[other], bounds[other + 1]):
                half = half_combined(mixed(rests[state] + places.edges[entry])) if has_edges else rests[state]
                key = mixed(half + label)
                slot = key & mask
                while later_keys[slots[slot]] != key:
                    slot = (slot + np.uint64(1)) & mask
                later = slots[slot]
                new_node[state] += weight * by_node[later]
                new_edge[state] += weight * by_edge[later]
                if first_length == 0:
                    out[entry] += weight * by_edge[later] * values[state]
    return new_node, new_edge
