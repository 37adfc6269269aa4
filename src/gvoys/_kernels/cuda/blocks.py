"""Sums over the nodes of each graph: blocks of nodes first, then the blocks of a graph in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cuda
from numpy.typing import NDArray

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
