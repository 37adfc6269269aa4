"""Closed walks: how many return to their start, of every node exactly, and in all of a large graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from gvoys._compiled.arguments import SharedNodes
from gvoys._compiled.cpu.matvec import VECTORS, multiply
from gvoys._compiled.cpu.node_loops import add_returns, sum_triangles
from gvoys.errors import GraphError, ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.transform import normalized_weights
from gvoys.io.convert import as_graphs
from gvoys.threads import balanced_chunks, n_threads, threads
from gvoys.walks.checks import check_count, check_seed
from gvoys.walks.profiles import widened

_N_CHUNKS = 64  # of nodes, whatever the threads
_CHUNKS_PER_THREAD = 16  # of nodes, so that threads end together
_MOST_ADDITIONS = 5 * 10**9  # up to which walks of a graph are counted from every node: seconds
_ITERATIONS = 12  # that turn vectors towards the eigenvectors of the largest eigenvalues
_FEWEST_BLOCKS, _MOST_BLOCKS = 2, 64  # of random vectors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LargeGraph:
    """One graph, with parallel edges added up."""

    matrix: sp.csr_array
    directed: bool
    columns: NDArray[np.uint32]  # and weights as kernels read them: half as wide, and none where all are 1
    weights: Array

    @classmethod
    def from_graph(cls, graph: GraphBatch) -> LargeGraph:
        """Add up the parallel edges of a batch of one graph."""
        shape = (graph.n_nodes, graph.n_nodes)
        matrix = sp.csr_array((graph.weights(), graph.columns(), graph.indptr), shape=shape)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        weights = np.empty(0) if np.all(matrix.data == 1.0) else matrix.data
        return cls(matrix, graph.directed, matrix.indices.astype(np.uint32), weights)

    def totals(self, max_length: int, rtol: float, rng: np.random.Generator) -> tuple[Array, Array, int]:
        """Return the traces of A^k for k = 0 … max_length, their standard errors, and the number of random vectors."""
        # for any orthonormal Q, tr(A^k) = tr(Q^T A^k Q) + tr(P A^k P) with P = I - Q Q^T; the first is computed, and
        # x^T A^k x has the second as its mean for x = P s with random signs s
        Q = self._dominant(rng)
        inside = self._moments(Q, max_length).sum(axis=0)
        drawn = self._outside(Q, max_length, _FEWEST_BLOCKS, rng)
        more = self._count_blocks(drawn, inside, rtol) - _FEWEST_BLOCKS
        drawn = np.concatenate([drawn, self._outside(Q, max_length, more, rng)])
        values = inside + drawn.mean(axis=0)
        errors = widened(drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn)), len(drawn))
        exact = self._short()[: max_length + 1]
        values[: len(exact)], errors[: len(exact)] = exact, 0.0
        return values, errors, len(drawn)

    def _count_blocks(self, drawn: Array, inside: Array, rtol: float) -> int:
        """Count the blocks of random vectors that even lengths need, with room for a spread from few."""
        values, spread = inside + drawn.mean(axis=0), drawn.std(axis=0, ddof=1)
        even = slice(4, None, 2)
        ratios = 2.4 * spread[even] / (rtol * np.maximum(np.abs(values[even]), np.finfo(float).tiny))
        blocks = np.ceil(np.max(ratios, initial=0.0) ** 2 / VECTORS)
        return int(np.clip(blocks, _FEWEST_BLOCKS, _MOST_BLOCKS))

    def _dominant(self, rng: np.random.Generator) -> Array:
        """Return orthonormal vectors near the eigenvectors of the largest eigenvalues, by subspace iteration."""
        Q = rng.standard_normal((self.matrix.shape[0], VECTORS))
        Q[:, 0] = 1.0  # near the first one in most graphs
        for _ in range(_ITERATIONS):
            basis, R = np.linalg.qr(self._times(Q))
            sizes = np.abs(np.diagonal(R))
            kept = np.flatnonzero(sizes > 1e-10 * sizes.max(initial=0.0))
            Q = np.zeros(Q.shape)  # also where the columns have fewer directions, as in a graph of few nodes
            Q[:, kept] = basis[:, kept]
        return Q

    def _outside(self, Q: Array, max_length: int, n_blocks: int, rng: np.random.Generator) -> Array:
        """Estimate walks in the other directions by random vectors, (n_blocks * VECTORS, max_length + 1)."""
        values = [np.empty((0, max_length + 1))]
        for _ in range(n_blocks):
            signs = 1.0 - 2.0 * rng.integers(2, size=(len(Q), VECTORS), dtype=np.int8)
            values.append(self._moments(signs - Q @ (Q.T @ signs), max_length))
        return np.concatenate(values)

    def _moments(self, start: Array, max_length: int) -> Array:
        """Return x^T A^k x for k = 0 … max_length and each column x, (VECTORS, max_length + 1)."""
        # on an undirected graph walks of half the length are enough: x^T A^(a + b) x = (A^a x)^T (A^b x)
        out = np.empty((VECTORS, max_length + 2))
        x = start
        for k in range(0, max_length + 1, 1 if self.directed else 2):
            left = start if self.directed else x
            out[:, k] = np.einsum("ij,ij->j", left, x)
            if k < max_length:
                x = self._times(x)
                out[:, k + 1] = np.einsum("ij,ij->j", left, x)
        return out[:, : max_length + 1]

    def _times(self, x: Array) -> Array:
        out = np.empty(x.shape)
        multiply(self.matrix.indptr, self.columns, self.weights, x, out)
        return out

    def _short(self) -> list[float]:
        """Return the traces of A^0 … A^2, and of A^3 where edges have no direction."""
        A, loops = self.matrix, self.matrix.diagonal()
        traces = [float(A.shape[0]), float(loops.sum())]
        if self.directed:
            return [*traces, float(A.multiply(A.T).sum())]
        squares = np.bincount(A.indices, A.data**2, minlength=len(loops)) - loops**2
        through_loops = float((loops**3).sum() + 3.0 * (loops * squares).sum())
        return [*traces, float((A.data**2).sum()), through_loops + 6.0 * self._triangles()]

    def _triangles(self) -> float:
        """Sum the products of the weights of each triangle."""
        n, degrees = self.matrix.shape[0], np.diff(self.matrix.indptr)
        rank = np.empty(n, np.int64)
        rank[np.argsort(degrees, kind="stable")] = np.arange(n)
        rows, columns = np.repeat(rank, degrees), rank[self.matrix.indices]
        later = rows < columns
        upward = sp.csr_array((self.matrix.data[later], (rows[later], columns[later])), shape=(n, n))
        reach = np.diff(upward.indptr)
        work = 1.0 + np.bincount(np.repeat(np.arange(n), reach), reach[upward.indices], minlength=n)
        chunks = balanced_chunks(work, _N_CHUNKS)
        sums = np.zeros(len(chunks) - 1)
        sum_triangles(chunks, upward.indptr, upward.indices, upward.data, sums)
        return float(sums.sum())


def shared_nodes(batch: GraphBatch) -> SharedNodes:
    """Return chunks of nodes for threads, with the graph of each node, and the graphs' rows and columns."""
    chunks = balanced_chunks(np.diff(batch.indptr) + 1, _CHUNKS_PER_THREAD * n_threads())
    return SharedNodes(chunks, batch.node_graphs(), batch.node_offsets, batch.indptr, batch.columns())


