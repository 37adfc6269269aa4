"""Walks with edge labels, and non-backtracking walks, on small graphs: graphs in parallel, all groups and steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._jit import kernel
from gvoys._kernels.cpu.sketch.arcs import (
    add_shares,
    along_entries,
    begin_walks,
    make_room,
    make_rows,
    own_rows,
    step_nodes,
)
from gvoys._kernels.cpu.sketch.lanes import WIDTH
from gvoys._kernels.cpu.sketch.turned import FEW


@kernel(parallel=True)
def sketch_arcs(
    tasks: Any, graphs: Any, arcs: Any, nodes: Any, entries: Any, ends: Any, norm: Any, out: Any
) -> None:  # pragma: no cover
    """Profiles of the tasks' graphs into out, (n_graphs, n_steps, n_groups * 128); graph by graph, group by group."""
    for chunk in prange(len(tasks.bounds) - 1):
        chosen = tasks.graphs[tasks.bounds[np.int64(chunk)] : tasks.bounds[np.int64(chunk) + 1]]
        _sketch(chosen, graphs, arcs, nodes, entries, ends, norm, out)


@kernel()
def _sketch(
    chosen: Any, graphs: Any, arcs: Any, nodes: Any, entries: Any, ends: Any, norm: Any, out: Any
) -> None:  # pragma: no cover
    """What one thread does: graph after graph."""
    node_offsets, indptr, weights = graphs.node_offsets, graphs.indptr, graphs.weights
    start, stop, factors = ends
    codes, signs, shifts = nodes
    entry_codes, entry_signs, entry_shifts = entries
    sources, targets = arcs
    n_rows, degree = _size(chosen, node_offsets, indptr, targets)
    x, y, sums = make_rows(n_rows), make_rows(n_rows), np.empty(WIDTH)
    room = make_room(degree, FEW, degree)
    for g in chosen:
        some = (np.int64(node_offsets[g]), np.int64(node_offsets[g + 1]))
        shift = _n_arcs(some, indptr, targets) - some[0]
        for r in range(out.shape[2] // WIDTH):
            for t in range(out.shape[1]):
                if t == 0:
                    begin_walks(some, indptr, targets, stop, shift, y)
                else:
                    messages = along_entries(
                        (g, r, t), x, sources, weights, factors, entry_codes, entry_signs, entry_shifts
                    )
                    step_nodes(some, indptr, messages, targets, room, shift, y)
                sums[:] = 0.0
                add_shares(some, own_rows((g, r, t), y, shift, start, codes, signs, shifts), room.part, sums)
                for j in range(WIDTH):
                    out[g, t, r * WIDTH + j] = np.float32(sums[j] * norm)
                x, y = y, x


@kernel()
def _n_arcs(nodes: Any, indptr: Any, targets: Any) -> Any:  # pragma: no cover
    """Entries of some nodes that have rows: none where walks backtrack."""
    return np.int64(indptr[nodes[1]]) - np.int64(indptr[nodes[0]]) if len(targets) > 0 else np.int64(0)


@kernel()
def _size(chosen: Any, node_offsets: Any, indptr: Any, targets: Any) -> Any:  # pragma: no cover
    """Most rows of a graph, and the largest degree."""
    n_rows, degree = np.int64(0), np.int64(0)
    for g in chosen:
        some = (np.int64(node_offsets[g]), np.int64(node_offsets[g + 1]))
        n_rows = max(n_rows, some[1] - some[0] + _n_arcs(some, indptr, targets))
        for node in range(some[0], some[1]):
            degree = max(degree, np.int64(indptr[node + 1]) - np.int64(indptr[node]))
    return n_rows, degree
