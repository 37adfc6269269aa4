"""Random graphs in two forms: as a GraphBatch, and dense for the reference."""

from dataclasses import dataclass

import numpy as np

from gvoys import GraphBatch
from gvoys.reference import DenseGraph


@dataclass(frozen=True)
class Kind:
    """What a random graph has."""

    directed: bool = False
    weighted: bool = False
    node_labels: bool = False
    edge_labels: bool = False
    signed: bool = False

    @property
    def labels(self):
        return {(0, 0): None, (1, 0): "node", (0, 1): "edge", (1, 1): "both"}[self.node_labels, self.edge_labels]

    def __str__(self):
        return "-".join(name for name, value in vars(self).items() if value) or "plain"


KINDS = [Kind(d, w, n, e) for d in (False, True) for w in (False, True) for n in (False, True) for e in (False, True)]


PLAIN = Kind()


def random_graph(rng, n, kind=PLAIN, *, density=None, start=None, stop=None):
    """One graph with self-loops and isolated nodes now and then; uniform endpoints unless given."""
    density = rng.uniform(0.05, 0.5) if density is None else density
    present = rng.random((n, n)) < density
    weights = rng.uniform(0.2, 2.0, (n, n)) if kind.weighted else np.ones((n, n))
    weights = weights * rng.choice([-1, 1], (n, n)) if kind.signed else weights
    labels = rng.integers(0, 3, (n, n))
    if not kind.directed:
        upper = np.triu(np.ones((n, n), bool))
        present, weights, labels = (np.where(upper, m, m.T) for m in (present, weights, labels))
    edges = np.argwhere(present if kind.directed else np.triu(present))
    names = [f"atom{i}" for i in rng.integers(0, 3, n)]
    batch = GraphBatch.from_arrays(
        edges,
        [n],
        node_labels=names if kind.node_labels else None,
        edge_labels=labels[tuple(edges.T)] if kind.edge_labels else None,
        edge_weights=weights[tuple(edges.T)] if kind.weighted or kind.signed else None,
        directed=kind.directed,
    )
    uniform = np.full(n, 1.0 / max(n, 1))
    dense = DenseGraph(
        np.where(present, weights, 0.0),
        uniform if start is None else start,
        uniform if stop is None else stop,
        names if kind.node_labels else None,
        labels.tolist() if kind.edge_labels else None,
    )
    return batch, dense


def true_radius(dense):
    return float(np.abs(np.linalg.eigvals(np.abs(dense.A))).max(initial=0.0))
