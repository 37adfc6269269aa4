"""The marginal likelihood of measured values, and its gradient: exactly for some thousand, else by random signs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize, nnls

from gvoys.nodes.matrices import on_host
from gvoys.nodes.observations import Observations
from gvoys.nodes.priors import Prior

_AT_ONCE = 64  # columns of dense kernels that are made at once

Array = NDArray[Any]


class Evidence(NamedTuple):
    """The log marginal likelihood of values with mean 0, and its gradient."""

    value: float  # the log marginal likelihood
    gradient: Array  # its derivatives by the weights, the noise last


def dense_terms(prior: Prior, rows: Array) -> Array:
    """Every kernel between the measured nodes, (n_terms, n_observed, n_observed)."""
    n = len(rows)
    out = np.empty((prior.n_terms, n, n))
    for first in range(0, n, _AT_ONCE):
        columns = slice(first, min(first + _AT_ONCE, n))
        out[:, :, columns] = on_host(prior.terms(rows, prior.matrix.put(np.eye(n)[:, columns])))
    return (out + out.transpose(0, 2, 1)) / 2.0


def exact_evidence(terms: Array, weights: Array, noise: float, y: Array) -> Evidence | None:
    """Compute the evidence by dense linear algebra; None where the covariance cannot be factored."""
    n = len(y)
    covariance = np.tensordot(weights, terms, 1)
    covariance[np.diag_indices(n)] += noise
    try:
        factor = cho_factor(covariance, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    alpha = cho_solve(factor, y, check_finite=False)
    value = -0.5 * float(y @ alpha) - float(np.log(np.diag(factor[0])).sum()) - 0.5 * n * np.log(2.0 * np.pi)
    inner = np.outer(alpha, alpha) - cho_solve(factor, np.eye(n), check_finite=False)
    gradient = 0.5 * np.append(np.einsum("kij,ij->k", terms, inner, optimize=True), np.trace(inner))
    return Evidence(value, gradient)


def dense_evidence(seen: Observations, y: Array) -> Evidence | None:
    """Compute the evidence by dense linear algebra with one matrix in memory; None where it cannot be factored."""
    n = len(y)
    covariance, units = np.empty((n, n)), np.eye(n)
    blocks = [slice(first, min(first + _AT_ONCE, n)) for first in range(0, n, _AT_ONCE)]
    for columns in blocks:
        covariance[:, columns] = on_host(seen.multiply(seen.put(units[:, columns])))
    try:
        factor = cho_factor((covariance + covariance.T) / 2.0, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    alpha = cho_solve(factor, y, check_finite=False)
    value = -0.5 * float(y @ alpha) - float(np.log(np.diag(factor[0])).sum()) - 0.5 * n * np.log(2.0 * np.pi)
    inverse = cho_solve(factor, units, check_finite=False)
    sizes = np.append(np.zeros(seen.prior.n_terms), np.trace(inverse))
    fits = np.append(np.zeros(seen.prior.n_terms), float(alpha @ alpha))
    for columns in blocks:
        terms = on_host(seen.prior.terms(seen.rows, seen.put(units[:, columns])))
        sizes[:-1] += np.einsum("kij,ij->k", terms, inverse[:, columns])
        fits[:-1] += np.einsum("kij,i,j->k", terms, alpha, alpha[columns])
    return Evidence(value, 0.5 * (fits - sizes))


def random_signs(n_observed: int, count: int, seed: int, kind: Any) -> Array:
    """Vectors of independent signs, (n_observed, count)."""
    bits = np.random.default_rng([seed, 1]).integers(0, 2, (n_observed, count))
    return (2 * bits - 1).astype(kind)


def sampled_evidence(seen: Observations, y: Array, signs: Array, tol: float) -> Evidence:
    """Estimate the evidence by conjugate gradients and Lanczos quadrature."""
    right = seen.put(np.column_stack([y, signs]))
    solved = seen.solve(right, tol)
    alpha, rest = solved.X[:, :1], solved.X[:, 1:]
    steps = [(lengths[1:], ratios[1:]) for lengths, ratios in solved.steps]
    n = seen.n_observed
    value = -0.5 * float(y @ on_host(alpha)[:, 0]) - 0.5 * seen.log_determinant(steps) - 0.5 * n * np.log(2.0 * np.pi)
    fit, size = fits_and_sizes(seen, alpha, rest, right[:, 1:])
    return Evidence(value, 0.5 * (fit - size))


def fits_and_sizes(
    seen: Observations, alpha: Array, rest: Array, signs: Array, of_signs: Array | None = None
) -> tuple[Array, Array]:
    """alpha^T B alpha, and the trace of A^-1 B, for every kernel B and the noise; A is the covariance."""
    both = seen.prior.terms(seen.rows, alpha if of_signs is not None else np.hstack([alpha, signs]))
    times_signs = both[:, :, 1:] if of_signs is None else of_signs
    fits = on_host(np.einsum("kij,ij->k", both[:, :, :1], alpha, dtype=np.float64))
    sizes = on_host(np.einsum("kij,ij->k", times_signs, rest, dtype=np.float64)) / signs.shape[1]
    ends = (float((alpha * alpha).sum()), float((rest * signs).sum()) / signs.shape[1])
    return np.append(fits, ends[0]), np.append(sizes, ends[1])


FEW = 1000  # values up to which the likelihood is computed exactly, where the graph is not too large for that
_WORK = 2e10  # entries that are added up for it at most
_SIGNS = (4, 64)  # random vectors, at least and at most
_ENOUGH = 200_000  # values times random vectors, from which traces are known well enough
_STEPS, _TOL = 4, 2e-2  # of the likelihood, and of the systems for them
_LEAST = 3e-3  # noise beside the variance of the values
_SETTLED = 0.02  # relative change of all weights at which steps end
_LEARNING_AT_ONCE = 1 << 18  # numbers of each kernel
_WEAK = 0.5  # values that the prior of the exact likelihood counts as


class Learned(NamedTuple):
    """Weights of the kernels and the noise, in units of the values' variance."""

    weights: Array  # the weights
    noise: float  # variance of the noise
    shares: Array  # shares in the variance of a value, the noise last
    solution: Array | None = None  # about the covariance's inverse times the values, where there are many


