"""The marginal likelihood of measured values, and learning the weights of kernels and the noise from it.

Few values: the marginal likelihood is maximised exactly, with a weak prior that keeps single values from deciding all.
Many: the weights whose covariance is nearest to the products of the values (Haseman and Elston's regression) are a
consistent estimate that takes two products; steps that only raise the marginal likelihood (Zhou et al. 2019) follow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize, nnls

from gvoys.nodes.matrices import column_blocks, on_host
from gvoys.nodes.node_posterior import Observations
from gvoys.nodes.priors import Prior

_MIN_SIGNS, _MAX_SIGNS = 4, 64  # vectors of random signs
_ENOUGH_SIGNS = 200_000  # in all vectors, from which traces are known well enough
_MAX_STEPS = 4  # that raise the likelihood
_STEP_TOL = 2e-2  # of the systems for them
_SETTLED_CHANGE = 0.02  # relative change of all weights at which they end
_MIN_NOISE = 3e-3  # variance, relative to that of the values
_BLOCK_NUMBERS = 1 << 18  # of each kernel, that are multiplied at once
_PRIOR_VALUES = 0.5  # number of values that the prior of the exact likelihood counts as

Array = NDArray[Any]


# -- the likelihood


class Evidence(NamedTuple):
    """The log marginal likelihood of values with mean 0, and its gradient."""

    value: float
    gradient: Array  # its derivatives by the weights, the noise last


def _exact_evidence(terms: Array, weights: Array, noise: float, y: Array) -> Evidence | None:
    """Compute the evidence from dense kernels; None where the covariance cannot be factored."""
    covariance = np.tensordot(weights, terms, 1)
    covariance[np.diag_indices(len(y))] += noise
    solved = _solve_densely(covariance, y, np.eye(len(y)))
    if solved is None:
        return None
    value, alpha, inverse = solved
    inner = np.outer(alpha, alpha) - inverse
    return Evidence(value, 0.5 * np.append(np.einsum("kij,ij->k", terms, inner, optimize=True), np.trace(inner)))


def dense_evidence(seen: Observations, y: Array) -> Evidence | None:
    """Compute the evidence by dense linear algebra with one matrix in memory; None where it cannot be factored."""
    covariance, units = np.empty((len(y), len(y))), np.eye(len(y))
    for columns in column_blocks(len(y)):
        covariance[:, columns] = on_host(seen.multiply(seen.put(units[:, columns])))
    solved = _solve_densely((covariance + covariance.T) / 2.0, y, units)
    if solved is None:
        return None
    value, alpha, inverse = solved
    sizes = np.append(np.zeros(seen.prior.n_terms), np.trace(inverse))
    fits = np.append(np.zeros(seen.prior.n_terms), float(alpha @ alpha))
    for columns in column_blocks(len(y)):
        terms = on_host(seen.prior.terms(seen.rows, seen.put(units[:, columns])))
        sizes[:-1] += np.einsum("kij,ij->k", terms, inverse[:, columns])
        fits[:-1] += np.einsum("kij,i,j->k", terms, alpha, alpha[columns])
    return Evidence(value, 0.5 * (fits - sizes))


def _solve_densely(covariance: Array, y: Array, units: Array) -> tuple[float, Array, Array] | None:
    """Return the likelihood, the inverse times y, and the inverse; None where the covariance cannot be factored."""
    try:
        factor = cho_factor(covariance, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    alpha = cho_solve(factor, y, check_finite=False)
    value = -0.5 * float(y @ alpha) - float(np.log(np.diag(factor[0])).sum()) - 0.5 * len(y) * np.log(2.0 * np.pi)
    return value, alpha, cho_solve(factor, units, check_finite=False)


def random_signs(n_observed: int, count: int, seed: int, kind: Any) -> Array:
    """Draw vectors of independent signs, (n_observed, count)."""
    bits = np.random.default_rng([seed, 1]).integers(0, 2, (n_observed, count))
    return (2 * bits - 1).astype(kind)


def sampled_evidence(seen: Observations, y: Array, signs: Array, tol: float) -> Evidence:
    """Estimate the evidence by conjugate gradients and Lanczos quadrature."""
    right = seen.put(np.column_stack([y, signs]))
    solved = seen.solve(right, tol)
    alpha, rest = solved.X[:, :1], solved.X[:, 1:]
    steps = [(lengths[1:], ratios[1:]) for lengths, ratios in solved.steps]
    constant = 0.5 * len(y) * np.log(2.0 * np.pi)
    value = -0.5 * float(y @ on_host(alpha)[:, 0]) - 0.5 * seen.log_determinant(steps) - constant
    times = seen.prior.terms(seen.rows, np.hstack([alpha, right[:, 1:]]))
    fits, sizes = _fits_and_sizes(times[:, :, :1], times[:, :, 1:], alpha, rest, right[:, 1:])
    return Evidence(value, 0.5 * (fits - sizes))


def _fits_and_sizes(of_alpha: Array, of_signs: Array, alpha: Array, rest: Array, signs: Array) -> tuple[Array, Array]:
    """Return alpha^T B alpha, and the trace of A^-1 B, for every kernel B and the noise; A is the covariance."""
    fits = on_host(np.einsum("kij,ij->k", of_alpha, alpha, dtype=np.float64))
    sizes = on_host(np.einsum("kij,ij->k", of_signs, rest, dtype=np.float64)) / signs.shape[1]
    ends = (float((alpha * alpha).sum()), float((rest * signs).sum()) / signs.shape[1])
    return np.append(fits, ends[0]), np.append(sizes, ends[1])


# -- learning


class Learned(NamedTuple):
    """Weights of the kernels and the noise, in units of the values' variance."""

    weights: Array
    noise: float  # variance of the noise
    shares: Array  # shares in the variance of a value, the noise last
    solution: Array | None  # about the covariance's inverse times the values, where there are many

    @classmethod
    def from_variances(cls, variances: Array, means: Array, solution: Array | None = None) -> Learned:
        """Take weights with the noise last, and the mean variance of a value by each kernel."""
        shares = np.append(variances[:-1] * means, variances[-1])
        return cls(variances[:-1], float(variances[-1]), shares / shares.sum(), solution)


