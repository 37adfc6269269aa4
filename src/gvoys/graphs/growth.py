"""Growth rates of walks on directed graphs: bounds first, products only where bounds do not decide."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.degrees import incoming, largest_per_graph, outgoing
from gvoys.graphs.spectrum import MARGIN, absolute_adjacency

_STEPS = 64  # walks of this many steps tell how all longer ones multiply
AT_FIRST = 10.0  # by how much walks may outdo their rate
_SAME = 1e-6  # relative: no rate is lower than one that is so near a bound from below
_ROWS = 512  # that a thread takes at a time

Array = NDArray[np.float64]


def early_growth(batch: GraphBatch, length_of: Callable[[float], float] | None = None) -> Array:
    """A rate r for each graph with |A|^k <= 10 r^k for every k, in the norm of row sums or of column sums.

    The spectral radius only says how walks multiply in the end: a directed graph without cycles has radius 0 and many
    walks. s_k, the largest row sum of |A|^k, is submultiplicative, so that s_k <= 10 r^k for k < n and s_n <= r^n are
    enough for all k. n = 1 gives the largest degree. A larger n gives a lower rate, at n products.
    """
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
    return _top(least) >= (1.0 - _SAME) * _top(rates)


def _rates_of_powers(powers: _Powers, known: Array, length_of: Callable[[float], float] | None) -> Array:
    """Rates after as many products as pay, at most 64."""
    best = known
    while powers.n < _STEPS:
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
        for _ in range(min(count, _STEPS - self.n)):
            y = np.empty_like(self._x)
            _multiply(*self._matrix, self._x, y)
            largest = largest_per_graph(self.batch, y)
            with np.errstate(divide="ignore"):
                self.logs.append(self.logs[-1] + np.log(largest))
            self._x = y / np.repeat(np.where(largest > 0, largest, 1.0), self.batch.graph_sizes)

    def rates(self) -> Array:
        """The rates that follow from the products so far."""
        return self._rates(self.n, self.logs[-1])

    def expected(self) -> Array:
        """The rates after twice as many products, if walks go on to multiply as in the last half of these."""
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
    for part in prange((n + _ROWS - 1) // _ROWS):
        begin = np.int64(part) * _ROWS
        for row in range(min(_ROWS, n - begin)):
            u = begin + row
            total, first = 0.0, firsts[u]
            if weighted:
                for e in range(indptr[u], indptr[u + 1]):
                    total += abs(weights[e]) * x[first + indices[e]]
            else:
                for e in range(indptr[u], indptr[u + 1]):
                    total += x[first + indices[e]]
            y[u] = total
