"""Exact kernels without backtracking, by the vec trick on arcs, and refined labels."""

from dataclasses import replace

import numpy as np

from gvoys import reference
from gvoys.reference import DenseGraph


def arcs(g):
    """The graph whose nodes are the steps of G: walks on it never take an edge straight back.

    Its walks of length i are the non-backtracking walks of length i + 1 of G.
    """
    steps = [(int(u), int(x)) for u, x in np.argwhere(g.A)]
    onward = [[g.A[y, z] * (x == y and z != u) for y, z in steps] for u, x in steps]
    labelled = g.node_labels is not None or g.edge_labels is not None
    return DenseGraph(
        np.array(onward, dtype=float).reshape(len(steps), len(steps)),
        np.array([g.start[u] * g.A[u, x] for u, x in steps]),
        np.array([g.stop[x] for _, x in steps]),
        [reference._spell(g, step) for step in steps] if labelled else None,
    )


def kernel_without_backtracking(g, h, max_length):
    """K_0 … K_max_length over walks that never take an edge straight back."""
    line_g, line_h = arcs(g), arcs(h)
    (tails_g, heads_g), (tails_h, heads_h) = (np.argwhere(x.A).T for x in (g, h))
    nodes = np.ones((len(g.A), len(h.A))) if g.node_attributes is None else gauss(g.node_attributes, h.node_attributes)
    match = reference.node_match(line_g, line_h) * nodes[np.ix_(tails_g, tails_h)]
    if g.edge_attributes is not None:
        match = match * gauss(g.edge_attributes[tails_g, heads_g], h.edge_attributes[tails_h, heads_h])
    W = match * nodes[np.ix_(heads_g, heads_h)] * np.outer(line_g.stop, line_h.stop)
    values = [reference.kernel_by_product_graph(g, h, 0)[0]]
    for _ in range(max_length):
        values.append(line_g.start @ W @ line_h.start)
        W = match * (line_g.A @ W @ line_h.A.T)
    return np.array(values)


def gauss(a, b):
    """How alike rows of attributes are, in bandwidths."""
    return np.exp(-0.5 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


def refined(g):
    """One Weisfeiler-Lehman round: a node's label becomes itself and the labels around it, edges included."""
    labels = g.node_labels if g.node_labels is not None else [0] * len(g.A)

    def around(u, A, turned):
        edges = [
            None if g.edge_labels is None else g.edge_labels[x][u] if turned else g.edge_labels[u][x]
            for x in range(len(A))
        ]
        return tuple(sorted(((labels[x], edges[x]) for x in np.flatnonzero(A[u])), key=repr))

    directed = not np.array_equal(g.A != 0, g.A.T != 0)
    names = [(labels[u], around(u, g.A, False), around(u, g.A.T, True) if directed else ()) for u in range(len(g.A))]
    return replace(g, node_labels=names)
