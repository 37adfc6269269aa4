"""Lanczos quadrature on each graph alone: linear time, any series. Undirected and unlabelled graphs."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

from gvoys.errors import ConvergenceError
from gvoys.exact.problem import ExactKernel, Problem, check_cancellation

Quadrature = tuple[NDArray[np.float64], NDArray[np.float64], bool]


def solve(problem: Problem) -> ExactKernel:
    """K = sum_jk a_j b_k F(theta_j phi_k) over Gauss nodes of the two graphs. Cost O(steps * edges + steps^2 * nodes).

    `steps` doubles until the value stands still; `residual` is the last relative change, 0 once the Krylov spaces
    are exhausted and the quadrature is exact.
    """
    problem.require("lanczos", unlabelled=True, undirected=True)
    steps, previous, change, stood_still = 8, math.nan, math.inf, 0
    while steps <= 4 * problem.max_iterations:
        left, left_weights, left_done = _quadrature(problem, 0, steps)
        right, right_weights, right_done = _quadrature(problem, 1, steps)
        values = problem.series.evaluate(np.outer(left, right))
        value = float(left_weights @ values @ right_weights)
        change = 0.0 if left_done and right_done else _relative_change(value, previous)
        stood_still = stood_still + 1 if change <= problem.tol else 0
        # two steps of standing still, since a start that the walks have not reached yet adds nothing either
        if stood_still == 2 or (left_done and right_done):
            check_cancellation(value, np.abs(left_weights) @ np.abs(values) @ np.abs(right_weights), "lanczos")
            return ExactKernel(value, "lanczos", change, steps)
        steps, previous = 2 * steps, value
    raise ConvergenceError(
        f"solver 'lanczos' stopped after {steps // 2} steps while the value still changed by {change:.2g}, above "
        f"tol = {problem.tol:g}; raise max_iterations, lower the decay, or use 'spectral'"
    )


def _relative_change(value: float, previous: float) -> float:
    """Relative change of the value, infinite where there is none before."""
    if math.isnan(previous) or value == 0.0:
        return math.inf
    return abs(value - previous) / abs(value)


def _quadrature(problem: Problem, side: int, steps: int) -> Quadrature:
    """Nodes and weights with v^T p(A) w = sum_j weight_j p(node_j); whether it is exact for every p."""
    stop, start = problem.stop[side], problem.start[side]
    length = float(np.linalg.norm(stop))
    if length == 0.0:
        return np.empty(0), np.empty(0), True
    basis, diagonal, off_diagonal, done = _lanczos((problem.g, problem.h)[side].adjacency(), stop / length, steps)
    nodes, vectors = eigh_tridiagonal(diagonal, off_diagonal)
    return nodes, length * (start @ basis @ vectors) * vectors[0], done


def _lanczos(
    A: sp.csr_array, first: NDArray[np.float64], steps: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], bool]:
    """Orthonormal basis (n, k) of the Krylov space, and the tridiagonal matrix of A in it; k <= steps."""
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
