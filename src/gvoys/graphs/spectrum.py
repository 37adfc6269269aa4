"""Spectral radii: how fast walks multiply."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from gvoys.graphs.batch import GraphBatch
from gvoys.kernels import kernel
from gvoys.threads import start_threads

__all__ = ["max_degree", "spectral_radius"]

_ITERATIONS = 2000
_MARGIN = 1e-12  # covers the rounding of a row sum


def max_degree(batch: GraphBatch) -> float:
    """The largest sum of absolute weights that leave or enter one node; 0 for edgeless graphs."""
    if batch.n_entries == 0:
        return 0.0
    return float(max(sums.max() for sums in _absolute_degrees(batch)))


def spectral_radius(batch: GraphBatch, rtol: float = 1e-12) -> NDArray[np.float64]:
    """An upper bound on the spectral radius of each graph's absolute weights, (n_graphs,).

    Power iteration on |A| + I from the vector of ones. By Collatz and Wielandt the largest ratio of one step bounds
    the radius from above, whatever the vector, and it never rises: the result is safe however early it stops, and
    never above the maximum degree. It stops once eight steps lower the bound by less than `rtol` of it. Edges that lie
    on no cycle do not count. Cost: O(n_entries) per step.
    """
    weights = np.abs(batch.weights())
    if batch.directed:  # a walk leaves a strongly connected component only once
        _, component = connected_components(batch.adjacency(), connection="strong")
        columns = batch.columns()
        weights = weights * (component[batch.rows()] == component[columns])
    bounds = np.zeros(len(batch))
    start_threads()
    _power_iteration(batch.node_offsets, batch.indptr, batch.indices, weights, _ITERATIONS, rtol, bounds)
    outgoing, incoming = _absolute_degrees(batch)
    caps = np.minimum(_largest_per_graph(batch, outgoing), _largest_per_graph(batch, incoming))
    return np.minimum(bounds * (1.0 + _MARGIN), caps)


def _absolute_degrees(batch: GraphBatch) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    weights = np.abs(batch.weights())
    columns = batch.columns()
    return tuple(np.bincount(nodes, weights, minlength=batch.n_nodes) for nodes in (batch.rows(), columns))  # type: ignore[return-value]


def _largest_per_graph(batch: GraphBatch, values: NDArray[np.float64]) -> NDArray[np.float64]:
    largest = np.zeros(len(batch))
    filled = np.flatnonzero(batch.graph_sizes)
    if filled.size:
        largest[filled] = np.maximum.reduceat(values, batch.node_offsets[filled])
    return largest


@kernel(parallel=True)
def _power_iteration(
    node_offsets: Any, indptr: Any, indices: Any, weights: Any, iterations: int, rtol: float, bounds: Any
) -> None:  # pragma: no cover
    for graph in prange(len(bounds)):
        g = np.int64(graph)
        first = np.int64(node_offsets[g])
        n = np.int64(node_offsets[g + 1]) - first
        x = np.ones(n)
        y = np.empty(n)
        best = np.inf
        checkpoint = np.inf
        for step in range(iterations):
            ratio = 0.0
            largest = 0.0
            for u in range(n):
                total = x[u]
                for e in range(indptr[first + u], indptr[first + u + 1]):
                    total += weights[e] * x[indices[e]]
                y[u] = total
                ratio = max(ratio, total / x[u])
                largest = max(largest, total)
            for u in range(n):  # components that fall behind must stay positive for the bound to hold
                x[u] = max(y[u] / largest, 1e-200)
            best = min(best, ratio)
            if step % 8 == 7:
                if best > checkpoint * (1.0 - rtol):
                    break
                checkpoint = best
        bounds[g] = max(best - 1.0, 0.0) if n > 0 else 0.0
