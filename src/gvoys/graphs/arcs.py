"""Edges of graphs, and the entries that lead back along them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.ranges import read_only


def edges_of(batch: GraphBatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Edges of graphs, each undirected one once."""
    rows = batch.rows() - np.repeat(batch.node_offsets[:-1], np.diff(batch.entry_offsets))
    entries = np.flatnonzero((rows <= batch.indices) | batch.directed)
    return np.column_stack([rows[entries], batch.indices[entries]]).astype(np.int64), entries


def reverse_entries(batch: GraphBatch) -> NDArray[np.int64]:
    """Find the entries x -> u for each entry u -> x, in one pass."""
    out = np.empty((batch.n_entries, 2), np.int64)
    cursors = batch.indptr[:-1].astype(np.int64)
    _find(*(read_only(array) for array in (batch.node_offsets, batch.indptr, batch.indices)), cursors, out)
    return out


@kernel()
def _find(node_offsets: Any, indptr: Any, indices: Any, cursors: Any, out: Any) -> None:  # pragma: no cover
    """Rows are sorted and u only grows, so that the search in each row x goes on where it stopped the last time."""
    for g in range(len(node_offsets) - 1):
        first, last = np.int64(node_offsets[g]), np.int64(node_offsets[g + 1])
        for node in range(first, last):
            u, e, end = node - first, np.int64(indptr[node]), np.int64(indptr[node + 1])
            while e < end:
                x = indices[e]
                begin, stop = cursors[first + x], np.int64(indptr[first + x + 1])
                while begin < stop and indices[begin] < u:
                    begin += 1
                cursors[first + x] = begin
                after = begin
                while after < stop and indices[after] == u:
                    after += 1
                while e < end and indices[e] == x:
                    out[e, 0], out[e, 1] = begin, after
                    e += 1
