"""Functions of a matrix as recurrences of products: Chebyshev series where eigenvalues are real, else power series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from gvoys.errors import DivergenceError, ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.degrees import max_degree
from gvoys.graphs.spectrum import CLOSELY, spectral_radius
from gvoys.nodes.matrices import NodeMatrix, Recurrence, matrix_of
from gvoys.nodes.named import LaplacianKernel
from gvoys.series import Series, check_number, check_series
from gvoys.walks.growth import growth_constant, power_of_two, walk_rate

_FIRST, _LONGEST = 16, 1 << 14
_ROUNDING = 1e-15  # of the largest value

Array = NDArray[np.float64]
Function = Callable[[Any], Any]


def chebyshev_coefficients(
    function: Function, interval: tuple[float, float], tol: float, most: int | None = None
) -> tuple[Array, float]:
    """The shortest Chebyshev series that is near a function everywhere on an interval."""
    low, high = interval
    centre, half = (low + high) / 2.0, (high - low) / 2.0
    degree = _FIRST
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
        missed = float(
            np.abs(ends - [(coefficients * (-1.0) ** np.arange(degree + 1)).sum(), coefficients.sum()]).max()
        )
        if tails[degree // 2] <= 0.5 * allowed and missed <= allowed + _ROUNDING * degree * largest:
            kept = max(int(np.argmax(tails <= 0.5 * allowed)), 1)
            return coefficients[:kept], float(2.0 * tails[kept])
        if most is not None and degree >= most:
            return coefficients[:most], float(2.0 * tails[most]) if most < len(tails) else 0.0
        if degree >= _LONGEST:
            raise DivergenceError(
                f"this kernel takes over {_LONGEST:,} products to {tol:g}: an eigenvalue is next to where it diverges; "
                "lower the decay, or raise tol"
            )
        degree *= 2


def chebyshev_recurrence(coefficients: Array, interval: tuple[float, float]) -> Recurrence:
    """The steps of a Chebyshev series."""
    low, high = interval
    centre, half = (low + high) / 2.0, (high - low) / 2.0 or 1.0
    n = len(coefficients) - 1
    twice = np.full(n, 2.0)
    twice[:1] = 1.0
    before = np.full(n, -1.0)
    before[:1] = 0.0
    return Recurrence(twice / half, -twice * centre / half, before, coefficients[1:], float(coefficients[0]))


def power_recurrence(coefficients: Array, scale: float) -> Recurrence:
    """The steps of sum_i c_i (M / scale)^i."""
    nothing = np.zeros(len(coefficients) - 1)
    return Recurrence(nothing + 1.0 / scale, nothing, nothing, coefficients[1:], float(coefficients[0]))


_FORMS = ("series", "factored")
_LOOKED_AT = 1001  # eigenvalues, of a function that may be negative
_LAPLACIANS = ("laplacian", "normalized_laplacian")

Factors = list[tuple[NodeMatrix, Recurrence]]  # what is applied to a vector, the first at first


class KernelForm(NamedTuple):
    """A kernel of the nodes."""

    factors: Factors  # what makes a product with it
    transposed: Factors  # what makes a product with its transpose
    roots: Factors  # what makes a product with a root F of it, F F^T; none where it may be no covariance
    error: float  # A bound on the error of the products

    def on(self, device: str) -> KernelForm:
        """The same on a device; on the CPU with near nodes in near rows, where all is of one matrix."""
        if device == "cpu" and (len(self.factors) > 1 or len(self.roots) > 1):
            return self
        moved = {id(matrix): matrix.on(device) for matrix, _ in [*self.factors, *self.roots]}
        factors, roots = (
            [(moved[id(matrix)], recurrence) for matrix, recurrence in part] for part in (self.factors, self.roots)
        )
        return KernelForm(factors, factors, roots, self.error)  # which are symmetric where there is one matrix


def form_of(graph: GraphBatch, series: Any, matrix: str | None, form: str, tol: float) -> KernelForm:
    """The form of a kernel, as `node_kernel` takes it."""
    if form not in _FORMS:
        raise ParameterError(f"form must be 'series' or 'factored', not {form!r}")
    if isinstance(series, LaplacianKernel):
        return _of_laplacian(graph, series, matrix or "normalized_laplacian", tol)
    check_number(check_series(series), lambda: max_degree(graph))
    name = matrix or "adjacency"
    if name in _LAPLACIANS:
        raise UnsupportedError(
            f"a series counts walks, and matrix={name!r} has none; use 'adjacency', 'row' or 'symmetric', or "
            "Diffusion, RegularizedLaplacian, PStep or Matern"
        )
    if graph.directed or (name == "row" and form == "factored"):
        return _of_powers(graph, series, name, form, tol)
    forward, turned = (matrix_of(graph, name, transposed) for transposed in (False, True))
    interval = _converging_interval(forward, series, graph, name)
    forward, turned = (replace(part, interval=interval) for part in (forward, turned))
    return _by_chebyshev(forward, turned, series.evaluate, tol)


def _converging_interval(matrix: NodeMatrix, series: Series, graph: GraphBatch, name: str) -> tuple[float, float]:
    """Where the eigenvalues lie, as closely as convergence needs."""
    try:
        _check_convergence(series, max(map(abs, _interval(matrix))))
    except DivergenceError:
        if name != "adjacency":
            raise
        radius = float(spectral_radius(graph, CLOSELY)[0])
        _check_convergence(series, radius)
        return -radius, radius
    return _interval(matrix)


def _check_convergence(series: Series, rate: float) -> None:
    try:
        series.check_convergence(rate)
    except DivergenceError as error:  # which speaks of two graphs
        raise DivergenceError(str(error).replace("rho1 * rho2", "rho")) from None


def _interval(matrix: NodeMatrix) -> tuple[float, float]:
    assert matrix.interval is not None
    return matrix.interval


def _of_laplacian(graph: GraphBatch, kernel: LaplacianKernel, name: str, tol: float) -> KernelForm:
    if name not in _LAPLACIANS:
        raise ParameterError(f"matrix must be 'laplacian' or 'normalized_laplacian' for {kernel!r}, not {name!r}")
    if graph.directed:
        raise UnsupportedError("a directed graph has no Laplacian here; drop the directions, or use a series")
    normalized = name == "normalized_laplacian"
    laplacian = matrix_of(graph, "symmetric" if normalized else "laplacian")
    if _interval(laplacian)[0] < 0 and not normalized:
        raise ParameterError("an edge has a negative weight; Laplacians need weights of at least 0")
    kernel.check(2.0 if normalized else _interval(laplacian)[1])

    def function(eigenvalue: Any) -> Any:
        return kernel.evaluate(1.0 - eigenvalue if normalized else eigenvalue)

    return _by_chebyshev(laplacian, laplacian, function, tol)


def _by_chebyshev(held: NodeMatrix, turned: NodeMatrix, function: Any, tol: float) -> KernelForm:
    """Make the form of a matrix with real eigenvalues."""

    def root(eigenvalue: Any) -> Any:
        return np.sqrt(np.maximum(function(eigenvalue), 0.0))

    interval = _interval(held)
    coefficients, error = chebyshev_coefficients(function, interval, tol)
    steps = chebyshev_recurrence(coefficients, interval)
    values = np.asarray(function(np.linspace(*interval, _LOOKED_AT)))
    if values.min() < -tol * np.abs(values).max():
        return KernelForm([(held, steps)], [(turned, steps)], [], error)
    roots, _ = chebyshev_coefficients(root, interval, max(tol, 1e-6), most=4 * len(coefficients) + 16)
    return KernelForm([(held, steps)], [(turned, steps)], [(held, chebyshev_recurrence(roots, interval))], error)


def _of_powers(graph: GraphBatch, series: Series, name: str, form: str, tol: float) -> KernelForm:
    """Make the form of a matrix whose eigenvalues may be complex, by the series itself."""
    forward, turned = (matrix_of(graph, name, transposed) for transposed in (False, True))
    share = tol / (2.0 * growth_constant(graph))
    length_of = series.truncation_length if form == "series" else series.modulation_length
    rate = 1.0 if name == "row" else walk_rate(graph, lambda rate: length_of(rate, share))
    _check_convergence(series, rate)
    length, error = length_of(rate, share), tol * float(series.evaluate(rate))
    scale = power_of_two(rate)
    if form == "series":
        steps = power_recurrence(series.coefficients(length, scale**0.5), scale)
        return KernelForm([(forward, steps)], [(turned, steps)], [], error)
    steps = power_recurrence(series.modulation(length, scale**0.5), scale)
    both = [(turned, steps), (forward, steps)]
    return KernelForm(both, both, [(forward, steps)], error)
