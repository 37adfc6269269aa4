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

__all__ = ["early_growth", "max_degree", "spectral_radius"]

_ITERATIONS = 2000
_STEPS = 64  # walks of this many steps tell how all longer ones multiply
_AT_FIRST = 10.0  # by how much walks may outdo their rate
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


def early_growth(batch: GraphBatch) -> NDArray[np.float64]:
    """A rate r for each graph with |A|^k <= 10 r^k for every k, in the norm of row sums or of column sums.

    The spectral radius only says how walks multiply in the end: a directed graph without cycles has radius 0 and many
    walks. s_k, the largest row sum of |A|^k, is submultiplicative, so that s_k <= 10 r^k for k < 64 and s_64 <= r^64
    are enough for all k. Cost: O(n_entries) per step.
    """
    A = abs(batch.adjacency())
    return np.minimum(*(_rate_of_sums(batch, M) for M in (A, A.T.tocsr())))


def _rate_of_sums(batch: GraphBatch, A: Any) -> NDArray[np.float64]:
    x, logs = np.ones(batch.n_nodes), np.zeros(len(batch))
    rate = np.zeros(len(batch))
    for step in range(1, _STEPS + 1):
        x = A @ x
        largest = _largest_per_graph(batch, x)
        with np.errstate(divide="ignore"):
            logs += np.log(largest)
        x /= np.repeat(np.where(largest > 0, largest, 1.0), batch.graph_sizes)
        allowed = 0.0 if step == _STEPS else np.log(_AT_FIRST)
        rate = np.maximum(rate, np.exp((logs - allowed) / step))
    return rate * (1.0 + _MARGIN)


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
