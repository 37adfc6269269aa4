"""Kernels of distances: squared distances of pairs of graphs by block, weighed, and gradients by the weights.

Pairs (i, j), j < i, go row by row. Rows are cut into chunks that do not depend on the threads, and neither do results.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel

KINDS = {"linear": 0, "matern12": 1, "matern32": 2, "gaussian": 3}

_N_CHUNKS = 64
_UNION_ROWS = 64  # that are divided at once, in the cache
TILE_PAIRS = 512  # whose distances are in the cache at once
ROOT3 = sqrt(3.0)
_LOG2E, _LN2 = np.float32(1 / log(2.0)), np.float32(log(2.0))
_LEAST_DISTANCE = np.float32(1e-6)  # distance of equal graphs, whose derivative is not needed


def n_pairs_of(n: int) -> int:
    """Number of pairs of n graphs."""
    return n * (n - 1) // 2


def _chunks(n: int) -> NDArray[np.int64]:
    """Rows 0 … n in chunks of about as many pairs each."""
    return np.unique(np.rint(n * np.sqrt(np.linspace(0.0, 1.0, _N_CHUNKS + 1))).astype(np.int64))


def pack_squares(gram: NDArray[np.float64], same: float, out: NDArray[np.float32]) -> float:
    """|x - y|^2 of all pairs from their inner products; returns the mean, by which they are divided.

    Below `same` of |x|^2 + |y|^2 it is rounding, and 0.
    """
    sums = np.zeros(_N_CHUNKS)
    _pack(_chunks(len(gram)), gram, same, out, sums)
    mean = float(sums.sum()) / max(len(out), 1)
    if mean > 0:
        out /= np.float32(mean)
    return mean


@kernel(parallel=True)
def _pack(chunks, gram, same, out, sums):
    for chunk in prange(len(chunks) - 1):
        total = 0.0
        for i in range(chunks[chunk], chunks[chunk + 1]):
            pair = i * (i - 1) // 2
            for j in range(i):
                sizes = gram[i, i] + gram[j, j]
                square = sizes - 2.0 * gram[i, j]
                square = square if square > same * sizes else 0.0
                out[pair + j] = square
                total += square
        sums[chunk] = total


def add_terms(
    squares: NDArray[np.float32],
    weights: NDArray[np.float64],
    kind: str,
    sizes: NDArray[np.float64],
    out: tuple[NDArray[np.float64], NDArray[np.float32], NDArray[np.float32]],
) -> None:
    """Add a kernel of the distance sum_b weights_b squares_b to a matrix, below its diagonal.

    `out` is the matrix, and of all pairs the value and its derivative by the squared distance. `sizes` are the sums
    over blocks of weight times squared length, which "linear" needs alone.
    """
    K, values, slopes = out
    _add(_chunks(len(K)), squares, weights.astype(np.float32), KINDS[kind], sizes, K, values, slopes)


@kernel(parallel=True, fastmath=True)
def _add(chunks, squares, weights, kind, sizes, K, values, slopes):
    for chunk in prange(len(chunks) - 1):
        tile, powers = np.empty(TILE_PAIRS, np.float32), np.empty(TILE_PAIRS, np.float32)
        for i in range(chunks[chunk], chunks[chunk + 1]):
            for low in range(0, i, TILE_PAIRS):
                count, pair = min(TILE_PAIRS, i - low), i * (i - 1) // 2 + low
                # slices, whose indices are known to be inside: loops with them run in vector registers
                distances, value, slope = tile[:count], values[pair : pair + count], slopes[pair : pair + count]
                distances[:] = 0.0
                for b in range(len(weights)):
                    weight, block = weights[b], squares[b, pair : pair + count]
                    for t in range(count):
                        distances[t] += weight * block[t]
                if kind == 0:
                    others = sizes[low : low + count]
                    for t in range(count):
                        value[t], slope[t] = 0.5 * (sizes[i] + others[t] - distances[t]), -0.5
                else:
                    _values_of_squares(kind, distances, powers[:count], value, slope)
                out = K[i, low : low + count]
                for t in range(count):
                    out[t] += value[t]


@kernel(fastmath=True)
def _values_of_squares(kind, squares, powers, value, slope):
    """Kernels of squared distances, and their derivatives."""
    half, root3 = np.float32(0.5), np.float32(ROOT3)
    if kind == 3:
        for t in range(len(squares)):
            squares[t] *= half
    else:
        for t in range(len(squares)):
            squares[t] = np.sqrt(squares[t])
    if kind == 2:
        for t in range(len(squares)):
            squares[t] *= root3
    exp_of_minus(squares, powers)
    if kind == 3:
        for t in range(len(squares)):
            value[t], slope[t] = powers[t], -half * powers[t]
    elif kind == 1:
        for t in range(len(squares)):
            value[t], slope[t] = powers[t], -half * powers[t] / max(squares[t], _LEAST_DISTANCE)
    else:
        for t in range(len(squares)):
            value[t], slope[t] = (np.float32(1.0) + squares[t]) * powers[t], np.float32(-1.5) * powers[t]


@kernel(fastmath=True)
def exp_of_minus(values, out):
    """exp(-x) of numbers from 0 on, to the last bits of float32: 2^n times a polynomial, in vector registers.

    A call of exp would leave them.
    """
    exponents = out.view(np.int32)
    for t in range(len(values)):
        power = max(-values[t] * _LOG2E, np.float32(-125.0))
        whole = np.floor(power + np.float32(0.5))
        rest = (power - whole) * _LN2
        exponents[t] = (np.int32(whole) + np.int32(127)) << np.int32(23)
        result = np.float32(1 / 720)
        result = result * rest + np.float32(1 / 120)
        result = result * rest + np.float32(1 / 24)
        result = result * rest + np.float32(1 / 6)
        result = result * rest + np.float32(0.5)
        result = result * rest + np.float32(1.0)
        out[t] *= result * rest + np.float32(1.0)


def add_values(
    kind: str,
    amplitude: float,
    inner: NDArray[np.float64],
    sizes: tuple[NDArray[np.float64], NDArray[np.float64]],
    same: float,
    out: NDArray[np.float64],
) -> None:
    """Add a kernel of the distances of any graphs, from their inner products and squared lengths.

    Below `same` of |x|^2 + |y|^2 a squared distance is rounding, and 0.
    """
    _add_values(KINDS[kind], amplitude, inner, *sizes, same, out)


@kernel(parallel=True)
def _add_values(kind, amplitude, inner, left, right, same, out):
    for i in prange(len(left)):
        for j in range(len(right)):
            sizes = left[i] + right[j]
            square = sizes - 2.0 * inner[i, j]
            square = square if square > same * sizes else 0.0
            if kind == 3:
                out[i, j] += amplitude * exp(-0.5 * square)
            elif kind == 1:
                out[i, j] += amplitude * exp(-sqrt(square))
            else:
                root = ROOT3 * sqrt(square)
                out[i, j] += amplitude * (1.0 + root) * exp(-root)


def divide_by_union(common: Array, left: Array, right: Array) -> None:
    """Divide what two multisets share by what either has, in place: common / (left + right - common), or 0."""
    for first in range(0, len(left), _UNION_ROWS):
        rows = slice(first, first + _UNION_ROWS)
        union = left[rows, None] + right - common[rows]
        empty = ~(union > 0)
        np.divide(common[rows], union, out=common[rows], where=~empty)
        common[rows][empty] = 0.0


def slopes_by_weight(
    squares: NDArray[np.float32], values: NDArray[np.float32], slopes: NDArray[np.float32], by_pair: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Derivatives of a function by the weights of blocks, and by a factor of all values.

    `by_pair` has its derivatives by the values of the kernel, below the diagonal; pairs count twice.
    """
    sums = np.zeros((_N_CHUNKS, len(squares) + 1))
    _contract(_chunks(len(by_pair)), squares, values, slopes, by_pair, sums)
    total = 2.0 * sums.sum(axis=0)
    return total[:-1], float(total[-1])


@kernel(parallel=True, fastmath=True)
def _contract(chunks, squares, values, slopes, by_pair, sums):
    for chunk in prange(len(chunks) - 1):
        tile = np.empty(TILE_PAIRS, np.float32)
        for i in range(chunks[chunk], chunks[chunk + 1]):
            for low in range(0, i, TILE_PAIRS):
                count, pair = min(TILE_PAIRS, i - low), i * (i - 1) // 2 + low
                distances, value, slope = tile[:count], values[pair : pair + count], slopes[pair : pair + count]
                by_value, amplitude = by_pair[i, low : low + count], 0.0
                for t in range(count):
                    distances[t] = by_value[t] * slope[t]
                    amplitude += by_value[t] * value[t]
                sums[chunk, -1] += amplitude
                for b in range(len(squares)):
                    total, block = np.float32(0.0), squares[b, pair : pair + count]
                    for t in range(count):
                        total += distances[t] * block[t]
                    sums[chunk, b] += total


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
