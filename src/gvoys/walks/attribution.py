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
from gvoys.graphs.refine import refinement_rounds
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

    @classmethod
    def none(cls) -> Found:
        """Nothing wanted."""
        no = np.empty(0, np.int64)
        return cls(no, no, no, np.empty(0, np.uint64))

    def take(self, places: NDArray[np.int64]) -> Found:
        """Some of them."""
        return Found(self.graphs[places], self.iterations[places], self.lengths[places], self.keys[places])


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
    found: Found | None = None,
) -> Spread:
    """Spread a weighted sum of label sequences over the nodes and edges of their walks.

    Each of the sums over walks adds the weight of a walk, divided by its number of nodes, as often as it passes a node;
    the same for edges. Weights go by iteration and length, in the order of `Counts.listing`.
    """
    batch, walk = walk.on(batch).labelled_by_structure(batch)
    nodes, entries = np.zeros(batch.n_nodes), np.zeros(batch.n_entries)
    tails, heads = batch.rows(), batch.columns()
    found = Found.none() if found is None else found
    walks: list[Any] = [None] * len(found.keys)
    scales, back = np.ldexp(1.0, profiles.exponents), entries_back(batch, walk)
    rounds = refinement_rounds(batch, len(weights) - 1, walk.node_labels, walk.edge_labels)
    for r, graphs in enumerate(rounds):
        if not weights[r]:  # an iteration that is not counted
            continue
        once = walk.in_iteration(r)
        weighted, here = _weighted(profiles, r, weights[r]), np.flatnonzero(found.iterations == r)
        for first, states, longest in places_of(graphs, once, scales, back):
            size = len(states.labels)
            shares = Shares(np.zeros(size), np.zeros(size), np.zeros(batch.n_entries))
            reach, wanted = np.minimum(weighted.longest, first + longest), _wanted(found, here, batch, walk)
            spread_sequences(states, first, weighted._replace(longest=reach), wanted, shares)
            if first == 0:
                nodes += shares.nodes
            else:  # arcs: walks pass their tails, and end at the head of the last
                nodes += np.bincount(tails, shares.nodes, minlength=batch.n_nodes)
                nodes += np.bincount(heads, shares.last, minlength=batch.n_nodes)
            entries += shares.edges
            for block, *way in zip(here.tolist(), wanted.walks, wanted.entries, strict=True):
                if way[0][0] >= 0:
                    walks[block] = _as_walk(tails, heads, first, int(found.lengths[block]), *way)
    return Spread(nodes, entries, walks)


def _wanted(found: Found, here: NDArray[np.int64], batch: GraphBatch, walk: Walk) -> Wanted:
    """Collect the walks of one iteration."""
    pointers = np.searchsorted(found.graphs[here], np.arange(len(batch) + 1))
    walks, entries = np.full((2, len(here), walk.n_lengths), -1, np.int64)
    return Wanted(pointers, found.lengths[here], found.keys[here], walks, entries)


def _as_walk(tails: Any, heads: Any, first: int, length: int, places: Any, entries: Any) -> tuple[Any, Any]:
    """Nodes and entries, from places, which are arcs if `first` is 1."""
    if first == 0:
        return places[: length + 1], entries[:length]
    arcs = places[:length]
    return np.append(tails[arcs], heads[arcs[-1]]), arcs


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
    """Spread a sum that is linear in sketched profiles over the nodes and edges of their walks.

    Summed over groups, the shares of a graph's nodes are those of ``(gradients * values).sum(axis=(1, 2))``, with the
    profiles' `values`. Lengths and iterations without a gradient are not walked.

    Both results are of shape (n_groups, n_nodes or n_entries). The shares are computed on the CPU, whatever the sketch.
    """
    batch, walk = walk.on(batch).labelled_by_structure(batch)
    d, by = sketch.n_components, np.asarray(gradients)
    nodes, entries = (np.zeros((-(-d // WIDTH), count)) for count in (batch.n_nodes, batch.n_entries))
    largest = _largest(by.reshape(len(by), walk.n_lengths, walk.n_iterations, d))  # (n_graphs, n_lengths, n_iterations)
    used: NDArray[np.bool_] = np.any(largest > 0, axis=0)
    if not used.any():
        return nodes, entries
    longest, last = (int(positions.max()) for positions in np.nonzero(used))
    powers = np.frexp(largest.max(axis=(1, 2)))[1]
    scaled = _scaled(by[:, : longest + 1, : (last + 1) * d], -powers)
    walk, on_cpu = replace(walk, max_length=longest, refine=last), replace(sketch, device="cpu")
    for block, (graphs_at_once, _, columns) in on_cpu.sketches(batch, walk, np.ldexp(1.0, exponents)):
        if used[:, columns.start // d].any():
            of_nodes, of_entries = (
                slice(*offsets[[graphs_at_once.start, graphs_at_once.stop]]) for offsets in _offsets(batch)
            )
            block.spread(scaled[graphs_at_once], d, columns.start, nodes[:, of_nodes], entries[:, of_entries])
    for shares, offsets in zip((nodes, entries), _offsets(batch), strict=True):
        shares *= np.ldexp(1.0, np.repeat(powers, np.diff(offsets)))
    return nodes, entries


def _largest(by: NDArray[Any]) -> Array:
    """The largest absolute values of the blocks, and no array of all absolute values."""
    return np.maximum(by.max(axis=3), -by.min(axis=3)).astype(np.float64)


def _scaled(by: NDArray[Any], powers: NDArray[Any]) -> NDArray[np.float32]:
    """Gradients in single precision, each graph's times a power of two: they may be far out of its range."""
    out = np.empty(by.shape, np.float32)
    return np.multiply(by, np.ldexp(1.0, powers)[:, None, None], out=out, casting="unsafe")


def _offsets(batch: GraphBatch) -> tuple[NDArray[Any], NDArray[Any]]:
    return batch.node_offsets, batch.entry_offsets


_MANY = 6  # neighbours that are spelled
_BONDS = {1.0: "–", 1.5: ":", 2.0: "=", 3.0: "≡"}


def spell(graph: GraphBatch, walk: Walk, nodes: NDArray[np.int64], entries: NDArray[np.int64]) -> str:
    """A walk's labels as people write them: C–C=O for atoms and bonds, a–b for others."""
    names = ["•"] * len(nodes)
    if walk.node_labels and graph.node_labels is not None:
        names = [label_text(label) for label in graph.node_labels[nodes].decode()]
    joints = ["–"] * len(entries)
    if walk.edge_labels and graph.edge_labels is not None:
        joints = [_joint(label) for label in graph.edge_labels[entries].decode()]
    return names[0] + "".join(joint + name for joint, name in zip(joints, names[1:], strict=True))


def spell_neighbours(graph: GraphBatch, walk: Walk, node: int) -> str:
    """A node's label with those of its neighbours: C(–C)(–O)(=O); of many the first ones."""
    entries = np.arange(graph.indptr[node], graph.indptr[node + 1])
    first = graph.node_offsets[np.searchsorted(graph.node_offsets, node, "right") - 1]
    name = spell(graph, walk, np.array([node]), entries[:0])
    steps = (spell(graph, walk, np.array([node, first + graph.indices[k]]), np.array([k])) for k in entries)
    surroundings = sorted(step.removeprefix(name) for step in steps)
    more = "…" if len(surroundings) > _MANY else ""
    return name + "".join(f"({item})" for item in surroundings[:_MANY]) + more


def _joint(label: Any) -> str:
    return _BONDS[label] if isinstance(label, float) and label in _BONDS else f"–({label})–"
