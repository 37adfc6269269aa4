"""Finding the GPU, and copying arrays to it and back."""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np
from numba import cuda
from numpy.typing import NDArray

from gvoys.errors import UnsupportedError

__all__ = ["check_cuda", "cupy_module", "empty_on_host", "to_device"]

_GONE = "row_stack"
if not hasattr(np, _GONE):
    setattr(np, _GONE, np.vstack)  # numba-cuda up to 0.30 asks for it when it compiles, and NumPy 2.5 has it no more


def check_cuda() -> None:
    """Check that a GPU is available.

    Raises
    ------
    UnsupportedError
        If no CUDA device is available.
    """
    if not _is_available():
        raise UnsupportedError(
            'device="cuda" was asked for, and no CUDA device answers here; use device="cpu", or check the driver and '
            'pip install "gvoys[gpu]"'
        )


@cache
def _is_available() -> bool:
    return bool(cuda.is_available())


@cache
def cupy_module() -> Any | None:
    """CuPy, if it is installed and there is a real device."""
    if getattr(numba.config, "ENABLE_CUDASIM", False):
        return None
    try:
        import cupy
    except ImportError:
        return None
    return cupy


def to_device(array: NDArray[Any], kind: Any = None) -> Any:
    """A copy on the GPU; an empty array becomes one element, which kernels do not look at."""
    held = np.ascontiguousarray(array, kind)
    return cuda.to_device(held if held.size else np.zeros((1,) * max(held.ndim, 1), held.dtype))


def empty_on_host(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """Allocate an array that the GPU can write to directly if CuPy is installed, else any array.

    Parameters
    ----------
    shape : tuple of int
        Shape of the array.
    kind : dtype
        Type of its elements.

    Returns
    -------
    ndarray
        The array, not initialised.
    """
    if cupy_module() is None:
        return np.empty(shape, kind)
    import cupyx

    return np.asarray(cupyx.empty_pinned(shape, kind))
