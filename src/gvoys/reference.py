"""The whole idea on one page, in plain NumPy: what a random walk kernel is, said three times.

A graph here is a dense matrix A with a start vector v, a stop vector w, and optionally node labels and edge labels.
Nothing below is fast. Everything else in the package is tested against it.

    K(G, H) = sum_i mu_i K_i(G, H),   K_i = the weighted number of walks of length i that G and H have in common
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class DenseGraph:
    """One graph as dense arrays.

    Parameters
    ----------
    A : array of shape (n, n)
        Weight A[u, x] of the step from u to x.
    start, stop : array of shape (n,)
        Start vector v and stop vector w.
    node_labels : list or None, default=None
        One label per node.
    edge_labels : list of lists or None, default=None
        Labels of shape (n, n), read only where A is not zero.
    node_attributes : array of shape (n, n_attributes) or None, default=None
        Real attributes of the nodes, in bandwidths.
    edge_attributes : array of shape (n, n, n_attributes) or None, default=None
        Real attributes of the edges, in bandwidths, read only where A is not zero.
    """

    A: NDArray[np.float64]  # (n, n)
    start: NDArray[np.float64]  # (n,)
    stop: NDArray[np.float64]  # (n,)
    node_labels: list[Any] | None = None  # (n,)
    edge_labels: list[list[Any]] | None = None  # (n, n), read only where A is not zero
    node_attributes: NDArray[np.float64] | None = None  # (n, n_attributes), in bandwidths
    edge_attributes: NDArray[np.float64] | None = None  # (n, n, n_attributes), in bandwidths


def alike(a: NDArray[np.float64] | None, b: NDArray[np.float64] | None) -> float:
    """How alike two rows of attributes are: exp(-|a - b|^2 / 2), and 1 where there are none."""
    return 1.0 if a is None or b is None else float(np.exp(-np.sum((a - b) ** 2) / 2.0))


def node_match(g: DenseGraph, h: DenseGraph) -> NDArray[np.bool_]:
    """Which nodes of G may be paired with which nodes of H.

    Parameters
    ----------
    g, h : DenseGraph
        The two graphs, of n and m nodes.

    Returns
    -------
    array of bool, shape (n, m)
        True where the labels are equal, or where a graph has none.
    """
    if g.node_labels is None or h.node_labels is None:
        return np.ones((len(g.A), len(h.A)), bool)
    return np.array([[a == b for b in h.node_labels] for a in g.node_labels], bool).reshape(len(g.A), len(h.A))


def edge_match(g: DenseGraph, h: DenseGraph, u: int, x: int, s: int, y: int) -> bool:
    """Whether the step u -> x of G may be paired with the step s -> y of H.

    Parameters
    ----------
    g, h : DenseGraph
        The two graphs.
    u, x : int
        Ends of the step of G.
    s, y : int
        Ends of the step of H.

    Returns
    -------
    bool
        True if the edge labels are equal, or a graph has none.
    """
    if g.edge_labels is None or h.edge_labels is None:
        return True
    return bool(g.edge_labels[u][x] == h.edge_labels[s][y])


def node_weight(g: DenseGraph, h: DenseGraph, u: int, s: int) -> float:
    """How alike the attributes of node u of G and of node s of H are."""
    ours, theirs = (None if a is None else a[v] for a, v in ((g.node_attributes, u), (h.node_attributes, s)))
    return alike(ours, theirs)


def edge_weight(g: DenseGraph, h: DenseGraph, u: int, x: int, s: int, y: int) -> float:
    """How alike the attributes of the step u -> x of G and of the step s -> y of H are; 0 if their labels differ."""
    ours, theirs = (None if a is None else a[v] for a, v in ((g.edge_attributes, (u, x)), (h.edge_attributes, (s, y))))
    return edge_match(g, h, u, x, s, y) * alike(ours, theirs)


# -- first: walks on the direct product graph, whose nodes are the pairs of nodes with equal labels. Attributes are
#    weights of its nodes and edges: this is their definition, and the two others below know of labels alone


def product_graph(g: DenseGraph, h: DenseGraph) -> tuple[NDArray[np.float64], list[tuple[int, int]]]:
    """Direct product of two graphs.

    Parameters
    ----------
    g, h : DenseGraph
        The two graphs.

    Returns
    -------
    A : array of shape (n_pairs, n_pairs)
        Adjacency matrix of the product; a step counts by how alike its first nodes and its edges are.
    pairs : list of (int, int)
        The pairs of nodes that are its nodes.
    """
    match = node_match(g, h)
    pairs = [(u, s) for u, s in product(range(len(g.A)), range(len(h.A))) if match[u, s]]
    steps = [
        [
            node_weight(g, h, u, s) * g.A[u, x] * h.A[s, y] * edge_weight(g, h, u, x, s, y) if g.A[u, x] else 0.0
            for x, y in pairs
        ]
        for u, s in pairs
    ]
    return np.array(steps).reshape(len(pairs), len(pairs)), pairs


def kernel_by_product_graph(g: DenseGraph, h: DenseGraph, max_length: int) -> NDArray[np.float64]:
    """K_0 … K_max_length by K_i = v^T A^i w on the direct product graph.

    Parameters
    ----------
    g, h : DenseGraph
        The two graphs.
    max_length : int
        Longest walk that is counted.

    Returns
    -------
    array of shape (max_length + 1,)
        The kernel of each walk length.
    """
    A, pairs = product_graph(g, h)
    start = np.array([g.start[u] * h.start[s] for u, s in pairs])
    state = np.array([g.stop[u] * h.stop[s] * node_weight(g, h, u, s) for u, s in pairs])
    values = []
    for _ in range(max_length + 1):
        values.append(start @ state)
        state = A @ state
    return np.array(values)


# -- second: the vec trick, the same product without writing it down


def kernel_by_vec_trick(g: DenseGraph, h: DenseGraph, max_length: int) -> NDArray[np.float64]:
    """K_0 … K_max_length by W <- M * sum over edge labels l of A_l W B_l^T, with M the mask of equal node labels.

    Parameters
    ----------
    g, h : DenseGraph
        The two graphs.
    max_length : int
        Longest walk that is counted.

    Returns
    -------
    array of shape (max_length + 1,)
        The kernel of each walk length.
    """
    match = node_match(g, h)
    layers = _edge_layers(g, h)
    W = match * np.outer(g.stop, h.stop)  # (n, m)
    values = []
    for _ in range(max_length + 1):
        values.append(g.start @ W @ h.start)
        W = match * sum((A @ W @ B.T for A, B in layers), np.zeros_like(W))
    return np.array(values)


def _edge_layers(g: DenseGraph, h: DenseGraph) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """The adjacency matrices split by edge label."""
    if g.edge_labels is None or h.edge_labels is None:
        return [(g.A, h.A)]
    labels = {label for row in g.edge_labels for label in row}
    return [(_only(g, label), _only(h, label)) for label in labels]


def _only(g: DenseGraph, label: Any) -> NDArray[np.float64]:
    """The adjacency matrix of the edges with one label."""
    assert g.edge_labels is not None
    return g.A * np.array([[other == label for other in row] for row in g.edge_labels])


# -- third: every graph alone. Its profile counts label sequences; kernels are dot products of profiles


def label_sequences(g: DenseGraph, length: int) -> dict[tuple[Any, ...], float]:
    """Counts c_G(s): the weight of all walks u_0 … u_length of G whose labels spell s.

    Parameters
    ----------
    g : DenseGraph
        The graph.
    length : int
        Number of steps of the walks.

    Returns
    -------
    dict
        Weight of each label sequence.
    """
    walks: dict[tuple[int, ...], float] = {(u,): g.start[u] for u in range(len(g.A))}
    for _ in range(length):
        steps = ((walk, x, weight) for walk, weight in walks.items() for x in np.flatnonzero(g.A[walk[-1]]))
        walks = {(*walk, int(x)): weight * g.A[walk[-1], x] for walk, x, weight in steps}
    counts: defaultdict[tuple[Any, ...], float] = defaultdict(float)
    for walk, weight in walks.items():
        counts[_spell(g, walk)] += weight * g.stop[walk[-1]]
    return counts


def _spell(g: DenseGraph, walk: tuple[int, ...]) -> tuple[Any, ...]:
    """The labels along a walk."""
    nodes = tuple(g.node_labels[u] for u in walk) if g.node_labels is not None else (len(walk),)
    if g.edge_labels is None:
        return nodes
    return nodes, tuple(g.edge_labels[u][x] for u, x in pairwise(walk))


def kernel_by_sequences(g: DenseGraph, h: DenseGraph, max_length: int) -> NDArray[np.float64]:
    """K_0 … K_max_length as dot products of label-sequence counts.

    Parameters
    ----------
    g, h : DenseGraph
        The two graphs.
    max_length : int
        Longest walk that is counted.

    Returns
    -------
    array of shape (max_length + 1,)
        The kernel of each walk length.
    """
    values = []
    for length in range(max_length + 1):
        ours, theirs = label_sequences(g, length), label_sequences(h, length)
        values.append(sum(weight * theirs.get(sequence, 0.0) for sequence, weight in ours.items()))
    return np.array(values)


def moments(g: DenseGraph, max_length: int) -> NDArray[np.float64]:
    """Moments v^T A^i w for i = 0 … max_length: the whole profile of a graph without labels.

    Parameters
    ----------
    g : DenseGraph
        The graph.
    max_length : int
        Longest walk that is counted.

    Returns
    -------
    array of shape (max_length + 1,)
        The moment of each walk length.
    """
    state, values = g.stop, []
    for _ in range(max_length + 1):
        values.append(g.start @ state)
        state = g.A @ state
    return np.array(values)
