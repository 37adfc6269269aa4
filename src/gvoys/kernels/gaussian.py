"""Gaussian processes with the kernel K = sum_b mu_b X_b X_b^T + noise I: likelihoods and their gradients.

A graph of weight w has the noise of the mean of w measurements, noise / w.

Two ways to the same numbers. In feature space all that is needed of n graphs is X^T X and X^T y, so that they may
stream by: O(n D^2) once, O(D^3) per step. With a Gram matrix per block, O(n^3) per step, features may be of any width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

from gvoys.errors import ConvergenceError

# of log mu and log noise, for blocks of unit trace and targets of unit variance
_MU_BOUNDS = (-16.0, 7.0)
_NOISE_BOUNDS = (-14.0, 5.0)
_TOO_FAR = 10.0  # times the largest likelihood seen, as a loss
_ROUNDING = 1e-14  # of the mean square: what may be left of the variance of equal numbers
_JITTERS = (0.0, 1e-13, 1e-11, 1e-9)  # of the mean diagonal: what float32 features may need to stay positive definite


class Likelihood(Protocol):
    """Log marginal likelihood as a function of log mu (per block) and log noise."""

    noise_bounds: ClassVar[tuple[float, float]]  # of log noise, for targets of unit variance

    @property
    def n_blocks(self) -> int:
        """Number of amplitudes."""

    def evaluate(self, log_mu: NDArray[np.float64], log_noise: float) -> tuple[float, NDArray[np.float64]]:
        """The value, and its gradient by (log_mu, log_noise), (n_blocks + 1,)."""


@dataclass
class FeatureMoments:
    """X^T X, X^T y, y^T y and n of features that may have come in batches; `blocks` says whose each column is.

    Of weighted graphs they are X^T W X and so on: dividing rows by their noise leaves all with the same.
    """

    noise_bounds: ClassVar[tuple[float, float]] = _NOISE_BOUNDS

    blocks: NDArray[np.int64]  # (D,)
    squares: NDArray[np.float64]  # (D, D)
    products: NDArray[np.float64]  # (D,)
    energy: float = 0.0
    count: int = 0
    total: float = 0.0  # sum of the weights
    log_weights: float = 0.0  # sum of their logarithms

    @classmethod
    def empty(cls, blocks: NDArray[Any]) -> FeatureMoments:
        return cls(np.asarray(blocks, np.int64), np.zeros((len(blocks), len(blocks))), np.zeros(len(blocks)))

    def add(self, X: NDArray[Any], y: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> None:
        """Take in some more graphs."""
        X = X.astype(np.float64, copy=False)
        if weights is not None:
            root = np.sqrt(weights)
            X, y = X * root[:, None], y * root
            self.log_weights += float(np.log(weights).sum())
        self.total += len(y) if weights is None else float(weights.sum())
        self.squares += X.T @ X
        self.products += X.T @ y
        self.energy += float(y @ y)
        self.count += len(y)

    def merged(self, other: FeatureMoments) -> FeatureMoments:
        """Merge the moments of two collections."""
        return FeatureMoments(
            self.blocks,
            self.squares + other.squares,
            self.products + other.products,
            self.energy + other.energy,
            self.count + other.count,
            self.total + other.total,
            self.log_weights + other.log_weights,
        )

    def standardised(self) -> tuple[FeatureMoments, float, float]:
        """Standardise y. Returns the moments for the standardised targets; the last feature must be the constant."""
        mean = float(self.products[-1] / self.total)
        deviation = float(np.sqrt(max(self.energy / self.total - mean**2, 0.0))) or 1.0
        products = (self.products - mean * self.squares[-1]) / deviation
        energy = max(self.energy - self.total * mean**2, 0.0) / deviation**2
        return replace(self, products=products, energy=energy), mean, deviation

    @property
    def constant(self) -> bool:
        """Whether all y are the same number, as far as rounding lets one tell."""
        return self.energy * self.total - float(self.products[-1]) ** 2 <= _ROUNDING * self.energy * self.total

    @property
    def n_blocks(self) -> int:
        return int(self.blocks.max()) + 1

    def posterior(self, log_mu: NDArray[np.float64], log_noise: float) -> tuple[Any, Any, Any]:
        """Column weights sqrt(mu), the Cholesky factor of A = noise I + Phi^T Phi, and the weights' mean."""
        root = np.exp(0.5 * log_mu)[self.blocks]
        A = self.squares * np.outer(root, root)
        A[np.diag_indices_from(A)] += np.exp(log_noise)
        factor = _factor(A)
        return root, factor, cho_solve((factor, True), root * self.products)

    def evaluate(self, log_mu: NDArray[np.float64], log_noise: float) -> tuple[float, NDArray[np.float64]]:
        """Evaluate by Phi^T K^-1 y = w and Phi^T K^-1 Phi = I - noise A^-1, with w the posterior mean."""
        noise, n, width = float(np.exp(log_noise)), self.count, len(self.blocks)
        root, factor, w = self.posterior(log_mu, log_noise)
        c = root * self.products
        inverse = np.sum(solve_triangular(factor, np.eye(width), lower=True) ** 2, axis=0)  # diagonal of A^-1
        log_det = 2.0 * np.log(factor.diagonal()).sum() + (n - width) * log_noise - self.log_weights
        value = -0.5 * ((self.energy - c @ w) / noise + log_det + n * np.log(2.0 * np.pi))
        by_mu = 0.5 * np.bincount(self.blocks, w**2 - (1.0 - noise * inverse), minlength=len(log_mu))
        # |y - Phi w|^2, with Phi^T Phi w = c - noise w
        residual = self.energy - 2.0 * (c @ w) + w @ (c - noise * w)
        by_noise = 0.5 * (residual / noise - (n - width) - noise * inverse.sum())
        return float(value), np.append(by_mu, by_noise)


