"""Weisfeiler-Lehman refinement by hashing: a node's label becomes itself and the labels around it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.entries import stable_order
from gvoys.graphs.labels import Labels, hash_integers

__all__ = ["refine_labels"]

_OUT, _IN, _OWN = (np.uint64(salt) for salt in (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0))


def refine_labels(batch: GraphBatch) -> GraphBatch:
    """One round: hash each node's label with the multiset of (edge label, neighbour's label), per direction.

    The new label is a pure function of the node's surroundings, the same in any batch; graphs without labels begin
    with one label for all. Cost O(n_entries).
    """
    own = np.zeros(batch.n_nodes, np.uint64) if batch.node_labels is None else batch.node_labels.hashed
    edge = np.zeros(batch.n_entries, np.uint64) if batch.edge_labels is None else batch.edge_labels.hashed
    rows = batch.rows()
    columns = batch.columns()
    around = _sums(_mix(own[columns], edge, _OUT), batch.indptr)
    if batch.directed:
        order = stable_order(columns)
        pointers = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=batch.n_nodes))])
        around = _mix(around, _sums(_mix(own[rows], edge, _IN)[order], pointers), _IN)
    hashes, codes = np.unique(_mix(own, around, _OWN), return_inverse=True)
    return replace(batch, node_labels=Labels(codes.astype(np.int32), hashes, hashes))


def _mix(one: NDArray[np.uint64], other: NDArray[np.uint64], salt: np.uint64) -> NDArray[np.uint64]:
    return hash_integers(hash_integers(one ^ salt) + other)


def _sums(values: NDArray[np.uint64], pointers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Sums modulo 2^64 of the values between pointers: what a multiset adds up to, in any order."""
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
    return running[pointers[1:]] - running[pointers[:-1]]
