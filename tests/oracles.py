"""Exact kernels of the variations: no way back, refined labels, attributes; by the vec trick on their products."""

from dataclasses import replace

import numpy as np

from gvoys import reference
from gvoys.reference import DenseGraph, kernel_by_vec_trick


def kernel_with_attributes(g, h, a, b, max_length):
    """K_0 … K_max_length where nodes match by label times a Gaussian of their attributes (in bandwidths)."""
    gauss = np.exp(-0.5 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))
    match = reference.node_match(g, h) * gauss
    layers = reference._edge_layers(g, h)
    W = match * np.outer(g.stop, h.stop)
    values = []
    for _ in range(max_length + 1):
        values.append(g.start @ W @ h.start)
        W = match * sum((A @ W @ B.T for A, B in layers), np.zeros_like(W))
    return np.array(values)


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


def kernel_without_backtracking(g, h, max_length, attributes=None):
    """K_0 … K_max_length over walks that never take an edge straight back."""
    if attributes is None:
        first, rest = kernel_by_vec_trick(g, h, 0), kernel_by_vec_trick(arcs(g), arcs(h), max_length)
        return np.concatenate([first, rest[:max_length]])
    a, b = attributes
    first = kernel_with_attributes(g, h, a, b, 0)
    line_g, line_h = arcs(g), arcs(h)
    (tails_g, heads_g), (tails_h, heads_h) = (np.argwhere(x.A).T for x in (g, h))

    def gauss(p, q):
        return np.exp(-0.5 * ((a[p][:, None, :] - b[q][None, :, :]) ** 2).sum(axis=2))

    match = reference.node_match(line_g, line_h) * gauss(tails_g, tails_h)
    W = match * gauss(heads_g, heads_h) * np.outer(line_g.stop, line_h.stop)
    values = []
    for _ in range(max_length):
        values.append(line_g.start @ W @ line_h.start)
        W = match * (line_g.A @ W @ line_h.A.T)
    return np.concatenate([first, values])


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
