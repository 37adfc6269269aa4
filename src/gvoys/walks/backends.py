"""The registry of kernels, by method and device: the only place that knows which device has what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cpu.moments_cpu import compute_moments
from gvoys._compiled.cpu.sketch_cpu import CpuSketch
from gvoys._compiled.cpu.voyagers_cpu import sample_both_sides, sample_one_side
from gvoys._compiled.random_maps import SketchBlock
from gvoys.errors import UnsupportedError


class Backend(NamedTuple):
    """Kernels of a device, one for each method; all devices take the same arguments."""

    moments: Callable[..., NDArray[np.float64]]
    sketch: type[SketchBlock]
    one_sided_walks: Callable[..., NDArray[np.float64]]
    voyagers: Callable[..., NDArray[np.float64]]
    empty: Callable[..., NDArray[Any]]  # a new array on the host, in memory that the device copies to fastest
    keeps: Callable[[int], bool]  # whether profiles of so many bytes stay on the device
    products: Any = None  # sums of products of sparse rows, where it has its own


_CPU = Backend(compute_moments, CpuSketch, sample_one_side, sample_both_sides, np.empty, lambda n_bytes: False)


def backend(device: str) -> Backend:
    """Find the kernels of a device."""
    if not isinstance(device, str) or device not in ("cpu", "cuda"):
        raise UnsupportedError(f"device must be 'cpu' or 'cuda', not {device!r}")
    if device == "cpu":
        return _CPU
    from gvoys._compiled.cuda import device as gpu
    from gvoys._compiled.cuda import moments_cuda as moments
    from gvoys._compiled.cuda import products_cuda as sparse
    from gvoys._compiled.cuda import sketch_cuda as sketch
    from gvoys._compiled.cuda import voyagers_cuda as voyagers

    gpu.check_cuda()
    walks = (voyagers.sample_one_side, voyagers.sample_both_sides)
    memory = (gpu.empty_on_host, gpu.has_room)
    return Backend(moments.compute_moments, sketch.GpuSketch, *walks, *memory, sparse.summed_products)


def check_device(device: str) -> None:
    """Check that there is such a device here."""
    backend(device)


def empty_for(device: str, shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """A new array on the host, in memory that the device copies to fastest."""
    kernels = backend(device)
    return kernels.empty(shape, kind)
