"""Pairs of graphs from the datasets of the paper, or from a generator where a dataset is not at hand."""

from __future__ import annotations

import numpy as np

from gvoys.datasets import load_tu, molecules
from gvoys.errors import DatasetError
from gvoys.graphs.batch import GraphBatch
from gvoys.reproduce.result import Plan

__all__ = ["pair_from"]


def pair_from(name: str, plan: Plan) -> tuple[str, GraphBatch]:
    """Two graphs about as large as the dataset's median, and what they are."""
    try:
        batch, found = load_tu(name, plan.root)[0], name
    except DatasetError:
        batch, found = molecules(200, random_state=len(name)), f"synthetic molecules (no {name} here)"
    order = np.argsort(np.abs(batch.graph_sizes - np.median(batch.graph_sizes)), kind="stable")
    pair = batch[np.sort(order[:2])]
    sizes = ", ".join(f"({graph.n_nodes}, {graph.n_edges})" for graph in pair)
    return f"{found} {sizes}", pair
