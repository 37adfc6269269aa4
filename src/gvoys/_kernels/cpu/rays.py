"""Kernels of distances along the ray from the empty profile to that of a graph: integrals of their gradients.

At t x, a kernel k of the distance d to y grows by g (y - t x), with g = -k'(d) / d. With c the integral of g over t
from 0 to 1 and c' that of t g, coordinate s of x has x_s (c y_s - c' x_s) of k(x, y) - k(0, y).
"""

from __future__ import annotations

from math import exp, sqrt
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys._kernels.cpu.distances import KINDS, ROOT3, TILE_PAIRS, exp_of_minus

_LEAST_RADIUS = 1e-9  # distance of equal graphs, for which c and c' grow without bounds, and their difference does not
_S, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_S, _WEIGHTS = (_S + 1.0) / 2.0, _WEIGHTS / 2.0

Array = NDArray[np.float64]


def rates_along_rays(kind: str, inner: Array, left: Array, right: Array, unit: float, same: float) -> tuple[Any, ...]:
    """c and c' of every pair, and the kernel's value at both ends of the ray, each (n_left, n_right)."""
    rates = tuple(np.empty(inner.shape) for _ in range(4))
    _rates(KINDS[kind], (inner, left, right), unit, same, (_S, _WEIGHTS), rates)
    return rates


@kernel(parallel=True)
def _rates(kind, pairs, unit, same, quadrature, out):
    (inner, left, right), (s, weights), (others, rates, begins, ends) = pairs, quadrature, out
    for i in prange(len(left)):
        row = np.int64(i)
        x, c = left[row], others[row]
        _integrate(kind, inner[row], x, right, unit, s, weights, c)
        for j in range(len(right)):
            y, p = right[j], inner[row, j]
            square = x + y - 2.0 * p
            square = square if square > same * (x + y) else 0.0
            begin, end = _value(kind, sqrt(y) / unit), _value(kind, sqrt(square) / unit)
            rates[row, j] = (c[j] * p - (end - begin)) / x if x > 0 else 0.0
            begins[row, j], ends[row, j] = begin, end


@kernel(fastmath=True)
def _integrate(kind, inner, x, right, unit, s, weights, out):
    """The integral of g over the ray, for all fitted graphs; tiles, whose loops run in vector registers."""
    tile, powers = np.empty(TILE_PAIRS, np.float32), np.empty(TILE_PAIRS, np.float32)
    out[:] = 0.0
    for low in range(0, len(right), TILE_PAIRS):
        count = min(TILE_PAIRS, len(right) - low)
        y, p, c = right[low : low + count], inner[low : low + count], out[low : low + count]
        distances, falls = tile[:count], powers[:count]
        for k in range(len(s)):
            t = 1.0 - s[k] * s[k]  # more of them near the end, where the graph may be near a fitted one
            weight = 2.0 * s[k] * weights[k] / unit**2
            for j in range(count):
                square = max(y[j] - 2.0 * t * p[j] + t * t * x, 0.0) / unit**2
                distances[j] = 0.5 * square if kind == 3 else sqrt(square) * (ROOT3 if kind == 2 else 1.0)
            exp_of_minus(distances, falls)
            for j in range(count):
                if kind == 1:
                    c[j] += weight * falls[j] / max(distances[j], _LEAST_RADIUS)
                else:
                    c[j] += (3.0 if kind == 2 else 1.0) * weight * falls[j]


@kernel()
def _value(kind, r):
    if kind == 1:
        return exp(-r)
    if kind == 2:
        return (1.0 + ROOT3 * r) * exp(-ROOT3 * r)
    return exp(-0.5 * r * r)
