"""Buckets of graphs that fit into shared memory: graphs of about the same size, a block each."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys._kernels.cuda.device import cupy_module
from gvoys._kernels.sketching import SketchBlock
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.degrees import largest_per_graph

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
