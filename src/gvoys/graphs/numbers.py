"""Real numbers from whatever was given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError


def as_array(values: Any) -> NDArray[Any]:
    """Convert values to an array, so that its shape can be checked."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.empty((1,) * 5, object)


def as_floats(values: Any, what: str, *, flat: bool = False) -> NDArray[np.float64]:
    """A copy of real numbers as float64."""
    try:
        array = np.array(values)
        if array.dtype.kind not in "biuf" and not (array.size == 0 or array.dtype.kind == "O"):
            raise TypeError
        numbers = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise GraphError(f"{what} must be real numbers of one shape") from None
    if flat and numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if flat and numbers.ndim != 1:
        raise GraphError(f"{what} must be one number each, not of shape {numbers.shape}")
    return numbers
