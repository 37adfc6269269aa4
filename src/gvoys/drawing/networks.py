"""Layouts by forces, for graphs that are no molecules, and the labels of their nodes."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry.atom_labels import label_text

LARGEST = 1000  # nodes of a graph that is still drawn
_SMALL = 150  # nodes up to which springs between all pairs are quick
_STEPS = 100  # of the quicker layouts
_APART = 1.5  # edges between components

Points = NDArray[np.float64]


def springs(n_nodes: int, edges: NDArray[np.int64]) -> Points:
    """Lay out a graph by forces, the same in every run, with usual edges of length 1 and components side by side."""
    matrix = csr_array((np.ones(len(edges)), edges.T.reshape(2, -1)), shape=(n_nodes, n_nodes))
    _, owners = connected_components(matrix, directed=False)
    parts = [np.flatnonzero(owners == k) for k in range(owners.max(initial=-1) + 1)]
    indices = []
    for part in parts:
        within = np.searchsorted(part, edges[owners[edges[:, 0]] == owners[part[0]]])
        indices.append(_scaled(_forces(len(part), within), within))
    return packed(n_nodes, parts, indices)


def _forces(n_nodes: int, edges: NDArray[np.int64]) -> Points:
    """Lay out a connected graph by igraph, or, where it is not installed, such that distances are those of paths."""
    try:
        import igraph
    except ImportError:
        return _stress(n_nodes, edges)
    igraph.set_random_number_generator(random.Random(0))
    try:
        graph = igraph.Graph(n_nodes, edges.tolist())
        small = n_nodes <= _SMALL
        made = graph.layout_kamada_kawai() if small else graph.layout_fruchterman_reingold(niter=_STEPS)
    finally:
        igraph.set_random_number_generator(random)
    return np.array(made.coords, np.float64).reshape(-1, 2)


def _stress(n_nodes: int, edges: NDArray[np.int64]) -> Points:
    """Move nodes from a circle to where their distances are near those along paths (majorisation of stress)."""
    matrix = csr_array((np.ones(len(edges)), edges.T.reshape(2, -1)), shape=(n_nodes, n_nodes))
    wanted = shortest_path(matrix, directed=False, unweighted=True)
    angles = 2.0 * np.pi * np.arange(n_nodes) / n_nodes
    xy = n_nodes / 6.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    for _ in range(_STEPS):
        apart = np.linalg.norm(xy[:, None] - xy[None], axis=2)
        ratio = np.divide(wanted, apart, out=np.zeros_like(apart), where=apart > 0)
        xy = (ratio.sum(axis=1)[:, None] * xy - ratio @ xy) / n_nodes
    return xy


def _scaled(places: Points, edges: NDArray[np.int64]) -> Points:
    """Put the middle at 0, and give the median edge length 1."""
    lengths = np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1)
    usual = np.median(lengths[lengths > 0]) if (lengths > 0).any() else 1.0
    return np.asarray((places - (places.min(axis=0) + places.max(axis=0)) / 2.0) / usual)


def packed(n_nodes: int, parts: list[NDArray[np.int64]], places: list[Points]) -> Points:
    """Components beside each other, in rows about as long as all rows are high; the highest come first."""
    out, sizes = np.zeros((n_nodes, 2)), [np.ptp(item, axis=0) + _APART for item in places]
    width = max([1.5 * float(np.sqrt(sum(w * h for w, h in sizes))), *(w for w, _ in sizes)], default=0.0)
    x, y, high = 0.0, 0.0, 0.0
    for k in sorted(range(len(parts)), key=lambda k: (-sizes[k][1], -sizes[k][0])):
        if x and x + sizes[k][0] > width:
            x, y, high = 0.0, y + high, 0.0
        out[parts[k]] = places[k] - places[k].min(axis=0) + [x, y]
        x, high = x + sizes[k][0], max(high, sizes[k][1])
    return out


def node_texts(graph: GraphBatch) -> list[str]:
    """Return what is written at each node: its label, which for an atom is its element with its hydrogens."""
    if graph.node_labels is None:
        return [""] * graph.n_nodes
    names = [label_text(value) for value in graph.node_labels.values]
    return [names[code] for code in graph.node_labels.codes.tolist()]
