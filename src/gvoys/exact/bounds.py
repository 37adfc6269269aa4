"""Rigorous bounds on what a product's walks can still contribute."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import spsolve

from gvoys.errors import ConvergenceError
from gvoys.exact.problem import Problem
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import absolute_adjacency

Bound = Callable[[NDArray[np.float64]], float]


def growth_bound(problem: Problem) -> tuple[float, Bound]:
    """A rate and a size with |v^T A_x^i W| <= rate^i * size(W) for all i.

    Undirected graphs have it from their spectral radii. A directed graph's walks may first multiply faster than its
    spectral radius tells, so there the size is measured against a positive vector x with |A| x <= rate * x.
    """
    if not problem.directed:
        length = float(np.linalg.norm(problem.start[0]) * np.linalg.norm(problem.start[1]))
        return problem.growth, lambda W: length * float(np.linalg.norm(W))
    wanted = _rates(problem)
    (rate1, x1), (rate2, x2) = (_majorant(graph, r) for graph, r in zip((problem.g, problem.h), wanted, strict=True))
    reach = float(np.abs(problem.start[0]) @ x1) * float(np.abs(problem.start[1]) @ x2)
    unit = np.outer(x1, x2)
    return rate1 * rate2, lambda W: reach * float((np.abs(W) / unit).max(initial=0.0))


def check_value(problem: Problem, value: float, residual: NDArray[np.float64], solver: str) -> None:
    """Check that the residual of a linear system leaves the digits of its value."""
    rate, size_of = growth_bound(problem)
    error = size_of(residual) * float(problem.series.evaluate(rate))
    if error > tolerated(problem, value):
        raise ConvergenceError(
            f"solver {solver!r} finds {value:.3g}, which its residual may change by {error:.2g}; use 'vec', which "
            "bounds the value itself, or lower tol"
        )


def tolerated(problem: Problem, value: float) -> float:
    """Return the error in the value that a solver's residual may leave."""
    return max(1e4 * problem.tol, 1e-9) * abs(value)


def _rates(problem: Problem) -> tuple[float, float]:
    """Two rates above the spectral radii, with a product below the radius of convergence."""
    radius, unit, (rho1, rho2) = problem.series.radius, problem.series.unit, problem.radii
    if math.isinf(unit):
        return math.inf, math.inf
    product = max(4 * rho1 * rho2, unit) if math.isinf(radius) else math.sqrt(max(rho1 * rho2, radius / 4) * radius)
    if rho1 * rho2 > 0:
        slack = math.sqrt(product / (rho1 * rho2))
        return rho1 * slack, rho2 * slack
    larger = 1.5 * max(rho1, rho2) or math.sqrt(product)
    return (larger, product / larger) if rho1 >= rho2 else (product / larger, larger)


def _majorant(graph: GraphBatch, rate: float) -> tuple[float, NDArray[np.float64]]:
    """A positive x with |A| x <= r x, and that r: at most `rate`, which lies above the spectral radius."""
    A = absolute_adjacency(graph)
    x = np.ones(graph.n_nodes)
    if (A @ x).max(initial=0.0) > rate:
        x = np.atleast_1d(spsolve(sp.csc_array(sp.eye_array(graph.n_nodes) - A / rate), x))
    return float(((A @ x) / x).max(initial=0.0)), x
