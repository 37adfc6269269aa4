"""The vec trick: sum the series term by term, W <- M * (A W B^T). Labels, directions, weights, any series."""

from __future__ import annotations

import numpy as np

from gvoys.errors import ConvergenceError
from gvoys.exact.bounds import growth_bound
from gvoys.exact.problem import ExactKernel, Problem


def solve(problem: Problem) -> ExactKernel:
    """Stop when a rigorous bound on the rest of the series is below tol; `residual` is that bound, relative."""
    rate, size_of = growth_bound(problem)
    longest = problem.series.truncation_length(rate, 1e-30)
    # walks grow like rate^i and mu shrinks like rate^-i: keep both near one
    weights = problem.series.coefficients(longest, np.sqrt(rate))
    W = problem.right_side
    value = magnitude = 0.0
    for i in range(longest + 1):
        term = weights[i] * problem.collapse(W)
        value, magnitude = value + term, magnitude + abs(term)
        rest = size_of(W) * problem.series.tail_bound(i, rate)
        if rest <= problem.tol * magnitude or i == longest:
            return ExactKernel(value, "vec", rest / magnitude if magnitude else 0.0, i)
        if i >= problem.max_iterations:
            break
        W = problem.apply(W) / rate if rate > 0 else np.zeros_like(W)
    raise ConvergenceError(
        f"solver 'vec' stopped after {problem.max_iterations} terms, and the rest of the series may still be "
        f"{rest:.2g} beside {value:.6g}, above tol = {problem.tol:g}; raise max_iterations or lower the decay"
    )
