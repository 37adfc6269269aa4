"""Coordinates of the nodes of every graph: molecules by RDKit, other graphs by igraph."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import MissingDependencyError
from gvoys.explore.collection import Collection
from gvoys.graphs.batch import GraphBatch

__all__ = ["Drawings", "draw"]

LARGEST = 1000  # nodes of a graph that is still drawn
_SMALL = 150  # nodes up to which springs between all pairs are quick
_OFTEN = 100  # graphs between two progress reports
_STEPS = 100  # of the quicker layout beyond
_ORDERS = {"aromatic": 1.5, "single": 1.0, "double": 2.0, "triple": 3.0, "1": 1.0, "2": 2.0, "3": 3.0}

Chemist = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[Any]]  # codes, ends, orders -> places


@dataclass(frozen=True)
class Drawings:
    """Nodes and edges of all graphs back to back; graphs that are too large have neither.

    Parameters
    ----------
    node_offsets : ndarray of shape (n_graphs + 1,)
        Where each graph's nodes begin.
    xy : ndarray of shape (n_nodes, 2)
        Coordinates, y upwards.
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
    ends, entries = _edges(shown)
    n_edges = np.zeros(len(sizes), np.int64)
    owners = np.repeat(np.arange(len(shown)), np.diff(shown.entry_offsets))[entries]
    n_edges[sizes == collection.batch.graph_sizes] = np.bincount(owners, minlength=len(shown))
    texts, symbols = _texts(collection)
    codes = np.zeros(shown.n_nodes, np.int32) if shown.node_labels is None else shown.node_labels.codes
    chemist = None if symbols is None else _chemist(symbols)
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
        _place(found, g, chemist)
    return found


def _place(drawings: Drawings, g: int, chemist: Chemist | None) -> None:
    """Fill in the coordinates of one graph's nodes."""
    nodes = slice(*drawings.node_offsets[g : g + 2])
    edges = slice(*drawings.edge_offsets[g : g + 2])
    if chemist is not None:
        drawings.xy[nodes] = chemist(drawings.node_codes[nodes], drawings.ends[edges], drawings.orders[edges])
    else:
        drawings.xy[nodes] = _springs(nodes.stop - nodes.start, drawings.ends[edges])


def _edges(batch: GraphBatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(n_edges, 2) ends within their graphs, an undirected edge once, and the entries they are."""
    rows = batch.rows() - np.repeat(batch.node_offsets[:-1], np.diff(batch.entry_offsets))
    entries = np.flatnonzero((rows <= batch.indices) | batch.directed)
    return np.column_stack([rows[entries], batch.indices[entries]]).astype(np.int64), entries


def _texts(collection: Collection) -> tuple[list[str], list[str] | None]:
    """What to write at a node of each label, and for molecules the chemical elements."""
    labels, names = collection.batch.node_labels, collection.label_names
    if labels is None:
        return [""], None
    if collection.smiles is not None:
        return [_atom_text(*value) for value in labels.values], [symbol for symbol, *_ in labels.values]
    texts = [str(names.nodes.get(value, value)) for value in labels.values]
    bonds = bool(names.edges) and not collection.batch.directed  # H, C and S alone may be helix, coil and sheet
    return texts, texts if bonds and set(texts) <= _elements() else None


def _atom_text(symbol: str, _aromatic: bool, *more: Any) -> str:
    """OH, NH2; carbon is a corner without a name."""
    hydrogens = next((each for each in more if isinstance(each, int)), 0)  # charge and stereo are strings
    if symbol == "C" or not hydrogens:
        return symbol
    return f"{symbol}H{hydrogens if hydrogens > 1 else ''}"


def _elements() -> set[str]:
    """Symbols of the chemical elements, or none if RDKit is not installed."""
    try:
        from rdkit import Chem
    except ImportError:
        return set()
    return {Chem.GetPeriodicTable().GetElementSymbol(number) for number in range(1, 119)}


def _orders(collection: Collection, batch: GraphBatch, entries: NDArray[np.int64]) -> NDArray[np.float64]:
    labels = batch.edge_labels
    if labels is None:
        return np.ones(len(entries))
    if collection.smiles is not None:
        table = np.array([float(value[0] if isinstance(value, tuple) else value) for value in labels.values])
    else:
        names = collection.label_names.edges
        table = np.array([_ORDERS.get(names.get(value, ""), 1.0) for value in labels.values])
    return table[labels.codes[entries]] if len(entries) else np.ones(0)


def _chemist(symbols: list[str]) -> Chemist | None:
    """RDKit's coordinates of atoms whose codes stand for these symbols, or None if it is not installed."""
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdDepictor
    except ImportError:
        return None
    rdBase.DisableLog("rdApp.*")
    kinds = {1.5: Chem.BondType.AROMATIC, 2.0: Chem.BondType.DOUBLE, 3.0: Chem.BondType.TRIPLE}

    def coordinates(codes: NDArray[Any], ends: NDArray[Any], orders: NDArray[Any]) -> NDArray[Any]:
        molecule = Chem.RWMol()  # which takes atoms and bonds one by one
        for code in codes.tolist():
            molecule.AddAtom(Chem.Atom(symbols[code]))
        for (a, b), order in zip(ends.tolist(), orders.tolist(), strict=True):
            if a != b:
                molecule.AddBond(a, b, kinds.get(order, Chem.BondType.SINGLE))
        Chem.FastFindRings(molecule)
        rdDepictor.Compute2DCoords(molecule)
        return np.asarray(molecule.GetConformer().GetPositions())[:, :2]

    return coordinates


def _springs(n_nodes: int, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """A layout by forces, the same in every run."""
    igraph = _igraph()
    igraph.set_random_number_generator(random.Random(0))
    try:
        graph = igraph.Graph(n_nodes, edges.tolist())
        small = n_nodes <= _SMALL
        found = graph.layout_kamada_kawai() if small else graph.layout_fruchterman_reingold(niter=_STEPS)
    finally:
        igraph.set_random_number_generator(random)
    return np.array(found.coords, np.float64).reshape(n_nodes, 2)


def _igraph() -> Any:
    try:
        import igraph
    except ImportError:
        raise MissingDependencyError(
            'graphs are laid out by igraph; install it with pip install "gvoys[explore]"'
        ) from None
    return igraph