class _SignedProducts(NamedTuple):
    """Values with random signs beside them, and the products of every kernel with both."""

    both: Array  # (n_observed, n_columns + n_signs)
    of_values: Array  # (n_terms, n_observed, n_columns)
    of_signs: Array  # (n_terms, n_observed, n_signs)

    @classmethod
    def from_values(cls, prior: Prior, rows: Array, Y: Array, kind: Any, seed: int) -> _SignedProducts:
        n_signs = int(np.clip(_ENOUGH_SIGNS // len(Y), _MIN_SIGNS, _MAX_SIGNS))
        both = prior.matrix.put(np.column_stack([Y.astype(kind), random_signs(len(Y), n_signs, seed, kind)]))
        times = prior.terms(rows, both)
        return cls(both, times[:, :, :-n_signs], times[:, :, -n_signs:])

    @property
    def signs(self) -> Array:
        return self.both[:, -self.of_signs.shape[2] :]

    def mean_variances(self) -> Array:
        """Mean variance of a value by each kernel."""
        return on_host(np.einsum("kij,ij->k", self.of_signs, self.signs, dtype=np.float64)) / self.signs.size


def learn_weights(prior: Prior, rows: Array, y: Array, kind: Any, seed: int, fixed_noise: float | None) -> Learned:
    """Learn the weights and the noise that make values probable."""
    if prior.allows_dense(len(y), len(y)):
        return _maximize_likelihood(prior.dense_terms(rows), y, fixed_noise)
    products = _SignedProducts.from_values(prior, rows, y, kind, seed)
    variances = _fit_products(products, fixed_noise)
    variances, solution = _raise_likelihood(prior, rows, kind, products, variances, fixed_noise)
    return Learned.from_variances(variances, products.mean_variances(), solution)


def learn_shared_weights(prior: Prior, rows: Array, Y: Array, noise: Array, kind: Any, seed: int) -> Array:
    """Learn weights that make several columns of values probable, whose noise is known value by value."""
    products = _SignedProducts.from_values(prior, rows, Y, kind, seed)
    n_columns, n_signs = Y.shape[1], products.of_signs.shape[2]
    diagonals = on_host(np.einsum("kij,ij->ki", products.of_signs, products.signs, dtype=np.float64)) / n_signs
    sums = on_host(np.einsum("kij,ij->k", products.of_values, products.both[:, :n_columns], dtype=np.float64))
    q = sums - diagonals @ noise.sum(axis=1)
    weights = _solve_nonnegative(_inner_products(products.of_signs) / n_signs, q / n_columns)
    least = 1e-3 * float(noise.min()) / max(float(diagonals.mean(axis=1).max()), 1e-12)
    return weights if weights.any() else np.full(prior.n_terms, least)


def _maximize_likelihood(terms: Array, y: Array, fixed_noise: float | None) -> Learned:
    """Maximise the likelihood with a weak prior: shares are near each other, and the noise is not next to nothing."""
    means = np.maximum(np.einsum("kii->k", terms) / len(y), 1e-12)
    sizes = np.append(means, 1.0)
    count = len(sizes)
    is_noise = np.arange(count) == count - 1

    def loss(logs: Array) -> tuple[float, Array]:
        shares = np.exp(logs)  # of the variance of a value
        noise = shares[-1] if fixed_noise is None else fixed_noise
        evidence = _exact_evidence(terms, shares[:-1] / means, float(noise), y)
        if evidence is None:
            return 1e300, np.zeros(count)
        total = shares.sum()
        prior_value = _PRIOR_VALUES * (np.log(shares[-1] / total) + np.log(shares / total).mean() - total)
        by_logs = is_noise + 1.0 / count - 2.0 * shares / total - shares
        gradient = evidence.gradient * shares / sizes + _PRIOR_VALUES * by_logs
        return -(evidence.value + prior_value), np.where(is_noise & (fixed_noise is not None), 0.0, -gradient)

    start = np.log(np.append(np.full(count - 1, 0.7 / max(count - 1, 1)), fixed_noise or 0.3))
    bounds = [(-11.0, 3.0)] * (count - 1) + [(float(np.log(_MIN_NOISE)), 3.0)]
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200})
    variances = np.exp(best.x) / sizes
    variances[-1] = variances[-1] if fixed_noise is None else fixed_noise
    return Learned.from_variances(variances, means)


