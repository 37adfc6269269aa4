"""What is drawn as a molecule: graphs whose labels are atoms, wherever they come from."""

import numpy as np
import pytest

import gvoys as gv
from gvoys.explore.collection import load_collection
from gvoys.explore.drawing import draw, drawn_as_molecules


def test_molecules_without_their_smiles():
    pytest.importorskip("rdkit")
    batch = gv.datasets.freesolv()[0][:4]
    collection = load_collection(batch)
    assert collection.smiles is None
    assert drawn_as_molecules(collection)
    drawings = draw(collection, lambda stage: None)
    assert drawings.molecules
    assert set(np.unique(drawings.orders)) == {1.0, 1.5, 2.0}


@pytest.mark.parametrize("labels", [[("C", 1), ("Q", 2)], ["C", "O"], [(), ("C",)], [1, 2]])
def test_labels_that_are_no_atoms(labels):
    batch = gv.GraphBatch.from_arrays(np.array([[0, 1]]), [2], node_labels=labels)
    assert not drawn_as_molecules(load_collection(batch))
