"""The fast path on the GPU: labels on nodes only, graphs whose states fit into shared memory.

Its kernel exists twice: in CUDA C, `small.cu`, which takes 1.0 ms on an H200 for NCI1 with 1024 components and walks up
to length 8, and for numba-cuda, `small_by_numba.py`, which takes 2.7 ms, but needs no CuPy and runs in the simulator,
where the tests are. All but the kernel is shared: what they read, how graphs are put together, and shared memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys._kernels.arguments import Ends
from gvoys._kernels.cpu.sketch.lanes import WIDTH
from gvoys._kernels.cuda.device import cupy_module, to_device
from gvoys._kernels.cuda.small_by_numba import sketch_small_graphs
from gvoys._kernels.sketching import SketchBlock

__all__ = ["is_small", "pack_turns", "prepare_small_graphs"]

_ALIKE = 0.87  # graphs of a bucket have at least this share of the nodes of its largest, which sets its memory
_STREAMS = 16
_NODES_PER_WARP = 6
_MOST_WARPS = 16
# bytes of shared memory that a block may have, and room in it for entries; numba alone asks for no more than 48 KiB
_SHARED, _SHARED_BY_NUMBA = 220 * 1024, 48 * 1024
_ENTRIES = 4096


class _Graphs(NamedTuple):
    """Graphs, in 32 bits."""

    node_offsets: Any
    indptr: Any
    indices: Any
    weights: Any  # (n_entries,) if weighted
    weighted: bool


class _Labels(NamedTuple):
    """Labels of nodes and their random maps."""

    codes: Any
    # (group, step, label, lane): the signs of the lane's coordinates in the upper four bits, below them the byte offset
    # within a row of the first of them before the shift
    turns: Any
    n_codes: int


class _Bucket(NamedTuple):
    """Graphs of about the same size, a block each."""

    graphs: Any
    room: int  # most nodes
    n_entries: int
    n_warps: int

    @property
    def n_bytes(self) -> int:
        """Shared memory of a block."""
        return int(_bytes_of_block(self.room, self.n_entries, self.n_warps))


class _Work(NamedTuple):
    """What both kernels take, on the device."""

    graphs: _Graphs
    labels: _Labels
    ends: Ends
    norm: np.float32
    out: Any


def is_small(sketch: SketchBlock) -> NDArray[np.bool_]:
    """Which graphs' states fit into shared memory."""
    sizes, entries = sketch.batch.graph_sizes, np.diff(sketch.batch.entry_offsets)
    in_cuda_c = cupy_module() is not None
    most = _ENTRIES if in_cuda_c else _ENTRIES // 8
    room = (_SHARED if in_cuda_c else _SHARED_BY_NUMBA) - 4 * most
    return (_bytes_of_block(sizes, 0, _warps(sizes)) <= room) & (entries <= most)


def prepare_small_graphs(
    sketch: SketchBlock, chosen: NDArray[Any], turns: NDArray[np.uint16], norm: np.float32, out: Any
) -> Callable[[], None]:
    """Copy everything to the device; the function that is returned launches the kernels, which write out[chosen]."""
    cupy, batch = cupy_module(), sketch.batch
    put = to_device if cupy is None else cupy.asarray
    weights = np.zeros(1, np.float32) if sketch.weights is None else sketch.weights
    offsets, indptr = (put(array.astype(np.int32)) for array in (batch.node_offsets, batch.indptr))
    work = _Work(
        _Graphs(offsets, indptr, put(batch.indices), put(weights), sketch.weights is not None),
        _Labels(put(sketch.codes.astype(np.int32)), put(turns), len(sketch.labels)),
        Ends(*map(put, sketch.ends)),
        np.float32(norm),
        out,
    )
    buckets = [bucket._replace(graphs=put(bucket.graphs)) for bucket in _buckets(sketch, chosen)]
    launch = _launch_by_numba if cupy is None else _launch_in_cuda_c
    return lambda: launch(work, buckets)