def closed_walks(graph: Any, max_length: int, *, n_jobs: int | None = None) -> Array:
    """Count the walks of length 0 … max_length that return to their start, for every node; weights multiply.

    Exact up to the rounding of float64, in time O(nodes x entries x max_length) at most.
    """
    batch = as_graphs(graph)
    return _count_returns(batch, batch.weights(), np.ones(0 if batch.directed else batch.n_nodes), max_length, n_jobs)


def _count_returns(batch: GraphBatch, steps: Array, degrees: Array, max_length: int, n_jobs: int | None) -> Array:
    """Return (P^k)_uu for every node u and k = 0 … max_length, with one number of P for each entry."""
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
    """Count the closed walks of length 0 … max_length in each graph, the traces of A^k; weights multiply.

    Exact for small graphs. In large ones lengths up to 2 are exact (3 where edges have no direction), and longer ones
    estimated without bias (Hutch++): even lengths are within `rtol` with a probability of 95 %.
    """
    batch, count = as_graphs(graph), check_count(max_length, "max_length") + 1
    if not 0.0 < rtol < 1.0:
        raise ParameterError(f"rtol must be between 0 and 1, not {rtol!r}")
    seed = check_seed(random_state)
    work = _work(batch, count)
    totals = ClosedWalks(np.zeros((len(batch), count)), np.zeros((len(batch), count)), np.zeros(len(batch), np.int64))
    small, large = np.flatnonzero(work <= _MOST_ADDITIONS), np.flatnonzero(work > _MOST_ADDITIONS)
    if small.size:
        batch_small = batch if not large.size else batch[small]
        counts = closed_walks(batch_small, max_length, n_jobs=n_jobs)
        totals.values[small] = np.add.reduceat(np.vstack([counts, np.zeros(count)]), batch_small.node_offsets[:-1])
        totals.values[small[batch_small.graph_sizes == 0]] = 0.0
    with threads(n_jobs), threadpool_limits(1, "blas"):  # whose threads may change the last bits
        for index in large.tolist():
            one = batch if len(batch) == 1 else batch[index]
            result = LargeGraph.from_graph(one).totals(max_length, rtol, np.random.default_rng([seed, index]))
            totals.values[index], totals.standard_errors[index], totals.n_vectors[index] = result
    return totals


