"""Spectral decomposition of both graphs. Any series; undirected and unlabelled graphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from gvoys.exact.problem import ExactKernel, Problem, check_cancellation


def solve(problem: Problem) -> ExactKernel:
    """K = sum_jk a_j b_k F(lambda_j kappa_k), F(x) = sum_i mu_i x^i. Cost O(n^3 + m^3), dense.

    `residual` is that of the decompositions, |A U - U Lambda| / |A|, the larger of the two.
    """
    problem.require("spectral", unlabelled=True, undirected=True)
    left, left_weights, left_residual = _decompose(problem, 0)
    right, right_weights, right_residual = _decompose(problem, 1)
    values = problem.series.evaluate(np.outer(left, right))
    value = float(left_weights @ values @ right_weights)
    check_cancellation(value, np.abs(left_weights) @ np.abs(values) @ np.abs(right_weights), "spectral")
    return ExactKernel(value, "spectral", max(left_residual, right_residual), 0)


def _decompose(problem: Problem, side: int) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Eigenvalues, the weights (v . u_j)(w . u_j) of the eigenvectors, and the residual."""
    A = (problem.g, problem.h)[side].adjacency().toarray()
    if not len(A):
        return np.empty(0), np.empty(0), 0.0
    values, U = eigh(A)
    size = max(float(np.linalg.norm(A)), 1e-300)
    weights = (problem.start[side] @ U) * (problem.stop[side] @ U)
    return values, weights, float(np.linalg.norm(A @ U - U * values)) / size
