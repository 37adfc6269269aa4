"""Sums over the nodes of each graph: blocks of nodes first, then the blocks of a graph in order."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import cuda
from numpy.typing import NDArray

from gvoys.graphs.batch import GraphBatch

__all__ = ["THREADS", "add_up", "node_blocks"]

THREADS = 8 if numba.config.ENABLE_CUDASIM else 256  # the simulator has a thread of Python for each


@cuda.jit(device=True)
def add_up(shares: Any, thread: Any) -> None:  # pragma: no cover
    """shares[0] = the sum of all, one per thread of the block, in an order that never changes."""
    cuda.syncthreads()
    stride = THREADS // 2
    while stride > 0:
        if thread < stride:
            shares[thread] += shares[thread + stride]
        cuda.syncthreads()
        stride //= 2


def node_blocks(batch: GraphBatch, size: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Graph, first and last node of each block of at most `size` nodes, and where each graph's blocks begin."""
    counts = -(-batch.graph_sizes.astype(np.int64) // size)
    pointers = np.concatenate([[0], np.cumsum(counts)])
    graphs = np.repeat(np.arange(len(batch)), counts)
    begins = batch.node_offsets[graphs] + size * (np.arange(pointers[-1]) - pointers[graphs])
    return graphs, begins, np.minimum(begins + size, batch.node_offsets[graphs + 1]), pointers
