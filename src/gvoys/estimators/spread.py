"""Gram matrices of sketches, group by group: the mean is the kernel, the spread its error bar."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from gvoys.walks.sketch import WIDTH

__all__ = ["gram_with_error", "widened"]

_NORMAL = 1.959963984540054  # the 97.5 % quantile


def widened(standard_error: NDArray[np.float64], n_groups: int) -> NDArray[np.float64]:
    """A standard error from few groups, widened so that +-1.96 of it is a 95 % interval (Student's t)."""
    return standard_error * (float(stdtrit(n_groups - 1, 0.975)) / _NORMAL)


def gram_with_error(
    left: NDArray[Any], right: NDArray[Any], n_components: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """K and its standard error for features (n, n_lengths, n_rounds * n_components); nan with under two groups.

    Memory: four matrices of (n_left, n_right).
    """
    shape = (len(left), len(right))
    total, squares = np.zeros(shape), np.zeros(shape)
    n_groups = n_components // WIDTH
    for group in range(n_groups):
        gram = _group_gram(left, right, n_components, group * WIDTH, (group + 1) * WIDTH)
        total += gram
        squares += (gram * n_groups) ** 2
    share = n_groups * WIDTH / n_components
    mean = total / share if n_groups else total
    error = np.full(shape, np.nan)
    if n_groups > 1:
        variance = np.maximum(squares / share**2 / n_groups - mean**2, 0.0) / (n_groups - 1)
        error = widened(np.sqrt(variance), n_groups)
    if share < 1:  # a last group that is narrower counts towards the value, not towards its spread
        total += _group_gram(left, right, n_components, n_groups * WIDTH, n_components)
    return total, error


def _group_gram(left: NDArray[Any], right: NDArray[Any], period: int, begin: int, end: int) -> NDArray[np.float64]:
    def part(features: NDArray[Any]) -> NDArray[np.float64]:
        n, n_lengths, width = features.shape
        rounds = features.reshape(n, n_lengths, width // period, period)[..., begin:end]
        return rounds.reshape(n, n_lengths * (width // period) * (end - begin)).astype(np.float64)

    ours = part(left)
    return ours @ (ours if right is left else part(right)).T
