"""Weisfeiler-Lehman refinement by hashing: a node's label becomes itself and the labels around it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.entries import stable_order
from gvoys.graphs.labels import Labels, combine_hashes

_IN = np.uint64(0x13198A2E03707344)  # tells the neighbours before a node from those after it


def refinement_rounds(batch: GraphBatch, rounds: int, node_labels: bool, edge_labels: bool) -> Iterator[GraphBatch]:
    """The batch itself, then the batch after each Weisfeiler–Lehman iteration."""
    yield batch
    seen = batch._with(
        node_labels=batch.node_labels if node_labels else None,
        edge_labels=batch.edge_labels if edge_labels else None,
    )
    for _ in range(rounds):
        seen = refine_labels(seen)
        yield seen


def refine_labels(batch: GraphBatch) -> GraphBatch:
    """One iteration: hash each node's label with the multiset of (edge label, neighbour's label), per direction.

    The new label is a pure function of the node's surroundings, the same in any batch; graphs without labels begin
    with one label for all. Cost O(n_entries).
    """
    hashes = np.zeros(batch.n_nodes, np.uint64) if batch.node_labels is None else batch.node_labels.hashed
    edge = np.zeros(batch.n_entries, np.uint64) if batch.edge_labels is None else batch.edge_labels.hashed
    rows = batch.rows()
    columns = batch.columns()
    neighbour_sums = _sums(combine_hashes(hashes[columns], edge), batch.indptr)
    if batch.directed:
        order = stable_order(columns)
        pointers = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=batch.n_nodes))])
        before = combine_hashes(hashes[rows] ^ _IN, edge)[order]
        neighbour_sums = combine_hashes(neighbour_sums, _sums(before, pointers))
    return batch._with(node_labels=Labels.from_hashes(combine_hashes(hashes, neighbour_sums)))


def _sums(values: NDArray[np.uint64], pointers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Sums modulo 2^64 of the values between pointers: what a multiset adds up to, in any order."""
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
    return running[pointers[1:]] - running[pointers[:-1]]
