"""Drawings of every graph: molecules by RDKit, and nodes and edges of other graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gvoys.apps.explore.collection import Collection
from gvoys.drawing.networks import LARGEST, springs
from gvoys.drawing.picture import known_molecule
from gvoys.drawing.structures import BOND, Structure, draw_structure
from gvoys.graphs.arcs import edges_of
from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry.atom_labels import label_text

_OFTEN = 100  # graphs between two progress reports


@dataclass(frozen=True)
class Drawn:
    """One graph: the place of each node, y downwards, its edges and codes of its labels, or RDKit's drawing."""

    xy: NDArray[np.float64]
    ends: NDArray[np.int64]
    codes: NDArray[np.int32]
    structure: Structure | None = None


@dataclass(frozen=True)
class Drawings:
    """All graphs, without nodes where there are too many, and what is written at a node of each label."""

    graphs: list[Drawn]
    texts: list[str]
    directed: bool

    @property
    def molecules(self) -> bool:
        """Whether all graphs are drawn as molecules."""
        return all(graph.structure is not None for graph in self.graphs)


def draw(collection: Collection, on_progress: Callable[[str], None]) -> Drawings:
    """Draw every graph that is not too large."""
    graphs, n_graphs = [], len(collection.batch)
    for g, graph in enumerate(collection.batch):
        if g % _OFTEN == 0:
            on_progress(f"drawing graph {g:,} of {n_graphs:,}")
        graphs.append(_draw_one(graph, None if collection.smiles is None else collection.smiles[g]))
    labels, names = collection.batch.node_labels, collection.label_names.nodes
    values = () if labels is None else labels.values
    return Drawings(graphs, [names.get(value, label_text(value)) for value in values], collection.batch.directed)


def _draw_one(graph: GraphBatch, smiles: str | None) -> Drawn:
    no_ends = np.zeros((0, 2), np.int64)
    if graph.n_nodes > LARGEST:
        return Drawn(np.zeros((0, 2)), no_ends, np.zeros(0, np.int32))
    molecule = known_molecule(smiles, graph)
    codes = np.zeros(graph.n_nodes, np.int32) if graph.node_labels is None else graph.node_labels.codes
    if molecule is not None:
        structure = draw_structure(molecule)
        return Drawn(structure.xy, no_ends, codes, structure)
    ends = edges_of(graph)[0]
    return Drawn(BOND * springs(graph.n_nodes, ends), ends, codes)
