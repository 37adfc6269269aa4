"""Graphs without each of their nodes in turn."""

from __future__ import annotations

import numpy as np

from gvoys.graphs.batch import PER_EDGE, PER_NODE, GraphBatch
from gvoys.graphs.entries import take


def without_each_node(batch: GraphBatch) -> GraphBatch:
    """Every graph as often as it has nodes, each time without one of them."""
    copies = batch[np.repeat(np.arange(len(batch)), batch.graph_sizes)]
    within = np.arange(batch.n_nodes) - np.repeat(batch.node_offsets[:-1], batch.graph_sizes)
    kept = np.ones(copies.n_nodes, bool)
    kept[copies.node_offsets[:-1] + within] = False
    rows, columns = copies.rows(), copies.columns()
    stay = kept[rows] & kept[columns]
    numbers = np.cumsum(kept) - 1
    offsets = np.concatenate([[0], np.cumsum(copies.graph_sizes - 1)])
    degrees = np.bincount(numbers[rows[stay]], minlength=int(kept.sum()))
    first = np.repeat(offsets[:-1], np.diff(copies.entry_offsets))[stay]
    chosen = {name: take(getattr(copies, name), stay) for name in PER_EDGE}
    chosen |= {name: take(getattr(copies, name), kept) for name in PER_NODE}
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    indices = (numbers[columns[stay]] - first).astype(np.int32)
    return GraphBatch._adopt(offsets, indptr, indices, copies.directed, **chosen)
