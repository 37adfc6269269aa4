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
from numpy.typing import NDArray

from gvoys._kernels.arguments import Ends
from gvoys._kernels.cpu.sketch.vectors import WIDTH
from gvoys._kernels.cuda.buckets import MOST_WARPS, Bucket, make_buckets, shared_memory
from gvoys._kernels.cuda.device import cupy_module
from gvoys._kernels.cuda.turns import Turns
from gvoys._kernels.sketching import SketchBlock

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
    folder = resources.files("gvoys._kernels.cuda")
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
