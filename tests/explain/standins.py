"""Explanations with shares of our choice: drawings and pages are told what to show, and need no model."""

import numpy as np

from gvoys.apps.explain import Explanation, SequenceShare
from gvoys.graphs.transform import edges_of


def explained(
    graph, nodes=None, of="active", edge_shares=None, errors=0.0, sequences=(), lengths=None, baseline=-0.5, smiles=None
):
    """An explanation of one graph, whose parts add up."""
    nodes = np.linspace(-1.0, 2.0, graph.n_nodes) if nodes is None else np.asarray(nodes, np.float64)
    ends, _ = edges_of(graph)
    shares = np.linspace(-0.5, 0.5, len(ends)) if edge_shares is None else np.asarray(edge_shares, np.float64)
    return Explanation(
        decision=baseline + float(nodes.sum()),
        baseline=baseline,
        of=of,
        nodes=nodes,
        node_errors=np.full(graph.n_nodes, errors),
        edges=ends,
        edge_shares=shares,
        lengths=np.array([[0.2, -0.3, 0.1], [0.1, 0.1, -0.4]]) if lengths is None else lengths,
        sequences=list(sequences),
        graph=graph,
        smiles=smiles,
    )


def sequence(spelled, share, nodes, count=1, iteration=0, layer="given"):
    return SequenceShare(spelled, share, count, nodes, iteration, layer)


def leaning(colour):
    """How far #rrggbb is from grey: above 0 for blue, below 0 for orange."""
    red, _, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return blue - red
