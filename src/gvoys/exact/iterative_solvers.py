"""Iterative solvers: the series term by term, linear systems for geometric series, and Lanczos quadrature."""

from __future__ import annotations

import math
from itertools import count
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.sparse.linalg import LinearOperator, bicgstab, cg

from gvoys.errors import ConvergenceError
from gvoys.exact.problem import ExactKernel, Problem, check_value, growth_bound, relative_norm, sum_spectra

_N_AHEAD = 64  # coefficients that are computed at once

Array = NDArray[np.float64]


def solve_vec(problem: Problem) -> ExactKernel:
    """Sum W <- M * (A W B^T) until a rigorous bound on the rest, the residual, is below tol. Any graphs and series."""
    rate, size_of = growth_bound(problem)
    problem.series.check_convergence(rate)
    W = problem.right_side
    value = magnitude = 0.0
    rest = np.inf
    # walks grow like rate^i and mu shrinks like rate^-i: keep both near one
    scale = np.sqrt(rate) if rate > 0 else 1.0
    weights = problem.series.coefficients(_N_AHEAD, scale)
    for i in range(problem.max_iterations + 1):
        if i == len(weights):
            weights = problem.series.coefficients(2 * i, scale)
        term = weights[i] * problem.collapse(W)
        value, magnitude = value + term, magnitude + abs(term)
        rest = size_of(W) * problem.series.tail_bound(i, rate)
        if rest <= problem.tol * magnitude:
            return ExactKernel(value, "vec", rest / magnitude if magnitude else 0.0, i)
        W = problem.apply(W) / rate
    raise ConvergenceError(
        f"solver 'vec' stopped after {problem.max_iterations} terms, and the rest of the series may still be "
        f"{rest:.2g} beside {value:.6g}, above tol = {problem.tol:g}; raise max_iterations or lower the decay"
    )


def solve_cg(problem: Problem) -> ExactKernel:
    """Solve (I - decay A_x) x = w by conjugate gradients, by BiCGSTAB on directed graphs. Geometric series."""
    problem.require("cg", geometric=True)
    right_side = problem.right_side
    if not right_side.any():
        return ExactKernel(0.0, "cg", 0.0, 0)

    def apply_system(vector: Array) -> Array:
        W = vector.reshape(right_side.shape)
        return (W - problem.decay * problem.apply(W)).ravel()

    method: Any = bicgstab if problem.directed else cg
    counter = count()
    operator = LinearOperator((right_side.size, right_side.size), matvec=apply_system, dtype=np.float64)
    options = {"rtol": problem.tol, "atol": 0.0, "maxiter": problem.max_iterations}
    solution, _ = method(operator, right_side.ravel(), **options, callback=lambda _: next(counter))
    iterations = next(counter)
    left_over = right_side.ravel() - apply_system(solution)
    residual = relative_norm(left_over, right_side)
    if not residual <= 10 * problem.tol:  # the recurrence may drift from the true residual, by little
        raise ConvergenceError(
            f"solver 'cg' stopped after {iterations} iterations with a residual of {residual:.2g}, above "
            f"tol = {problem.tol:g}; raise max_iterations, lower the decay, or use 'vec'"
        )
    value = problem.collapse(solution.reshape(right_side.shape))
    check_value(problem, value, left_over.reshape(right_side.shape), "cg")
    return ExactKernel(value, "cg", residual, iterations)


def solve_fixed_point(problem: Problem) -> ExactKernel:
    """Iterate X <- w + decay A_x X for geometric series; the residual is that of the linear system."""
    problem.require("fixed-point", geometric=True)
    X = right_side = problem.right_side
    for iteration in range(1, problem.max_iterations + 1):
        following = right_side + problem.decay * problem.apply(X)
        change = following - X
        residual = relative_norm(change, right_side)
        X = following
        if residual <= problem.tol:
            check_value(problem, problem.collapse(X), change, "fixed-point")
            return ExactKernel(problem.collapse(X), "fixed-point", residual, iteration)
    raise ConvergenceError(
        f"solver 'fixed-point' stopped after {problem.max_iterations} iterations with a residual of {residual:.2g}, "
        f"above tol = {problem.tol:g}; raise max_iterations, lower the decay, or use 'vec'"
    )


def solve_lanczos(problem: Problem) -> ExactKernel:
    """Solve by Gauss quadrature on each unlabelled, undirected graph. Cost O(steps * edges + steps^2 * nodes)."""
    problem.require("lanczos", unlabelled=True, undirected=True)
    steps, previous, change, n_still = 8, math.nan, math.inf, 0
    while steps <= 4 * problem.max_iterations:
        left, right = _compute_quadrature(problem, 0, steps), _compute_quadrature(problem, 1, steps)
        is_exact = left[2] and right[2]  # the Krylov spaces are exhausted
        value, check_cancellation = sum_spectra(problem, left, right)
        known = not (math.isnan(previous) or value == 0.0)
        change = 0.0 if is_exact else abs(value - previous) / abs(value) if known else math.inf
        n_still = n_still + 1 if change <= problem.tol else 0
        # two steps of standing still, since a start that the walks have not reached yet adds nothing either
        if n_still == 2 or is_exact:
            check_cancellation("lanczos")
            return ExactKernel(value, "lanczos", change, steps)
        steps, previous = 2 * steps, value
    raise ConvergenceError(
        f"solver 'lanczos' stopped after {steps // 2} steps while the value still changed by {change:.2g}, above "
        f"tol = {problem.tol:g}; raise max_iterations, lower the decay, or use 'spectral'"
    )


def _compute_quadrature(problem: Problem, side: int, steps: int) -> tuple[Array, Array, bool]:
    """Return nodes and weights with v^T p(A) w = sum_j weight_j p(node_j), and whether that is exact for every p."""
    stop, start = problem.stop[side], problem.start[side]
    length = float(np.linalg.norm(stop))
    if length == 0.0:
        return np.empty(0), np.empty(0), True
    basis, diagonal, off_diagonal, done = _lanczos((problem.g, problem.h)[side].adjacency(), stop / length, steps)
    nodes, vectors = eigh_tridiagonal(diagonal, off_diagonal)
    return nodes, length * (start @ basis @ vectors) * vectors[0], done


def _lanczos(A: sp.csr_array, first: Array, steps: int) -> tuple[Array, Array, Array, bool]:
    """Return an orthonormal basis (n, k) of the Krylov space, and the tridiagonal matrix of A in it; k <= steps."""
    steps = min(steps, len(first))
    basis = np.zeros((len(first), steps))
    diagonal, off_diagonal = np.zeros(steps), np.zeros(steps)
    basis[:, 0] = first
    size = max(float(abs(A).sum(axis=1).max()), 1e-300)
    for k in range(steps):
        image = A @ basis[:, k]
        diagonal[k] = basis[:, k] @ image
        for _ in range(2):  # twice is enough to stay orthogonal to rounding
            image -= basis[:, : k + 1] @ (basis[:, : k + 1].T @ image)
        off_diagonal[k] = np.linalg.norm(image)
        if off_diagonal[k] <= 1e-13 * size:
            return basis[:, : k + 1], diagonal[: k + 1], off_diagonal[:k], True
        if k + 1 < steps:
            basis[:, k + 1] = image / off_diagonal[k]
    return basis, diagonal, off_diagonal[: steps - 1], steps == len(first)
