"""Counts of label sequences: for every graph a list of states (place, sequence) with a weight, stepped and merged.

A place is a node, or an arc for non-backtracking walks. States of one place with the same sequence are found by a small
hash table, which is not cleared from place to place: a slot counts only if it was written in this turn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gvoys._compiled.cpu.sequence_keys import find_slot, grown, half_combined, mixed
from gvoys._jit import kernel


class Places(NamedTuple):
    """Where walks are: nodes, or arcs."""

    offsets: Any  # (n_graphs + 1,), where each graph's places begin
    labels: Any  # (n_places,) uint64
    start: Any  # (n_places,)
    stop: Any  # (n_places,)
    begins: Any  # (n_places,), the first entry that leads on from each place
    ends: Any  # (n_places,), and the one after the last
    targets: Any  # (n_entries,), the place that each entry leads to
    weights: Any  # (n_entries,)
    edges: Any  # (n_entries,) uint64, or empty without edge labels
    back: Any  # (n_places, 2), the entries that would backtrack, or empty where walks may


# -- counting


@kernel()
def count_sequences(first, last, places, max_length, budget, per_graph):
    """Count the label sequences of graphs `first` … `last` - 1.

    Returns where the counts of each (graph, length) begin, the keys and values of all; then for
    each length how many states were made, in all and in the graph with the most, and which graph that is. It stops
    where there are over `budget` of one length; a graph that would have over `per_graph` has no longer walks.
    """
    n_lengths = max_length + 1
    pointers, made = np.zeros((last - first) * n_lengths + 1, np.int64), np.zeros((n_lengths, 3), np.int64)
    out_keys, out_values, n_out = np.empty(1024, np.uint64), np.empty(1024), 0
    for graph in range(first, last):
        begin, end = places.offsets[graph], places.offsets[graph + 1]
        keys, values, bounds = first_states(places, begin, end)
        for length in range(n_lengths):
            if length:
                total, most = count_fans(places, begin, end, bounds)
                if total > made[length, 1]:
                    made[length, 1], made[length, 2] = total, graph
                if total > per_graph:
                    pointers[(graph - first) * n_lengths + length + 1 : (graph - first + 1) * n_lengths + 1] = n_out
                    break
                made[length, 0] += total
                if made[length, 0] > budget:
                    return pointers, out_keys, out_values, made
                keys, values, bounds = step_states(places, begin, end, keys, values, bounds, total, most)
            own_keys, own_values = _merge_starts(places.start[begin:end], keys, values, bounds)
            after = n_out + len(own_keys)
            out_keys, out_values = grown(out_keys, n_out, after), grown(out_values, n_out, after)
            for k in range(len(own_keys)):  # not as slices, which take Numba seconds to compile
                out_keys[n_out + k], out_values[n_out + k] = own_keys[k], own_values[k]
            n_out = after
            pointers[(graph - first) * n_lengths + length + 1] = n_out
    return pointers, out_keys[:n_out], out_values[:n_out], made


@kernel()
def first_states(places, begin, end):
    """Walks of length 0: one state for each place."""
    labels, stop = places.labels, places.stop
    keys, values = np.empty(end - begin, np.uint64), np.empty(end - begin)
    bounds = np.empty(end - begin + 1, np.int64)
    bounds[0] = 0
    for k in range(end - begin):
        keys[k], values[k], bounds[k + 1] = mixed(labels[begin + k]), stop[begin + k], k + 1
    return keys, values, bounds


@kernel()
def count_fans(places, begin, end, bounds):
    """Number of states that a step makes before equal ones are merged, of all places and of the one with the most."""
    begins, ends, targets, back = places.begins, places.ends, places.targets, places.back
    total, most = 0, 0
    for place in range(begin, end):
        fan = 0
        for entry in range(begins[place], ends[place]):
            if len(back) == 0 or entry < back[place, 0] or entry >= back[place, 1]:
                other = targets[entry] - begin
                fan += bounds[other + 1] - bounds[other]
        total += fan
        most = max(most, fan)
    return total, most


@kernel()
def step_states(places, begin, end, keys, values, bounds, total, most):
    """The states one step earlier: at each place those of the places that it leads to, with its label in front."""
    labels, begins, ends, back = places.labels, places.begins, places.ends, places.back
    targets, weights, edges = places.targets, places.weights, places.edges
    new_keys, new_values = np.empty(total, np.uint64), np.empty(total)
    new_bounds = np.empty(end - begin + 1, np.int64)
    rests = half_hashes(keys, len(edges) > 0)
    size = table_size(most)
    slots, turns, mask = np.empty(size, np.int64), np.zeros(size, np.int64), np.uint64(size - 1)
    count = 0
    new_bounds[0] = 0
    for place in range(begin, end):
        turn, label = place - begin + 1, labels[place]
        for entry in range(begins[place], ends[place]):
            if len(back) and entry >= back[place, 0] and entry < back[place, 1]:
                continue
            other, weight = targets[entry] - begin, weights[entry]
            for state in range(bounds[other], bounds[other + 1]):
                half = half_combined(mixed(rests[state] + edges[entry])) if len(edges) else rests[state]
                key = mixed(half + label)
                slot = key & mask
                while turns[slot] == turn and new_keys[slots[slot]] != key:
                    slot = (slot + np.uint64(1)) & mask
                if turns[slot] == turn:
                    new_values[slots[slot]] += values[state] * weight
                else:
                    turns[slot], slots[slot] = turn, count
                    new_keys[count], new_values[count] = key, values[state] * weight
                    count += 1
        new_bounds[place - begin + 1] = count
    return new_keys[:count], new_values[:count], new_bounds


@kernel()
def half_hashes(keys, has_edges):
    """All of the hash of a longer sequence that does not depend on what comes in front: on the edge, if it counts."""
    rests = np.empty(len(keys), np.uint64)
    for state in range(len(keys)):
        half = half_combined(keys[state])
        rests[state] = half if has_edges else half_combined(mixed(half))
    return rests


@kernel()
def _merge_starts(start, keys, values, bounds):
    """The sequences of a graph, wherever they begin."""
    size = table_size(len(keys))
    slots = np.full(size, -1, np.int64)
    own_keys, own_values, count = np.empty(len(keys), np.uint64), np.empty(len(keys)), 0
    for k in range(len(start)):
        weight = start[k]
        for state in range(bounds[k], bounds[k + 1]):
            slot = find_slot(slots, own_keys, keys[state])
            if slots[slot] >= 0:
                own_values[slots[slot]] += weight * values[state]
            else:
                slots[slot] = count
                own_keys[count], own_values[count] = keys[state], weight * values[state]
                count += 1
    return own_keys[:count], own_values[:count]


@kernel()
def table_size(n_items):
    """A power of two that leaves half of the table free."""
    size = 8
    while size < 2 * n_items:
        size *= 2
    return size


# -- what was counted


@kernel()
def pick_length(pointers, keys, values, length, n_lengths):
    """Number of counts of one length of each graph, their keys, and their values."""
    n_graphs = (len(pointers) - 1) // n_lengths
    counts = np.empty(n_graphs, np.int64)
    for graph in range(n_graphs):
        pointer = graph * n_lengths + length
        counts[graph] = pointers[pointer + 1] - pointers[pointer]
    own_keys, own_values, at = np.empty(counts.sum(), np.uint64), np.empty(counts.sum()), 0
    for graph in range(n_graphs):
        begin = pointers[graph * n_lengths + length]
        for k in range(begin, begin + counts[graph]):
            own_keys[at], own_values[at] = keys[k], values[k]
            at += 1
    return counts, own_keys, own_values
