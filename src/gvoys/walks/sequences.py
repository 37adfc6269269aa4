"""The exact profile of labelled graphs: how often each label sequence is walked.

Dynamic programming over states (node, sequence): a step takes every state to the nodes before it, and equal states are
merged. A sequence is known by a 64-bit hash of its labels, so that graphs profiled apart agree.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.arguments import frozen
from gvoys._compiled.cpu.sequences_cpu import Places, count_sequences, pick_length
from gvoys.errors import InputWarning, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import combine_hashes, hash_integers
from gvoys.graphs.transform import refinement_rounds, reverse_entries
from gvoys.threads import balanced_chunks, n_threads
from gvoys.walks.method import Cost, Support, WalkMethod
from gvoys.walks.sparse import Counts, SparseProfiles
from gvoys.walks.walk import Walk

STATE_BUDGET = 20_000_000  # states of all graphs together at any one length
# where a sample has few: states that fit into memory, and those of one graph, which take a tenth of a second
LARGE_BUDGET, PER_GRAPH = 100_000_000, 4_000_000
_SAMPLE_BUDGETS = (STATE_BUDGET // 20, STATE_BUDGET // 5)  # least and most states of a sample: most take a second
_NO_LIMIT = np.iinfo(np.int64).max
_NO_EDGES = np.empty(0, np.uint64)
_NO_WAY = np.empty((0, 2), np.int64)


class _Limits(NamedTuple):
    """Limits on the number of states of one length."""

    budget: int
    per_graph: int | None


@dataclass(frozen=True)
class Sequences(WalkMethod):
    """Exact profiles with labels: how often each label sequence is walked."""

    name: ClassVar[str] = "sequences"
    device: str = "cpu"  # there is nothing yet for "cuda"
    budget: int = STATE_BUDGET  # states, (node, sequence), of all graphs together at any one length
    per_graph: int | None = None  # states of one graph beyond which its longer walks are skipped, with a warning

    def supports(self, walk: Walk, batch: GraphBatch) -> Support:
        return can_count(self.name, walk, self.device)

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
        """Estimate the number of states of the largest length and all iterations from a sample; inf if too many."""
        if len(batch) == 0:
            return Cost(0.0, 0.0)
        chosen = spread_graphs(batch, sample)
        share = self.budget * len(chosen) // len(batch)
        budget = int(np.clip(share, *_SAMPLE_BUDGETS))
        subset = batch[chosen]
        once = self.resolve(replace(walk, start="ones", stop="ones"), subset)
        subset, once = once.labelled_by_structure(subset)
        back = entries_back(subset, walk)
        try:
            counts = count_lengths(subset, once.in_iteration(walk.refine), np.ones(len(chosen)), budget, back)
        except UnsupportedError:
            return Cost(float("inf"), float("inf"))
        states = walk.n_iterations * max(part.size for part in counts) * len(batch) / max(len(chosen), 1)
        return Cost(states, 12.0 * walk.n_lengths * states)

    def _collect(
        self, made: list[list[Counts]], exponents: NDArray[np.int64], batch: GraphBatch, walk: Walk
    ) -> SparseProfiles:
        return SparseProfiles(made, exponents)

    def _compute(self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], out: NDArray[Any] | None) -> Any:
        labelled = refinement_rounds(batch, walk.refine, walk.node_labels, walk.edge_labels)
        back = entries_back(batch, walk)  # which no iteration changes
        return [
            count_lengths(graphs, walk.in_iteration(round_), scales, self.budget, back, self.per_graph)
            for round_, graphs in enumerate(labelled)
        ]


def can_count(name: str, walk: Walk, device: str) -> Support:
    """Say whether label sequences of these walks can be counted, by the method of this name."""
    if walk.attributed:
        kind = "edge" if walk.attribute_bandwidth is None else "node"
        return Support(False, f"method {name!r} cannot use {kind} attributes; use method='sketch'")
    if device != "cpu":
        return Support(False, f"method {name!r} cannot run on a GPU; use device='cpu' or method='sketch'")
    return Support(True)


def spread_graphs(batch: GraphBatch, count: int) -> NDArray[np.int64]:
    """Choose graphs, spread evenly, and the one with the most edges, which may be alone in having many sequences."""
    spread = np.linspace(0, len(batch) - 1, min(count, len(batch))).astype(np.int64)
    return np.union1d(spread, np.argmax(np.diff(batch.entry_offsets)))


def entries_back(batch: GraphBatch, walk: Walk) -> NDArray[np.int64]:
    """Where the entries back of each entry begin and end, for non-backtracking walks; nothing for others."""
    return _NO_WAY if walk.backtrack else reverse_entries(batch)


def count_lengths(
    batch: GraphBatch,
    walk: Walk,
    scales: NDArray[np.float64],
    budget: int,
    back: NDArray[np.int64],
    per_graph: int | None = None,
) -> list[Counts]:
    """Count the label sequences of each length, by the labels as they are; `back` comes from `entries_back`."""
    limits = _Limits(budget, per_graph)
    parts = places_of(batch, walk, scales, back)
    return [counts for first, states, longest in parts for counts in _count_all(states, longest, limits, first)]


def sequences_by_length(
    batch: GraphBatch, walk: Walk, back: NDArray[np.int64], per_graph: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Count, by length, the label sequences and states of a sample of graphs, and the states of the one with most."""
    by_length = []
    for _, indices, longest in places_of(batch, walk, np.ones(len(batch)), back):
        pointers, _, _, made = count_sequences(0, len(batch), indices, longest, _NO_LIMIT, per_graph)
        by_length.append((np.diff(pointers).reshape(len(batch), longest + 1).sum(axis=0), made[:, 0], made[:, 1]))
    counts, states, most = (np.concatenate(parts) for parts in zip(*by_length, strict=True))
    return counts, states, most


