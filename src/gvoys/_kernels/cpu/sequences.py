"""Counts of label sequences: for every graph a list of states (place, sequence) with a weight, stepped and merged.

A place is a node, or an arc for non-backtracking walks. States with the same place and sequence are found by a small
hash table, which is never cleared: a slot counts only if it was written in the current turn. A thread takes a share of
the graphs, and grows its own buffers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gvoys._jit import kernel

__all__ = ["Places", "count_sequences", "number_keys", "pick_length"]

_SALT = np.uint64(0x243F6A8885A308D3)
_FEW = 24  # items up to which sorting by insertion is quickest


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


@kernel(inline="always")
def _mixed(x: Any) -> Any:  # pragma: no cover
    """`hash_integers` of one hash."""
    x += np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel(inline="always")
def _combined(first: Any, second: Any) -> Any:  # pragma: no cover
    """`combine_hashes` of two hashes."""
    return _mixed(_mixed(first ^ _SALT) + second)


@kernel()
def _grown(array: Any, used: int, needed: int) -> Any:  # pragma: no cover
    """The array, or a longer copy of its first `used` numbers."""
    if needed <= len(array):
        return array
    longer = np.empty(max(needed, 2 * len(array)), array.dtype)
    longer[:used] = array[:used]
    return longer


@kernel()
def _table_size(n_items: int) -> int:  # pragma: no cover
    """A power of two that leaves half of the table free."""
    size = 16
    while size < 2 * n_items:
        size *= 2
    return size


@kernel()
def _sort(keys: Any, values: Any) -> None:  # pragma: no cover
    """By key, in place."""
    if len(keys) > _FEW:
        order = np.argsort(keys)
        keys[:] = keys[order]
        values[:] = values[order]
        return
    for i in range(1, len(keys)):
        key, value = keys[i], values[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1], values[j + 1] = keys[j], values[j]
            j -= 1
        keys[j + 1], values[j + 1] = key, value


@kernel()
def count_sequences(first: int, last: int, places: Places, max_length: int, budget: int) -> Any:  # pragma: no cover
    """Count the label sequences of graphs `first` … `last` - 1.

    Returns where the counts of each (graph, length) begin, the keys and values of all, sorted by key within each; then
    for each length how many states were made, in all and in the graph with the most, and which graph that is. It stops
    where there are over `budget` of one length.
    """
    offsets, labels, start, stop = places.offsets, places.labels, places.start, places.stop
    begins, ends, targets, weights = places.begins, places.ends, places.targets, places.weights
    edges, back = places.edges, places.back
    n_lengths = max_length + 1
    pointers = np.zeros((last - first) * n_lengths + 1, np.int64)
    out_keys, out_values, n_out = np.empty(1024, np.uint64), np.empty(1024), 0
    slots, turns = np.empty(64, np.int64), np.zeros(64, np.int64)
    turn = 0
    keys, values = np.empty(256, np.uint64), np.empty(256)
    new_keys, new_values = np.empty(256, np.uint64), np.empty(256)
    made = np.zeros((n_lengths, 3), np.int64)
    for graph in range(first, last):
        begin, count = offsets[graph], offsets[graph + 1] - offsets[graph]
        keys, values = _grown(keys, 0, count), _grown(values, 0, count)
        bounds, new_bounds = np.arange(count + 1), np.zeros(count + 1, np.int64)
        for k in range(count):
            keys[k] = _mixed(labels[begin + k])
            values[k] = stop[begin + k]
        for length in range(n_lengths):
            if length:
                total, own = 0, 0
                for k in range(count):
                    place = begin + k
                    skip, until = (back[place, 0], back[place, 1]) if len(back) else (0, 0)
                    fan = 0
                    for entry in range(begins[place], ends[place]):
                        if entry < skip or entry >= until:
                            other = targets[entry] - begin
                            fan += bounds[other + 1] - bounds[other]
                    made[length, 0] += fan
                    own += fan
                    if own > made[length, 1]:
                        made[length, 1], made[length, 2] = own, graph
                    if made[length, 0] > budget:
                        return pointers, out_keys, out_values, made
                    new_keys = _grown(new_keys, total, total + fan)
                    new_values = _grown(new_values, total, total + fan)
                    size = _table_size(fan)
                    if size > len(slots):
                        slots, turns, turn = np.empty(size, np.int64), np.zeros(size, np.int64), 0
                    mask = np.uint64(size - 1)
                    turn += 1
                    label = labels[place]
                    for entry in range(begins[place], ends[place]):
                        if entry >= skip and entry < until:
                            continue
                        other, weight = targets[entry] - begin, weights[entry]
                        edge = edges[entry] if len(edges) else np.uint64(0)
                        for state in range(bounds[other], bounds[other + 1]):
                            key = _combined(_combined(keys[state], edge), label)
                            slot = key & mask
                            while turns[slot] == turn and new_keys[slots[slot]] != key:
                                slot = (slot + np.uint64(1)) & mask
                            if turns[slot] == turn:
                                new_values[slots[slot]] += values[state] * weight
                            else:
                                turns[slot], slots[slot] = turn, total
                                new_keys[total], new_values[total] = key, values[state] * weight
                                total += 1
                    new_bounds[k + 1] = total
                keys, new_keys = new_keys, keys
                values, new_values = new_values, values
                bounds, new_bounds = new_bounds, bounds
            # the sequences of the graph, wherever they begin
            n_states = bounds[count]
            out_keys, out_values = _grown(out_keys, n_out, n_out + n_states), _grown(out_values, n_out, n_out + n_states)
            size = _table_size(n_states)
            if size > len(slots):
                slots, turns, turn = np.empty(size, np.int64), np.zeros(size, np.int64), 0
            mask = np.uint64(size - 1)
            turn += 1
            first_out = n_out
            for k in range(count):
                weight = start[begin + k]
                for state in range(bounds[k], bounds[k + 1]):
                    key = keys[state]
                    slot = key & mask
                    while turns[slot] == turn and out_keys[slots[slot]] != key:
                        slot = (slot + np.uint64(1)) & mask
                    if turns[slot] == turn:
                        out_values[slots[slot]] += weight * values[state]
                    else:
                        turns[slot], slots[slot] = turn, n_out
                        out_keys[n_out], out_values[n_out] = key, weight * values[state]
                        n_out += 1
            _sort(out_keys[first_out:n_out], out_values[first_out:n_out])
            pointers[(graph - first) * n_lengths + length + 1] = n_out
    return pointers, out_keys[:n_out], out_values[:n_out], made


@kernel()
def pick_length(pointers: Any, keys: Any, values: Any, length: int, n_lengths: int) -> Any:  # pragma: no cover
    """How many counts of one length each graph has, their keys, and their values."""
    n_graphs = (len(pointers) - 1) // n_lengths
    counts = np.empty(n_graphs, np.int64)
    for graph in range(n_graphs):
        place = graph * n_lengths + length
        counts[graph] = pointers[place + 1] - pointers[place]
    total = counts.sum()
    own_keys, own_values = np.empty(total, np.uint64), np.empty(total)
    at = 0
    for graph in range(n_graphs):
        begin = pointers[graph * n_lengths + length]
        for k in range(begin, begin + counts[graph]):
            own_keys[at], own_values[at] = keys[k], values[k]
            at += 1
    return counts, own_keys, own_values


@kernel()
def number_keys(keys: Any) -> Any:  # pragma: no cover
    """The distinct keys, sorted, and the place of each key among them: np.unique without sorting all."""
    size = 1024
    slots, found, count = np.full(size, -1, np.int64), np.empty(size // 2, np.uint64), 0
    places = np.empty(len(keys), np.int64)
    for k in range(len(keys)):
        if 2 * (count + 1) > size:
            size *= 4
            slots = np.full(size, -1, np.int64)
            found = _grown(found, count, size // 2)
            for c in range(count):
                slot = found[c] & np.uint64(size - 1)
                while slots[slot] >= 0:
                    slot = (slot + np.uint64(1)) & np.uint64(size - 1)
                slots[slot] = c
        key, mask = keys[k], np.uint64(size - 1)
        slot = key & mask
        while slots[slot] >= 0 and found[slots[slot]] != key:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot], found[count] = count, key
            count += 1
        places[k] = slots[slot]
    order = np.argsort(found[:count])
    rank = np.empty(count, np.int64)
    for k in range(count):
        rank[order[k]] = k
    for k in range(len(keys)):
        places[k] = rank[places[k]]
    return found[:count][order], places