def _fit_products(products: _SignedProducts, fixed_noise: float | None) -> Array:
    """Return the weights and noise of the covariance that is nearest to y y^T, entry by entry."""
    signs, y = products.signs, products.both[:, 0]
    Q = _inner_products(np.concatenate([products.of_signs, signs[None]])) / signs.shape[1]
    times = np.concatenate([products.of_values[:, :, 0], y[None]])
    q = on_host(np.einsum("ki,i->k", times, y, dtype=np.float64))
    if fixed_noise is not None:
        q = q - fixed_noise * Q[:, -1]
        return np.append(_solve_nonnegative(Q[:-1, :-1], q[:-1]), fixed_noise)
    variances = _solve_nonnegative(Q, q)
    variances[-1] = max(variances[-1], _MIN_NOISE)
    return variances


def _inner_products(arrays: Array) -> Array:
    """Multiply arrays by each other in double precision: kernels of near times are much alike."""
    flat = arrays.reshape(len(arrays), -1)
    out = np.zeros((len(arrays), len(arrays)))
    for first in range(0, flat.shape[1], _BLOCK_NUMBERS):
        block = flat[:, first : first + _BLOCK_NUMBERS].astype(np.float64)
        out += on_host(block @ block.T)
    return out


def _solve_nonnegative(Q: Array, q: Array) -> Array:
    """Return the minimum of x^T Q x - 2 q^T x over x >= 0."""
    sizes = np.sqrt(np.maximum(np.diag(Q), 1e-300))
    values, vectors = np.linalg.eigh(Q / np.outer(sizes, sizes))
    roots = np.sqrt(np.maximum(values, 1e-7 * values[-1]))
    return np.asarray(nnls(roots[:, None] * vectors.T, vectors.T @ (q / sizes) / roots)[0] / sizes)


def _raise_likelihood(
    prior: Prior, rows: Array, kind: Any, products: _SignedProducts, variances: Array, fixed_noise: float | None
) -> tuple[Array, Array]:
    """Raise the likelihood by a few steps: every weight by the root of its fit, relative to its size.

    Also return the covariance's inverse times the values, before the last step.
    """
    both, n_signs = products.both, products.of_signs.shape[2]
    n_used = min(n_signs, _MIN_SIGNS - 1 if len(both) * _MIN_SIGNS >= _ENOUGH_SIGNS else 2 * _MIN_SIGNS - 1)
    solved, right = None, both[:, : 1 + n_used]
    least = 1e-6 / np.append(np.maximum(products.mean_variances(), 1e-6), 1.0) / len(variances)
    for _ in range(_MAX_STEPS):
        variances = np.maximum(variances, least)
        seen = Observations(prior, rows, variances[:-1], float(variances[-1]), kind)
        solved = seen.solve(right, _STEP_TOL, solved).X
        alpha, rest, of_signs = solved[:, :1], solved[:, 1:], products.of_signs[:, :, :n_used]
        fits, sizes = _fits_and_sizes(prior.terms(rows, alpha), of_signs, alpha, rest, right[:, 1:])
        ratios = np.sqrt(np.maximum(fits, 0.0) / np.maximum(sizes, 1e-300))
        if fixed_noise is not None:
            ratios[-1] = 1.0
        variances = variances * np.clip(ratios, 0.1, 10.0)
        variances[-1] = max(variances[-1], _MIN_NOISE) if fixed_noise is None else fixed_noise
        if np.abs(ratios - 1.0).max() < _SETTLED_CHANGE:
            break
    assert solved is not None
    return variances, solved[:, :1]
