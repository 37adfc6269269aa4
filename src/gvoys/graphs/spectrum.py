"""Spectral radii and growth rates: how fast walks multiply."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import prange
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from gvoys._jit import kernel
from gvoys.graphs.batch import GraphBatch

_MOST_ITERATIONS = 2000
MARGIN = 1e-12  # covers the rounding of a row sum
CLOSELY = 1e-10  # a relative tolerance, where the last digits decide whether a series converges
_MOST_STEPS = 64  # walks of this many steps show how all longer ones multiply
AT_FIRST = 10.0  # by how much walks may outdo their rate
_NEAR = 1e-6  # relative: no rate is lower than one that is so near a bound from below
_PRODUCT_ROWS = 512  # that a thread takes at a time

_ROWS_AT_ONCE = 1024  # that a thread takes
_OUT, _IN = "_outgoing", "_incoming"


def outgoing(batch: GraphBatch) -> NDArray[np.float64]:
    """Sum the absolute weights that leave each node."""
    known: NDArray[np.float64] | None = batch.__dict__.get(_OUT)
    if known is None:
        known = np.diff(batch.indptr).astype(np.float64)
        if batch.edge_weights is not None:
            _sum_rows(batch.indptr, batch.edge_weights, known)
        remember_outgoing(batch, known)
    return known


def incoming(batch: GraphBatch) -> NDArray[np.float64]:
    """Sum the absolute weights that enter each node."""
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
    """Return two bounds on the spectral radius of undirected graphs: |A 1| / |1|, and the largest degree."""
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
    """Return the largest number of each graph."""
    largest = np.zeros(len(batch))
    filled = np.flatnonzero(batch.graph_sizes)
    if filled.size:
        largest[filled] = np.maximum.reduceat(values, batch.node_offsets[filled])
    return largest


@kernel(parallel=True)
def _sum_rows(indptr: Any, weights: Any, out: Any) -> None:  # pragma: no cover
    n: Any = len(out)
    for part in prange((n + _ROWS_AT_ONCE - 1) // _ROWS_AT_ONCE):
        begin = np.int64(part) * _ROWS_AT_ONCE
        for row in range(min(_ROWS_AT_ONCE, n - begin)):
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


def spectral_radius(
    batch: GraphBatch,
    rtol: float = 1e-12,
    left: NDArray[np.float64] | None = None,
    right: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Bound the spectral radius of each graph's absolute weights from above, in O(n_entries) per step."""
    # power iteration on |A| + s I: by Collatz and Wielandt the largest ratio of one step of |A| bounds the radius from
    # above, whatever the vector; it stops once the smallest ratio is within `rtol`, or eight steps lower it by less
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
        _MOST_ITERATIONS,
        rtol,
        bounds,
    )
    if left is not None or right is not None:
        return bounds * (1.0 + MARGIN)
    return np.minimum(bounds * (1.0 + MARGIN), degree_bounds(batch)[1])


def strong_components(batch: GraphBatch) -> NDArray[Any]:
    """Return the number of each node's strongly connected component."""
    # SciPy never ends where an entry stands in a matrix twice, and takes a stored zero for an edge
    pattern = batch.adjacency()
    pattern.data[:] = pattern.data != 0
    pattern.eliminate_zeros()
    pattern.sum_duplicates()
    return np.asarray(connected_components(pattern, connection="strong")[1])


def absolute_adjacency(batch: GraphBatch) -> sp.csr_array:
    """Return |A| with the weights of parallel edges made positive one by one: ``abs`` would add them up first."""
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


Array = NDArray[np.float64]


def early_growth(batch: GraphBatch, length_of: Callable[[float], float] | None = None) -> Array:
    """Return a rate r for each graph with |A|^k <= 10 r^k for every k, in the norm of row sums or of column sums."""
    # s_k, the largest row sum of |A|^k, is submultiplicative, so that s_k <= 10 r^k for k < n and s_n <= r^n are enough
    # for all k; n = 1 gives the largest degree, and a larger n a lower rate, at n products
    out = largest_per_graph(batch, outgoing(batch)) * (1.0 + MARGIN)
    if length_of is not None and (_is_least(batch, out) or length_of(_top(out)) <= 1):
        return out
    into = largest_per_graph(batch, incoming(batch)) * (1.0 + MARGIN)
    rates, by_rows = np.minimum(out, into), _top(out) <= _top(into)
    if length_of is not None and length_of(_top(rates)) <= 1:
        return rates
    for rows in (by_rows, not by_rows):
        rates = np.minimum(rates, _rates_of_powers(_Powers(batch, rows), rates, length_of))
        if length_of is not None and math.isfinite(length_of(_top(rates))):
            break
    return rates


