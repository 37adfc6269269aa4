"""Functions of a matrix as recurrences of products: Chebyshev series where eigenvalues are real, else power series."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from gvoys.errors import DivergenceError
from gvoys.nodes.matrices import Recurrence

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
