"""Conjugate gradients on (I - decay A_x) x = w, BiCGSTAB on directed graphs. Geometric series; labels too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, bicgstab, cg

from gvoys.errors import ConvergenceError
from gvoys.exact.bounds import check_value
from gvoys.exact.problem import ExactKernel, Problem, relative_norm


def solve(problem: Problem) -> ExactKernel:
    """Solve by conjugate gradients; `residual` is |w - (I - decay A_x) x| / |w|, recomputed at the end."""
    problem.require("cg", geometric=True)
    right_side = problem.right_side
    if not right_side.any():
        return ExactKernel(0.0, "cg", 0.0, 0)

    def system(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        W = vector.reshape(right_side.shape)
        return (W - problem.decay * problem.apply(W)).ravel()

    method: Any = bicgstab if problem.directed else cg
    iterations = 0

    def count(_: NDArray[np.float64]) -> None:
        nonlocal iterations
        iterations += 1

    operator = LinearOperator((right_side.size, right_side.size), matvec=system, dtype=np.float64)
    solution, _ = method(
        operator, right_side.ravel(), rtol=problem.tol, atol=0.0, maxiter=problem.max_iterations, callback=count
    )
    left_over = right_side.ravel() - system(solution)
    residual = relative_norm(left_over, right_side)
    if not residual <= 10 * problem.tol:  # the recurrence may drift from the true residual, by little
        raise ConvergenceError(
            f"solver 'cg' stopped after {iterations} iterations with a residual of {residual:.2g}, above "
            f"tol = {problem.tol:g}; raise max_iterations, lower the decay, or use 'vec'"
        )
    value = problem.collapse(solution.reshape(right_side.shape))
    check_value(problem, value, left_over.reshape(right_side.shape), "cg")
    return ExactKernel(value, "cg", residual, iterations)
