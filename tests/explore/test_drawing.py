"""What is drawn as a molecule: graphs whose SMILES is known, and no others."""

import numpy as np
import pytest

import gvoys as gv
from gvoys.apps.explore.collection import Collection, has_bonds, load_collection
from gvoys.apps.explore.explore_page import draw
from gvoys.datasets.loaders import read_freesolv
from gvoys.io.tu import LabelNames


def test_molecules_without_their_smiles_are_graphs():
    pytest.importorskip("rdkit")
    graphs = read_freesolv()
    unknown = draw(load_collection(graphs.batch[:4]), lambda stage: None)
    assert not unknown.molecules
    assert "OH" in unknown.texts
    known = draw(Collection("known", graphs.batch[:4], [""] * 4, smiles=graphs.smiles[:4]), lambda stage: None)
    assert known.molecules


def test_one_molecule_that_does_not_fit_is_a_graph():
    pytest.importorskip("rdkit")
    drawings = draw(Collection("some", gv.from_smiles(["CO", "CC"]), [""] * 2, smiles=["CO", "CN"]), lambda stage: None)
    assert [graph.structure is not None for graph in drawings.graphs] == [True, False]


@pytest.mark.parametrize(
    ("nodes", "edges", "bonds"),
    [
        ({0: "C", 1: "Cl"}, {0: "single"}, True),
        ({0: "C", 1: "Cl"}, {}, False),
        ({0: "helix", 1: "C"}, {0: "x"}, False),
        ({}, {0: "x"}, False),
    ],
)
def test_edges_are_bonds_by_the_names_of_labels(nodes, edges, bonds):
    batch = gv.GraphBatch.from_arrays(np.array([[0, 1]]), [2], node_labels=[0, 1], edge_labels=[0])
    assert has_bonds(Collection("named", batch, [""], label_names=LabelNames(nodes, edges))) == bonds
