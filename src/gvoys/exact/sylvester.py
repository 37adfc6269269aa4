"""The Sylvester equation X = decay A X B^T + w. Geometric series, unlabelled; directed graphs, different sizes too."""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy.linalg import LinAlgWarning, solve_sylvester
from scipy.linalg import solve as solve_dense

from gvoys.exact.bounds import check_value
from gvoys.exact.problem import ExactKernel, Problem, direct_result, relative_norm


def solve(problem: Problem) -> ExactKernel:
    """Solve the Sylvester equation. Cost O(n^3 + m^3), dense; `residual` is that of the equation, relative to |w|.

    With P = a A and Q = b B^T, a b = decay, both of spectral radius below one, the equation X - P X Q = C is

        (I + P)^-1 (I - P) X + X (I - Q) (I + Q)^-1 = 2 (I + P)^-1 C (I + Q)^-1

    which LAPACK solves; neither A nor B is inverted, only matrices that cannot be singular.
    """
    problem.require("sylvester", geometric=True, unlabelled=True)
    C = problem.right_side
    if not C.size or problem.decay == 0.0:
        return ExactKernel(problem.collapse(C), "sylvester", 0.0, 0)
    A, B = (graph.adjacency().toarray() for graph in (problem.g, problem.h))
    a, b = _split(problem.decay, *problem.radii)
    P, Q = a * A, b * B.T
    one, other = np.eye(len(P)), np.eye(len(Q))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # the residual below tells what came of it
        left = solve_dense(one + P, np.hstack([one - P, C]))  # (I + P)^-1 applied to both at once
        right = solve_dense((other + Q).T, np.hstack([(other - Q).T, left[:, len(P) :].T])).T
        X = solve_sylvester(left[:, : len(P)], right[: len(Q)], 2.0 * right[len(Q) :])
    left_over = C - X + P @ X @ Q
    result = direct_result(problem.collapse(X), "sylvester", relative_norm(left_over, C))
    check_value(problem, result, left_over, "sylvester")
    return result


def _split(decay: float, rho1: float, rho2: float) -> tuple[float, float]:
    """Factors a b = decay that give both matrices the same spectral radius, sqrt(decay rho1 rho2)."""
    if rho1 == 0.0 or rho2 == 0.0:  # one is nilpotent: pretend a radius that leaves the other one half
        larger = max(rho1, rho2) or 1.0
        rho1, rho2 = rho1 or 0.25 / (decay * larger), rho2 or 0.25 / (decay * larger)
    balance = math.sqrt(rho2 / rho1)
    return math.sqrt(decay) * balance, math.sqrt(decay) / balance
