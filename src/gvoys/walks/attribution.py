"""Whose walks make up a weighted sum of label sequences: every walk is shared by its nodes, or by its edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gvoys._kernels.cpu.attribution import Shares, Weighted, spread_sequences
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.refine import refinement_rounds
from gvoys.walks.sequences import entries_back, places_of
from gvoys.walks.sparse import SparseProfiles
from gvoys.walks.walk import Walk

__all__ = ["spread_weights"]

Array = NDArray[np.float64]


def spread_weights(
    batch: GraphBatch, walk: Walk, profiles: SparseProfiles, weights: Sequence[Sequence[Array]]
) -> tuple[Array, Array]:
    """Spread a weighted sum of label sequences over the nodes and edges of their walks.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    walk : Walk
        What is walked.
    profiles : SparseProfiles
        Their counts.
    weights : list of list of ndarray
        For every iteration and length the weight of each count, as `Counts.listing` has them.

    Returns
    -------
    nodes : ndarray of shape (n_nodes,)
        Sums over walks: weight divided by the number of nodes of the walk, as often as it passes the node.
    entries : ndarray of shape (n_entries,)
        The same for edges, by direction.
    """
    nodes, entries = np.zeros(batch.n_nodes), np.zeros(batch.n_entries)
    scales, back = np.ldexp(1.0, profiles.exponents), entries_back(batch, walk)
    rounds = refinement_rounds(batch, len(weights) - 1, walk.node_labels, walk.edge_labels)
    for r, graphs in enumerate(rounds):
        once = replace(walk, refine=0, node_labels=walk.node_labels or r > 0)
        weighted = _weighted(profiles, r, weights[r])
        for first, places, longest in places_of(graphs, once, scales, back):
            size = len(places.labels)
            shares = Shares(np.zeros(size), np.zeros(size), np.zeros(batch.n_entries))
            reach = np.minimum(weighted.longest, first + longest)
            spread_sequences(places, first, weighted._replace(longest=reach), shares)
            if first == 0:
                nodes += shares.nodes
            else:  # arcs: walks pass their tails, and end at the head of the last
                nodes += np.bincount(batch.rows(), shares.nodes, minlength=batch.n_nodes)
                nodes += np.bincount(batch.columns(), shares.last, minlength=batch.n_nodes)
            entries += shares.edges
    return nodes, entries


def _weighted(profiles: SparseProfiles, iteration: int, weights: Sequence[Array]) -> Weighted:
    """Of one iteration, sorted by graph, length and key."""
    listings = [counts.listing for counts in profiles.blocks[iteration]]
    counts = np.stack([np.diff(pointers) for pointers, _, _ in listings], axis=1)  # (n_graphs, n_lengths)
    graphs = np.concatenate([np.repeat(np.arange(len(counts)), each) for each in counts.T])
    lengths = np.repeat(np.arange(counts.shape[1]), counts.sum(axis=0))
    keys = np.concatenate([own for _, own, _ in listings])
    order = np.lexsort([keys, lengths, graphs])
    ends = np.cumsum(counts.ravel()).reshape(counts.shape)
    begins = np.concatenate([[0], ends[:-1, -1]]) if len(ends) else np.empty(0, np.int64)
    longest = counts.shape[1] - 1 - np.argmax(counts[:, ::-1] > 0, axis=1)
    return Weighted(longest, np.column_stack([begins, ends]), keys[order], np.concatenate(list(weights))[order])
