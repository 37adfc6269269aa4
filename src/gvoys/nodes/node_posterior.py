"""The covariance of measured values, systems with it by conjugate gradients, and the posterior of all nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from gvoys.errors import ConvergenceError
from gvoys.nodes.matrices import column_blocks, on_host
from gvoys.nodes.priors import Prior
from gvoys.nodes.variances import moderate

_MAX_ITERATIONS = 1000  # of conjugate gradients
_SAMPLE_TOL = 2e-2  # of systems for samples, whose squares 16 of them know to a third
_MEAN_TOL = 1e-3  # of the system for the constant mean
_TINY = 1e-300

Array = NDArray[Any]


class Solution(NamedTuple):
    """Solutions of systems, and what the iterations tell of the matrix."""

    X: Array  # the solutions
    steps: list[tuple[Array, Array]]  # step lengths and ratios of residuals of each iteration, (n_systems,) each


@dataclass(frozen=True)
class Observations:
    """The covariance of values that were measured at some nodes: the kernel there, and noise."""

    prior: Prior
    rows: Array  # the rows of the nodes, in the order of the prior's matrix
    weights: Array  # weights of the prior's kernels
    noise: Any  # variance of the noise, of all values or of each
    kind: Any  # precision of all vectors
    share: float = 0.01  # error that the kernel may have, relative to the covariance's least eigenvalue

    @property
    def n_observed(self) -> int:
        """Number of measured values."""
        return len(self.rows)

    @cached_property
    def positions(self) -> Any:
        """The rows of the nodes, where vectors are."""
        return self.put(self.rows)

    @cached_property
    def noises(self) -> Array:
        """The variance of each value's noise, (n_observed, 1), where vectors are."""
        return self.put(np.broadcast_to(np.asarray(self.noise), self.n_observed))[:, None]

    @cached_property
    def _error(self) -> float:
        return self.share * (float(np.min(self.noise)) + self.prior.least(self.weights))

    def put(self, array: Array) -> Any:
        """Copy an array to where vectors are, in their precision."""
        return self.prior.matrix.put(array if array.dtype.kind == "i" else array.astype(self.kind, copy=False))

    def spread(self, V: Array) -> Array:
        """Multiply vectors by the kernel of all nodes with those that were measured, (n_nodes, n_vectors)."""
        return self.prior.apply(self.weights, self.prior.matrix.spread(self.positions, V), self._error)

    def multiply(self, V: Array) -> Array:
        """Multiply vectors by the covariance, (n_observed, n_vectors)."""
        return self.spread(V)[self.positions] + self.noises * V

    def solve(self, B: Array, tol: Any, start: Array | None = None) -> Solution:
        """Solve systems with the covariance until every residual is at most `tol` of its right side."""
        X = np.zeros_like(B) if start is None else start.copy()
        R = B.copy() if start is None else B - self.multiply(X)
        P, squares = R.copy(), _sum_squares(R)
        goal = (tol**2 if isinstance(tol, float) else self.prior.matrix.put(np.square(tol))) * _sum_squares(B)
        steps: list[tuple[Array, Array]] = []
        for _ in range(_MAX_ITERATIONS):
            unsolved = squares > goal
            if not unsolved.any():
                return Solution(X, steps)
            if unsolved.all():
                AP = self.multiply(P)
            else:  # a system that is solved takes no more products
                AP = np.zeros_like(P)
                AP[:, unsolved] = self.multiply(P[:, unsolved])
            lengths = _divide(squares, np.einsum("ij,ij->j", P, AP, dtype=np.float64))
            X += lengths.astype(self.kind) * P
            R -= lengths.astype(self.kind) * AP
            squares, last = _sum_squares(R), squares
            ratios = _divide(squares, last)
            P *= ratios.astype(self.kind)
            P += R
            steps.append((lengths, ratios))
        residual = float(np.sqrt((squares / np.maximum(_sum_squares(B), _TINY)).max()))
        raise ConvergenceError(
            f"{_MAX_ITERATIONS} iterations leave a residual of {residual:.2g}, "
            f"above {np.min(tol):g}: the noise is next to nothing beside the kernel; raise it, or tol"
        )

    def log_determinant(self, steps: list[tuple[Array, Array]]) -> float:
        """Estimate the covariance's log-determinant from the iterations that began at random signs.

        Conjugate gradients make a tridiagonal matrix whose eigenvalues and vectors are a Gauss quadrature of the
        matrix's spectrum (stochastic Lanczos quadrature; Ubaru, Chen and Saad 2017).
        """
        lengths, ratios = (np.array([on_host(numbers) for numbers in part]).T for part in zip(*steps, strict=True))
        return float(self.n_observed * np.mean([_mean_log(*system) for system in zip(lengths, ratios, strict=True)]))


def _sum_squares(X: Array) -> Array:
    return np.einsum("ij,ij->j", X, X, dtype=np.float64)


def _divide(above: Array, below: Array) -> Array:
    """Divide elementwise; 0 for what has converged to nothing."""
    return np.where(below > 0.0, above / np.where(below > 0.0, below, 1.0), 0.0)


