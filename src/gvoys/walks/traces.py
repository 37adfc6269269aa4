"""Traces of powers of a large matrix: exact in the directions that weigh most, elsewhere by random vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys._compiled.cpu.matvec import VECTORS, multiply
from gvoys._compiled.cpu.node_loops import sum_triangles
from gvoys.graphs.batch import GraphBatch
from gvoys.threads import balanced_chunks
from gvoys.walks.spread import widened

_CHUNKS = 64  # of nodes, whatever the threads
_ITERATIONS = 12  # that turn vectors towards the eigenvectors of the largest eigenvalues
_FIRST, _MOST = 2, 64  # blocks of random vectors, at first and at most

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LargeGraph:
    """One graph, with parallel edges added up."""

    matrix: sp.csr_array
    directed: bool
    columns: NDArray[np.uint32]  # and weights as kernels read them: half as wide, and none where all are 1
    weights: Array

    @classmethod
    def of(cls, graph: GraphBatch) -> LargeGraph:
        """A batch of one graph."""
        shape = (graph.n_nodes, graph.n_nodes)
        matrix = sp.csr_array((graph.weights(), graph.columns(), graph.indptr), shape=shape)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        weights = np.empty(0) if np.all(matrix.data == 1.0) else matrix.data
        return cls(matrix, graph.directed, matrix.indices.astype(np.uint32), weights)

    def totals(self, max_length: int, rtol: float, rng: np.random.Generator) -> tuple[Array, Array, int]:
        """Traces of A^k for k = 0 … max_length, their standard errors, and the number of random vectors.

        For any orthonormal Q, tr(A^k) = tr(Q^T A^k Q) + tr(P A^k P) with P = I - Q Q^T. The first is computed, and
        x^T A^k x has the second as its mean for x = P s with random signs s.
        """
        Q = self._dominant(rng)
        inside = self._moments(Q, max_length).sum(axis=0)
        drawn = self._outside(Q, max_length, _FIRST, rng)
        more = self._needed(drawn, inside, rtol) - _FIRST
        drawn = np.concatenate([drawn, self._outside(Q, max_length, more, rng)])
        values = inside + drawn.mean(axis=0)
        errors = widened(drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn)), len(drawn))
        exact = self._short()[: max_length + 1]
        values[: len(exact)], errors[: len(exact)] = exact, 0.0
        return values, errors, len(drawn)

    def _needed(self, drawn: Array, inside: Array, rtol: float) -> int:
        """Blocks of random vectors by which even lengths are within the tolerance, with room for a spread from few."""
        values, spread = inside + drawn.mean(axis=0), drawn.std(axis=0, ddof=1)
        even = slice(4, None, 2)
        ratios = 2.4 * spread[even] / (rtol * np.maximum(np.abs(values[even]), np.finfo(float).tiny))
        blocks = np.ceil(np.max(ratios, initial=0.0) ** 2 / VECTORS)
        return int(np.clip(blocks, _FIRST, _MOST))

    def _dominant(self, rng: np.random.Generator) -> Array:
        """Orthonormal vectors near the eigenvectors of the largest eigenvalues, by subspace iteration."""
        Q = rng.standard_normal((self.matrix.shape[0], VECTORS))
        Q[:, 0] = 1.0  # near the first one in most graphs
        for _ in range(_ITERATIONS):
            Q = _orthonormal(self._times(Q))
        return Q

    def _outside(self, Q: Array, max_length: int, n_blocks: int, rng: np.random.Generator) -> Array:
        """Estimate walks in the other directions by random vectors, (n_blocks * WIDTH, max_length + 1)."""
        values = [np.empty((0, max_length + 1))]
        for _ in range(n_blocks):
            signs = 1.0 - 2.0 * rng.integers(2, size=(len(Q), VECTORS), dtype=np.int8)
            values.append(self._moments(signs - Q @ (Q.T @ signs), max_length))
        return np.concatenate(values)

    def _moments(self, start: Array, max_length: int) -> Array:
        """x^T A^k x for k = 0 … max_length and each column x, (VECTORS, max_length + 1).

        Of an undirected graph walks of half the length tell all: x^T A^(a + b) x = (A^a x)^T (A^b x).
        """
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

    # -- exact

    def _short(self) -> list[float]:
        """Traces of A^0 … A^2, and of A^3 where edges have no direction."""
        A, loops = self.matrix, self.matrix.diagonal()
        traces = [float(A.shape[0]), float(loops.sum())]
        if self.directed:
            return [*traces, float(A.multiply(A.T).sum())]
        squares = np.bincount(A.indices, A.data**2, minlength=len(loops)) - loops**2
        through_loops = float((loops**3).sum() + 3.0 * (loops * squares).sum())
        return [*traces, float((A.data**2).sum()), through_loops + 6.0 * self._triangles()]

    def _triangles(self) -> float:
        """The sum over triangles of the product of their weights."""
        n, degrees = self.matrix.shape[0], np.diff(self.matrix.indptr)
        rank = np.empty(n, np.int64)
        rank[np.argsort(degrees, kind="stable")] = np.arange(n)
        rows, columns = np.repeat(rank, degrees), rank[self.matrix.indices]
        later = rows < columns
        upward = sp.csr_array((self.matrix.data[later], (rows[later], columns[later])), shape=(n, n))
        reach = np.diff(upward.indptr)
        work = 1.0 + np.bincount(np.repeat(np.arange(n), reach), reach[upward.indices], minlength=n)
        chunks = balanced_chunks(work, _CHUNKS)
        sums = np.zeros(len(chunks) - 1)
        sum_triangles(chunks, upward.indptr, upward.indices, upward.data, sums)
        return float(sums.sum())


def _orthonormal(x: Array) -> Array:
    """An orthonormal basis of the columns, and 0 where they have fewer directions."""
    Q, R = np.linalg.qr(x)
    sizes, out = np.abs(np.diagonal(R)), np.zeros(x.shape)
    kept = np.flatnonzero(sizes > 1e-10 * sizes.max(initial=0.0))
    out[:, kept] = Q[:, kept]
    return out
