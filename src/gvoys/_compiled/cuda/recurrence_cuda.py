"""One step of a three-term recurrence with a matrix of a graph, on eight vectors at once, by the GPU.

The kernels are in CUDA C, `recurrence.cu`, and vectors are arrays of CuPy.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cpu.recurrence_cpu import DEVICE_LANES
from gvoys._compiled.cuda.device import check_cuda, cupy_module
from gvoys.errors import UnsupportedError

_WARPS = 8
_MOST_ENTRIES = 256  # of a node that is no hub
_NOTHING = np.zeros(1, np.float32)  # what kernels that are compiled without it do not look at


class DeviceSparse(NamedTuple):
    """A matrix as in `gvoys._compiled.cpu.recurrence_cpu.Sparse`, on the GPU."""

    indptr: Any
    indices: Any
    weights: Any
    left: Any
    diagonal: Any
    hubs: Any  # (n_hubs,)
    options: tuple[str, ...]


def copy_to_device(array: NDArray[Any]) -> Any:
    """An array on the GPU, in single precision."""
    check_cuda()
    cupy = cupy_module()
    if cupy is None:
        raise UnsupportedError('device="cuda" needs CuPy here; install it with pip install "gvoys[gpu]"')
    return cupy.asarray(array, np.float32 if array.dtype.kind == "f" else None)


def copy_sparse_to_device(sparse: Any) -> DeviceSparse:
    """A matrix on the GPU."""
    indptr, indices, *numbers = map(np.asarray, sparse)
    options = tuple(
        f"-D{name}={int(array.size > 0)}" for name, array in zip(("WEIGHTED", "SHIFTED"), numbers[::2], strict=True)
    )
    weights, left, diagonal = (copy_to_device(array if array.size else _NOTHING) for array in numbers)
    hubs = np.flatnonzero(np.diff(indptr) > _MOST_ENTRIES)
    return DeviceSparse(
        copy_to_device(indptr), copy_to_device(indices), weights, left, diagonal, copy_to_device(hubs), options
    )


def step_eight(matrix: DeviceSparse, terms: Any, x: Any, y: Any, total: Any) -> None:
    """One step; x, y and the sum have shape (n_nodes, 8)."""
    *arrays, hubs, options = matrix
    rest = (*arrays, *map(np.float32, terms), x, y, total)
    n_nodes, block = len(x), (32, _WARPS)
    n_blocks = -(-n_nodes * DEVICE_LANES // (32 * _WARPS))
    _compiled("step_nodes", options)((n_blocks, 1), block, (np.int64(n_nodes), np.int64(_MOST_ENTRIES), *rest))
    if len(hubs):
        _compiled("step_hubs", options)((len(hubs), 1), block, (hubs, *rest), shared_mem=4 * 32 * _WARPS)


@cache
def _compiled(name: str, options: tuple[str, ...]) -> Any:
    cupy = cupy_module()
    assert cupy is not None
    source = (resources.files("gvoys._compiled.cuda") / "recurrence.cu").read_text()
    kernel = cupy.RawKernel(source, name, options=options)
    kernel.max_dynamic_shared_size_bytes = 4 * 32 * _WARPS
    return kernel