def learn_weights(prior: Prior, rows: Array, y: Array, kind: Any, seed: int, fixed_noise: float | None) -> Learned:
    """Weights and noise that make the values probable."""
    entries = len(prior.matrix.sparse.indices) + prior.matrix.n_nodes
    if len(y) <= FEW and float(entries) * len(y) * 24 <= _WORK:
        return _exactly(prior, rows, y, fixed_noise)
    count = int(np.clip(_ENOUGH // len(y), *_SIGNS))
    both = prior.matrix.put(np.column_stack([y.astype(kind), random_signs(len(y), count, seed, kind)]))
    times = prior.terms(rows, both)
    of_values, of_signs = times[:, :, 0], times[:, :, 1:]
    variances = _nearest(of_values, of_signs, both[:, 0], both[:, 1:], fixed_noise)
    variances, solution = _raised(prior, rows, both, kind, of_signs, variances, fixed_noise)
    return _learned(variances, _means(of_signs, both[:, 1:]))._replace(solution=solution)


def _learned(found: Array, means: Array) -> Learned:
    shares = np.append(found[:-1] * means, found[-1])
    return Learned(found[:-1], float(found[-1]), shares / shares.sum())


def learn_shared_weights(prior: Prior, rows: Array, Y: Array, noise: Array, kind: Any, seed: int) -> Array:
    """Weights that make several columns of values probable, whose noise is known value by value."""
    count, n_columns = int(np.clip(_ENOUGH // len(Y), *_SIGNS)), Y.shape[1]
    both = prior.matrix.put(np.column_stack([Y.astype(kind), random_signs(len(Y), count, seed, kind)]))
    times = prior.terms(rows, both)
    of_values, of_signs = times[:, :, :n_columns], times[:, :, n_columns:]
    diagonals = on_host(np.einsum("kij,ij->ki", of_signs, both[:, n_columns:], dtype=np.float64)) / count
    products = on_host(np.einsum("kij,ij->k", of_values, both[:, :n_columns], dtype=np.float64))
    q = products - diagonals @ noise.sum(axis=1)
    weights = _nonnegative(_products(of_signs) / count, q / n_columns)
    least = 1e-3 * float(noise.min()) / max(float(diagonals.mean(axis=1).max()), 1e-12)
    return weights if weights.any() else np.full(prior.n_terms, least)


# -- exactly


def _exactly(prior: Prior, rows: Array, y: Array, fixed_noise: float | None) -> Learned:
    """The maximum of the marginal likelihood, with a weak prior: shares near each other, noise not next to nothing."""
    terms = dense_terms(prior, rows)
    means = np.maximum(np.einsum("kii->k", terms) / len(y), 1e-12)
    sizes = np.append(means, 1.0)
    free = np.ones(len(sizes), bool)
    free[-1] = fixed_noise is None
    count = len(sizes)

    def loss(logs: Array) -> tuple[float, Array]:
        shares = np.exp(logs)  # of the variance of a value
        noise = shares[-1] if fixed_noise is None else fixed_noise
        evidence = exact_evidence(terms, shares[:-1] / means, float(noise), y)
        if evidence is None:
            return 1e300, np.zeros(count)
        total = shares.sum()
        prior_value = _WEAK * (np.log(shares[-1] / total) + np.log(shares / total).mean() - total)
        by_logs = np.append(np.zeros(count - 1), 1.0) + 1.0 / count - 2.0 * shares / total - shares
        gradient = evidence.gradient * shares / sizes + _WEAK * by_logs
        return -(evidence.value + prior_value), np.where(free, -gradient, 0.0)

    start = np.log(np.append(np.full(count - 1, 0.7 / max(count - 1, 1)), fixed_noise or 0.3))
    bounds = [(-11.0, 3.0)] * (count - 1) + [(float(np.log(_LEAST)), 3.0)]
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200})
    variances = np.exp(best.x) / sizes
    variances[-1] = variances[-1] if fixed_noise is None else fixed_noise
    return _learned(variances, means)


# -- many values


def _nearest(of_values: Array, of_signs: Array, y: Array, signs: Array, fixed_noise: float | None) -> Array:
    """Weights and noise of the covariance that is nearest to y y^T, entry by entry."""
    made = np.concatenate([of_signs, signs[None]])
    Q = _products(made) / signs.shape[1]
    q = on_host(np.einsum("ki,i->k", np.concatenate([of_values, y[None]]), y, dtype=np.float64))
    if fixed_noise is not None:
        q = q - fixed_noise * Q[:, -1]
        return np.append(_nonnegative(Q[:-1, :-1], q[:-1]), fixed_noise)
    solution = _nonnegative(Q, q)
    solution[-1] = max(solution[-1], _LEAST)
    return solution


def _products(made: Array) -> Array:
    """Inner products of arrays, in double precision: kernels of near times are much alike."""
    flat = made.reshape(len(made), -1)
    out = np.zeros((len(made), len(made)))
    for first in range(0, flat.shape[1], _LEARNING_AT_ONCE):
        block = flat[:, first : first + _LEARNING_AT_ONCE].astype(np.float64)
        out += on_host(block @ block.T)
    return out


def _nonnegative(Q: Array, q: Array) -> Array:
    """The minimum of x^T Q x - 2 q^T x over x >= 0."""
    sizes = np.sqrt(np.maximum(np.diag(Q), 1e-300))
    values, vectors = np.linalg.eigh(Q / np.outer(sizes, sizes))
    roots = np.sqrt(np.maximum(values, 1e-7 * values[-1]))
    return np.asarray(nnls(roots[:, None] * vectors.T, vectors.T @ (q / sizes) / roots)[0] / sizes)


def _raised(
    prior: Prior, rows: Array, both: Array, kind: Any, of_signs: Array, found: Array, noise: float | None
) -> tuple[Array, Array]:
    """A few steps that raise the marginal likelihood: every weight by the root of its fit beside its size.

    And the covariance's inverse times the values, before the last step.
    """
    n_signs = both.shape[1] - 1
    n_used = min(n_signs, _SIGNS[0] - 1 if len(both) * _SIGNS[0] >= _ENOUGH else 2 * _SIGNS[0] - 1)
    solved, right = None, both[:, : 1 + n_used]
    least = 1e-6 / np.append(np.maximum(_means(of_signs, both[:, 1:]), 1e-6), 1.0) / len(found)
    for _ in range(_STEPS):
        found = np.maximum(found, least)
        seen = Observations(prior, rows, found[:-1], float(found[-1]), kind)
        solved = seen.solve(right, _TOL, solved).X
        fits, sizes = fits_and_sizes(seen, solved[:, :1], solved[:, 1:], right[:, 1:], of_signs[:, :, :n_used])
        ratios = np.sqrt(np.maximum(fits, 0.0) / np.maximum(sizes, 1e-300))
        if noise is not None:
            ratios[-1] = 1.0
        found = found * np.clip(ratios, 0.1, 10.0)
        found[-1] = max(found[-1], _LEAST) if noise is None else noise
        if np.abs(ratios - 1.0).max() < _SETTLED:
            break
    assert solved is not None
    return found, solved[:, :1]


def _means(of_signs: Array, signs: Array) -> Array:
    """Mean variance of a value by each kernel."""
    return on_host(np.einsum("kij,ij->k", of_signs, signs, dtype=np.float64)) / signs.size
