"""Whose walks make up a weighted sum of label sequences: every walk is shared by its nodes, or by its edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gvoys._compiled.cpu.attribution_cpu import Shares, Wanted, Weighted, spread_sequences
from gvoys._compiled.cpu.sketch_rows import WIDTH
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.transform import refinement_rounds
from gvoys.io.chemistry.atom_labels import label_text
from gvoys.walks.sequences import entries_back, places_of
from gvoys.walks.sketch import Sketch
from gvoys.walks.sparse import SparseProfiles
from gvoys.walks.walk import Walk

Array = NDArray[np.float64]


class Found(NamedTuple):
    """Label sequences of which a walk is wanted, sorted by graph."""

    graphs: NDArray[np.int64]
    iterations: NDArray[np.int64]
    lengths: NDArray[np.int64]
    keys: NDArray[np.uint64]

    def take(self, positions: NDArray[np.int64]) -> Found:
        """Select some sequences."""
        return Found(self.graphs[positions], self.iterations[positions], self.lengths[positions], self.keys[positions])


class Spread(NamedTuple):
    """Shares of nodes and entries."""

    nodes: Array  # (n_nodes,)
    entries: Array  # (n_entries,), the same for edges, by direction
    walks: list[tuple[NDArray[np.int64], NDArray[np.int64]]]  # nodes and entries of a walk for each wanted sequence


def spread_weights(
    batch: GraphBatch,
    walk: Walk,
    profiles: SparseProfiles,
    weights: Sequence[Sequence[Array]],
    sequences: Found | None = None,
) -> Spread:
    """Spread a weighted sum of label sequences over the nodes and edges of their walks.

    A walk adds its weight, divided by its number of nodes, as often as it passes a node; the same for edges. Weights go
    by iteration and length, in the order of `Counts.listing`.
    """
    batch, walk = walk.on(batch).labelled_by_structure(batch)
    nodes, entries = np.zeros(batch.n_nodes), np.zeros(batch.n_entries)
    tails, heads = batch.rows(), batch.columns()
    if sequences is None:
        none = np.empty(0, np.int64)
        sequences = Found(none, none, none, np.empty(0, np.uint64))
    walks: list[Any] = [None] * len(sequences.keys)
    scales, back = np.ldexp(1.0, profiles.exponents), entries_back(batch, walk)
    rounds = refinement_rounds(batch, len(weights) - 1, walk.node_labels, walk.edge_labels)
    for r, graphs in enumerate(rounds):
        if not weights[r]:  # an iteration that is not counted
            continue
        once = walk.in_iteration(r)
        weighted, here = _weighted(profiles, r, weights[r]), np.flatnonzero(sequences.iterations == r)
        for first, states, longest in places_of(graphs, once, scales, back):
            size = len(states.labels)
            shares = Shares(np.zeros(size), np.zeros(size), np.zeros(batch.n_entries))
            reach = np.minimum(weighted.longest, first + longest)
            pointers = np.searchsorted(sequences.graphs[here], np.arange(len(batch) + 1))
            paths = np.full((2, len(here), walk.n_lengths), -1, np.int64)
            wanted = Wanted(pointers, sequences.lengths[here], sequences.keys[here], *paths)
            spread_sequences(states, first, weighted._replace(longest=reach), wanted, shares)
            if first == 0:
                nodes += shares.nodes
            else:  # arcs: walks pass their tails, and end at the head of the last
                nodes += np.bincount(tails, shares.nodes, minlength=batch.n_nodes)
                nodes += np.bincount(heads, shares.last, minlength=batch.n_nodes)
            entries += shares.edges
            for block, passed, path in zip(here.tolist(), wanted.walks, wanted.entries, strict=True):
                length = int(sequences.lengths[block])
                if passed[0] >= 0 and first == 0:
                    walks[block] = passed[: length + 1], path[:length]
                elif passed[0] >= 0:
                    arcs = passed[:length]
                    walks[block] = np.append(tails[arcs], heads[arcs[-1]]), arcs
    return Spread(nodes, entries, walks)


def _weighted(profiles: SparseProfiles, iteration: int, weights: Sequence[Array]) -> Weighted:
    """Weight one iteration, length after length."""
    listings = [counts.listing for counts in profiles.blocks[iteration]]
    before = np.cumsum([0, *(len(keys) for _, keys, _ in listings)])
    pointers = np.stack([first + pointers for first, (pointers, _, _) in zip(before[:-1], listings, strict=True)])
    counts = np.diff(pointers, axis=1)  # (n_lengths, n_graphs)
    longest = len(counts) - 1 - np.argmax(counts[::-1] > 0, axis=0)
    keys = np.concatenate([keys for _, keys, _ in listings])
    return Weighted(longest, pointers[:, :-1].copy(), pointers[:, 1:].copy(), keys, np.concatenate(list(weights)))


def spread_gradients(
    batch: GraphBatch, walk: Walk, sketch: Sketch, exponents: NDArray[np.int64], gradients: ArrayLike
) -> tuple[Array, Array]:
    """Spread ``(gradients * profiles.values).sum(axis=(1, 2))`` of sketches over the nodes and edges of their walks.

    Both results are of shape (n_groups, n_nodes or n_entries), to be summed over groups, and computed on the CPU.
    """
    batch, walk = walk.on(batch).labelled_by_structure(batch)
    d, by = sketch.n_components, np.asarray(gradients)
    nodes, entries = (np.zeros((-(-d // WIDTH), count)) for count in (batch.n_nodes, batch.n_entries))
    blocks = by.reshape(len(by), walk.n_lengths, walk.n_iterations, d)
    largest = np.maximum(blocks.max(axis=3), -blocks.min(axis=3)).astype(np.float64)  # no array of all absolute values
    used: NDArray[np.bool_] = np.any(largest > 0, axis=0)
    if not used.any():  # lengths and iterations without a gradient are not walked
        return nodes, entries
    longest, last = (int(positions.max()) for positions in np.nonzero(used))
    powers = np.frexp(largest.max(axis=(1, 2)))[1]
    by = by[:, : longest + 1, : (last + 1) * d]
    scaled = np.empty(by.shape, np.float32)  # times a power of two for each graph: they may be far out of its range
    np.multiply(by, np.ldexp(1.0, -powers)[:, None, None], out=scaled, casting="unsafe")
    offsets = batch.node_offsets, batch.entry_offsets
    walk, on_cpu = replace(walk, max_length=longest, refine=last), replace(sketch, device="cpu")
    for block, (graphs_at_once, _, columns) in on_cpu.sketches(batch, walk, np.ldexp(1.0, exponents)):
        if used[:, columns.start // d].any():
            of_nodes, of_entries = (slice(*starts[[graphs_at_once.start, graphs_at_once.stop]]) for starts in offsets)
            block.spread(scaled[graphs_at_once], d, columns.start, nodes[:, of_nodes], entries[:, of_entries])
    for shares, starts in zip((nodes, entries), offsets, strict=True):
        shares *= np.ldexp(1.0, np.repeat(powers, np.diff(starts)))
    return nodes, entries


_MOST_NEIGHBOURS = 6  # that are spelled
_BONDS = {1.0: "–", 1.5: ":", 2.0: "=", 3.0: "≡"}


def spell(graph: GraphBatch, walk: Walk, nodes: NDArray[np.int64], entries: NDArray[np.int64]) -> str:
    """Write a walk's labels as people do: C–C=O for atoms and bonds, a–b for others."""
    names = ["•"] * len(nodes)
    if walk.node_labels and graph.node_labels is not None:
        names = [label_text(label) for label in graph.node_labels[nodes].decode()]
    joints = ["–"] * len(entries)
    if walk.edge_labels and graph.edge_labels is not None:
        labels = graph.edge_labels[entries].decode()
        joints = [_BONDS.get(label, f"–({label})–") if isinstance(label, float) else f"–({label})–" for label in labels]
    return names[0] + "".join(joint + name for joint, name in zip(joints, names[1:], strict=True))


def spell_neighbours(graph: GraphBatch, walk: Walk, node: int) -> str:
    """Write a node's label with those of its neighbours, C(–C)(–O)(=O), the first ones of many."""
    entries = np.arange(graph.indptr[node], graph.indptr[node + 1])
    first = graph.node_offsets[np.searchsorted(graph.node_offsets, node, "right") - 1]
    name = spell(graph, walk, np.array([node]), entries[:0])
    steps = (spell(graph, walk, np.array([node, first + graph.indices[k]]), np.array([k])) for k in entries)
    surroundings = sorted(step.removeprefix(name) for step in steps)
    more = "…" if len(surroundings) > _MOST_NEIGHBOURS else ""
    return name + "".join(f"({item})" for item in surroundings[:_MOST_NEIGHBOURS]) + more
