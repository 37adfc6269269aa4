"""Shares of places in a sum over walks in which every label sequence has a weight: forward times backward messages.

Forward, states (place, sequence) have the weight of the walks that spell the sequence from there; backward, what a walk
that passes there adds to the sum. States are those of `count_sequences`, found again by the same hashes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from gvoys._compiled.cpu.sequence_keys import find_slot, half_combined, mixed, table_of
from gvoys._compiled.cpu.sequences_cpu import count_fans, first_states, half_hashes, step_states, table_size
from gvoys._jit import kernel


class Weighted(NamedTuple):
    """Label sequences of every graph and length with their weights."""

    longest: Any  # (n_graphs,), the longest walk that is counted
    begins: Any  # (n_lengths, n_graphs), where the sequences of each length and graph begin
    ends: Any
    keys: Any
    weights: Any


class Shares(NamedTuple):
    """Shares of the places and edges in the sum."""

    nodes: Any  # (n_places,), of walks that pass the place, each shared by as many as it has nodes
    last: Any  # (n_places,), of those that end there alone
    edges: Any  # the same by edges: (n_entries,), or (n_places,) if places are arcs


class Wanted(NamedTuple):
    """Label sequences of which a walk is looked for."""

    pointers: Any  # (n_graphs + 1,), where those of each graph begin
    lengths: Any
    keys: Any
    walks: Any  # (n_wanted, n_lengths), the places of one walk; -1 where it has none
    entries: Any  # (n_wanted, n_lengths), and the entries it goes along


class FittedCounts(NamedTuple):
    """Counts of fitted graphs y by sequence."""

    begins: Any  # (n_sequences + 1,)
    rows: Any  # (n_counts,), the graph of each count
    counts: Any


@kernel(parallel=True, fastmath=True)
def weigh_sequences(listed, table, fitted, gradient, factors, out):
    """Gain of a function with the gradient sum_j others_j y_j - own x from one more of each count of x.

    `listed` are pointers, keys and counts of graphs x, whose coordinates are counts times a graph's factor.
    """
    (pointers, listed_keys, values), (keys, slots), (others, own_weight) = listed, table, gradient
    begins, rows, counts = fitted
    for g in prange(len(pointers) - 1):
        graph = np.int64(g)
        weights, factor = others[graph], factors[graph]
        for entry in range(pointers[graph], pointers[graph + 1]):
            total = 0.0
            slot = find_slot(slots, keys, listed_keys[entry])
            if slots[slot] >= 0:
                for item in range(begins[slots[slot]], begins[slots[slot] + 1]):
                    total += weights[rows[item]] * counts[item]
            out[entry] = factor * (total - own_weight[graph] * factor * values[entry])


@kernel(parallel=True)
def largest_shares(pointers, shares, out):
    """Places of the largest |shares| of each graph, the largest first, into out, (n_graphs, count); -1 for none.

    Shares of graph g are those from pointers[b, g] to pointers[b, g + 1], block by block.
    """
    for g in prange(len(out)):
        graph, count = np.int64(g), 0
        best = out[graph]
        best[:] = -1
        if len(best) == 0:
            continue
        for block in range(len(pointers)):
            for item in range(pointers[block, graph], pointers[block, graph + 1]):
                size = abs(shares[item])
                if size == 0 or (count == len(best) and size <= abs(shares[best[count - 1]])):
                    continue
                count = min(count + 1, len(best))
                at = count - 1
                while at > 0 and abs(shares[best[at - 1]]) < size:
                    best[at] = best[at - 1]
                    at -= 1
                best[at] = item


@kernel(parallel=True)
def spread_sequences(places, first_length, weighted, wanted, shares):
    """Spread the weights of label sequences over the places of their walks; first_length is 1 if places are arcs."""
    for graph in prange(len(places.offsets) - 1):
        _spread(np.int64(graph), places, first_length, weighted, wanted, shares)


@kernel()
def _spread(graph, places, first_length, weighted, wanted, shares):
    """Do the work of one thread: one graph."""
    longest, begins, ends, keys, weights = weighted
    nodes, last, edges = shares
    begin, end = places.offsets[graph], places.offsets[graph + 1]
    level_keys, level_values, level_bounds = first_states(places, begin, end)
    all_keys, all_values, all_bounds = [level_keys], [level_values], [level_bounds]
    for _ in range(longest[graph] - first_length):
        total, most = count_fans(places, begin, end, level_bounds)
        level_keys, level_values, level_bounds = step_states(
            places, begin, end, level_keys, level_values, level_bounds, total, most
        )
        all_keys.append(level_keys)
        all_values.append(level_values)
        all_bounds.append(level_bounds)
    for number in range(wanted.pointers[graph], wanted.pointers[graph + 1]):
        level = wanted.lengths[number] - first_length
        if level >= 0 and level < len(all_keys):
            _trace(places, begin, end, all_keys, all_bounds, level, number, wanted)
    by_node, by_edge = np.zeros(0), np.zeros(0)  # of the level at hand, from walks that go on before it
    for back in range(len(all_keys)):
        level = len(all_keys) - 1 - back
        length = level + first_length
        if back == 0:
            by_node, by_edge = np.zeros(len(all_keys[level])), np.zeros(len(all_keys[level]))
        span = slice(begins[length, graph], ends[length, graph])
        own_keys, own_weights = keys[span], weights[span]
        slots = table_of(own_keys, table_size(len(own_keys)))
        for place in range(begin, end):
            for state in range(all_bounds[level][place - begin], all_bounds[level][place - begin + 1]):
                slot = find_slot(slots, own_keys, all_keys[level][state])
                if slots[slot] >= 0:
                    share = places.start[place] * own_weights[slots[slot]]
                    by_node[state] += share / (length + 1)
                    by_edge[state] += share / max(length, 1)
                through = by_node[state] * all_values[level][state]
                nodes[place] += through
                if level == 0:
                    last[place] += through
                if first_length == 1:
                    edges[place] += by_edge[state] * all_values[level][state]
        if level > 0:
            earlier = all_keys[level - 1], all_values[level - 1], all_bounds[level - 1]
            later = all_keys[level], all_bounds[level]
            by_node, by_edge = _stepped_back(places, begin, earlier, later, (by_node, by_edge), first_length, edges)


@kernel()
def _stepped_back(places, begin, earlier, later, sums, first_length, out):
    """Contributions of walks that go on from the states of one level, from those of states that are one step longer."""
    (keys, values, bounds), (later_keys, later_bounds), (by_node, by_edge) = earlier, later, sums
    end = begin + len(bounds) - 1
    new_node, new_edge = np.zeros(len(keys)), np.zeros(len(keys))
    has_edges = len(places.edges) > 0
    rests = half_hashes(keys, has_edges)
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
                longer = slots[slot]
                new_node[state] += weight * by_node[longer]
                new_edge[state] += weight * by_edge[longer]
                if first_length == 0:
                    out[entry] += weight * by_edge[longer] * values[state]
    return new_node, new_edge


@kernel()
def _trace(places, begin, end, all_keys, all_bounds, level, number, wanted):
    """The places of a walk that spells a sequence, from the states of all levels."""
    key, next_key, at = wanted.keys[number], wanted.keys[number], -1
    for place in range(begin, end):
        if places.start[place] != 0 and at < 0:
            for state in range(all_bounds[level][place - begin], all_bounds[level][place - begin + 1]):
                if all_keys[level][state] == key:
                    at = place
                    break
    step, has_edges = 0, len(places.edges) > 0
    while at >= 0:
        wanted.walks[number, step] = at
        here, at, step = at, -1, step + 1
        if level == 0:
            break
        level -= 1
        keys, bounds = all_keys[level], all_bounds[level]
        rests = half_hashes(keys, has_edges)
        for entry in range(places.begins[here], places.ends[here]):
            if len(places.back) and entry >= places.back[here, 0] and entry < places.back[here, 1]:
                continue
            other = places.targets[entry] - begin
            for state in range(bounds[other], bounds[other + 1]):
                half = half_combined(mixed(rests[state] + places.edges[entry])) if has_edges else rests[state]
                if at < 0 and mixed(half + places.labels[here]) == key:
                    at, next_key = other + begin, keys[state]
                    wanted.entries[number, step - 1] = entry
        key = next_key
