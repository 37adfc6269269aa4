"""Support vector machines on a Gram matrix, by sequential minimal optimisation (Platt 1998; Fan, Chen and Lin 2005).

The dual in signed weights b_i = y_i a_i (Bottou and Lin 2007): maximise y . b - b . K b / 2 with sum b = 0 and b_i
between 0 and y_i C_i. A step moves weight from one graph to another, chosen by the gain of second order.
"""

from __future__ import annotations

import numpy as np

from gvoys._jit import kernel

_LEAST_CURVATURE = 1e-12  # where rounding has made the matrix indefinite
_FAR = 1e300
_MOST_STEPS = 10_000_000


@kernel()
def train_machines(K, rows, y, bounds, tolerance):
    """Weights, (n_machines, n), and intercepts of machines on graphs `rows` of K, of classes y = +-1.

    `bounds`, (n_machines, n), are the largest weights of each machine; those of one are at least those of the one
    before it, whose solution it starts from. A machine is done when no pair of graphs violates the conditions of
    optimality by more than the tolerance.
    """
    n = len(rows)
    part = np.empty((n, n), np.float32)
    for i in range(n):
        row = K[rows[i]]
        for j in range(n):
            part[i, j] = row[rows[j]]
    weights, intercepts = np.zeros((len(bounds), n)), np.empty(len(bounds))
    slopes = y.astype(np.float64)  # of the objective, y - K b
    for machine in range(len(bounds)):
        if machine > 0:
            for i in range(n):  # not as a slice, which Numba compiles with its error message, in a second or more
                weights[machine, i] = weights[machine - 1, i]
        intercepts[machine] = _solve(part, y, bounds[machine], weights[machine], slopes, tolerance)
    return weights, intercepts


@kernel(fastmath={"nnan", "nsz"})
def _solve(K, y, bounds, b, slopes, tolerance):
    """Go on from b, in place, to the solution; the intercept."""
    n = len(b)
    least, most = np.minimum(0.0, y * bounds), np.maximum(0.0, y * bounds)
    diagonal = np.empty(n)
    no_more, no_less = np.empty(n), np.empty(n)  # 0, or far where a weight is at its bound
    for i in range(n):
        diagonal[i] = K[i, i]
        no_more[i] = -_FAR if b[i] >= most[i] else 0.0
        no_less[i] = _FAR if b[i] <= least[i] else 0.0
    top, bottom = 0.0, 0.0
    for _ in range(_MOST_STEPS):
        top, bottom = -_FAR, _FAR
        for t in range(n):
            top = max(top, slopes[t] + no_more[t])
            bottom = min(bottom, slopes[t] + no_less[t])
        if top - bottom < tolerance:
            break
        i = 0
        while slopes[i] + no_more[i] != top:
            i += 1
        j = _partner(K[i], slopes, no_less, diagonal, i, top)
        curve = max(diagonal[i] + diagonal[j] - 2.0 * K[i, j], _LEAST_CURVATURE)
        step = min(most[i] - b[i], b[j] - least[j], (slopes[i] - slopes[j]) / curve)
        b[i] = most[i] if step == most[i] - b[i] else b[i] + step
        b[j] = least[j] if step == b[j] - least[j] else b[j] - step
        no_more[i], no_less[i] = (-_FAR if b[i] >= most[i] else 0.0), 0.0
        no_more[j], no_less[j] = 0.0, (_FAR if b[j] <= least[j] else 0.0)
        row_i, row_j = K[i], K[j]
        for t in range(n):
            slopes[t] -= step * (row_i[t] - row_j[t])
    return _intercept(b, least, most, slopes, top, bottom)


@kernel(fastmath={"nnan", "nsz"})
def _partner(row, slopes, no_less, diagonal, i, top):
    """The graph that gains most by giving weight to i."""
    diagonal_i, best, partner = diagonal[i], 0.0, i
    for t in range(len(slopes)):
        gap, curve = top - slopes[t] - no_less[t], max(diagonal_i + diagonal[t] - 2.0 * row[t], _LEAST_CURVATURE)
        if gap > 0 and gap * gap > best * curve:  # a division takes longer than all else
            best, partner = gap * gap / curve, t
    return partner


@kernel()
def _intercept(b, least, most, slopes, top, bottom):
    """The slope of graphs within their bounds, or half way between those at their bounds."""
    total, count = 0.0, 0
    for t in range(len(b)):
        if least[t] < b[t] < most[t]:
            total += slopes[t]
            count += 1
    return total / count if count else (top + bottom) / 2.0
