"""Checks of what is given about nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError

__all__ = ["check_targets", "check_tolerance"]

_LARGEST = 1e100


def check_targets(y: Any, count: int) -> NDArray[np.float64]:
    """Check measured numbers, one for each node that was given.

    Parameters
    ----------
    y : array-like of shape (n_observed,)
        The numbers.
    count : int
        How many there must be.

    Returns
    -------
    ndarray of shape (n_observed,)
        The numbers.

    Raises
    ------
    ParameterError
        If they are no finite numbers, or too many or too few.
    """
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
    """Check a relative tolerance.

    Parameters
    ----------
    tol : float
        The tolerance.

    Returns
    -------
    float
        The tolerance.

    Raises
    ------
    ParameterError
        If it does not lie between 1e-15 and 0.5.
    """
    if not isinstance(tol, (float, np.floating)) or not 1e-15 <= tol <= 0.5:
        raise ParameterError(f"tol must lie between 1e-15 and 0.5, not {tol!r}")
    return float(tol)
