"""Checks of what is given about nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError

_LARGEST = 1e100


def check_targets(y: Any, count: int) -> NDArray[np.float64]:
    """Check measured numbers, one for each node that was given."""
    try:
        values = np.asarray("complex" if np.iscomplexobj(y) else y, np.float64)  # NumPy would drop the imaginary part
    except (TypeError, ValueError):
        raise ParameterError("y must be numbers; for classes use NodeClassifier") from None
    if values.shape != (count,):
        raise ParameterError(f"y must have one number for each of the {count} nodes, not shape {values.shape}")
    if count == 0:
        raise ParameterError("there must be at least one node with a value")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ParameterError(f"y[{bad[0]}] is {values[bad[0]]}; leave out nodes without a value")
    largest = float(np.abs(values).max())
    if largest > _LARGEST or 0.0 < largest < 1.0 / _LARGEST:
        raise ParameterError(f"the largest value is {largest:g}, whose square is no number; choose another unit")
    return values


def check_tolerance(tol: Any) -> float:
    """Check a relative tolerance."""
    if not isinstance(tol, (float, np.floating)) or not 1e-15 <= tol <= 0.5:
        raise ParameterError(f"tol must lie between 1e-15 and 0.5, not {tol!r}")
    return float(tol)
