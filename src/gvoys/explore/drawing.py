"""Coordinates of the nodes of every graph: molecules by RDKit, other graphs by igraph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gvoys.explore.collection import Collection
from gvoys.graphs.arcs import edges_of
from gvoys.graphs.batch import GraphBatch
from gvoys.report.atoms import ELEMENTS, Chemist, atom_text, bond_order, coordinates_by_rdkit, is_atom
from gvoys.report.layout import LARGEST, springs

__all__ = ["LARGEST", "Drawings", "draw", "drawn_as_molecules"]

_OFTEN = 100  # graphs between two progress reports
_ORDERS = {"aromatic": 1.5, "single": 1.0, "double": 2.0, "triple": 3.0, "1": 1.0, "2": 2.0, "3": 3.0}


@dataclass(frozen=True)
class Drawings:
    """Nodes and edges of all graphs back to back; graphs that are too large have neither.

    Parameters
    ----------
    node_offsets : ndarray of shape (n_graphs + 1,)
        Where each graph's nodes begin.
    xy : ndarray of shape (n_nodes, 2)
        Coordinates, y upwards, in no particular unit.
    node_codes : ndarray of shape (n_nodes,)
        Codes into `texts`.
    edge_offsets : ndarray of shape (n_graphs + 1,)
        Where each graph's edges begin.
    ends : ndarray of shape (n_edges, 2)
        Nodes of each edge, numbered within the graph.
    orders : ndarray of shape (n_edges,)
        Bond orders, as a number of lines; 1.5 is aromatic.
    texts : list of str
        Text at a node of each label.
    molecules : bool
        Whether the graphs are molecules.
    directed : bool
        Whether edges have a direction.
    """

    node_offsets: NDArray[np.int64]
    xy: NDArray[np.float32]
    node_codes: NDArray[np.int32]
    edge_offsets: NDArray[np.int64]
    ends: NDArray[np.int64]
    orders: NDArray[np.float64]
    texts: list[str]
    molecules: bool
    directed: bool


def draw(collection: Collection, on_progress: Callable[[str], None]) -> Drawings:
    """Lay out every graph that is not too large.

    Parameters
    ----------
    collection : Collection
        The graphs.
    on_progress : callable
        Called with a string that describes the current stage.

    Returns
    -------
    Drawings
        Coordinates of the nodes, and the edges.
    """
    sizes = np.where(collection.batch.graph_sizes <= LARGEST, collection.batch.graph_sizes, 0)
    shown = collection.batch[np.flatnonzero(sizes == collection.batch.graph_sizes)]
    ends, entries = edges_of(shown)
    n_edges = np.zeros(len(sizes), np.int64)
    owners = np.repeat(np.arange(len(shown)), np.diff(shown.entry_offsets))[entries]
    n_edges[sizes == collection.batch.graph_sizes] = np.bincount(owners, minlength=len(shown))
    texts, symbols = _texts(collection)
    codes = np.zeros(shown.n_nodes, np.int32) if shown.node_labels is None else shown.node_labels.codes
    chemist = None if symbols is None else coordinates_by_rdkit()
    node_offsets, edge_offsets = (np.concatenate([[0], np.cumsum(counts)]) for counts in (sizes, n_edges))
    found = Drawings(
        node_offsets,
        np.zeros((shown.n_nodes, 2), np.float32),
        codes,
        edge_offsets,
        ends,
        _orders(collection, shown, entries),
        texts,
        chemist is not None,
        shown.directed,
    )
    for g in np.flatnonzero(sizes).tolist():
        if g % _OFTEN == 0:
            on_progress(f"drawing graph {g:,} of {len(sizes):,}")
        _place(found, g, symbols, chemist)
    return found


def _place(drawings: Drawings, g: int, symbols: list[str] | None, chemist: Chemist | None) -> None:
    """Fill in the coordinates of one graph's nodes."""
    nodes = slice(*drawings.node_offsets[g : g + 2])
    edges = slice(*drawings.edge_offsets[g : g + 2])
    if symbols is not None and chemist is not None:
        atoms = [symbols[code] for code in drawings.node_codes[nodes].tolist()]
        drawings.xy[nodes] = chemist(atoms, drawings.ends[edges], drawings.orders[edges])
    else:
        drawings.xy[nodes] = springs(nodes.stop - nodes.start, drawings.ends[edges])


def drawn_as_molecules(collection: Collection) -> bool:
    """Whether the graphs are molecules, by their SMILES or by the names of their labels.

    Parameters
    ----------
    collection : Collection
        The graphs.

    Returns
    -------
    bool
        True if atoms and bonds are known.
    """
    return _texts(collection)[1] is not None


def _texts(collection: Collection) -> tuple[list[str], list[str] | None]:
    """What to write at a node of each label, and for molecules the chemical elements."""
    labels, names = collection.batch.node_labels, collection.label_names
    if labels is None:
        return [""], None
    if _has_atoms(collection):
        return [atom_text(*value) for value in labels.values], [symbol for symbol, *_ in labels.values]
    texts = [str(names.nodes.get(value, value)) for value in labels.values]
    bonds = bool(names.edges) and not collection.batch.directed  # H, C and S alone may be helix, coil and sheet
    return texts, texts if bonds and set(texts) <= ELEMENTS else None


def _has_atoms(collection: Collection) -> bool:
    """Whether node labels are those of SMILES: tuples that begin with a chemical element."""
    labels = collection.batch.node_labels
    values = () if labels is None else labels.values
    return bool(values) and all(isinstance(value, tuple) and value and is_atom(value[0]) for value in values)


def _orders(collection: Collection, batch: GraphBatch, entries: NDArray[np.int64]) -> NDArray[np.float64]:
    labels = batch.edge_labels
    if labels is None:
        return np.ones(len(entries))
    if _has_atoms(collection):
        table = np.array([bond_order(value) for value in labels.values])
    else:
        names = collection.label_names.edges
        table = np.array([_ORDERS.get(names.get(value, ""), 1.0) for value in labels.values])
    return table[labels.codes[entries]] if len(entries) else np.ones(0)
