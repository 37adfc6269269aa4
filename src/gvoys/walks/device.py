"""Where profiles are computed: by the kernels for the CPU, or by those of `gvoys.gpu`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gvoys.errors import UnsupportedError

__all__ = ["backend"]


def backend(device: str) -> Any | None:
    """None for "cpu"; for "cuda" the package gvoys.gpu, which is imported only then and refused without a device."""
    if device == "cpu":
        return None
    if device != "cuda":
        raise UnsupportedError(f"device must be 'cpu' or 'cuda', not {device!r}")
    gpu = import_module("gvoys.gpu")
    gpu.check_cuda()
    return gpu
