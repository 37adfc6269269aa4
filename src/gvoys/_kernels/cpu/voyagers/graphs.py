"""Graphs as walkers see them: along the edges and against them, labels that turn signs, and keys of random bits."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys._kernels.arguments import Adjacency, SignedLabels, frozen
from gvoys._kernels.cpu.randomness import WALK, random_bits
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.entries import index_type, stable_order
from gvoys.graphs.labels import local_codes

_NOTHING = np.empty(0)
_NO_CODES = np.empty(0, np.int32)
_ONE = np.float64(1.0).view(np.uint64)
_HALF = np.uint64(32)


def node_offsets(batch: GraphBatch) -> NDArray[np.int64]:
    """Where each graph's nodes begin."""
    return frozen(batch.node_offsets.astype(np.int64))


def forward(batch: GraphBatch, edge_labels: bool) -> Adjacency:
    """Along the edges."""
    codes = local_codes(batch.edge_labels, batch.n_entries)[0].astype(np.int32) if edge_labels else _NO_CODES
    weights = _NOTHING if batch.edge_weights is None else batch.edge_weights
    indptr = batch.indptr.astype(index_type(batch.n_entries), copy=False)
    return Adjacency(*map(frozen, (indptr, batch.indices, weights, codes)))


def backward(batch: GraphBatch, ahead: Adjacency) -> Adjacency:
    """Against the edges: the transpose, which undirected graphs have in themselves."""
    if not batch.directed:
        return ahead
    columns = batch.columns()
    order = stable_order(columns)
    within = batch.rows() - np.repeat(batch.node_offsets[:-1], np.diff(batch.entry_offsets))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=batch.n_nodes))])
    weights, codes = (array[order] if len(array) else array for array in (ahead.weights, ahead.edge_codes))
    arrays = (indptr.astype(ahead.indptr.dtype), within[order].astype(np.int32), weights, codes)
    return Adjacency(*map(frozen, arrays))


def signed_labels(batch: GraphBatch, node_labels: bool, edge_labels: bool, signed: bool) -> SignedLabels:
    """Node codes (none where nodes turn no sign), and the hashes of node and edge labels."""
    codes, hashes = local_codes(batch.node_labels if node_labels else None, batch.n_nodes)
    edge_hashes = local_codes(batch.edge_labels if edge_labels else None, batch.n_entries)[1]
    seen = codes.astype(np.int32) if signed else _NO_CODES
    return SignedLabels(frozen(seen), frozen(hashes), frozen(edge_hashes))


def graph_keys(
    batch: GraphBatch, ahead: Adjacency, labels: SignedLabels, seed: int, replicate: int
) -> NDArray[np.uint64]:
    """A random key for each graph's walks, (n_graphs, 2), from what walks depend on: equal graphs have equal walks."""
    out = np.empty((len(batch), 2), np.uint64)
    bits = ahead._replace(weights=ahead.weights.view(np.uint64))
    _hash_graphs(np.uint64(seed), replicate, node_offsets(batch), bits, labels, out)
    return out


@kernel(inline="always")
def _mix(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel(parallel=True)
def _hash_graphs(seed, replicate, offsets, adjacency, labels, out):
    for graph in prange(len(out)):
        g = np.int64(graph)
        total = _mix(np.uint64(offsets[g + 1] - offsets[g]))
        for u in range(offsets[g], offsets[g + 1]):
            own = np.uint64(u - offsets[g]) << np.uint64(32)
            if len(labels.codes):
                total += _mix(own ^ labels.hashes[labels.codes[u]])
            for e in range(adjacency.indptr[u], adjacency.indptr[u + 1]):
                word = own | np.uint64(adjacency.indices[e])
                # weights of one as if there were none, for graphs that lie beside weighted ones
                if len(adjacency.weights) and adjacency.weights[e] != _ONE:
                    word = _mix(word + np.uint64(1)) ^ adjacency.weights[e]
                if len(adjacency.edge_codes):
                    word = _mix(word + np.uint64(2)) ^ labels.edge_hashes[adjacency.edge_codes[e]]
                total += _mix(word + np.uint64(0x9E3779B97F4A7C15))
        a, b, c, d = random_bits(seed, WALK, replicate, 0, 0, total)
        out[g, 0] = a | (b << _HALF)
        out[g, 1] = c | (d << _HALF)
