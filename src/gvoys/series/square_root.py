"""Square roots of power series: the modulation f of a finite mu, f * f = mu."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ModulationError

ROUNDING = 1e-10  # what the recursion for f may lose, relative to its largest term
OTHERS = "use moments, sequences, sketch or OneSidedVoyagers instead, which only need mu >= 0"


def finite_square_root(mu: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The square root f of mu where it is a polynomial, up to rounding."""
    lowest = int(np.argmax(mu > 0))
    if len(mu) % 2 == 0 or lowest % 2:
        return None
    f = _recursion(mu, len(mu) // 2)
    # compare where the first and the last coefficient are equally large, or the last ones would not count
    balance = (mu[-1] / mu[lowest]) ** (1.0 / max(len(mu) - 1 - lowest, 1)) if mu[-1] > 0 else 1.0
    weights = balance ** -np.arange(float(len(mu)))
    error = np.abs(np.convolve(f, f) - mu) * weights
    return f if error.max() <= ROUNDING * (mu * weights).max() else None


def square_root(mu: NDArray[np.float64], max_length: int) -> NDArray[np.float64]:
    """Coefficients f_0 … f_max_length of the square root of sum_i mu_i x^i."""
    if not (mu > 0).any():
        return np.zeros(max_length + 1)
    lowest = int(np.argmax(mu > 0))
    if lowest % 2:
        raise ModulationError(
            f"mu starts at the odd power {lowest}, so no modulation f with f * f = mu exists; {OTHERS}"
        )
    finite = finite_square_root(np.trim_zeros(mu, "b"))
    if finite is None:
        return _recursion(mu, max_length)
    return np.pad(finite, (0, max(max_length + 1 - len(finite), 0)))[: max_length + 1]


def _recursion(mu: NDArray[np.float64], max_length: int) -> NDArray[np.float64]:
    """Term by term, f_k = (mu_k - sum_{0<p<k} f_p f_(k-p)) / (2 f_0), after dividing mu by its lowest, even power."""
    if not (mu > 0).any():
        return np.zeros(max_length + 1)
    lowest = int(np.argmax(mu > 0))
    shifted = np.pad(mu[lowest:], (0, max_length + 1))
    f = np.zeros(max_length + 1)
    f[0] = math.sqrt(shifted[0])
    for k in range(1, max_length + 1):
        f[k] = (shifted[k] - f[1:k] @ f[k - 1 : 0 : -1]) / (2.0 * f[0])
    return np.concatenate([np.zeros(lowest // 2), f])[: max_length + 1]
