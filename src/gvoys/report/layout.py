"""Coordinates of nodes: molecules by RDKit, other graphs by igraph; and what to write at them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import MissingDependencyError
from gvoys.graphs.arcs import edges_of
from gvoys.graphs.batch import GraphBatch
from gvoys.report.atoms import atom_text, bond_order, coordinates_by_rdkit, is_atom

__all__ = ["LARGEST", "Layout", "is_molecule", "lay_out", "springs"]

LARGEST = 1000  # nodes of a graph that is still drawn
_SMALL = 150  # nodes up to which springs between all pairs are quick
_STEPS = 100  # of the quicker layout beyond
_APART = 1.5  # edges between components


@dataclass(frozen=True)
class Layout:
    """One graph on paper.

    Parameters
    ----------
    xy : ndarray of shape (n_nodes, 2)
        Coordinates, y downwards; a usual edge has length 1.
    ends : ndarray of shape (n_edges, 2)
        Nodes of each edge.
    orders : ndarray of shape (n_edges,)
        Bond orders, as a number of lines; 1.5 is aromatic.
    texts : list of str
        Text of each node's label; empty without labels. Of atoms "NH2", "O", and "C" whatever its hydrogens.
    symbols : list of str or None
        Chemical element of each node of a molecule; None for other graphs.
    directed : bool
        Whether edges have a direction.
    """

    xy: NDArray[np.float64]
    ends: NDArray[np.int64]
    orders: NDArray[np.float64]
    texts: list[str]
    symbols: list[str] | None
    directed: bool

    @property
    def molecule(self) -> bool:
        """Whether the graph is a molecule."""
        return self.symbols is not None


def lay_out(graph: GraphBatch, ends: NDArray[np.int64] | None = None) -> Layout:
    """Lay out one graph.

    Parameters
    ----------
    graph : GraphBatch
        One graph. It is a molecule if its node labels are tuples that begin with a chemical element, as those of SMILES
        are.
    ends : ndarray of shape (n_edges, 2) or None, default=None
        Its edges in the order that you want; None takes them as they are stored, an undirected edge once.

    Returns
    -------
    Layout
        The coordinates, and what to write.

    Raises
    ------
    MissingDependencyError
        If igraph is needed and is not installed.
    """
    stored, entries = edges_of(graph)
    ends = stored if ends is None else np.asarray(ends, np.int64).reshape(-1, 2)
    labels = [] if graph.node_labels is None else graph.node_labels.decode()
    symbols = _symbols(labels)
    texts = [str(label) for label in labels] if symbols is None else [atom_text(*label) for label in labels]
    orders = np.ones(len(ends)) if symbols is None else _orders(graph, stored, entries, ends)
    chemist = None if symbols is None else coordinates_by_rdkit()
    places = springs(graph.n_nodes, ends) if chemist is None or symbols is None else chemist(symbols, ends, orders)
    return Layout(_scaled(places, ends), ends, orders, texts or [""] * graph.n_nodes, symbols, graph.directed)


def is_molecule(graph: GraphBatch) -> bool:
    """Whether a graph is drawn as a molecule.

    Parameters
    ----------
    graph : GraphBatch
        One graph.

    Returns
    -------
    bool
        True if its node labels are tuples that begin with a chemical element.
    """
    return graph.node_labels is not None and _symbols(graph.node_labels.decode()) is not None


def _symbols(labels: Sequence[Any]) -> list[str] | None:
    """Chemical elements of the atoms, or None if some node is none."""
    firsts = [label[0] for label in labels if isinstance(label, tuple) and label]
    known = all(is_atom(each) for each in firsts)
    return firsts if known and 0 < len(firsts) == len(labels) else None


def _orders(
    graph: GraphBatch, stored: NDArray[np.int64], entries: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.float64]:
    if graph.edge_labels is None:
        return np.ones(len(ends))
    found = [bond_order(label) for label in graph.edge_labels[entries].decode()]
    by_ends = dict(zip(map(tuple, stored.tolist()), found, strict=True))
    return np.array([by_ends.get((a, b), by_ends.get((b, a), 1.0)) for a, b in ends.tolist()])


def _scaled(places: NDArray[Any], ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """The middle at 0, y downwards, and the median edge of length 1."""
    if not len(places):
        return np.zeros((0, 2))
    lengths = np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1)
    usual = np.median(lengths[lengths > 0]) if (lengths > 0).any() else np.ptp(places, axis=0).max() or 1.0
    centre = (places.min(axis=0) + places.max(axis=0)) / 2.0
    scaled: NDArray[np.float64] = (places - centre) / usual * [1.0, -1.0]
    return scaled


def springs(n_nodes: int, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """A layout by forces, the same in every run; components stand side by side.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    edges : ndarray of shape (n_edges, 2)
        Their edges.

    Returns
    -------
    ndarray of shape (n_nodes, 2)
        The coordinates.

    Raises
    ------
    MissingDependencyError
        If igraph is not installed.
    """
    igraph = _igraph()
    igraph.set_random_number_generator(random.Random(0))
    try:
        graph = igraph.Graph(n_nodes, edges.tolist())
        parts = graph.connected_components(mode="weak")
        found = [_forces(graph if len(parts) == 1 else graph.induced_subgraph(part)) for part in parts]
    finally:
        igraph.set_random_number_generator(random)
    return _packed(n_nodes, [np.array(part) for part in parts], found)


def _forces(graph: Any) -> NDArray[np.float64]:
    """One connected graph, with a median edge of length 1."""
    small = graph.vcount() <= _SMALL
    found = graph.layout_kamada_kawai() if small else graph.layout_fruchterman_reingold(niter=_STEPS)
    places = np.array(found.coords, np.float64).reshape(-1, 2)
    return _scaled(places, np.array(graph.get_edgelist(), np.int64).reshape(-1, 2))


def _packed(n_nodes: int, parts: list[NDArray[np.int64]], places: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Components beside each other, in rows about as long as all rows are high; the highest come first."""
    out, sizes = np.zeros((n_nodes, 2)), [np.ptp(each, axis=0) + _APART for each in places]
    width = max([1.5 * float(np.sqrt(sum(w * h for w, h in sizes))), *(w for w, _ in sizes)], default=0.0)
    x, y, high = 0.0, 0.0, 0.0
    for k in sorted(range(len(parts)), key=lambda k: (-sizes[k][1], -sizes[k][0])):
        if x and x + sizes[k][0] > width:
            x, y, high = 0.0, y + high, 0.0
        out[parts[k]] = places[k] - places[k].min(axis=0) + [x, y]
        x, high = x + sizes[k][0], max(high, sizes[k][1])
    return out


def _igraph() -> Any:
    try:
        import igraph
    except ImportError:
        raise MissingDependencyError(
            'graphs are laid out by igraph; install it with pip install "gvoys[explore]"'
        ) from None
    return igraph
