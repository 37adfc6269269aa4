"""Walk moments on the CPU: a thread takes graph after graph, and all threads share a large one."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from gvoys._compiled.arguments import Graphs, Tasks
from gvoys._compiled.cpu.matvec import dot, is_repacked, moments_of_large, row_sum
from gvoys._jit import kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.threads import balanced_chunks, n_threads

LARGE_GRAPH_ENTRIES = 1 << 21  # from which the threads share one graph instead of taking a graph each


def compute_moments(
    batch: GraphBatch,
    max_length: int,
    start: NDArray[np.float64],
    stop: NDArray[np.float64],
    scales: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Moments v^T (A / scale)^i w for i = 0 … max_length."""
    mirrored = not batch.directed and bool(np.array_equal(start, stop))
    factors = 1.0 / scales
    # unsigned, for then Numba does not look for negative indices: twice as fast
    graphs = Graphs(
        batch.node_offsets, batch.indptr, batch.indices.view(np.uint32), batch.edge_weights, start, stop, factors
    )
    out = np.empty((len(batch), max_length + 1))
    n_entries = np.diff(batch.entry_offsets)
    large = n_entries > LARGE_GRAPH_ENTRIES
    small = np.flatnonzero(~large)
    tasks = Tasks(small, balanced_chunks(n_entries[small] + batch.graph_sizes[small], 8 * n_threads()))
    with np.errstate(over="ignore"):
        _moments_of_small(tasks, graphs, mirrored, out)
        sizes = zip(batch.graph_sizes[large].tolist(), n_entries[large].tolist(), strict=True)
        room = np.empty(max((entries for nodes, entries in sizes if is_repacked(nodes, entries)), default=0), np.uint16)
        for graph in np.flatnonzero(large):
            nodes = slice(batch.node_offsets[graph], batch.node_offsets[graph + 1])
            ends, factor = (start[nodes], stop[nodes]), float(factors[graph])
            out[graph] = moments_of_large(batch[int(graph)], *ends, factor, mirrored, max_length, room)
    return out


@kernel(parallel=True)
def _moments_of_small(tasks, graphs, mirrored, out):
    """Moments v^T (factor A)^i w of the tasks' graphs, each on one thread, into out, (n_graphs, n_lengths)."""
    for chunk in prange(len(tasks.bounds) - 1):
        chosen = tasks.graphs[tasks.bounds[np.int64(chunk)] : tasks.bounds[np.int64(chunk) + 1]]
        _moments(chosen, graphs, graphs.weights, mirrored, out)


@kernel()
def _moments(chosen, graphs, weights, mirrored, out):
    """Do the work of one thread: graph after graph."""
    node_offsets, indptr, indices = graphs.node_offsets, graphs.indptr, graphs.indices
    start, stop, factors = graphs.start, graphs.stop, graphs.factors
    room = 0
    for g in chosen:
        room = max(room, np.int64(node_offsets[g + 1] - node_offsets[g]))
    x, y = np.empty(room), np.empty(room)
    for g in chosen:
        first = np.int64(node_offsets[g])
        n = np.int64(node_offsets[g + 1]) - first
        factor = factors[g]
        v = start[first : first + n]
        for u in range(n):  # not as a slice, which Numba compiles with its error message, in a second or more
            x[u] = stop[first + u]
        if not mirrored:
            out[g, 0] = dot(v, x, 0, n)
        i = 0
        while i < out.shape[1]:
            if mirrored:
                out[g, i] = dot(x, x, 0, n)
            i += 1
            if i == out.shape[1]:
                break
            for u in range(n):
                y[u] = factor * row_sum(indptr[first + u], indptr[first + u + 1], indices, weights, x)
            if mirrored:
                out[g, i] = dot(x, y, 0, n)
                i += 1
            else:
                out[g, i] = dot(v, y, 0, n)
            x, y = y, x
