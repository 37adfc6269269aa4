"""The vec trick: sum the series term by term, W <- M * (A W B^T). Labels, directions, weights, any series."""

from __future__ import annotations

import numpy as np

from gvoys.errors import ConvergenceError
from gvoys.exact.bounds import growth_bound
from gvoys.exact.problem import ExactKernel, Problem

_AHEAD = 64  # coefficients that are computed at once


def solve(problem: Problem) -> ExactKernel:
    """Sum until a rigorous bound on the rest of the series is below tol; `residual` is that bound, relative."""
    rate, size_of = growth_bound(problem)
    problem.series.check_convergence(rate)
    W = problem.right_side
    value = magnitude = 0.0
    rest = np.inf
    # walks grow like rate^i and mu shrinks like rate^-i: keep both near one
    weights = problem.series.coefficients(_AHEAD, np.sqrt(rate)) if rate > 0 else problem.series.coefficients(_AHEAD)
    for i in range(problem.max_iterations + 1):
        if i == len(weights):
            weights = problem.series.coefficients(2 * i, np.sqrt(rate))
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
