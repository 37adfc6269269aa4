"""The likelihood of `Covariance` in array arithmetic, on whichever device has the arrays: CuPy's, or NumPy's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ConvergenceError
from gvoys.estimators.learning.covariance import Covariance, Term

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ArrayCovariance(Covariance):
    """The same numbers as `Covariance`, up to rounding."""

    xp: Any = np  # the module of the arrays

    @cached_property
    def _squares(self) -> list[Any]:
        """Squared distances of every term, on the device; terms on the same blocks share them."""
        stored = {id(item): item.squares for item in self.distances}
        there = {key: self.xp.asarray(squares) for key, squares in stored.items()}
        return [there[id(item)] for item in self.distances]

    @cached_property
    def _lower(self) -> Any:
        """Places of the pairs in a matrix that is read row by row."""
        n = len(self.y)
        rows, columns = np.tril_indices(n, -1)
        return self.xp.asarray(rows * n + columns)

    def _likelihood(self, log_mu: Array, log_noise: float) -> tuple[float, Array]:
        xp, n = self.xp, len(self.y)
        terms, constant = self.terms(log_mu)
        kept = [self._values_and_slopes(index, term) for index, term in enumerate(terms)]
        diagonal = constant + np.exp(log_noise) / (1.0 if self.weights is None else self.weights) + np.zeros(n)
        total = xp.full(len(self._lower), constant)
        for (values, _), term, stored in zip(kept, terms, self.distances, strict=True):
            total += term.amplitude * values
            diagonal += term.weights @ stored.sizes if term.kind == "linear" else term.amplitude
        K = xp.zeros((n, n))
        K.ravel()[self._lower] = total
        K += K.T
        K[xp.arange(n), xp.arange(n)] = xp.asarray(diagonal)
        factor = xp.linalg.cholesky(K)
        if not bool(xp.isfinite(factor).all()):
            raise ConvergenceError("the kernel matrix is not positive definite; more noise would help")
        y = xp.asarray(self.y.reshape(n, -1))
        inverse = self._inverse(factor)
        weights, n_targets = inverse @ y, y.shape[1]
        half = float(xp.log(xp.diagonal(factor)).sum()) + 0.5 * n * np.log(2.0 * np.pi)
        value = -0.5 * float((y * weights).sum()) - n_targets * half
        by_pair = weights @ weights.T - n_targets * inverse
        part_values, sums = xp.diagonal(by_pair), by_pair.sum(axis=1)
        below = 2.0 * by_pair.ravel()[self._lower]
        parts = []
        for (values, slopes), term, stored, squares in zip(kept, terms, self.distances, self._squares, strict=True):
            by_weight = squares @ (below * slopes).astype(np.float32)
            if term.kind == "linear":
                parts.append(xp.asarray(term.weights) * (by_weight + xp.asarray(stored.sizes) @ sums))
            else:
                parts.append(term.amplitude * xp.asarray(term.weights) * by_weight)
                parts.append((term.amplitude * (below @ values + part_values.sum())).reshape(1))
        spread = part_values if self.weights is None else part_values / xp.asarray(self.weights)
        parts.append(xp.stack([constant * sums.sum(), np.exp(log_noise) * spread.sum()]))
        gradient = 0.5 * xp.concatenate([part.astype(np.float64) for part in parts])
        return value, np.asarray(gradient.get() if hasattr(gradient, "get") else gradient)

    def _values_and_slopes(self, place: int, term: Term) -> tuple[Any, Any]:
        """A kernel of the squared distances of all pairs, and its derivatives."""
        xp = self.xp
        squares = xp.asarray(term.weights.astype(np.float32)) @ self._squares[place]
        if term.kind == "linear":
            rows, columns = np.divmod(self._lower, len(self.y))
            sizes = xp.asarray(term.weights @ self.distances[place].sizes)
            return 0.5 * (sizes[rows] + sizes[columns] - squares), xp.full(len(squares), -0.5)
        if term.kind == "gaussian":
            values = xp.exp(-0.5 * squares)
            return values, -0.5 * values
        roots = xp.sqrt(squares)
        if term.kind == "matern12":
            values = xp.exp(-roots)
            return values, -0.5 * values / xp.maximum(roots, 1e-6)
        powers = xp.exp(-np.sqrt(3.0) * roots)
        return (1.0 + np.sqrt(3.0) * roots) * powers, -1.5 * powers

    def _inverse(self, factor: Any) -> Any:
        """Invert a matrix from its Cholesky factor."""
        if self.xp is np:
            from scipy.linalg import solve_triangular
        else:
            from cupyx.scipy.linalg import solve_triangular
        half = solve_triangular(factor, self.xp.eye(len(factor)), lower=True)
        return half.T @ half