def pack_turns(signs: NDArray[np.uint64], shifts: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """What a lane reads of a label's map: see `_Labels`."""
    bits = np.unpackbits(signs.view(np.uint8), axis=-1, bitorder="little").reshape(*signs.shape[:-1], 4, 32)
    places = (4 * np.arange(32) - 4 * shifts[..., None].astype(np.int64)) % 512
    weights = np.array([1 << 15, 1 << 14, 1 << 13, 1 << 12], np.uint16)
    return ((bits.astype(np.uint16) * weights[:, None]).sum(axis=-2) + places).astype(np.uint16).ravel()


def _bytes_of_block(n_nodes: Any, n_entries: Any, n_warps: Any) -> Any:
    """Shared memory, the same for both kernels: states, a row of zeros, shares of the profile twice, nodes, entries."""
    return 4 * (256 * (n_nodes + 1) + 256 * n_warps + 8 * n_nodes + n_entries)


def _warps(n_nodes: Any) -> Any:
    """Warps that share a graph of so many nodes."""
    return np.clip(-(-n_nodes // _NODES_PER_WARP), 2, _MOST_WARPS)


def _buckets(sketch: SketchBlock, graphs: NDArray[Any]) -> list[_Bucket]:
    """Put graphs of about the same size together, the largest first."""
    sizes, entries = sketch.batch.graph_sizes, np.diff(sketch.batch.entry_offsets)
    left = graphs[np.argsort(-sizes[graphs], kind="stable")]
    found = []
    while len(left):
        room = max(int(sizes[left[0]]), 1)
        count = int(np.searchsorted(-sizes[left], -_ALIKE * room, side="right")) or 1
        part, left = left[:count], left[count:]
        found.append(_Bucket(part.astype(np.int32), room, int(entries[part].max()), int(_warps(room))))
    return found


def _launch_by_numba(work: _Work, buckets: list[_Bucket]) -> None:
    for bucket in buckets:
        grid, block = (bucket.graphs.shape[0], work.out.shape[2] // WIDTH), (32, bucket.n_warps)
        sketch_small_graphs[grid, block, 0, bucket.n_bytes](bucket.graphs, bucket.room, *work)


def _launch_in_cuda_c(work: _Work, buckets: list[_Bucket]) -> None:
    cupy = cupy_module()
    assert cupy is not None
    graphs, labels, ends, norm, out = work
    kernel, arrays = _compiled(graphs.weighted), (*graphs[:4], *labels[:2], *ends, norm, cupy.asarray(out))
    main = cupy.cuda.get_current_stream()
    ready = main.record()
    for stream, bucket in zip(cycle(_streams()), buckets, strict=False):
        stream.wait_event(ready)  # buckets run side by side, so that none waits for another's last blocks
        with stream:
            sizes = (np.int32(bucket.room), np.int32(out.shape[1]), np.int32(labels.n_codes))
            grid, block = (bucket.graphs.shape[0], out.shape[2] // WIDTH), (32, bucket.n_warps)
            kernel(grid, block, (bucket.graphs, *sizes, *arrays), shared_mem=bucket.n_bytes)
    for stream in _streams():
        main.wait_event(stream.record())


@cache
def _streams() -> list[Any]:
    cupy = cupy_module()
    assert cupy is not None
    return [cupy.cuda.Stream(non_blocking=True) for _ in range(_STREAMS)]


@cache
def _compiled(weighted: bool) -> Any:
    cupy = cupy_module()
    assert cupy is not None
    source = (resources.files("gvoys._kernels.cuda") / "small.cu").read_text()
    options = (f"-DWEIGHTED={int(weighted)}", f"-DMOST_THREADS={32 * _MOST_WARPS}", "-DLEAST_BLOCKS=1")
    kernel = cupy.RawKernel(source, "sketch_small", options=options)
    kernel.max_dynamic_shared_size_bytes = _SHARED
    return kernel
