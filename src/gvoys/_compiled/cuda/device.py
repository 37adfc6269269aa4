"""Finding the GPU, and copying arrays to it and back."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cuda
from numpy.typing import NDArray

from gvoys._compiled.arguments import Ends
from gvoys.errors import UnsupportedError
from gvoys.graphs.batch import GraphBatch

_GONE = "row_stack"
if not hasattr(np, _GONE):
    setattr(np, _GONE, np.vstack)  # numba-cuda up to 0.30 asks for it when it compiles, and NumPy 2.5 has it no more


def check_cuda() -> None:
    """Check that a GPU is available."""
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
    array = np.ascontiguousarray(array, kind)
    return cuda.to_device(array if array.size else np.zeros((1,) * max(array.ndim, 1), array.dtype))


def empty_on_host(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """Allocate an array that the GPU can write to directly if CuPy is installed, else any array."""
    if cupy_module() is None or 0 in shape:
        return np.empty(shape, kind)
    import cupyx

    return np.asarray(cupyx.empty_pinned(shape, kind))


def empty_on_device(shape: tuple[int, ...], kind: Any) -> Any:
    """Allocate an array on the GPU."""
    cupy = cupy_module()
    return cuda.device_array(shape, kind) if cupy is None else cupy.empty(shape, kind)


def to_host(array: Any, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Copy an array to the host."""
    out = empty_on_host(array.shape, array.dtype) if out is None else out
    cupy = cupy_module()
    if not out.flags.c_contiguous:
        out[:] = to_host(array)
    elif cupy is None:
        array.copy_to_host(out)
    else:
        cupy.ascontiguousarray(array).get(out=out)
    return out


def for_numba(array: Any) -> Any:
    """The same array for kernels of numba-cuda, which would wait for the device each time that they get one of CuPy."""
    return array if cupy_module() is None else cuda.as_cuda_array(array)


def has_room(n_bytes: int) -> bool:
    """Whether an array of so many bytes may stay on the GPU, and be multiplied there; only CuPy does that."""
    cupy = cupy_module()
    if cupy is None:
        return False
    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    return bool(3 * n_bytes < free)  # the array, a copy of it with weights, and what is made of them


def all_finite(array: Any) -> bool:
    """Whether no number on the GPU left the range of floating point."""
    cupy = cupy_module()
    return bool(np.isfinite(to_host(array)).all() if cupy is None else cupy.isfinite(array).all())


class DeviceGraphs(NamedTuple):
    """Graphs on the device, in CSR."""

    node_offsets: Any  # (n_graphs + 1,)
    owners: Any  # (n_nodes,), graph of each node
    indptr: Any  # (n_nodes + 1,)
    indices: Any  # (n_entries,), numbered within the graph
    weights: Any  # (n_entries,) if weighted
    weighted: bool


def graphs_on_device(batch: GraphBatch, kind: Any) -> DeviceGraphs:
    """Copy graphs to the device, their weights in the precision of the kernel."""
    weights = np.empty(0) if batch.edge_weights is None else batch.edge_weights
    return DeviceGraphs(
        to_device(batch.node_offsets),
        to_device(batch.node_graphs(), np.int32),
        to_device(batch.indptr),
        to_device(batch.indices),
        to_device(weights, kind),
        batch.edge_weights is not None,
    )


def ends_on_device(ends: Ends) -> Ends:
    """Copy start and stop weights and factors to the device."""
    return Ends(*map(to_device, ends))
