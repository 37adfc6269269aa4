"""Closed walks: how many return to their start, of every node exactly, and in all of a large graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from gvoys._compiled.cpu.node_loops import add_returns
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.convert import as_graphs
from gvoys.threads import threads
from gvoys.walks.checks import check_count, check_seed
from gvoys.walks.shared_nodes import shared_nodes
from gvoys.walks.traces import LargeGraph

_EXACT = 5 * 10**9  # additions up to which walks of a graph are counted from every node: seconds

Array = NDArray[np.float64]


def closed_walks(graph: Any, max_length: int, *, n_jobs: int | None = None) -> Array:
    """Number of walks of length 0 … max_length that return to their start, for every node; weights multiply.

    Exact up to the rounding of float64. Memory is that of graph and result, and time the entries within max_length / 2
    steps of each node (max_length in directed graphs), O(nodes x entries x max_length) at most.
    """
    batch = as_graphs(graph)
    return returns_by(batch, batch.weights(), np.ones(0 if batch.directed else batch.n_nodes), max_length, n_jobs)


def returns_by(batch: GraphBatch, steps: Array, degrees: Array, max_length: int, n_jobs: int | None) -> Array:
    """(P^k)_uu for every node u and k = 0 … max_length, with one number of P for each entry."""
    out = np.zeros((batch.n_nodes, check_count(max_length, "max_length") + 1))
    with threads(n_jobs):
        add_returns(shared_nodes(batch), steps, degrees, out)
    return out


@dataclass(frozen=True)
class ClosedWalks:
    """Numbers of closed walks of each graph."""

    values: Array  # the trace of A^k for k = 0 … max_length
    standard_errors: Array  # of the values; 0 where they are exact
    n_vectors: NDArray[np.int64]  # random vectors that were used, 0 where all is exact


def closed_walk_totals(
    graph: Any, max_length: int, *, rtol: float = 0.01, random_state: int = 0, n_jobs: int | None = None
) -> ClosedWalks:
    """Number of closed walks of length 0 … max_length in each graph, the traces of A^k; weights multiply.

    Exact for small graphs. In large ones lengths up to 2 are exact, and 3 where edges have no direction (triangles);
    longer ones are counted exactly in some directions, near those of the largest eigenvalues, and by random vectors
    in all others, which is unbiased (Hutch++). Even lengths are then within `rtol` with a probability of 95 %; odd ones
    have true error bars, but may be small beside them.
    """
    batch, count = as_graphs(graph), check_count(max_length, "max_length") + 1
    if not 0.0 < rtol < 1.0:
        raise ParameterError(f"rtol must be between 0 and 1, not {rtol!r}")
    seed = check_seed(random_state)
    work = _work(batch, count)
    totals = ClosedWalks(np.zeros((len(batch), count)), np.zeros((len(batch), count)), np.zeros(len(batch), np.int64))
    small, large = np.flatnonzero(work <= _EXACT), np.flatnonzero(work > _EXACT)
    if small.size:
        batch_small = batch if not large.size else batch[small]
        counts = closed_walks(batch_small, max_length, n_jobs=n_jobs)
        totals.values[small] = np.add.reduceat(np.vstack([counts, np.zeros(count)]), batch_small.node_offsets[:-1])
        totals.values[small[batch_small.graph_sizes == 0]] = 0.0
    with threads(n_jobs), threadpool_limits(1, "blas"):  # whose threads may change the last bits
        for index in large.tolist():
            one = batch if len(batch) == 1 else batch[index]
            values, errors, n_vectors = LargeGraph.of(one).totals(
                max_length, rtol, np.random.default_rng([seed, index])
            )
            totals.values[index], totals.standard_errors[index], totals.n_vectors[index] = values, errors, n_vectors
    return totals


def _work(batch: GraphBatch, n_lengths: int) -> Array:
    """Additions that count the closed walks of each graph from every node; in floats, which do not overflow."""
    steps = n_lengths if batch.directed else n_lengths / 2
    return batch.graph_sizes.astype(np.float64) * np.diff(batch.entry_offsets) * steps
