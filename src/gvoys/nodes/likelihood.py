"""The marginal likelihood of measured values, and its gradient: exactly for some thousand, else by random signs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

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