@dataclass(frozen=True)
class BlockGrams:
    """One Gram matrix per block."""

    noise_bounds: ClassVar[tuple[float, float]] = _NOISE_BOUNDS

    grams: NDArray[np.float64]  # (n_blocks, n, n)
    y: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None  # (n,); None: all ones

    @property
    def n_blocks(self) -> int:
        return len(self.grams)

    def posterior(self, log_mu: NDArray[np.float64], log_noise: float) -> tuple[Any, Any]:
        """The Cholesky factor of K + noise I, and K^-1 y."""
        K = np.tensordot(np.exp(log_mu), self.grams, axes=1)
        K[np.diag_indices_from(K)] += np.exp(log_noise) if self.weights is None else np.exp(log_noise) / self.weights
        factor = _factor(K)
        return factor, cho_solve((factor, True), self.y)

    def evaluate(self, log_mu: NDArray[np.float64], log_noise: float) -> tuple[float, NDArray[np.float64]]:
        factor, alpha = self.posterior(log_mu, log_noise)
        n = len(self.y)
        value = -0.5 * (self.y @ alpha + n * np.log(2.0 * np.pi)) - np.log(factor.diagonal()).sum()
        inverse = cho_solve((factor, True), np.eye(n))
        slope = np.outer(alpha, alpha) - inverse
        by_mu = 0.5 * np.exp(log_mu) * np.einsum("bij,ij->b", self.grams, slope, optimize=True)
        trace = slope.trace() if self.weights is None else (slope.diagonal() / self.weights).sum()
        return float(value), np.append(by_mu, 0.5 * np.exp(log_noise) * trace)


def _factor(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """The Cholesky factor, with the least of some jitters that lets it exist."""
    size = float(A.diagonal().mean())
    for jitter in _JITTERS:
        try:
            return np.asarray(cholesky(A + jitter * size * np.eye(len(A)) if jitter else A, lower=True))
        except np.linalg.LinAlgError:
            continue
    raise ConvergenceError("the kernel matrix is not positive definite even with a jitter; more noise would help")


def maximise_likelihood(
    likelihood: Likelihood,
    log_mu: NDArray[np.float64],
    log_noise: float,
    max_iterations: int,
    on_step: Callable[[], None] = lambda: None,
    tolerance: float = 1e-9,
) -> tuple[NDArray[np.float64], float, list[float]]:
    """log mu, log noise and the likelihood after every step, by L-BFGS with analytic gradients.

    It ends where a step gains less than the tolerance, relative to the likelihood.
    """
    curve: list[float] = []
    latest: dict[bytes, float] = {}

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        try:
            value, gradient = likelihood.evaluate(parameters[:-1], float(parameters[-1]))
        except ConvergenceError:
            if not latest:
                raise
            # a step too far, where rounding is more than the noise: the search goes back from a bad value
            return _TOO_FAR * max(map(abs, latest.values())), np.zeros(len(parameters))
        latest[parameters.tobytes()] = value
        return -value, -gradient

    def after_step(parameters: NDArray[np.float64]) -> None:
        curve.append(latest.get(parameters.tobytes(), float("nan")))
        on_step()

    start = np.append(log_mu, log_noise)
    curve.append(-loss(start)[0])
    result = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[_MU_BOUNDS] * len(log_mu) + [likelihood.noise_bounds],
        callback=after_step,
        options={"maxiter": max_iterations, "ftol": tolerance},
    )
    return result.x[:-1], float(result.x[-1]), curve
