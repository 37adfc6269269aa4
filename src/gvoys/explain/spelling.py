"""Label sequences of one graph, with a walk that spells each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import combine_hashes, hash_integers
from gvoys.walks.walk import Walk

_MOST = 5_000_000  # states of one length, a gigabyte


@dataclass(frozen=True)
class Spelled:
    """The label sequences of one walk length."""

    keys: NDArray[np.uint64]  # hashes of the sequences, sorted
    weights: NDArray[np.float64]  # the weight of all walks that spell each
    walks: NDArray[np.int64]  # the nodes of one of them
    entries: NDArray[np.int64]  # and the entries that it goes along


@dataclass(frozen=True)
class _States:
    """Walks that begin at a node and spell a sequence, merged; after a step, the entry and the state it leads to."""

    nodes: NDArray[np.int64]
    keys: NDArray[np.uint64]
    weights: NDArray[np.float64]
    entries: NDArray[np.int64]
    before: NDArray[np.int64]


def spelled_sequences(graph: GraphBatch, walk: Walk) -> list[Spelled]:
    """Count the label sequences of one graph, each with a walk that spells it."""
    start, stop = walk.ends(graph)
    labels = _hashes(graph.node_labels if walk.node_labels else None, graph.n_nodes)
    none, nodes = np.zeros(graph.n_nodes, np.int64), np.arange(graph.n_nodes)
    levels = [_States(nodes, hash_integers(labels), stop, none - 1, none - 1)]
    for length in range(1, walk.n_lengths):
        levels.append(_stepped(graph, walk, labels, levels[-1], length))
    return [_collected(levels[: length + 1], start) for length in range(walk.n_lengths)]


def _hashes(labels: Any, count: int) -> NDArray[np.uint64]:
    return np.zeros(count, np.uint64) if labels is None else labels.hashed


def _stepped(graph: GraphBatch, walk: Walk, labels: NDArray[np.uint64], states: _States, length: int) -> _States:
    """Walks with one more node in front."""
    rows, columns = graph.rows(), graph.columns()
    order = np.argsort(columns, kind="stable")
    pointers = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=graph.n_nodes))])
    fans = np.diff(pointers)[states.nodes]
    if fans.sum() > _MOST:
        raise UnsupportedError(
            f"the graph has over {_MOST:,} walks of length {length} to tell apart; pass a smaller max_length"
        )
    before = np.repeat(np.arange(len(fans)), fans)
    within = np.arange(len(before)) - np.repeat(np.cumsum(fans) - fans, fans)
    entries = order[pointers[states.nodes[before]] + within]
    if not walk.backtrack and length > 1:
        onward = rows[entries] != columns[states.entries[before]]
        before, entries = before[onward], entries[onward]
    kinds = _hashes(graph.edge_labels if walk.edge_labels else None, graph.n_entries)
    nodes = rows[entries]
    keys = combine_hashes(combine_hashes(states.keys[before], kinds[entries]), labels[nodes])
    weights = states.weights[before] * graph.weights()[entries]
    # non-backtracking walks go on by where they were, so that states with other next nodes stay apart
    indices = nodes if walk.backtrack else nodes * graph.n_nodes + columns[entries]
    states_at = np.column_stack([indices, keys.view(np.int64)])
    _, first, merged = np.unique(states_at, axis=0, return_index=True, return_inverse=True)
    total = np.bincount(merged.ravel(), weights, minlength=len(first)).astype(np.float64, copy=False)
    return _States(nodes[first], keys[first], total, entries[first], before[first])


def _collected(levels: list[_States], start: NDArray[np.float64]) -> Spelled:
    """Sequences wherever they begin, each with its first walk."""
    last = levels[-1]
    keys, first, merged = np.unique(last.keys, return_index=True, return_inverse=True)
    result = np.bincount(merged.ravel(), start[last.nodes] * last.weights, minlength=len(keys))
    weights = result.astype(np.float64, copy=False)
    walks, entries, at = [], [], first
    for level in reversed(levels):
        walks.append(level.nodes[at])
        entries.append(level.entries[at])
        at = level.before[at]
    return Spelled(keys, weights, np.column_stack(walks), np.column_stack(entries)[:, :-1])
