"""The exact profile of labelled graphs: how often each label sequence is walked.

Dynamic programming over states (node, sequence): a step takes every state to the nodes before it, and equal states are
merged. A sequence is known by a 64-bit hash of its labels, so that graphs profiled apart agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import UnsupportedError
from gvoys.graphs.arcs import line_graph
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.endpoints import compute_endpoint
from gvoys.graphs.entries import stable_order
from gvoys.graphs.labels import combine_hashes, hash_integers

__all__ = ["STATE_BUDGET", "Counts", "compute_sequences", "estimate_states"]

STATE_BUDGET = 20_000_000  # states of all graphs together at any one length
_SAMPLE_BUDGET = (STATE_BUDGET // 20, STATE_BUDGET // 5)  # of a sample, at least and at most: the latter takes a second
_BLOCK = 1 << 16  # nodes that are stepped at once


@dataclass(frozen=True)
class Counts:
    """Counts c_G(s) of one walk length, sorted by graph, then by hash.

    Parameters
    ----------
    graphs : ndarray of int
        Graph of each count.
    keys : ndarray of uint64
        Hash of the label sequence.
    values : ndarray of float
        Weight of its walks.
    """

    graphs: NDArray[np.int64]
    keys: NDArray[np.uint64]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class _Walker:
    """The states of a walk: nodes, or directed edges for non-backtracking walks."""

    graph_of: NDArray[np.int64]
    labels: NDArray[np.uint64]
    start: NDArray[np.float64]
    stop: NDArray[np.float64]
    pointers: NDArray[np.int64]  # the entries that end at each walker
    sources: NDArray[np.int64]
    weights: NDArray[np.float64]
    edges: NDArray[np.uint64]


def compute_sequences(
    batch: GraphBatch,
    max_length: int,
    *,
    start: Any = "uniform",
    stop: Any = "uniform",
    node_labels: bool = True,
    edge_labels: bool = False,
    backtrack: bool = True,
    scale: float = 1.0,
    budget: int = STATE_BUDGET,
) -> list[Counts]:
    """Count label sequences exactly, of walks on A / scale.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    max_length : int
        Longest walk.
    start : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the start of a walk: 1 / n, 1, or one number per node of all graphs.
    stop : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the end of a walk, like `start`.
    node_labels : bool, default=True
        Whether node labels are used.
    edge_labels : bool, default=False
        Whether edge labels are used.
    backtrack : bool, default=True
        Whether walks may backtrack; False counts non-backtracking walks only.
    scale : float, default=1.0
        Divide adjacency matrices by this number.
    budget : int, default=20000000
        Largest number of states at any one length.

    Returns
    -------
    list of Counts
        Counts of each length 0 … max_length.

    Raises
    ------
    UnsupportedError
        If there are more states than `budget`.

    Notes
    -----
    Cost: the number of states, which grows with the number of distinct sequences through each node.
    """
    v, w = compute_endpoint(batch, start, "start"), compute_endpoint(batch, stop, "stop")
    labels = (
        batch.node_labels.hashed
        if node_labels and batch.node_labels is not None
        else np.zeros(batch.n_nodes, np.uint64)
    )
    edges = batch.edge_labels.hashed if edge_labels and batch.edge_labels is not None else None
    out: list[list[Counts]] = [[] for _ in range(max_length + 1)]
    spent = np.zeros(max_length + 1, np.int64)
    for graphs in batch.blocks(_BLOCK):
        nodes = slice(int(batch.node_offsets[graphs.start]), int(batch.node_offsets[graphs.stop]))
        arcs = slice(int(batch.indptr[nodes.start]), int(batch.indptr[nodes.stop]))
        part = batch[graphs]
        walker = _node_walker(part, v[nodes], w[nodes], labels[nodes], None if edges is None else edges[arcs], scale)
        lengths = _walk(walker, max_length if backtrack else 0, graphs.start, spent, budget)
        if not backtrack and max_length > 0:
            arc_walker = _arc_walker(part, walker, scale)
            lengths += _walk(arc_walker, max_length - 1, graphs.start, spent[1:], budget)
        for length, counts in enumerate(lengths):
            out[length].append(counts)
    return [_concatenate(parts) for parts in out]


def estimate_states(batch: GraphBatch, max_length: int, sample: int = 32, **how: Any) -> float:
    """Estimate the number of states of the largest length from a sample of the graphs.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    max_length : int
        Longest walk.
    sample : int, default=32
        Number of graphs to count.
    **how : dict
        Further arguments of `compute_sequences`.

    Returns
    -------
    float
        The estimate; inf if the sample has more than its share of the budget, or more than are counted quickly.
    """
    if len(batch) == 0:
        return 0.0
    spread = np.linspace(0, len(batch) - 1, min(sample, len(batch))).astype(np.int64)
    chosen = np.union1d(spread, np.argmax(np.diff(batch.entry_offsets)))  # and the largest, which may be alone
    share = STATE_BUDGET * len(chosen) // len(batch)
    try:
        counts = compute_sequences(batch[chosen], max_length, budget=int(np.clip(share, *_SAMPLE_BUDGET)), **how)
    except UnsupportedError:
        return float("inf")
    return max(len(part.keys) for part in counts) * len(batch) / max(len(chosen), 1)


def _node_walker(
    batch: GraphBatch, v: Any, w: Any, labels: NDArray[np.uint64], edges: NDArray[np.uint64] | None, scale: float
) -> _Walker:
    columns = batch.columns()
    order = stable_order(columns)
    pointers = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=batch.n_nodes))])
    kinds = np.zeros(batch.n_entries, np.uint64) if edges is None else edges
    return _Walker(
        batch.node_graphs(), labels, v, w, pointers, batch.rows()[order], batch.weights()[order] / scale, kinds[order]
    )


def _arc_walker(batch: GraphBatch, nodes: _Walker, scale: float) -> _Walker:
    """Walks on directed edges u -> x: of length i there for i + 1 here, non-backtracking."""
    line = line_graph(batch)
    kinds = np.empty(batch.n_entries, np.uint64)
    columns = batch.columns()
    kinds[stable_order(columns)] = nodes.edges
    labels = _extend(_first(nodes.labels[line.heads]), nodes.labels[line.tails], kinds)
    weights = batch.weights() / scale
    return _Walker(
        nodes.graph_of[line.tails],
        labels,
        nodes.start[line.tails] * weights,
        nodes.stop[line.heads],
        line.pointers,
        line.sources,
        weights[np.repeat(np.arange(batch.n_entries), np.diff(line.pointers))],
        np.zeros(len(line.sources), np.uint64),
    )


def _walk(walker: _Walker, max_length: int, first_graph: int, spent: NDArray[np.int64], budget: int) -> list[Counts]:
    at, keys, values = np.arange(len(walker.labels)), _first(walker.labels), walker.stop
    lengths = []
    for length in range(max_length + 1):
        if length:
            fans = np.diff(walker.pointers)[at]
            _check_budget(walker, at, fans, length, first_graph, int(spent[length]), budget)
            entries = np.repeat(walker.pointers[at] - (np.cumsum(fans) - fans), fans) + np.arange(int(fans.sum()))
            sources = walker.sources[entries]
            keys = _extend(np.repeat(keys, fans), walker.labels[sources], walker.edges[entries])
            at, keys, values = _merge(sources, keys, np.repeat(values, fans) * walker.weights[entries])
        spent[length] += len(at)
        lengths.append(Counts(*_merge(walker.graph_of[at] + first_graph, keys, walker.start[at] * values)))
    return lengths


def _first(labels: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return hash_integers(labels)


def _extend(keys: NDArray[np.uint64], labels: NDArray[np.uint64], edges: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The hash of a sequence with one more label, and the edge to it, in front."""
    return combine_hashes(combine_hashes(keys, edges), labels)


