"""Direct solvers: the product graph written down, the Sylvester equation, and spectral decompositions."""

from __future__ import annotations

import math
import warnings
from functools import reduce

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning, eigh, solve, solve_sylvester
from scipy.sparse.linalg import splu

from gvoys.errors import ConvergenceError, UnsupportedError
from gvoys.exact.problem import (
    ExactKernel,
    Problem,
    check_value,
    growth_bound,
    relative_norm,
    sum_spectra,
    tolerated_error,
)
from gvoys.series import Geometric

_LARGEST_PRODUCT = 50_000_000  # entries of the product graph
_LARGEST_RESIDUAL = 1e-10


def solve_product(problem: Problem) -> ExactKernel:
    """Solve on the product graph: by a sparse LU factorisation for geometric series, by Horner's rule for others."""
    A, chosen = product_graph(problem)
    start, stop = (np.outer(*ends).ravel()[chosen] for ends in (problem.start, problem.stop))
    if not isinstance(problem.series, Geometric):
        return _sum_series(problem, A, start, stop)
    if not len(stop):
        return ExactKernel(0.0, "product", 0.0, 0)
    system = sp.csc_array(sp.eye_array(len(stop)) - problem.decay * A)
    x = splu(system).solve(stop)
    left_over = np.zeros(problem.g.n_nodes * problem.h.n_nodes)
    left_over[chosen] = rest = stop - system @ x
    residual = relative_norm(rest, stop)
    return _check_direct(problem, start @ x, "product", residual, left_over.reshape(problem.g.n_nodes, -1))


def product_graph(problem: Problem) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Return the adjacency matrix of the direct product graph, and which pairs of nodes it has."""
    entries = problem.g.n_entries * problem.h.n_entries
    if entries > _LARGEST_PRODUCT:
        raise UnsupportedError(
            f"solver 'product' writes down the product graph, and this one may have {entries:.3g} entries, "
            f"above its limit of {_LARGEST_PRODUCT:.0e}; use 'vec'"
        )
    count = problem.g.n_nodes * problem.h.n_nodes
    chosen = np.arange(count) if problem.mask is None else np.flatnonzero(problem.mask.ravel())
    layers = (sp.csr_array(sp.kron(sp.coo_array(A), sp.coo_array(B))) for A, B in problem.layers)
    whole = reduce(lambda one, other: one + other, layers, sp.csr_array((count, count)))
    return whole[chosen][:, chosen], chosen


def _sum_series(
    problem: Problem, A: sp.csr_array, start: NDArray[np.float64], stop: NDArray[np.float64]
) -> ExactKernel:
    """Sum the terms of the truncated series, by Horner's rule."""
    rate, size_of = growth_bound(problem)
    length = problem.series.truncation_length(rate, problem.tol / 100)
    weights = problem.series.coefficients(length, np.sqrt(rate) if rate > 0 else 1.0)
    state = weights[length] * stop
    for weight in weights[length - 1 :: -1] if length else ():
        state = weight * stop + (A @ state) / rate
    value = float(start @ state)
    rest = size_of(problem.right_side) * problem.series.tail_bound(length, rate)
    if rest > tolerated_error(problem, value):
        raise ConvergenceError(
            f"solver 'product' finds {value:.3g}, and the rest of the series may be {rest:.2g}; use 'vec', which goes "
            "on until the value is certain"
        )
    return ExactKernel(value, "product", rest / abs(value) if value else 0.0, length)


def solve_sylvester_equation(problem: Problem) -> ExactKernel:
    """Solve X = decay A X B^T + w for geometric series on unlabelled graphs. Cost O(n^3 + m^3), dense."""
    # with P = a A and Q = b B^T, a b = decay, both of spectral radius below one, X - P X Q = C is
    # (I + P)^-1 (I - P) X + X (I - Q) (I + Q)^-1 = 2 (I + P)^-1 C (I + Q)^-1,
    # which LAPACK solves; neither A nor B is inverted, only matrices that cannot be singular
    problem.require("sylvester", geometric=True, unlabelled=True)
    C = problem.right_side
    if not C.size or problem.decay == 0.0:
        return ExactKernel(problem.collapse(C), "sylvester", 0.0, 0)
    A, B = (graph.adjacency().toarray() for graph in (problem.g, problem.h))
    a, b = _split_decay(problem.decay, *problem.radii)
    P, Q = a * A, b * B.T
    one, other = np.eye(len(P)), np.eye(len(Q))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # the residual below tells what came of it
        left = solve(one + P, np.hstack([one - P, C]))  # (I + P)^-1 applied to both at once
        right = solve((other + Q).T, np.hstack([(other - Q).T, left[:, len(P) :].T])).T
        X = solve_sylvester(left[:, : len(P)], right[: len(Q)], 2.0 * right[len(Q) :])
    left_over = C - X + P @ X @ Q
    return _check_direct(problem, problem.collapse(X), "sylvester", relative_norm(left_over, C), left_over)


def _split_decay(decay: float, rho1: float, rho2: float) -> tuple[float, float]:
    """Return factors a b = decay that give both matrices the same spectral radius, sqrt(decay rho1 rho2)."""
    if rho1 == 0.0 or rho2 == 0.0:  # one is nilpotent: pretend a radius that leaves the other one half
        larger = max(rho1, rho2) or 1.0
        rho1, rho2 = rho1 or 0.25 / (decay * larger), rho2 or 0.25 / (decay * larger)
    balance = math.sqrt(rho2 / rho1)
    return math.sqrt(decay) * balance, math.sqrt(decay) / balance


def _check_direct(
    problem: Problem, value: float, solver: str, residual: float, left_over: NDArray[np.float64]
) -> ExactKernel:
    """Return the result of a direct solver, if its residual is small."""
    if not residual <= _LARGEST_RESIDUAL:
        raise ConvergenceError(
            f"solver {solver!r} left a residual of {residual:.2g}, above {_LARGEST_RESIDUAL:g}: the system is "
            "ill-conditioned; use 'vec', which only adds, or lower the decay"
        )
    check_value(problem, value, left_over, solver)
    return ExactKernel(value, solver, residual, 0)


def solve_spectral(problem: Problem) -> ExactKernel:
    """Solve by the eigenvalues of both unlabelled, undirected graphs. Cost O(n^3 + m^3), dense."""
    problem.require("spectral", unlabelled=True, undirected=True)
    left, right = _decompose(problem, 0), _decompose(problem, 1)
    value, check_cancellation = sum_spectra(problem, left, right)
    check_cancellation("spectral")
    return ExactKernel(value, "spectral", max(left[2], right[2]), 0)


def _decompose(problem: Problem, side: int) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return eigenvalues, the weights (v . u_j)(w . u_j) of the eigenvectors, and the residual |A U - U L| / |A|."""
    A = (problem.g, problem.h)[side].adjacency().toarray()
    if not len(A):
        return np.empty(0), np.empty(0), 0.0
    values, U = eigh(A)
    size = max(float(np.linalg.norm(A)), 1e-300)
    weights = (problem.start[side] @ U) * (problem.stop[side] @ U)
    return values, weights, float(np.linalg.norm(A @ U - U * values)) / size
