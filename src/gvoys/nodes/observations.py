"""The covariance of what was measured at some nodes, and systems with it by conjugate gradients, many at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ConvergenceError
from gvoys.nodes.matrices import on_host
from gvoys.nodes.priors import Prior

_MOST = 1000  # iterations

Array = NDArray[Any]


class Solution(NamedTuple):
    """Solutions of systems, and what the iterations tell of the matrix."""

    X: Array  # the solutions
    steps: list[tuple[Array, Array]]  # step lengths and ratios of residuals of each iteration, (n_systems,) each


@dataclass(frozen=True)
class Observations:
    """Values that were measured at some nodes: the kernel there, and noise."""

    prior: Prior  # the kernel
    rows: Array  # the rows of the nodes, in the order of the prior's matrix
    weights: Array  # weights of the prior's kernels
    noise: Any  # variance of the noise, of all values or of each
    kind: Any  # precision of all vectors
    share: float = 0.01  # how far the kernel may be from what it should be, beside the covariance's least eigenvalue

    @property
    def n_observed(self) -> int:
        """Number of measured values."""
        return len(self.rows)

    def spread(self, V: Array) -> Array:
        """The kernel of all nodes with those that were measured, times vectors, (n_nodes, n_vectors)."""
        X = np.zeros_like(V, shape=(self.prior.matrix.n_nodes, V.shape[1]))
        X[self.places] = V
        return self.prior.apply(self.weights, X, self._error)

    @cached_property
    def places(self) -> Any:
        """The rows of the nodes, where vectors are."""
        return self.put(self.rows)

    def put(self, array: Array) -> Any:
        """An array where vectors are, in their precision."""
        return self.prior.matrix.put(array if array.dtype.kind == "i" else array.astype(self.kind, copy=False))

    @cached_property
    def _error(self) -> float:
        return self.share * (float(np.min(self.noise)) + self.prior.least(self.weights))

    @cached_property
    def _noises(self) -> Array:
        return self.put(np.broadcast_to(np.asarray(self.noise), self.n_observed))[:, None]

    def multiply(self, V: Array) -> Array:
        """The covariance times vectors, (n_observed, n_vectors)."""
        return self.spread(V)[self.places] + self._noises * V

    def draw_noise(self, generator: np.random.Generator, count: int) -> Array:
        """Noise of the values, (n_observed, count)."""
        return np.sqrt(self._noises) * self.put(generator.standard_normal((self.n_observed, count), dtype=self.kind))

    def solve(self, B: Array, tol: Any, start: Array | None = None) -> Solution:
        """Solve systems with the covariance until every residual is at most `tol` of its right side.

        A system that is solved takes no more products.
        """
        X = np.zeros_like(B) if start is None else start.copy()
        R = B.copy() if start is None else B - self.multiply(X)
        P, squares, goal = R.copy(), _squares(R), self._squared(tol) * _squares(B)
        steps: list[tuple[Array, Array]] = []
        for _ in range(_MOST):
            left = squares > goal
            if not left.any():
                return Solution(X, steps)
            AP = self.multiply(P) if left.all() else self._multiply_some(P, left)
            lengths = _quotients(squares, np.einsum("ij,ij->j", P, AP, dtype=np.float64))
            X += lengths.astype(self.kind) * P
            R -= lengths.astype(self.kind) * AP
            after = _squares(R)
            ratios = _quotients(after, squares)
            P *= ratios.astype(self.kind)
            P += R
            squares = after
            steps.append((lengths, ratios))
        residual = float(np.sqrt((squares / np.maximum(_squares(B), 1e-300)).max()))
        raise ConvergenceError(
            f"{_MOST} iterations leave a residual of {residual:.2g}, "
            f"above {np.min(tol):g}: the noise is next to nothing beside the kernel; raise it, or tol"
        )

    def _squared(self, tol: Any) -> Any:
        return tol**2 if isinstance(tol, float) else self.prior.matrix.put(np.square(tol))

    def _multiply_some(self, P: Array, chosen: Array) -> Array:
        """Products of some of the vectors, and 0 for the others."""
        out = np.zeros_like(P)
        out[:, chosen] = self.multiply(P[:, chosen])
        return out

    def log_determinant(self, steps: list[tuple[Array, Array]]) -> float:
        """An estimate of the covariance's log-determinant, by what iterations from random signs tell of it.

        Conjugate gradients make a tridiagonal matrix whose eigenvalues and vectors are a Gauss quadrature of the
        matrix's spectrum (stochastic Lanczos quadrature; Ubaru, Chen and Saad 2017).
        """
        lengths, ratios = (np.array([on_host(one) for one in pair]) for pair in zip(*steps, strict=True))
        return float(self.n_observed * np.mean([_mean_log(*pair) for pair in zip(lengths.T, ratios.T, strict=True)]))


def _squares(X: Array) -> Array:
    return np.einsum("ij,ij->j", X, X, dtype=np.float64)


def _quotients(above: Array, below: Array) -> Array:
    """Elementwise; 0 for what has converged to nothing."""
    return np.where(below > 0.0, above / np.where(below > 0.0, below, 1.0), 0.0)


def _mean_log(lengths: Array, ratios: Array) -> float:
    """Gauss quadrature of the logarithm from the iterations of one system."""
    used = int(np.argmin(lengths > 0.0)) if not (lengths > 0.0).all() else len(lengths)
    lengths, ratios = lengths[:used], ratios[:used]
    diagonal = 1.0 / lengths
    diagonal[1:] += ratios[:-1] / lengths[:-1]
    off_diagonal = np.sqrt(ratios[:-1]) / lengths[:-1]
    T = np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)
    values, vectors = np.linalg.eigh(T)
    return float(vectors[0] ** 2 @ np.log(np.maximum(values, 1e-300)))
