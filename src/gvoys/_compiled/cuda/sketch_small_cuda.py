"""The fast path on the GPU: labels on nodes and edges, whole groups, graphs whose states fit into shared memory.

Its kernels are in CUDA C, and CuPy compiles them: `small.cu`, and `nonbacktracking.cu` for non-backtracking walks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._compiled.arguments import Ends
from gvoys._compiled.cpu.sketch_rows import WIDTH
from gvoys._compiled.cuda.device import cupy_module
from gvoys._compiled.random_maps import SketchBlock
from gvoys._jit import kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import largest_per_graph

_LEAST_SHARE = 0.87  # of the rows of a bucket's largest graph, which sets its memory
ROWS_PER_WARP = {"nodes": 6, "entries": 10}
MOST_WARPS = {"nodes": 16, "entries": 8}
_MOST_ENTRIES = 4095  # of a graph
_IN_REGISTERS = 4  # entries of a node whose messages a lane holds in registers, if none are parallel


class Bucket(NamedTuple):
    """Graphs of about the same size, a block each."""

    graphs: Any
    n_warps: int
    n_bytes: int  # of shared memory of a block


class _Layout(NamedTuple):
    """Shared memory of each graph: rows of states, and all bytes."""

    items: str  # that have a row: nodes or entries
    rows: NDArray[np.int64]  # (n_graphs,)
    n_bytes: NDArray[np.int64]  # (n_graphs,), without those of warps
    per_warp: NDArray[np.int64]  # (n_graphs,)

    def bytes_with(self, n_warps: int) -> NDArray[np.int64]:
        return self.n_bytes + n_warps * self.per_warp


@cache
def shared_memory() -> int:
    """Bytes of shared memory that a block may have; none without CuPy, which compiles the kernels."""
    cupy = cupy_module()
    return 0 if cupy is None else int(cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])


def is_small(sketch: SketchBlock) -> NDArray[np.bool_]:
    """Return which graphs' states fit into shared memory; non-backtracking walks there need every entry's reverse."""
    if sketch.batch.directed and not sketch.walk.backtrack:
        return np.zeros(len(sketch.batch), bool)
    layout = _layout(sketch)
    fits = layout.bytes_with(MOST_WARPS[layout.items]) <= shared_memory()
    return fits & (np.diff(sketch.batch.entry_offsets) <= _MOST_ENTRIES)


def make_buckets(sketch: SketchBlock, graphs: NDArray[Any]) -> list[Bucket]:
    """Put graphs together, the largest first."""
    layout = _layout(sketch)
    left = graphs[np.argsort(-layout.rows[graphs], kind="stable")]
    buckets = []
    while len(left):
        rows = int(layout.rows[left[0]])
        count = int(np.searchsorted(-layout.rows[left], -_LEAST_SHARE * rows, side="right"))
        part, left = left[:count], left[count:]
        n_warps = int(np.clip(-(-rows // ROWS_PER_WARP[layout.items]), 2, MOST_WARPS[layout.items]))
        buckets.append(Bucket(part.astype(np.int32), n_warps, int(layout.bytes_with(n_warps)[part].max())))
    return buckets


def _layout(sketch: SketchBlock) -> _Layout:
    """Compute the layout of the kernels; each warp has two sets of shares of the profile."""
    n, m = sketch.batch.graph_sizes.astype(np.int64), np.diff(sketch.batch.entry_offsets).astype(np.int64)
    if sketch.walk.backtrack:  # two states, a row of zeros, nodes, entries
        lists = m if sketch.edges is None else 2 * m
        return _Layout("nodes", n, 1024 * (n + 1) + 32 * n + 4 * lists, np.full(len(n), 1024))
    # one state, nodes, four lists of entries; room for the messages to one node
    return _Layout("entries", m, (512 + 16) * m + 16 * n, 1024 + 512 * _messages(sketch.batch))


def _messages(batch: GraphBatch) -> NDArray[np.int64]:
    """Messages to one node that a warp of each graph must keep in memory."""
    degrees = largest_per_graph(batch, np.diff(batch.indptr)).astype(np.int64)
    begins = np.zeros(batch.n_entries + 1, bool)
    begins[batch.indptr] = True
    parallel = np.flatnonzero((batch.indices[1:] == batch.indices[:-1]) & ~begins[1:-1])
    several = np.zeros(len(batch), bool)
    several[np.searchsorted(batch.entry_offsets, parallel, side="right") - 1] = True
    return np.where(several | (degrees > _IN_REGISTERS), degrees, 0)


class Turns(NamedTuple):
    """Maps of the nodes and entries."""

    codes: NDArray[np.int32]  # (n_nodes,)
    entry_codes: NDArray[np.int32]  # (n_entries,), or one element where edges have no labels
    table: NDArray[np.uint16]  # (n_groups, n_steps, n_codes, 32)


def pack_turns(signs: NDArray[np.uint64], shifts: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Pack what each lane reads of 128 sign bits, (n_groups, n_steps, n_codes, 2), and a shift."""
    table = np.empty((*shifts.shape, 32), np.uint16)
    _pack(signs.reshape(-1, 2), shifts.ravel(), table.reshape(-1, 32))
    return table


