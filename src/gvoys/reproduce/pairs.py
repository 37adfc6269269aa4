"""Pairs of graphs from the datasets of the paper, or from a generator where a dataset is not at hand."""

from __future__ import annotations

import numpy as np

from gvoys.datasets import load_tu, molecules
from gvoys.errors import DatasetError
from gvoys.graphs.batch import GraphBatch
from gvoys.reproduce.result import Plan

__all__ = ["pair_from"]


def pair_from(name: str, plan: Plan, nodes: tuple[int, int] | None = None) -> tuple[str, GraphBatch]:
    """Two graphs about as large as the dataset's median, or as the middle of `nodes`, and what they are."""
    try:
        batch, found = load_tu(name, plan.root)[0], name
    except DatasetError:
        batch = molecules(200, mean_nodes=25 if nodes is None else sum(nodes) // 2, random_state=len(name))
        found = f"synthetic molecules (no {name} here)"
    wanted = np.median(batch.graph_sizes) if nodes is None else sum(nodes) / 2
    order = np.argsort(np.abs(batch.graph_sizes - wanted), kind="stable")
    pair = batch[np.sort(order[:2])]
    sizes = ", ".join(f"({graph.n_nodes}, {graph.n_edges})" for graph in pair)
    return f"{found} {sizes}", pair
