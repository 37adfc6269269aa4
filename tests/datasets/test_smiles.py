"""Molecules from SMILES, one by one and in tables."""

import numpy as np
import pytest

import gvoys as gv
from gvoys.errors import DatasetError, GraphError, MissingDependencyError

MOLECULES = ["CCO", "c1ccccc1", "C#N", "[Na+].[Cl-]", "C"]


@pytest.fixture(autouse=True)
def _needs_rdkit(request):
    if "without" not in request.node.name:
        pytest.importorskip("rdkit")


def test_atoms_and_bonds_have_their_labels():
    batch = gv.from_smiles(MOLECULES)
    assert batch.graph_sizes.tolist() == [3, 6, 2, 2, 1]
    assert batch[0].node_labels.decode() == [("C", False, 3), ("C", False, 2), ("O", False, 1)]
    assert set(batch[1].node_labels.decode()) == {("C", True, 1)}
    assert set(batch[1].edge_labels.decode()) == {1.5}
    assert set(batch[2].edge_labels.decode()) == {3.0}
    assert batch[3].n_edges == 0


def test_what_cannot_be_read_is_named():
    with pytest.raises(GraphError, match="molecule 1: RDKit cannot read the SMILES 'C1CC'"):
        gv.from_smiles(["CC", "C1CC"])
    with pytest.raises(GraphError, match="molecule 0: RDKit cannot read the SMILES None"):
        gv.from_smiles([None])
    with pytest.raises(GraphError, match="wrap it in a list"):
        gv.from_smiles("CCO")


def test_tables(tmp_path):
    (tmp_path / "a.csv").write_text("name,SMILES,logp\nethanol,CCO,-0.3\nbenzene,c1ccccc1,2.1\n")
    batch, y = gv.datasets.load_smiles(tmp_path / "a.csv", "logp")
    assert len(batch) == 2
    np.testing.assert_array_equal(y, [-0.3, 2.1])
    assert gv.datasets.load_smiles(tmp_path / "a.csv", "name")[1].tolist() == ["ethanol", "benzene"]
    (tmp_path / "b.smi").write_text("CCO ethanol\n\nc1ccccc1 benzene\n")
    batch, y = gv.datasets.load_smiles(tmp_path / "b.smi")
    assert len(batch) == 2
    assert y is None


@pytest.mark.parametrize(
    ("file", "text", "target", "message"),
    [
        ("a.xls", "", None, "is not one of"),
        ("none.csv", None, None, "there is no file"),
        ("a.csv", "smiles,y\n", "y", "holds no rows"),
        ("a.csv", "smiles,y\nCC,1\n", "z", "no column 'z'; it has 'smiles', 'y'"),
        ("a.csv", "smiles,y\nCC,1\nC,\n", "y", "row 2: the column 'y' is empty"),
        ("a.smi", "CC\n", "y", "has no columns"),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path, file, text, target, message):
    if text is not None:
        (tmp_path / file).write_text(text)
    with pytest.raises(DatasetError, match=message):
        gv.datasets.load_smiles(tmp_path / file, target)


def test_without_rdkit_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(MissingDependencyError, match=r"gvoys\[chem\]"):
        gv.from_smiles(["C"])