def _top(values: Array) -> float:
    return float(values.max(initial=0.0))


def _is_least(batch: GraphBatch, rates: Array) -> bool:
    """Whether the largest rate cannot be lower: the smallest row sum is no larger than the spectral radius."""
    sizes = np.flatnonzero(batch.graph_sizes)
    least = np.minimum.reduceat(outgoing(batch), batch.node_offsets[sizes]) if sizes.size else np.zeros(1)
    return _top(least) >= (1.0 - _NEAR) * _top(rates)


def _rates_of_powers(powers: _Powers, known: Array, length_of: Callable[[float], float] | None) -> Array:
    """Return the rates after as many products as pay."""
    best = known
    while powers.n < _MOST_STEPS:
        powers.advance(max(powers.n, 1))
        best = np.minimum(best, powers.rates())
        if length_of is None or not math.isfinite(length := length_of(_top(best))):
            continue
        if length - length_of(_top(np.minimum(best, powers.expected()))) <= powers.n:
            break
    return best


class _Powers:
    """Largest row sums s_k of |A|^k of every graph, or largest column sums, as logarithms."""

    def __init__(self, batch: GraphBatch, rows: bool) -> None:
        self.batch = batch
        if rows:
            weights = np.empty(0) if batch.edge_weights is None else batch.edge_weights
            firsts = np.repeat(batch.node_offsets[:-1].astype(np.int64), batch.graph_sizes)
            self._matrix = (firsts, batch.indptr, batch.indices, weights)
        else:
            A = absolute_adjacency(batch).T.tocsr()
            self._matrix = (np.zeros(batch.n_nodes, np.int64), A.indptr, A.indices, A.data)
        self._x = np.ones(batch.n_nodes)
        self.logs = [np.zeros(len(batch))]  # log s_0

    @property
    def n(self) -> int:
        """Number of products so far."""
        return len(self.logs) - 1

    def advance(self, count: int) -> None:
        """Make some more products."""
        for _ in range(min(count, _MOST_STEPS - self.n)):
            y = np.empty_like(self._x)
            _multiply(*self._matrix, self._x, y)
            largest = largest_per_graph(self.batch, y)
            with np.errstate(divide="ignore"):
                self.logs.append(self.logs[-1] + np.log(largest))
            self._x = y / np.repeat(np.where(largest > 0, largest, 1.0), self.batch.graph_sizes)

    def rates(self) -> Array:
        """Return the rates that follow from the products so far."""
        return self._rates(self.n, self.logs[-1])

    def expected(self) -> Array:
        """Return the rates after twice as many products, if walks go on to multiply as in the last half of these."""
        with np.errstate(invalid="ignore"):
            more = 2.0 * (self.logs[-1] - self.logs[self.n // 2])
        return self._rates(2 * self.n, self.logs[-1] + np.where(np.isfinite(more), more, -np.inf))

    def _rates(self, n: int, last: Array) -> Array:
        early = [(log - math.log(AT_FIRST)) / k for k, log in enumerate(self.logs) if 0 < k < n]
        return np.asarray(np.exp(np.max([last / n, *early], axis=0)) * (1.0 + MARGIN))


@kernel(parallel=True)
def _multiply(firsts: Any, indptr: Any, indices: Any, weights: Any, x: Any, y: Any) -> None:  # pragma: no cover
    """y = |A| x; the entries of a node count from the first node of its graph."""
    n: Any = len(x)
    weighted = len(weights) > 0
    for part in prange((n + _PRODUCT_ROWS - 1) // _PRODUCT_ROWS):
        begin = np.int64(part) * _PRODUCT_ROWS
        for row in range(min(_PRODUCT_ROWS, n - begin)):
            u = begin + row
            total, first = 0.0, firsts[u]
            if weighted:
                for e in range(indptr[u], indptr[u + 1]):
                    total += abs(weights[e]) * x[first + indices[e]]
            else:
                for e in range(indptr[u], indptr[u + 1]):
                    total += x[first + indices[e]]
            y[u] = total
