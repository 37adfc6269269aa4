"""Absolute degrees: sums of absolute weights, computed once for each batch, whose arrays never change."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys.graphs.batch import GraphBatch

_ROWS = 1024  # that a thread takes at a time
_OUT, _IN = "_outgoing", "_incoming"


def outgoing(batch: GraphBatch) -> NDArray[np.float64]:
    """Sums of the absolute weights that leave each node; one pass over the weights, and none where there are none."""
    known: NDArray[np.float64] | None = batch.__dict__.get(_OUT)
    if known is None:
        known = np.diff(batch.indptr).astype(np.float64)
        if batch.edge_weights is not None:
            _sum_rows(batch.indptr, batch.edge_weights, known)
        remember_outgoing(batch, known)
    return known


def incoming(batch: GraphBatch) -> NDArray[np.float64]:
    """Sums of the absolute weights that enter each node, of undirected graphs those that leave it."""
    if not batch.directed:
        return outgoing(batch)
    known: NDArray[np.float64] | None = batch.__dict__.get(_IN)
    if known is None:
        known = np.zeros(batch.n_nodes)
        weights = np.empty(0) if batch.edge_weights is None else batch.edge_weights
        _sum_columns(batch.node_offsets, batch.indptr, batch.indices, weights, known)
        known.flags.writeable = False
        batch.__dict__[_IN] = known
    return known


def remember_outgoing(batch: GraphBatch, sums: NDArray[np.float64]) -> None:
    """Keep what `outgoing` would compute, where it is known from elsewhere."""
    sums.flags.writeable = False
    batch.__dict__[_OUT] = sums


def max_degree(batch: GraphBatch) -> float:
    """The largest sum of absolute weights that leave or enter one node."""
    return float(max(outgoing(batch).max(initial=0.0), incoming(batch).max(initial=0.0)))


def degree_bounds(batch: GraphBatch) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two numbers between which walks multiply: the root of the mean squared degree, and the largest degree.

    The first is |A 1| / |1|. In an undirected graph they are bounds on the spectral radius.
    """
    out = outgoing(batch)
    squares = np.zeros(len(batch))
    filled = np.flatnonzero(batch.graph_sizes)
    if filled.size:
        squares[filled] = np.add.reduceat(out * out, batch.node_offsets[filled])
    most = largest_per_graph(batch, out)
    if batch.directed:
        most = np.minimum(most, largest_per_graph(batch, incoming(batch)))
    return np.sqrt(squares / np.maximum(batch.graph_sizes, 1)), most


def largest_per_graph(batch: GraphBatch, values: NDArray[Any]) -> NDArray[np.float64]:
    """The largest number of each graph."""
    largest = np.zeros(len(batch))
    filled = np.flatnonzero(batch.graph_sizes)
    if filled.size:
        largest[filled] = np.maximum.reduceat(values, batch.node_offsets[filled])
    return largest


@kernel(parallel=True)
def _sum_rows(indptr: Any, weights: Any, out: Any) -> None:  # pragma: no cover
    n: Any = len(out)
    for part in prange((n + _ROWS - 1) // _ROWS):
        begin = np.int64(part) * _ROWS
        for row in range(min(_ROWS, n - begin)):
            u = begin + row
            total = 0.0
            for e in range(indptr[u], indptr[u + 1]):
                total += abs(weights[e])
            out[u] = total


@kernel(parallel=True)
def _sum_columns(node_offsets: Any, indptr: Any, indices: Any, weights: Any, out: Any) -> None:  # pragma: no cover
    weighted = len(weights) > 0
    for graph in prange(len(node_offsets) - 1):
        first = np.int64(node_offsets[np.int64(graph)])
        for e in range(indptr[first], indptr[np.int64(node_offsets[np.int64(graph) + 1])]):
            out[first + indices[e]] += abs(weights[e]) if weighted else 1.0
