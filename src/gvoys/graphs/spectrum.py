"""Spectral radii: how fast walks multiply."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import prange
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from gvoys._jit import kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.degrees import degree_bounds

_ITERATIONS = 2000
MARGIN = 1e-12  # covers the rounding of a row sum
CLOSELY = 1e-10  # a relative tolerance, where the last digits decide whether a series converges


def spectral_radius(
    batch: GraphBatch,
    rtol: float = 1e-12,
    left: NDArray[np.float64] | None = None,
    right: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """An upper bound on the spectral radius of each graph's absolute weights.

    Power iteration on |A| + s I, s about half the radius, from the roots of the row sums. By Collatz and Wielandt the
    largest ratio of one step of |A| bounds the radius from above, whatever the vector: the result is safe however
    early it stops, and never above the maximum degree. It stops once the smallest ratio, a bound from below, is within
    `rtol`, or eight steps lower the bound by less than `rtol` of it. Edges that lie on no cycle do not contribute.
    Cost: O(n_entries) per step; memory O(n_nodes) for graphs without weights and directions.
    """
    weights = np.empty(0) if batch.edge_weights is None else np.abs(batch.edge_weights)
    if batch.directed:  # a walk leaves a strongly connected component only once
        component = strong_components(batch)
        weights = np.abs(batch.weights()) * (component[batch.rows()] == component[batch.columns()])
    bounds, ones = np.zeros(len(batch)), np.ones(batch.n_nodes)
    _power_iteration(
        batch.node_offsets,
        batch.indptr,
        batch.indices,
        weights,
        ones if left is None else left,
        ones if right is None else right,
        _ITERATIONS,
        rtol,
        bounds,
    )
    if left is not None or right is not None:
        return bounds * (1.0 + MARGIN)
    return np.minimum(bounds * (1.0 + MARGIN), degree_bounds(batch)[1])


def strong_components(batch: GraphBatch) -> NDArray[Any]:
    """The number of each node's strongly connected component.

    SciPy looks at the pattern of a matrix, never ends where an entry stands in it twice, and takes a stored zero for
    an edge: parallel edges are merged first, as ones, so that opposite weights do not cancel.
    """
    pattern = batch.adjacency()
    pattern.data[:] = pattern.data != 0
    pattern.eliminate_zeros()
    pattern.sum_duplicates()
    return np.asarray(connected_components(pattern, connection="strong")[1])


def absolute_adjacency(batch: GraphBatch) -> sp.csr_array:
    """|A| with the weights of parallel edges made positive one by one: ``abs`` would add them up first."""
    A = batch.adjacency()
    np.abs(A.data, out=A.data)
    return A


@kernel(parallel=True)
def _power_iteration(
    node_offsets: Any, indptr: Any, indices: Any, weights: Any, left: Any, right: Any, iterations: int, rtol: float,
    bounds: Any,
) -> None:  # pragma: no cover  # fmt: skip
    for graph in prange(len(bounds)):
        g = np.int64(graph)
        first = np.int64(node_offsets[g])
        n = np.int64(node_offsets[g + 1]) - first
        x = np.empty(n)
        turned = np.empty(n)  # what rows are summed over
        y = np.empty(n)
        for u in range(n):
            turned[u] = right[first + u]
        largest = 0.0
        for u in range(n):  # roots of row sums: exact for regular graphs and for stars
            x[u] = np.sqrt(left[first + u] * _row(indptr[first + u], indptr[first + u + 1], indices, weights, turned))
            largest = max(largest, x[u])
        if largest == 0.0:
            bounds[g] = 0.0
            continue
        for u in range(n):
            x[u] = max(x[u] / largest, 1e-100)
        best = np.inf
        checkpoint = np.inf
        shift = 0.0  # of the order of the radius, so that bipartite graphs converge too
        for step in range(iterations):
            ratio, lowest, largest = 0.0, np.inf, 0.0
            for u in range(n):
                turned[u] = right[first + u] * x[u]
            for u in range(n):
                total = left[first + u] * _row(indptr[first + u], indptr[first + u + 1], indices, weights, turned)
                ratio, lowest = max(ratio, total / x[u]), min(lowest, total / x[u])
                y[u] = total + shift * x[u]
                largest = max(largest, y[u])
            if not ratio < np.inf:
                break
            best = min(best, ratio)
            if best - lowest <= rtol * best:
                break
            for u in range(n):  # components that fall behind must stay positive for the bound to hold
                x[u] = max(y[u] / largest, 1e-200)
            if step == 0:
                shift = 0.5 * best
            if step % 8 == 7:
                if best > checkpoint * (1.0 - rtol):
                    break
                checkpoint = best
        bounds[g] = best


@kernel()
def _row(begin: Any, end: Any, indices: Any, weights: Any, x: Any) -> Any:  # pragma: no cover
    total = 0.0
    if len(weights):
        for e in range(begin, end):
            total += weights[e] * x[indices[e]]
    else:
        for e in range(begin, end):
            total += x[indices[e]]
    return total