def _mean_log(lengths: Array, ratios: Array) -> float:
    """Gauss quadrature of the logarithm from the iterations of one system."""
    n_used = int(np.argmin(lengths > 0.0)) if not (lengths > 0.0).all() else len(lengths)
    lengths, ratios = lengths[:n_used], ratios[:n_used]
    diagonal = 1.0 / lengths
    diagonal[1:] += ratios[:-1] / lengths[:-1]
    off_diagonal = np.sqrt(ratios[:-1]) / lengths[:-1]
    T = np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)
    values, vectors = np.linalg.eigh(T)
    return float(vectors[0] ** 2 @ np.log(np.maximum(values, _TINY)))


@dataclass(frozen=True)
class NodePosterior:
    """A Gaussian process of the nodes given measured values, whose constant mean is not known before."""

    seen: Observations  # the covariance of the values
    mean: float  # the constant mean, estimated
    alpha: Array  # the covariance's inverse times what the values differ from the mean
    ones: Array  # the covariance's inverse times ones

    @cached_property
    def _unexplained(self) -> Array:
        """Weight of the constant mean in each node's prediction, (n_nodes,)."""
        return 1.0 - on_host(self.seen.spread(self.ones)[:, 0]).astype(np.float64)

    @property
    def _mean_variance(self) -> float:
        return 1.0 / max(float(self.ones.sum(dtype=np.float64)), _TINY)

    def means(self) -> Array:
        """Means of all nodes, by row."""
        return self.mean + on_host(self.seen.spread(self.alpha)[:, 0]).astype(np.float64)

    def variances(self, n_samples: int, seed: int) -> Array:
        """Variances of all nodes' functions, by row: exact where graph and values are few, else from samples."""
        seen, matrix = self.seen, self.seen.prior.matrix
        of_mean = self._unexplained**2 * self._mean_variance
        if seen.prior.allows_dense(seen.n_observed, matrix.n_nodes):
            return np.asarray(self._exact_variances() + of_mean)
        squares = on_host((self._deviations(n_samples, seed) ** 2).mean(axis=1, dtype=np.float64))
        degrees = np.diff(on_host(matrix.sparse.indptr)).astype(np.float64)
        measured = np.zeros(matrix.n_nodes)
        measured[seen.rows] = 1.0
        known = np.column_stack([np.log1p(degrees), measured, self._unexplained])
        return np.asarray(moderate(squares, n_samples, known).widened + of_mean)

    def _exact_variances(self) -> Array:
        seen, prior = self.seen, self.seen.prior
        covariance = np.tensordot(seen.weights, prior.dense_terms(seen.rows), 1)
        covariance[np.diag_indices(seen.n_observed)] += seen.noise
        factor = cho_factor(covariance, lower=True)
        out = np.empty(prior.matrix.n_nodes)
        for block in column_blocks(len(out)):
            units = prior.matrix.spread(block, np.eye(block.stop - block.start, dtype=seen.kind))
            columns = on_host(prior.apply(seen.weights, seen.put(units), 0.0)).astype(np.float64)
            across = columns[seen.rows]
            out[block] = columns[block].diagonal() - np.einsum("ij,ij->j", across, cho_solve(factor, across))
        return np.maximum(out, 0.0)

    def _deviations(self, n_samples: int, seed: int) -> Array:
        """Draw what nodes differ from their means, (n_nodes, n_samples), by row; the constant mean is taken as it is.

        A function drawn from the prior, with noise at the measured nodes, less its own prediction from there
        (Wilson et al. 2020).
        """
        generator, seen = np.random.default_rng([seed, 2]), replace(self.seen, share=_SAMPLE_TOL)
        white = generator.standard_normal((seen.prior.matrix.n_nodes, n_samples), dtype=seen.kind)
        functions = seen.prior.root(seen.weights, seen.put(white))
        noise = seen.put(generator.standard_normal((seen.n_observed, n_samples), dtype=seen.kind))
        values = functions[seen.positions] + np.sqrt(seen.noises) * noise
        return functions - seen.spread(seen.solve(values, _SAMPLE_TOL).X)

    def samples(self, n_samples: int, seed: int) -> Array:
        """Draw functions from the posterior, (n_nodes, n_samples), by row."""
        shifts = np.random.default_rng([seed, 3]).normal(size=n_samples) * np.sqrt(self._mean_variance)
        fields = on_host(self._deviations(n_samples, seed)).astype(np.float64)
        return self.means()[:, None] + fields + self._unexplained[:, None] * shifts


def condition(seen: Observations, y: Array, tol: float, start: Array | None = None) -> NodePosterior:
    """Condition a process on values."""
    begin = None if start is None else np.concatenate([start, np.zeros_like(start)], axis=1)
    right = seen.put(np.column_stack([y, np.ones(seen.n_observed)]))
    # of many values, the constant mean need not be known as closely as the others
    solved = seen.solve(right, tol if start is None else (tol, max(tol, _MEAN_TOL)), begin).X
    of_values, of_ones = solved[:, :1], solved[:, 1:]
    mean = float(of_values.sum(dtype=np.float64) / max(of_ones.sum(dtype=np.float64), _TINY))
    return NodePosterior(seen, mean, of_values - seen.kind(mean) * of_ones, of_ones)
