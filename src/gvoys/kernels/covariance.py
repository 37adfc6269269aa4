"""Gaussian processes whose kernel is a sum of kernels of distances, with a weight for every block in each of them.

K = sum over terms of s^2 M(sqrt(sum_b w_b d_b^2)) + constant + noise, with M a Matérn or Gaussian kernel; a "linear"
term is sum_b w_b <x_b, y_b> instead. A graph of weight v has the noise of the mean of v measurements, noise / v.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from gvoys._compiled.cpu.distances import add_terms, n_pairs_of, pack_squares, slopes_by_weight
from gvoys.errors import ConvergenceError

Array = NDArray[np.float64]

SAME = 1e-12  # of their squared lengths: what rounding leaves of the squared distance of equal graphs
_JITTERS = (0.0, 1e-10, 1e-8, 1e-6)  # of the mean diagonal


class Distances(NamedTuple):
    """Fitted graphs in pairs, block by block, each in units of its mean squared distance."""

    squares: NDArray[np.float32]  # (n_blocks, n_pairs)
    sizes: Array  # (n_blocks, n), squared lengths
    units: Array  # (n_blocks,)

    @classmethod
    def of(cls, grams: Iterable[Array], n_blocks: int, n: int) -> Distances:
        """Compute distances from inner products, block by block."""
        squares, sizes, units = np.empty((n_blocks, n_pairs_of(n)), np.float32), np.empty((n_blocks, n)), []
        for block, gram in enumerate(grams):
            units.append(pack_squares(gram, SAME, squares[block]) or float(gram.diagonal().mean()) or 1.0)
            sizes[block] = gram.diagonal() / units[-1]
        return cls(squares, sizes, np.array(units))


@dataclass(frozen=True)
class Term:
    """One kernel of the sum, as it was learned."""

    kind: str
    weights: Array  # (n_blocks,), of blocks in the units of `Distances`
    amplitude: float  # 1 for "linear", whose weights are amplitudes


class Conditioned(NamedTuple):
    """The result of conditioning on the fitted graphs."""

    factor: Array  # Cholesky factor of K + noise, lower
    weights: Array  # (K + noise)^-1 y, (n,), or (n, n_targets) for several targets

    @classmethod
    def on(cls, K: Array, y: Array) -> Conditioned:
        """On targets whose covariance is K, of which what is above the diagonal is not looked at."""
        size = float(K.diagonal().mean())
        for jitter in _JITTERS:
            if jitter:
                K[np.diag_indices_from(K)] += jitter * size
            factor, failed = lapack.dpotrf(K.T, lower=0, clean=1)  # LAPACK's rows are our columns
            if not failed:
                return cls(factor.T, lapack.dpotrs(factor, y, lower=0)[0])
        raise ConvergenceError("the kernel matrix is not positive definite even with a jitter; more noise would help")

    def inverse(self) -> Array:
        """(K + noise)^-1, on and below the diagonal."""
        return np.asarray(lapack.dpotri(self.factor.T, lower=0)[0].T)

    def log_likelihood(self, y: Array) -> float:
        """Return the log-likelihood of the targets."""
        half = float(np.log(self.factor.diagonal()).sum()) + 0.5 * len(y) * float(np.log(2.0 * np.pi))
        return -0.5 * float(np.vdot(y, self.weights)) - _n_targets(y) * half

    def leave_one_out(self) -> tuple[Array, Array]:
        """Residual of every graph beside a process that has not seen it, and the variance it should have."""
        inverse = self.inverse().diagonal()
        values = inverse if self.weights.ndim == 1 else inverse[:, None]
        return self.weights / values, np.broadcast_to(1.0 / values, self.weights.shape)


@dataclass(frozen=True)
class Covariance:
    """The likelihood of targets, as a function of the logarithms of all weights and amplitudes, and of the noise.

    Logarithms of weights have a normal prior around equal weights, of precision `prior`: with few graphs a likelihood
    would put all on a few blocks.
    """

    noise_bounds: ClassVar[tuple[float, float]] = (-7.0, 3.0)  # less noise than a thousandth is not believed

    kinds: tuple[str, ...]
    distances: tuple[Distances, ...]  # one for each kind
    y: Array  # (n,), or (n, n_targets), whose likelihoods are added up
    weights: Array | None = None  # (n,); None: all ones
    prior: float = 1.0

    @property
    def n_blocks(self) -> int:
        """Number of parameters beside the noise."""
        return sum(map(self._count, range(len(self.kinds)))) + 1

    def _count(self, term: int) -> int:
        return len(self.distances[term].units) + (self.kinds[term] != "linear")

    def start(self) -> Array:
        """Equal weights, by which graphs are at a distance of one on average; all amplitudes add up to one."""
        share = -np.log(len(self.kinds) + 1)
        parts = []
        for term, kind in enumerate(self.kinds):
            n_blocks = len(self.distances[term].units)
            if kind == "linear":
                sizes = self.distances[term].sizes.mean(axis=1)
                parts.append(share - np.log(n_blocks * np.where(sizes > 0, sizes, 1.0)))
            else:
                parts.append(np.append(np.full(n_blocks, -np.log(n_blocks)), share))
        return np.append(np.concatenate(parts), share)

    def terms(self, log_mu: Array) -> tuple[list[Term], float]:
        """The terms, and the constant."""
        ends = np.cumsum([self._count(term) for term in range(len(self.kinds))])
        parts = np.split(np.exp(log_mu[:-1]), ends[:-1])
        result = [
            Term(kind, part, 1.0) if kind == "linear" else Term(kind, part[:-1], float(part[-1]))
            for kind, part in zip(self.kinds, parts, strict=True)
        ]
        return result, float(np.exp(log_mu[-1]))

    # -- the likelihood

    def evaluate(self, log_mu: Array, log_noise: float) -> tuple[float, Array]:
        """Log likelihood and log prior together, and their gradient."""
        value, gradient = self._likelihood(log_mu, log_noise)
        pull = self._pull(log_mu)
        gradient[:-1] -= self.prior * pull
        return value - 0.5 * self.prior * float(pull @ pull), gradient

    def _pull(self, log_mu: Array) -> Array:
        """Return the distance of log weights from equal ones; amplitudes and the constant are free."""
        pull = log_mu - self.start()
        index = 0
        for term, kind in enumerate(self.kinds):
            index += self._count(term)
            if kind != "linear":
                pull[index - 1] = 0.0
        pull[-1] = 0.0
        return pull

    def conditioned(self, log_mu: Array, log_noise: float) -> Conditioned:
        """Condition on the fitted graphs."""
        return Conditioned.on(self._matrix(log_mu, log_noise)[0], self.y)

    def _matrix(self, log_mu: Array, log_noise: float) -> tuple[Array, list[tuple[Any, Any]]]:
        """K + noise, of which what is above the diagonal means nothing, and each term's values and slopes by pair."""
        terms, constant = self.terms(log_mu)
        n = len(self.y)
        K, kept = np.full((n, n), constant), []
        diagonal = constant + np.exp(log_noise) / (1.0 if self.weights is None else self.weights) + np.zeros(n)
        for term, stored in zip(terms, self.distances, strict=True):
            values, slopes = np.empty((2, n_pairs_of(n)), np.float32)
            raw = np.zeros((n, n)) if term.kind != "linear" else K
            sizes = term.weights @ stored.sizes
            add_terms(stored.squares, term.weights, term.kind, sizes, (raw, values, slopes))
            if raw is not K:
                K += term.amplitude * raw
            diagonal += sizes if term.kind == "linear" else term.amplitude
            kept.append((values, slopes))
        K[np.diag_indices(n)] = diagonal
        return K, kept

    def _likelihood(self, log_mu: Array, log_noise: float) -> tuple[float, Array]:
        K, kept = self._matrix(log_mu, log_noise)
        result = Conditioned.on(K, self.y)
        weights = result.weights.reshape(len(self.y), -1)
        by_pair = weights @ weights.T - _n_targets(self.y) * result.inverse()  # below the diagonal
        by_own = by_pair.diagonal()
        terms, constant = self.terms(log_mu)
        below = np.tril(by_pair, -1)
        sums = below.sum(axis=1) + below.sum(axis=0) + by_own
        gradient = []
        for term, stored, (values, slopes) in zip(terms, self.distances, kept, strict=True):
            by_weight, by_amplitude = slopes_by_weight(stored.squares, values, slopes, by_pair)
            if term.kind == "linear":
                gradient.append(term.weights * (by_weight + stored.sizes @ sums))
            else:
                gradient.append(term.amplitude * term.weights * by_weight)
                gradient.append(np.array([term.amplitude * (by_amplitude + by_own.sum())]))
        noise = np.exp(log_noise) * (by_own / (1.0 if self.weights is None else self.weights)).sum()
        return result.log_likelihood(self.y), 0.5 * np.concatenate([*gradient, [constant * sums.sum(), noise]])


def _n_targets(y: Array) -> int:
    return 1 if y.ndim == 1 else y.shape[1]


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
