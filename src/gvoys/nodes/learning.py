"""Learning the weights of kernels and the noise from measured values.

Few values: the marginal likelihood is maximised exactly, with a weak prior that keeps single values from deciding all.
Many: the weights whose covariance is nearest to the products of the values (Haseman and Elston's regression) are a
consistent estimate that takes two products; steps that only raise the marginal likelihood (Zhou et al. 2019) follow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, nnls

from gvoys.nodes.likelihood import dense_terms, exact_evidence, fits_and_sizes, random_signs
from gvoys.nodes.matrices import on_host
from gvoys.nodes.observations import Observations
from gvoys.nodes.priors import Prior

FEW = 1000  # values up to which the likelihood is computed exactly, where the graph is not too large for that
_WORK = 2e10  # entries that are added up for it at most
_SIGNS = (4, 64)  # random vectors, at least and at most
_ENOUGH = 200_000  # values times random vectors, from which traces are known well enough
_STEPS, _TOL = 4, 2e-2  # of the likelihood, and of the systems for them
_LEAST = 3e-3  # noise beside the variance of the values
_SETTLED = 0.02  # relative change of all weights at which steps end
_AT_ONCE = 1 << 18  # numbers of each kernel
_WEAK = 0.5  # values that the prior of the exact likelihood counts as

Array = NDArray[Any]


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
    for first in range(0, flat.shape[1], _AT_ONCE):
        block = flat[:, first : first + _AT_ONCE].astype(np.float64)
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
