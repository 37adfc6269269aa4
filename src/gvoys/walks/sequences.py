"""The exact profile of labelled graphs: how often each label sequence is walked.

Dynamic programming over states (node, sequence): a step takes every state to the nodes before it, and equal states are
merged. A sequence is known by a 64-bit hash of its labels, so that graphs profiled apart agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import UnsupportedError
from gvoys.graphs.arcs import line_graph
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.entries import stable_order
from gvoys.graphs.labels import combine_hashes, hash_integers
from gvoys.graphs.refine import refinement_rounds
from gvoys.walks.method import Cost, Support, WalkMethod
from gvoys.walks.sparse import Counts, SparseProfiles
from gvoys.walks.walk import Walk

__all__ = ["STATE_BUDGET", "Listed", "Sequences"]

STATE_BUDGET = 20_000_000  # states of all graphs together at any one length
_SAMPLE_BUDGET = (STATE_BUDGET // 20, STATE_BUDGET // 5)  # of a sample, at least and at most: the latter takes a second
_BLOCK = 1 << 16  # nodes that are stepped at once


@dataclass(frozen=True)
class Sequences(WalkMethod):
    """Exact profiles with labels: how often each label sequence is walked.

    Parameters
    ----------
    device : {"cpu", "cuda"}, default="cpu"
        Where to compute; there is nothing yet for "cuda".
    budget : int, default=20000000
        Largest number of states, (node, sequence), of all graphs together at any one length.
    """

    name: ClassVar[str] = "sequences"
    device: str = "cpu"
    budget: int = STATE_BUDGET

    def supports(self, walk: Walk, batch: GraphBatch) -> Support:
        if walk.attribute_bandwidth is not None:
            return Support(False, "method 'sequences' cannot use node attributes; use method='sketch'")
        if self.device != "cpu":
            return Support(False, "method 'sequences' cannot run on a GPU; use device='cpu' or method='sketch'")
        return Support(True)

    def fits(self, walk: Walk, batch: GraphBatch) -> Support:
        supported = self.supports(walk, batch)
        if not supported:
            return supported
        states = self.cost(walk, batch).operations
        if np.isinf(states):
            return Support(False, "label sequences are too many to count quickly, by a sample of the graphs")
        if states > self.budget:
            return Support(False, f"an estimated {states:,.0f} label sequences exceed the budget of {self.budget:,}")
        return Support(
            True, f"an estimated {states:,.0f} label sequences fit the budget, so that exact counts are kept"
        )

    def cost(self, walk: Walk, batch: GraphBatch, sample: int = 32) -> Cost:
        """Estimate the number of states of the largest length from a sample of the graphs.

        Parameters
        ----------
        walk : Walk
            What is walked.
        batch : GraphBatch
            The graphs.
        sample : int, default=32
            Number of graphs to count.

        Returns
        -------
        Cost
            The states of all iterations; inf if the sample has more than its share of the budget, or more than are
            counted quickly.
        """
        if len(batch) == 0:
            return Cost(0.0, 0.0)
        spread = np.linspace(0, len(batch) - 1, min(sample, len(batch))).astype(np.int64)
        chosen = np.union1d(spread, np.argmax(np.diff(batch.entry_offsets)))  # and the largest, which may be alone
        share = self.budget * len(chosen) // len(batch)
        budget = int(np.clip(share, *_SAMPLE_BUDGET))
        once = replace(walk, node_labels=walk.node_labels or walk.refine > 0, refine=0, start="ones", stop="ones")
        try:
            counts = _count(batch[chosen], once, np.ones(len(chosen)), budget)
        except UnsupportedError:
            return Cost(float("inf"), float("inf"))
        states = walk.n_iterations * max(len(part.keys) for part in counts) * len(batch) / max(len(chosen), 1)
        return Cost(states, 12.0 * walk.n_lengths * states)

    def _collect(
        self, made: list[list[Listed]], exponents: NDArray[np.int64], batch: GraphBatch, walk: Walk
    ) -> SparseProfiles:
        blocks = [[Counts.of(each.graphs, each.keys, each.values, len(batch)) for each in lengths] for lengths in made]
        return SparseProfiles(blocks, exponents)

    def _compute(self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], out: NDArray[Any] | None) -> Any:
        labelled = refinement_rounds(batch, walk.refine, walk.node_labels, walk.edge_labels)
        return [
            _count(graphs, replace(walk, node_labels=walk.node_labels or round_ > 0), scales, self.budget)
            for round_, graphs in enumerate(labelled)
        ]


class Listed(NamedTuple):
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


def _count(batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], budget: int) -> list[Listed]:
    """Counts of each length, by the labels as they are."""
    v, w = walk.ends(batch)
    labels = (
        batch.node_labels.hashed
        if walk.node_labels and batch.node_labels is not None
        else np.zeros(batch.n_nodes, np.uint64)
    )
    edges = batch.edge_labels.hashed if walk.edge_labels and batch.edge_labels is not None else None
    out: list[list[Listed]] = [[] for _ in range(walk.n_lengths)]
    spent = np.zeros(walk.n_lengths, np.int64)
    for graphs in batch.blocks(_BLOCK):
        nodes = slice(int(batch.node_offsets[graphs.start]), int(batch.node_offsets[graphs.stop]))
        arcs = slice(int(batch.indptr[nodes.start]), int(batch.indptr[nodes.stop]))
        part = batch[graphs]
        weights = part.weights() / np.repeat(scales[graphs], np.diff(part.entry_offsets))
        ends = (v[nodes], w[nodes])
        walker = _node_walker(part, ends, labels[nodes], None if edges is None else edges[arcs], weights)
        lengths = _walk(walker, walk.max_length if walk.backtrack else 0, graphs.start, spent, budget)
        if not walk.backtrack and walk.max_length > 0:
            arc_walker = _arc_walker(part, walker, weights)
            lengths += _walk(arc_walker, walk.max_length - 1, graphs.start, spent[1:], budget)
        for length, counts in enumerate(lengths):
            out[length].append(counts)
    return [_concatenate(parts) for parts in out]


def _node_walker(
    batch: GraphBatch,
    ends: tuple[NDArray[np.float64], NDArray[np.float64]],
    labels: NDArray[np.uint64],
    edges: NDArray[np.uint64] | None,
    weights: NDArray[np.float64],
) -> _Walker:
    columns = batch.columns()
    order = stable_order(columns)
    pointers = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=batch.n_nodes))])
    kinds = np.zeros(batch.n_entries, np.uint64) if edges is None else edges
    return _Walker(batch.node_graphs(), labels, *ends, pointers, batch.rows()[order], weights[order], kinds[order])


def _arc_walker(batch: GraphBatch, nodes: _Walker, weights: NDArray[np.float64]) -> _Walker:
    """Walks on directed edges u -> x: of length i there for i + 1 here, non-backtracking."""
    line = line_graph(batch)
    kinds = np.empty(batch.n_entries, np.uint64)
    columns = batch.columns()
    kinds[stable_order(columns)] = nodes.edges
    labels = _extend(_first(nodes.labels[line.heads]), nodes.labels[line.tails], kinds)
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


def _walk(walker: _Walker, max_length: int, first_graph: int, spent: NDArray[np.int64], budget: int) -> list[Listed]:
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
        lengths.append(Listed(*_merge(walker.graph_of[at] + first_graph, keys, walker.start[at] * values)))
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


def _concatenate(parts: list[Listed]) -> Listed:
    if not parts:
        return Listed(np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0))
    return Listed(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
