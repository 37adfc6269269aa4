"""Nodes of all graphs, shared among threads: what kernels that go node by node are given."""

from __future__ import annotations

import numpy as np

from gvoys._compiled.arguments import SharedNodes
from gvoys.graphs.batch import GraphBatch
from gvoys.threads import balanced_chunks, n_threads

_PER_THREAD = 16  # chunks of nodes, so that threads end together


def shared_nodes(batch: GraphBatch) -> SharedNodes:
    """Chunks of nodes; the graph of each node, where graphs begin, where rows begin, and their columns."""
    chunks = balanced_chunks(np.diff(batch.indptr) + 1, _PER_THREAD * n_threads())
    return SharedNodes(chunks, batch.node_graphs(), batch.node_offsets, batch.indptr, batch.columns())