def _merge(places: NDArray[Any], keys: NDArray[np.uint64], values: NDArray[np.float64]) -> tuple[Any, Any, Any]:
    """Add the values of equal (place, key), sorted by both: a sum's order then depends on its own graph alone."""
    order = np.lexsort((keys, places))
    places, keys, values = places[order], keys[order], values[order]
    new = np.ones(len(keys), bool)
    new[1:] = (places[1:] != places[:-1]) | (keys[1:] != keys[:-1])
    heads = np.flatnonzero(new)
    return places[heads], keys[heads], np.add.reduceat(values, heads) if len(heads) else values


def _check_budget(
    walker: _Walker, at: NDArray[Any], fans: NDArray[Any], length: int, first_graph: int, spent: int, budget: int
) -> None:
    if spent + int(fans.sum()) <= budget:
        return
    per_graph = np.bincount(walker.graph_of[at], fans)
    worst = int(np.argmax(per_graph))
    raise UnsupportedError(
        f"label sequences of length {length} take over {budget:,} states (graph {worst + first_graph} alone "
        f"{int(per_graph[worst]):,}); use method='sketch', or shorter walks"
    )


def _concatenate(parts: list[Counts]) -> Counts:
    if not parts:
        return Counts(np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0))
    return Counts(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("graphs", "keys", "values")))