@kernel(parallel=True)
def _pack(signs, shifts, table):
    one, half, four = np.uint64(1), np.uint64(32), np.uint64(4)
    for index in prange(len(shifts)):
        low, high, shift = signs[np.int64(index), 0], signs[np.int64(index), 1], np.uint64(shifts[np.int64(index)])
        for lane in range(32):
            l = np.uint64(lane)  # noqa: E741
            first = (((low >> l) & one) << one) | ((low >> (l + half)) & one)
            second = (((high >> l) & one) << one) | ((high >> (l + half)) & one)
            offset = (four * (l + np.uint64(128) - shift)) & np.uint64(511)
            table[np.int64(index), lane] = np.uint16((((first << np.uint64(2)) | second) << np.uint64(12)) | offset)


_STREAMS = 16
_FILES = {"sketch_small": "small.cu", "sketch_nonbacktracking": "nonbacktracking.cu"}


class _Graphs(NamedTuple):
    """Graphs, in 32 bits."""

    node_offsets: Any
    indptr: Any
    indices: Any
    weights: Any  # (n_entries,), or one element where all are one


class _Work(NamedTuple):
    """Arguments of all kernels, on the device."""

    graphs: _Graphs
    turns: Turns
    ends: Ends
    norm: np.float32
    out: Any


class _Variant(NamedTuple):
    """Options that a kernel is compiled for."""

    backtrack: bool
    weighted: bool
    edge_labels: bool


def prepare_small_graphs(
    sketch: SketchBlock, chosen: NDArray[Any], turns: Turns, norm: np.float32, out: Any
) -> Callable[[], None]:
    """Copy everything to the device; the function that is returned launches the kernels, which write out[chosen]."""
    put, batch = _cupy().asarray, sketch.batch
    weights = np.zeros(1, np.float32) if sketch.weights is None else sketch.weights
    arrays = (batch.node_offsets.astype(np.int32), batch.indptr.astype(np.int32), batch.indices, weights)
    work = _Work(
        _Graphs(*map(put, arrays)), Turns(*map(put, turns)), Ends(*map(put, sketch.ends)), np.float32(norm), out
    )
    options = _Variant(sketch.walk.backtrack, sketch.weights is not None, sketch.edges is not None)
    buckets = [bucket._replace(graphs=put(bucket.graphs)) for bucket in make_buckets(sketch, chosen)]
    return lambda: _launch(options, work, buckets)


def _cupy() -> Any:
    cupy = cupy_module()
    assert cupy is not None  # `is_small` has no small graphs then
    return cupy


def _launch(options: _Variant, work: _Work, buckets: list[Bucket]) -> None:
    cupy = _cupy()
    graphs, turns, ends, norm, out = work
    strides = [np.int64(stride // out.itemsize) for stride in out.strides[:2]]
    sizes = [np.int32(size) for size in turns.table.shape[1:3]]
    arguments = (*sizes, *graphs, *turns, *ends, norm, out, *strides)
    kernel, main = _compiled(options), cupy.cuda.get_current_stream()
    ready = main.record()
    for stream, (chosen, n_warps, n_bytes) in zip(cycle(_streams()), buckets, strict=False):
        stream.wait_event(ready)  # buckets run side by side, so that none waits for another's last blocks
        with stream:
            grid, block = (chosen.shape[0], out.shape[2] // WIDTH), (32, n_warps)
            kernel(grid, block, (chosen, *arguments), shared_mem=n_bytes)
    for stream in _streams()[: len(buckets)]:
        main.wait_event(stream.record())


@cache
def _streams() -> list[Any]:
    return [_cupy().cuda.Stream(non_blocking=True) for _ in range(_STREAMS)]


@cache
def _compiled(options: _Variant) -> Any:
    name, rows = ("sketch_small", "nodes") if options.backtrack else ("sketch_nonbacktracking", "entries")
    folder = resources.files("gvoys._compiled.cuda")
    source = "".join((folder / file).read_text() for file in ("lanes.cu", _FILES[name]))
    settings = {
        "WEIGHTED": int(options.weighted),
        "EDGES": int(options.edge_labels),
        "MOST_THREADS": 32 * MOST_WARPS[rows],
        "LEAST_BLOCKS": 1,
    }
    kernel = _cupy().RawKernel(source, name, options=tuple(f"-D{key}={value}" for key, value in settings.items()))
    kernel.max_dynamic_shared_size_bytes = shared_memory()
    return kernel
