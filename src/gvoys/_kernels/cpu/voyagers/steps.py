"""How a sampled walk moves: to a neighbour drawn uniformly, with the probability of doing so divided out.

Every draw is a pure function of (seed, replicate, graph, node, walker, side, step), where a hash of its content stands
for the graph. So walks of different graphs are independent, and a graph walks the same in any batch, thread or process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys._kernels.cpu.randomness import HALT, STEP, WALK, philox, random_bits, uniform
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.entries import index_type, stable_order
from gvoys.graphs.labels import local_codes

__all__ = [
    "Adjacency",
    "backward",
    "draw",
    "forward",
    "frozen",
    "graph_keys",
    "halting_length",
    "neighbour",
    "step_bits",
]

_NOTHING = np.empty(0)
_NO_CODES = np.empty(0, np.int32)
_ONE = np.float64(1.0).view(np.uint64)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@dataclass(frozen=True)
class Adjacency:
    """Adjacency of one direction as CSR arrays; empty arrays stand for weights of one and for no edge labels.

    Parameters
    ----------
    indptr : ndarray of shape (n_nodes + 1,)
        Where each row begins.
    indices : ndarray of shape (n_entries,)
        Neighbours, numbered within the graph.
    weights : ndarray of shape (n_entries,) or (0,)
        Edge weights.
    edge_codes : ndarray of shape (n_entries,) or (0,)
        Codes of edge labels.
    """

    indptr: NDArray[Any]  # (n_nodes + 1,)
    indices: NDArray[np.int32]  # (n_entries,), numbered within the graph
    weights: NDArray[np.float64]
    edge_codes: NDArray[np.int32]

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """As the kernels take them."""
        return tuple(frozen(array) for array in (self.indptr, self.indices, self.weights, self.edge_codes))


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A contiguous read-only view: Numba compiles anew for writable arrays, and batches are read-only."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def forward(batch: GraphBatch, edge_labels: bool) -> Adjacency:
    """Along the edges."""
    codes = local_codes(batch.edge_labels, batch.n_entries)[0].astype(np.int32) if edge_labels else _NO_CODES
    weights = _NOTHING if batch.edge_weights is None else batch.edge_weights
    return Adjacency(batch.indptr.astype(index_type(batch.n_entries), copy=False), batch.indices, weights, codes)


def backward(batch: GraphBatch, ahead: Adjacency) -> Adjacency:
    """Against the edges: the transpose, which undirected graphs have in themselves."""
    if not batch.directed:
        return ahead
    columns = batch.columns()
    order = stable_order(columns)
    within = batch.rows() - np.repeat(batch.node_offsets[:-1], np.diff(batch.entry_offsets))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=batch.n_nodes))])
    return Adjacency(
        indptr.astype(ahead.indptr.dtype),
        within[order].astype(np.int32),
        ahead.weights[order] if len(ahead.weights) else _NOTHING,
        ahead.edge_codes[order] if len(ahead.edge_codes) else _NO_CODES,
    )


def graph_keys(
    batch: GraphBatch, adjacency: Adjacency, node_labels: bool, seed: int, replicate: int
) -> NDArray[np.uint64]:
    """A random key for each graph's walks, (n_graphs, 2), from what walks depend on: equal graphs have equal walks."""
    codes, hashes = local_codes(batch.node_labels if node_labels else None, batch.n_nodes)
    edge_hashes = local_codes(batch.edge_labels if len(adjacency.edge_codes) else None, batch.n_entries)[1]
    out = np.empty((len(batch), 2), np.uint64)
    indptr, indices, weights, edge_codes = adjacency.arrays
    _hash_graphs(
        np.uint64(seed), replicate, frozen(batch.node_offsets.astype(np.int64)), indptr, indices,
        weights.view(np.uint64),
        frozen(codes.astype(np.int32) if node_labels else _NO_CODES), frozen(hashes), edge_codes, frozen(edge_hashes),
        out,
    )  # fmt: skip
    return out


@kernel(inline="always")
def _mix(x: Any) -> Any:  # pragma: no cover
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel(parallel=True)
def _hash_graphs(
    seed: Any, replicate: Any, offsets: Any, indptr: Any, indices: Any, weights: Any, codes: Any, hashes: Any,
    edge_codes: Any, edge_hashes: Any, out: Any,
) -> None:  # pragma: no cover  # fmt: skip
    for graph in prange(len(out)):
        g = np.int64(graph)
        total = _mix(np.uint64(offsets[g + 1] - offsets[g]))
        for u in range(offsets[g], offsets[g + 1]):
            own = np.uint64(u - offsets[g]) << np.uint64(32)
            if len(codes):
                total += _mix(own ^ hashes[codes[u]])
            for e in range(indptr[u], indptr[u + 1]):
                word = own | np.uint64(indices[e])
                if len(weights) and weights[e] != _ONE:  # as if it had none, for graphs that lie beside weighted ones
                    word = _mix(word + np.uint64(1)) ^ weights[e]
                if len(edge_codes):
                    word = _mix(word + np.uint64(2)) ^ edge_hashes[edge_codes[e]]
                total += _mix(word + np.uint64(0x9E3779B97F4A7C15))
        a, b, c, d = random_bits(seed, WALK, replicate, 0, 0, total)
        out[g, 0] = a | (b << _HALF)
        out[g, 1] = c | (d << _HALF)


@kernel(inline="always")
def draw(key: Any, first: Any, second: Any, purpose: Any, side: Any, count: Any) -> Any:  # pragma: no cover
    """Four times 32 random bits of one graph, by their purpose."""
    what = (np.uint64(purpose) << np.uint64(28)) | (np.uint64(side) << np.uint64(24)) | np.uint64(count)
    return philox(
        np.uint64(first) ^ (key[1] & _LOW), np.uint64(second) ^ (key[1] >> _HALF), what, np.uint64(0),
        key[0] & _LOW, key[0] >> _HALF,
    )  # fmt: skip


@kernel(inline="always")
def step_bits(key: Any, node: Any, walker: Any, side: Any, step: Any) -> Any:  # pragma: no cover
    """Four times 32 random bits: the draws of the steps 4k … 4k + 3 of one walker that started at `node`."""
    return draw(key, node, walker, STEP, side, np.uint64(step) >> np.uint64(2))


@kernel(inline="always")
def neighbour(bits: Any, begin: Any, degree: Any) -> Any:  # pragma: no cover
    """An entry of a row, each as likely as the others to one part in 2^32 / degree."""
    return begin + np.int64((bits * np.uint64(degree)) >> _HALF)


@kernel()
def halting_length(limit: Any, p_halt: Any, key: Any, node: Any, walker: Any, side: Any) -> Any:  # pragma: no cover
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
