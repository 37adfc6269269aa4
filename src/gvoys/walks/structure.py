"""Labels from the structure of a graph, for nodes that have none."""

from __future__ import annotations

import numpy as np

from gvoys._kernels.cpu.cores import core_numbers
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import Labels

__all__ = ["STRUCTURES", "structural_labels", "usual_structure"]

STRUCTURES = ("degree", "core")


def usual_structure(batch: GraphBatch) -> str:
    """What labels the nodes of graphs without labels: "core", or "degree" where edges have a direction."""
    return "degree" if batch.directed else "core"


def structural_labels(batch: GraphBatch, structure: str) -> Labels:
    """Label every node by its place in its graph, whatever the other graphs.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    structure : {"degree", "core"}
        The number of edges that leave a node; or that number with the node's core number, which tells cycles from the
        trees on them.

    Returns
    -------
    Labels
        One label for each node.
    """
    degrees = np.diff(batch.indptr).astype(np.int64)
    if structure == "degree":
        return Labels.from_values(degrees)
    cores = np.zeros(batch.n_nodes, np.int64)
    core_numbers(batch.node_offsets, batch.indptr, batch.columns(), cores)
    return Labels.from_values((degrees << 32) | cores)