def places_of(
    batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], back: NDArray[np.int64]
) -> list[tuple[int, Places, int]]:
    """Where walks are: nodes, or arcs of non-backtracking walks, from a length on, and up to which after it."""
    v, w = walk.ends(batch)
    hashed = batch.node_labels.hashed if walk.node_labels and batch.node_labels is not None else None
    labels = np.zeros(batch.n_nodes, np.uint64) if hashed is None else hashed
    edges = batch.edge_labels.hashed if walk.edge_labels and batch.edge_labels is not None else _NO_EDGES
    weights = batch.weights() / np.repeat(scales, np.diff(batch.entry_offsets))
    starts, ends, targets = batch.indptr[:-1], batch.indptr[1:], batch.columns()
    # read-only arrays: kernels would be compiled a second time for arrays that can be written
    nodes = Places(*map(frozen, (batch.node_offsets, labels, v, w, starts, ends, targets, weights, edges, _NO_WAY)))
    if walk.backtrack or walk.longest == 0:
        return [(0, nodes, walk.longest)]
    return [(0, nodes, 0), (1, _arcs(batch, nodes, back), walk.longest - 1)]


def _arcs(batch: GraphBatch, nodes: Places, back: NDArray[np.int64]) -> Places:
    """Return arcs u -> x as places: walks of length i on them are non-backtracking walks of length i + 1."""
    tails, heads = batch.rows(), nodes.targets
    kinds = nodes.edges if len(nodes.edges) else np.zeros(batch.n_entries, np.uint64)
    labels = combine_hashes(combine_hashes(hash_integers(nodes.labels[heads]), kinds), nodes.labels[tails])
    start, stop, targets = nodes.start[tails] * nodes.weights, nodes.stop[heads], np.arange(batch.n_entries)
    rows = batch.indptr[heads], batch.indptr[heads + 1]
    arrays = (batch.entry_offsets, labels, start, stop, *rows, targets, nodes.weights, _NO_EDGES, back)
    return Places(*map(frozen, arrays))


def _count_all(places: Places, max_length: int, limits: _Limits, first_length: int) -> list[Counts]:
    """Count each length, by threads that take a share of the graphs each."""
    work = np.diff(places.offsets) + 1
    bounds = balanced_chunks(work, 4 * n_threads())
    shares = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)) or [(0, 0)]
    with ThreadPoolExecutor(n_threads()) as pool:
        counts = list(pool.map(lambda share: _count_share(share, places, max_length, limits), shares))
    _check_limits(np.array([made for _, made in counts]), limits, first_length)
    joined = []
    for length in range(max_length + 1):
        shares_of_length = zip(*(lengths[length] for lengths, _ in counts), strict=True)
        sizes, keys, values = (np.concatenate(parts) for parts in shares_of_length)
        joined.append(Counts.listed(np.concatenate([[0], np.cumsum(sizes)]), keys, values))
    return joined


def _count_share(share: tuple[int, int], places: Places, max_length: int, limits: _Limits) -> tuple[list[Any], Any]:
    """Count the sequences of some graphs by length, and the states."""
    per_graph = _NO_LIMIT if limits.per_graph is None else limits.per_graph
    *counted, made = count_sequences(*share, places, max_length, limits.budget, per_graph)
    if (made[:, 0] > limits.budget).any():  # it has stopped there
        return [], made
    return [pick_length(*counted, length, max_length + 1) for length in range(max_length + 1)], made


def _check_limits(made: NDArray[np.int64], limits: _Limits, first_length: int) -> None:
    """Check numbers of states, (n_shares, n_lengths, 3): in all and in the graph with the most, and its number."""
    lengths = np.flatnonzero(made[:, :, 0].sum(axis=0) > limits.budget)
    if len(lengths):
        length = int(lengths[0])
        _, most, graph = made[made[:, length, 1].argmax(), length].tolist()
        raise UnsupportedError(
            f"label sequences of length {length + first_length} take over {limits.budget:,} states (graph {graph} "
            f"alone {most:,}); use method='sketch', or shorter walks"
        )
    over = np.argwhere(made[:, :, 1] > (np.inf if limits.per_graph is None else limits.per_graph))
    if len(over):
        share, length = over[0].tolist()
        warnings.warn(
            f"graph {made[share, length, 2]} has {made[share, length, 1]:,} label sequences of length "
            f"{length + first_length}, too many to count: such walks and longer ones are skipped; method='sketch' "
            "takes all of them",
            InputWarning,
            stacklevel=2,
        )
