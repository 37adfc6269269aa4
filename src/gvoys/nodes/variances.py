"""Variances of many nodes from a few samples of each: what nodes alike have in common tells more than their samples.

The mean square of s samples is the variance times chi^2_s / s. A trend by what is known of a node (its degree, whether
it was measured, how much the measured nodes say of it) is fitted to its logarithm, and every variance lies between the
trend and its own mean square, the nearer to the trend the better that tells them: moderated variances (Smyth 2004).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma, stdtrit
from sklearn.ensemble import HistGradientBoostingRegressor

_FITTED = 50_000  # nodes that the trend is fitted to
_FEW = 1000  # nodes under which there is no trend to find
_MOST = 1e6  # degrees of freedom, of a trend that tells all
_NORMAL = 1.959963984540054

Array = NDArray[np.float64]


class Moderated(NamedTuple):
    """Variances with their degrees of freedom."""

    values: Array  # the variances
    freedom: float  # degrees of freedom that they are known with

    @property
    def widened(self) -> Array:
        """So that +-1.96 of their roots is a 95 % interval (Student's t)."""
        return self.values * (float(stdtrit(self.freedom, 0.975)) / _NORMAL) ** 2


def moderate(squares: Array, n_samples: int, known: NDArray[Any]) -> Moderated:
    """Variances of nodes."""
    if len(squares) < _FEW or not (squares > 0).all():
        return Moderated(squares, float(n_samples))
    logs = np.log(squares) - (digamma(n_samples / 2.0) - np.log(n_samples / 2.0))
    sample = slice(None, None, max(len(squares) // _FITTED, 1))
    tree = HistGradientBoostingRegressor(max_iter=60, min_samples_leaf=100, early_stopping=False)
    trend = tree.fit(known[sample], logs[sample]).predict(known)
    beyond = float(np.mean((logs - trend) ** 2)) - float(polygamma(1, n_samples / 2.0))
    freedom = _MOST if beyond <= 0 else min(2.0 * _inverse_trigamma(beyond), _MOST)
    centre = np.exp(trend + digamma(freedom / 2.0) - np.log(freedom / 2.0))
    return Moderated((freedom * centre + n_samples * squares) / (freedom + n_samples), freedom + n_samples)


def _inverse_trigamma(value: float) -> float:
    """x with trigamma(x) = value, by Newton's method on 1 / trigamma, which is convex."""
    x = 0.5 + 1.0 / value
    for _ in range(50):
        here = float(polygamma(1, x))
        change = here * (1.0 - here / value) / float(polygamma(2, x))
        x += change
        if abs(change) < 1e-8 * x:
            break
    return x