def _work(batch: GraphBatch, n_lengths: int) -> Array:
    """Return the additions that count the closed walks of each graph; in floats, which do not overflow."""
    steps = n_lengths if batch.directed else n_lengths / 2
    return batch.graph_sizes.astype(np.float64) * np.diff(batch.entry_offsets) * steps


def return_probabilities(graph: Any, max_length: int, *, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Probability that a random walk is back at its start after 0 … max_length steps, for every node.

    It is (P^k)_uu with P = D^-1 A: a feature of a node's place that Weisfeiler–Lehman refinement does not see, used as
    positional encoding by graph neural networks. Exact; memory is that of graph and result, and time the entries
    within max_length / 2 steps of each node (max_length in directed graphs), O(nodes x entries x max_length) at most.

    Parameters
    ----------
    graph : graph, list of graphs or GraphBatch
        Anything that `as_batch` takes, or one graph. Weights must leave every node with edges a positive degree.
    max_length : int
        Longest walk, at least 1.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_nodes, max_length + 1)
        Probabilities, of the nodes of one graph after the other; column k is for k steps. Of a node without edges they
        are 0 but for k = 0.

    Raises
    ------
    GraphError
        If a node with edges has no positive degree, or a weight is negative.

    References
    ----------
    Zhang et al., RetGK: Graph kernels based on return probabilities of random walks, NeurIPS 2018.

    Examples
    --------
    >>> import gvoys as gv
    >>> triangle = gv.GraphBatch.from_arrays([[0, 1], [1, 2], [2, 0]], [3])
    >>> return_probabilities(triangle, 3)[0]
    array([1.  , 0.  , 0.5 , 0.25])
    """
    batch = as_graphs(graph)
    steps = normalized_weights(batch, "row")
    bad = np.flatnonzero(batch.weights() < 0)
    if bad.size:
        graph = int(batch.node_graphs()[batch.rows()[bad[0]]])
        raise GraphError(
            f"graph {graph} has an edge of weight {batch.weights()[bad[0]]:g}; probabilities need weights of at least 0"
        )
    degrees = np.empty(0)
    if not batch.directed:
        degrees = np.bincount(batch.rows(), batch.weights(), minlength=batch.n_nodes).astype(np.float64, copy=False)
    out = _count_returns(batch, steps, degrees, max_length, n_jobs)
    return np.minimum(out, 1.0, out=out)
