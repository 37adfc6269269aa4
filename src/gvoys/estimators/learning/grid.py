"""The values that the classifier chooses from for "auto", and those that it takes otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from gvoys.errors import ParameterError
from gvoys.estimators.learning.base_kernels import KERNELS
from gvoys.walks.checks import is_auto

# larger grids hurt small datasets
GRID: dict[str, tuple[Any, ...]] = {
    "refine": (0, 1, 3),
    "kernel": ("linear", "matern12", "gaussian"),
    "C": (1.0, 10.0, 100.0),
}


def values_of(name: str, value: Any) -> tuple[Any, ...]:
    """The values to choose from: the one given, or several for "auto"."""
    if is_auto(value):
        return GRID[name]
    _CHECKS[name](value)
    return (value,)


def nearest_ten(values: tuple[float, ...]) -> float:
    """The C that is nearest to the default."""
    return min(values, key=lambda C: abs(np.log10(C) - 1))


def is_positive(value: Any) -> bool:
    """Whether it is a positive finite number."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and bool(0 < value < np.inf)


def _check_refine(value: Any) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        raise ParameterError(f'refine must be "auto" or an integer of at least 0, not {value!r}')


def _check_kernel(value: Any) -> None:
    if not isinstance(value, str) or value not in KERNELS:
        raise ParameterError(f'kernel must be "auto" or one of {", ".join(map(repr, KERNELS))}, not {value!r}')


def _check_C(value: Any) -> None:
    if not is_positive(value):
        raise ParameterError(f'C must be "auto" or a positive number, not {value!r}')


_CHECKS = {"refine": _check_refine, "kernel": _check_kernel, "C": _check_C}
