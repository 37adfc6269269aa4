"""Steps of a sampled walk: to a neighbour drawn uniformly, with the probability of doing so divided out.

Every draw is a pure function of (seed, replicate, graph, node, walker, side, step), where a hash of its content stands
for the graph. So walks of different graphs are independent, and a graph walks the same in any batch, thread or process.
"""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._compiled.arguments import Adjacency, SignedLabels, frozen
from gvoys._compiled.cpu.randomness import HALT, LENGTH, START, STEP, WALK, philox, random_bits, uniform
from gvoys._jit import kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.entries import index_type, stable_order
from gvoys.graphs.labels import local_codes

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@kernel(inline="always")
def draw(key, first, second, purpose, side, count):
    """Four times 32 random bits of one graph, by their purpose."""
    what = (np.uint64(purpose) << np.uint64(28)) | (np.uint64(side) << np.uint64(24)) | np.uint64(count)
    return philox(
        np.uint64(first) ^ (key[1] & _LOW), np.uint64(second) ^ (key[1] >> _HALF), what, np.uint64(0),
        key[0] & _LOW, key[0] >> _HALF,
    )  # fmt: skip


@kernel(inline="always")
def step_bits(key, node, walker, side, step):
    """Four times 32 random bits: the draws of the steps 4k … 4k + 3 of one walker that started at `node`."""
    return draw(key, node, walker, STEP, side, np.uint64(step) >> np.uint64(2))


@kernel()
def starting_place(key, origin, n_starts, n_nodes, walker, side):
    """One of n_starts nodes, drawn from n_nodes / n_starts consecutive ones."""
    a, b, _, _ = draw(key, origin, walker, START, side, 0)
    return min(np.int64((origin + uniform(a, b)) * (n_nodes / n_starts)), n_nodes - 1)


@kernel(inline="always")
def neighbour(bits, begin, degree):
    """An entry of a row, each as likely as the others to one part in 2^32 / degree."""
    return begin + np.int64((bits * np.uint64(degree)) >> _HALF)


@kernel()
def halting_length(limit, p_halt, key, node, walker, side):
    """Steps before a walker halts, P(length >= l) = (1 - p_halt)^l, or `limit` if that comes first.

    A coin of 53 bits cannot resolve very long lengths; a walker that reaches step 20 / p_halt draws anew from there,
    which changes nothing, since halting has no memory.
    """
    reach = np.int64(20.0 / p_halt) + 1
    steps = np.int64(0)
    for attempt in range(limit // reach + 1):
        a, b, _, _ = draw(key, node, walker, HALT, side, attempt)
        more = np.int64(np.log(uniform(a, b)) / np.log1p(-p_halt))
        if more < reach:
            return min(steps + more, limit)
        steps += reach
    return limit


# Distributions of mean 0 and variance 1 for the variables g of lengths.
DISTRIBUTIONS = ("rademacher", "gaussian", "uniform")

_ONE = np.uint64(1)


@kernel()
def _bits(seed, purpose, side, walker, block, label):
    """Random signs of 128 consecutive steps."""
    a, b, c, d = random_bits(seed, purpose, side, walker, block, label)
    return a | (b << _HALF), c | (d << _HALF)


@kernel()
def fill_signs(seed, purpose, side, walker, hashes, out):
    """The signs z of the first 128 steps for every label, (n_labels, 2) of 64 bits each."""
    for label in range(len(hashes)):
        out[label, 0], out[label, 1] = _bits(seed, purpose, side, walker, 0, hashes[label])


@kernel(inline="always")
def _pick(low, high, step):
    return ((high if step & 64 else low) >> np.uint64(step & 63)) & _ONE


@kernel()
def label_parity(table, code, step, seed, purpose, side, walker, hashes):
    """0 for z = 1 and 1 for z = -1; past 128 steps drawn where needed, which few walks reach."""
    if step < 128:
        return _pick(table[code, 0], table[code, 1], step)
    low, high = _bits(seed, purpose, side, walker, step >> 7, hashes[code])
    return _pick(low, high, step)


@kernel()
def fill_lengths(seed, side, walker, distribution, factors, out):
    """factors[l] * g(l) for the lengths that fit into `out`; distribution -1 means g = 1."""
    low = high = np.uint64(0)
    for step in range(len(out)):
        if distribution == 0 and step & 127 == 0:
            low, high = _bits(seed, LENGTH, side, walker, step >> 7, 0)
        g = 1.0
        if distribution == 0:
            g = 1.0 - 2.0 * np.float64(_pick(low, high, step))
        elif distribution > 0:
            a, b, c, d = random_bits(seed, LENGTH, side, walker, step & 0xFFFF, 1 + (step >> 16))
            if distribution == 1:
                g = np.sqrt(-2.0 * np.log(uniform(a, b))) * np.cos(2.0 * np.pi * uniform(c, d))
            else:
                g = np.sqrt(3.0) * (2.0 * uniform(a, b) - 1.0)
        out[step] = factors[step] * g


_NOTHING = np.empty(0)
_NO_CODES = np.empty(0, np.int32)
_WEIGHT_OF_ONE = np.float64(1.0).view(np.uint64)  # as bits


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
                if len(adjacency.weights) and adjacency.weights[e] != _WEIGHT_OF_ONE:
                    word = _mix(word + np.uint64(1)) ^ adjacency.weights[e]
                if len(adjacency.edge_codes):
                    word = _mix(word + np.uint64(2)) ^ labels.edge_hashes[adjacency.edge_codes[e]]
                total += _mix(word + np.uint64(0x9E3779B97F4A7C15))
        a, b, c, d = random_bits(seed, WALK, replicate, 0, 0, total)
        out[g, 0] = a | (b << _HALF)
        out[g, 1] = c | (d << _HALF)
