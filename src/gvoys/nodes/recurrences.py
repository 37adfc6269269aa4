"""Kernels as recurrences of products with a matrix: Chebyshev series where eigenvalues are real, else power series."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from gvoys.errors import DivergenceError, ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import CLOSELY, max_degree, spectral_radius
from gvoys.nodes.matrices import NodeMatrix, Recurrence, matrix_of
from gvoys.nodes.named import LaplacianKernel
from gvoys.series import Series, check_number, check_series
from gvoys.walks.growth import growth_constant, power_of_two, walk_rate

_FIRST_DEGREE, _MAX_DEGREE = 16, 1 << 14  # of Chebyshev series
_ROUNDING = 1e-15  # error of a value, relative to the largest one
_CHECKED_EIGENVALUES = 1001  # of a function that may be negative
_FORMS = ("series", "factored")
_LAPLACIANS = ("laplacian", "normalized_laplacian")

Array = NDArray[np.float64]
Function = Callable[[Any], Any]
Interval = tuple[float, float]
Factors = list[tuple[NodeMatrix, Recurrence]]  # what is applied to a vector, the first at first
Matrices = tuple[NodeMatrix, NodeMatrix]  # a matrix and its transpose


class KernelForm(NamedTuple):
    """The factors of a kernel of nodes."""

    factors: Factors  # of a product with it
    transposed: Factors  # of a product with its transpose
    roots: Factors  # of a product with a root F of it, F F^T; none where it may be no covariance
    error: float  # a bound on the error of the products

    def move_to(self, device: str) -> KernelForm:
        """Move to a device; on the CPU give near nodes near rows, where all is of one matrix."""
        if device == "cpu" and (len(self.factors) > 1 or len(self.roots) > 1):
            return self
        moved = {id(matrix): matrix.move_to(device) for matrix, _ in [*self.factors, *self.roots]}
        factors, roots = ([(moved[id(matrix)], steps) for matrix, steps in part] for part in (self.factors, self.roots))
        return KernelForm(factors, factors, roots, self.error)  # symmetric where there is one matrix


def run_factors(factors: Factors, X: Array) -> Array:
    """Multiply vectors by factors, the first at first."""
    for matrix, recurrence in factors:
        X = matrix.run(recurrence, X)
    return X


# -- functions of a matrix


def chebyshev_coefficients(
    function: Function, interval: Interval, tol: float, max_terms: int | None = None
) -> tuple[Array, float]:
    """Fit the shortest Chebyshev series near a function everywhere on an interval; also bound its error."""
    low, high = interval
    centre, half = (low + high) / 2.0, (high - low) / 2.0
    degree = _FIRST_DEGREE
    while True:
        values = np.asarray(function(centre + half * np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))))
        ends = np.asarray(function(np.array([low, high])))
        largest = float(np.abs(np.append(values, ends)).max())
        if not np.isfinite(largest):
            raise DivergenceError(f"this kernel is not finite for eigenvalues between {low:.6g} and {high:.6g}")
        coefficients = dct(values, type=2) / (degree + 1)
        coefficients[0] /= 2.0
        coefficients[np.abs(coefficients) <= _ROUNDING * largest] = 0.0
        tails = np.cumsum(np.abs(coefficients)[::-1])[::-1]  # what a series lacks that ends before each term
        allowed = tol * largest
        # the last half must be small too: what interpolation aliases is then smaller still
        # and the ends must be met, where a function may be so narrow that no point between them sees it
        missed = ends - [(coefficients * (-1.0) ** np.arange(degree + 1)).sum(), coefficients.sum()]
        slack = allowed + _ROUNDING * degree * largest
        if tails[degree // 2] <= 0.5 * allowed and np.abs(missed).max() <= slack:
            n_kept = max(int(np.argmax(tails <= 0.5 * allowed)), 1)
            return coefficients[:n_kept], float(2.0 * tails[n_kept])
        if max_terms is not None and degree >= max_terms:
            return coefficients[:max_terms], float(2.0 * tails[max_terms]) if max_terms < len(tails) else 0.0
        if degree >= _MAX_DEGREE:
            raise DivergenceError(
                f"this kernel takes over {_MAX_DEGREE:,} products to {tol:g}: an eigenvalue is next to where it "
                "diverges; lower the decay, or raise tol"
            )
        degree *= 2


def chebyshev_recurrence(coefficients: Array, interval: Interval) -> Recurrence:
    """Make the steps of a Chebyshev series."""
    low, high = interval
    centre, half = (low + high) / 2.0, (high - low) / 2.0 or 1.0
    n_steps = len(coefficients) - 1
    twice, before = np.full(n_steps, 2.0), np.full(n_steps, -1.0)
    twice[:1], before[:1] = 1.0, 0.0
    return Recurrence(twice / half, -twice * centre / half, before, coefficients[1:], float(coefficients[0]))


# -- kernels


def form_of(graph: GraphBatch, series: Any, matrix: str | None, form: str, tol: float) -> KernelForm:
    """Make the form of a kernel from the arguments of `node_kernel`."""
    if form not in _FORMS:
        raise ParameterError(f"form must be 'series' or 'factored', not {form!r}")
    if isinstance(series, LaplacianKernel):
        return _make_laplacian_form(graph, series, matrix or "normalized_laplacian", tol)
    check_number(check_series(series), lambda: max_degree(graph))
    name = matrix or "adjacency"
    if name in _LAPLACIANS:
        raise UnsupportedError(
            f"a series counts walks, and matrix={name!r} has none; use 'adjacency', 'row' or 'symmetric', or "
            "Diffusion, RegularizedLaplacian, PStep or Matern"
        )
    matrices = matrix_of(graph, name), matrix_of(graph, name, transposed=True)
    interval = matrices[0].interval
    if interval is None or (name == "row" and form == "factored"):
        return _make_power_form(graph, series, name, form, tol, matrices)
    return _make_chebyshev_form(matrices, _converging_interval(graph, series, name, interval), series.evaluate, tol)


def _converging_interval(graph: GraphBatch, series: Series, name: str, interval: Interval) -> Interval:
    """Return an interval of the eigenvalues that is as close as convergence needs."""
    try:
        _check_convergence(series, max(map(abs, interval)))
        return interval
    except DivergenceError:
        if name != "adjacency":
            raise
    radius = float(spectral_radius(graph, CLOSELY)[0])
    _check_convergence(series, radius)
    return -radius, radius


def _check_convergence(series: Series, rate: float) -> None:
    try:
        series.check_convergence(rate)
    except DivergenceError as error:  # it speaks of two graphs
        raise DivergenceError(str(error).replace("rho1 * rho2", "rho")) from None


def _make_laplacian_form(graph: GraphBatch, kernel: LaplacianKernel, name: str, tol: float) -> KernelForm:
    if name not in _LAPLACIANS:
        raise ParameterError(f"matrix must be 'laplacian' or 'normalized_laplacian' for {kernel!r}, not {name!r}")
    if graph.directed:
        raise UnsupportedError("a directed graph has no Laplacian here; drop the directions, or use a series")
    normalized = name == "normalized_laplacian"
    matrix = matrix_of(graph, "symmetric" if normalized else "laplacian")
    assert matrix.interval is not None
    if matrix.interval[0] < 0 and not normalized:
        raise ParameterError("an edge has a negative weight; Laplacians need weights of at least 0")
    kernel.check(2.0 if normalized else matrix.interval[1])

    def function(eigenvalue: Any) -> Any:
        return kernel.evaluate(1.0 - eigenvalue if normalized else eigenvalue)

    return _make_chebyshev_form((matrix, matrix), matrix.interval, function, tol)


def _make_chebyshev_form(matrices: Matrices, interval: Interval, function: Function, tol: float) -> KernelForm:
    """Make the form of a matrix with real eigenvalues."""
    forward, turned = matrices
    coefficients, error = chebyshev_coefficients(function, interval, tol)
    steps = chebyshev_recurrence(coefficients, interval)
    values = np.asarray(function(np.linspace(*interval, _CHECKED_EIGENVALUES)))
    roots: Factors = []
    if not values.min() < -tol * np.abs(values).max():
        coefficients, _ = chebyshev_coefficients(
            lambda eigenvalue: np.sqrt(np.maximum(function(eigenvalue), 0.0)),
            interval,
            max(tol, 1e-6),
            max_terms=4 * len(coefficients) + 16,
        )
        roots = [(forward, chebyshev_recurrence(coefficients, interval))]
    return KernelForm([(forward, steps)], [(turned, steps)], roots, error)


def _make_power_form(
    graph: GraphBatch, series: Series, name: str, form: str, tol: float, matrices: Matrices
) -> KernelForm:
    """Make the form of a matrix whose eigenvalues may be complex, by the series itself."""
    forward, turned = matrices
    share = tol / (2.0 * growth_constant(graph))
    length_of = series.truncation_length if form == "series" else series.modulation_length
    rate = 1.0 if name == "row" else walk_rate(graph, lambda rate: length_of(rate, share))
    _check_convergence(series, rate)
    length, error = length_of(rate, share), tol * float(series.evaluate(rate))
    scale = power_of_two(rate)
    coefficients = (series.coefficients if form == "series" else series.modulation)(length, scale**0.5)
    zeros = np.zeros(len(coefficients) - 1)  # the steps of sum_i c_i (M / scale)^i
    steps = Recurrence(zeros + 1.0 / scale, zeros, zeros, coefficients[1:], float(coefficients[0]))
    if form == "series":
        return KernelForm([(forward, steps)], [(turned, steps)], [], error)
    both = [(turned, steps), (forward, steps)]
    return KernelForm(both, both, [(forward, steps)], error)
