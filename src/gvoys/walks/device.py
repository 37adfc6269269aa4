"""The backend that computes profiles: the CPU kernels, or those of `gvoys.gpu`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import UnsupportedError

__all__ = ["backend", "check_device", "empty_for"]


def backend(device: str) -> Any | None:
    """The package that computes profiles on a device.

    Parameters
    ----------
    device : {"cpu", "cuda"}
        Where to compute.

    Returns
    -------
    module or None
        None for "cpu"; for "cuda" `gvoys.gpu`, which is imported only then.

    Raises
    ------
    UnsupportedError
        If the device has another name, or no GPU is available.
    """
    if device == "cpu":
        return None
    if device != "cuda":
        raise UnsupportedError(f"device must be 'cpu' or 'cuda', not {device!r}")
    gpu = import_module("gvoys.gpu")
    gpu.check_cuda()
    return gpu


def check_device(device: str) -> None:
    """Check that there is such a device here."""
    backend(device)


def empty_for(device: str, shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """A new array on the host, in memory that the device copies to fastest."""
    gpu = backend(device)
    made: NDArray[Any] = (np.empty if gpu is None else gpu.empty_on_host)(shape, kind)
    return made
