"""Fixed-point iteration X <- w + decay A_x X. Geometric series; labels and directions too."""

from __future__ import annotations

from gvoys.errors import ConvergenceError
from gvoys.exact.bounds import check_value
from gvoys.exact.problem import ExactKernel, Problem, relative_norm


def solve(problem: Problem) -> ExactKernel:
    """Solve by fixed-point iteration; `residual` is |X_next - X| / |w|, the residual of the linear system at X."""
    problem.require("fixed-point", geometric=True)
    right_side = problem.right_side
    X = right_side
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
