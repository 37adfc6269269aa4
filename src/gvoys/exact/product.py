"""The direct product graph itself, written down as a sparse matrix: the definition, for small graphs."""

from __future__ import annotations

from functools import reduce

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from gvoys.errors import ConvergenceError, UnsupportedError
from gvoys.exact.bounds import check_value, growth_bound, tolerated
from gvoys.exact.problem import ExactKernel, Problem, direct_result, relative_norm
from gvoys.series import Geometric

_LARGEST = 50_000_000  # entries of the product graph


def solve(problem: Problem) -> ExactKernel:
    """Solve by a sparse LU factorisation for geometric series, by Horner's rule for others."""
    A, chosen = product_graph(problem)
    start, stop = (np.outer(*ends).ravel()[chosen] for ends in (problem.start, problem.stop))
    if isinstance(problem.series, Geometric):
        return _solve_linear(problem, A, chosen, start, stop)
    return _sum_series(problem, A, start, stop)


def product_graph(problem: Problem) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """The direct product graph."""
    entries = problem.g.n_entries * problem.h.n_entries
    if entries > _LARGEST:
        raise UnsupportedError(
            f"solver 'product' writes down the product graph, and this one may have {entries:.3g} entries, "
            f"above its limit of {_LARGEST:.0e}; use 'vec'"
        )
    count = problem.g.n_nodes * problem.h.n_nodes
    chosen = np.arange(count) if problem.mask is None else np.flatnonzero(problem.mask.ravel())
    layers = (sp.csr_array(sp.kron(sp.coo_array(A), sp.coo_array(B))) for A, B in problem.layers)
    whole = reduce(lambda one, other: one + other, layers, sp.csr_array((count, count)))
    return whole[chosen][:, chosen], chosen


def _solve_linear(
    problem: Problem, A: sp.csr_array, chosen: NDArray[np.int64], start: NDArray[np.float64], stop: NDArray[np.float64]
) -> ExactKernel:
    """The geometric series as a linear system."""
    if not len(stop):
        return ExactKernel(0.0, "product", 0.0, 0)
    system = sp.csc_array(sp.eye_array(len(stop)) - problem.decay * A)
    x = splu(system).solve(stop)
    left_over = stop - system @ x
    result = direct_result(start @ x, "product", relative_norm(left_over, stop))
    whole = np.zeros(problem.g.n_nodes * problem.h.n_nodes)
    whole[chosen] = left_over
    check_value(problem, result, whole.reshape(problem.g.n_nodes, problem.h.n_nodes), "product")
    return result


def _sum_series(
    problem: Problem, A: sp.csr_array, start: NDArray[np.float64], stop: NDArray[np.float64]
) -> ExactKernel:
    """The terms of the truncated series, by Horner's rule."""
    rate, size_of = growth_bound(problem)
    length = problem.series.truncation_length(rate, problem.tol / 100)
    weights = problem.series.coefficients(length, np.sqrt(rate) if rate > 0 else 1.0)
    state = weights[length] * stop
    for weight in weights[length - 1 :: -1] if length else ():
        state = weight * stop + (A @ state) / rate
    value = float(start @ state)
    rest = size_of(problem.right_side) * problem.series.tail_bound(length, rate)
    if rest > tolerated(problem, value):
        raise ConvergenceError(
            f"solver 'product' finds {value:.3g}, and the rest of the series may be {rest:.2g}; use 'vec', which goes "
            "on until the value is certain"
        )
    return ExactKernel(value, "product", rest / abs(value) if value else 0.0, length)
