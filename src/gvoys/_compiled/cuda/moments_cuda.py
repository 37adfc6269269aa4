"""Walk moments on the GPU: a thread per node and step, sums in an order that the graph alone fixes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cuda
from numpy.typing import NDArray

from gvoys._compiled.arguments import Ends
from gvoys._compiled.cuda.device import ends_on_device, graphs_on_device, to_device
from gvoys.graphs.batch import GraphBatch

THREADS = 8 if numba.config.ENABLE_CUDASIM else 256  # type: ignore[attr-defined]  # the simulator has a thread of Python for each


class NodeBlocks(NamedTuple):
    """Blocks of consecutive nodes of one graph."""

    graphs: NDArray[np.int64]  # (n_blocks,)
    begins: NDArray[np.int64]  # (n_blocks,), first node
    ends: NDArray[np.int64]  # (n_blocks,), node after the last
    pointers: NDArray[np.int64]  # (n_graphs + 1,), where each graph's blocks begin


@cuda.jit(device=True)
def add_up(shares, thread):
    """shares[0] = the sum of all, one per thread of the block, in an order that never changes."""
    cuda.syncthreads()
    stride = THREADS // 2
    while stride > 0:
        if thread < stride:
            shares[thread] += shares[thread + stride]
        cuda.syncthreads()
        stride //= 2


def node_blocks(node_offsets: NDArray[Any], size: int) -> NodeBlocks:
    """Cut each graph's nodes into blocks of at most `size`."""
    offsets = node_offsets.astype(np.int64)
    counts = -(-np.diff(offsets) // size)
    pointers = np.concatenate([[0], np.cumsum(counts)])
    graphs = np.repeat(np.arange(len(counts)), counts)
    begins = offsets[graphs] + size * (np.arange(pointers[-1]) - pointers[graphs])
    return NodeBlocks(graphs, begins, np.minimum(begins + size, offsets[graphs + 1]), pointers)


@cuda.jit
def _multiply(graphs, factors, x, y):
    """y = factor A x, a thread per node."""
    u = np.int64(cuda.grid(1))
    if u >= len(x):
        return
    g = graphs.owners[u]
    first = graphs.node_offsets[g]
    total = 0.0
    for e in range(graphs.indptr[u], graphs.indptr[u + 1]):
        value = x[first + graphs.indices[e]]
        total += graphs.weights[e] * value if graphs.weighted else value
    y[u] = factors[g] * total


@cuda.jit
def _dots(begins, ends, v, x, length, sums):
    """sums[length, block] = v . x over a block's nodes."""
    shares = cuda.shared.array(THREADS, numba.float64)
    thread, block = np.int64(cuda.threadIdx.x), np.int64(cuda.blockIdx.x)
    u = begins[block] + thread
    shares[thread] = v[u] * x[u] if u < ends[block] else 0.0
    add_up(shares, thread)
    if thread == 0:
        sums[length, block] = shares[0]


def compute_moments(
    batch: GraphBatch,
    max_length: int,
    start: NDArray[np.float64],
    stop: NDArray[np.float64],
    scales: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Moments v^T (A / scale)^i w for i = 0 … max_length, by the GPU."""
    out = np.zeros((len(batch), max_length + 1))
    if not batch.n_nodes:
        return out
    graphs = graphs_on_device(batch, np.float64)
    v, x, factors = ends_on_device(Ends(start, stop, 1.0 / scales))
    y = to_device(np.zeros(batch.n_nodes))
    blocks = node_blocks(batch.node_offsets, THREADS)
    begins, ends = to_device(blocks.begins), to_device(blocks.ends)
    n_blocks = len(blocks.begins)
    sums = to_device(np.zeros((max_length + 1, n_blocks)))
    for length in range(max_length + 1):
        if length:
            _multiply[-(-batch.n_nodes // THREADS), THREADS](graphs, factors, x, y)
            x, y = y, x
        _dots[n_blocks, THREADS](begins, ends, v, x, length, sums)
    filled = np.flatnonzero(batch.graph_sizes)
    out[filled] = np.add.reduceat(sums.copy_to_host(), blocks.pointers[filled], axis=1).T
    return out
