"""Pairs of graphs from the datasets of the paper, or from a generator where a dataset is not at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gvoys.datasets import load_tu, molecules
from gvoys.errors import DatasetError
from gvoys.graphs.batch import GraphBatch
from studies.paper.result import Plan


@dataclass(frozen=True)
class Pair:
    """Two graphs, the dataset they are from, and a title for them."""

    name: str
    title: str
    graphs: GraphBatch


def load_or_none(name: str, plan: Plan) -> tuple[GraphBatch, Any] | None:
    """A dataset, or None where it is nowhere to be found; refused where a folder was given that lacks it."""
    try:
        return load_tu(name, plan.root)
    except DatasetError:
        if plan.root is not None:
            raise
        return None


def pair_from(name: str, plan: Plan, nodes: tuple[int, int] | None = None) -> Pair:
    """Two graphs about as large as the dataset's median, or as the middle of `nodes`."""
    loaded = load_or_none(name, plan)
    if loaded is None:
        batch = molecules(200, mean_nodes=25 if nodes is None else sum(nodes) // 2, random_state=len(name))
        found = f"synthetic molecules for {name}"
    else:
        batch, found = loaded[0], name
    wanted = np.median(batch.graph_sizes) if nodes is None else sum(nodes) / 2
    order = np.argsort(np.abs(batch.graph_sizes - wanted), kind="stable")
    pair = batch[np.sort(order[:2])]
    sizes = ", ".join(f"({graph.n_nodes}, {graph.n_edges})" for graph in pair)
    return Pair(found, f"{found} {sizes}", pair)
