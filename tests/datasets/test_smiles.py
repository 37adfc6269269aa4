"""Molecules from SMILES, one by one and in tables."""

from pathlib import Path

import numpy as np
import pytest
from raising import raises

import gvoys as gv
from gvoys.errors import DatasetError, GraphError, MissingDependencyError
from gvoys.io import open_graphs

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
    for smiles, said in (
        (["CC", "C1CC"], "molecule 1: RDKit cannot read the SMILES 'C1CC'"),
        ([None], "molecule 0: RDKit cannot read the SMILES None"),
        ("CCO", "wrap it in a list"),
    ):
        raises(GraphError, said, gv.from_smiles, smiles)


def test_the_quick_parser_takes_and_refuses_what_rdkit_does():
    """On RDKit's own 5000 molecules and on 20,000 random changes of them, most of which are no molecules."""
    import rdkit
    from rdkit import Chem

    from gvoys.io.smiles import read_smiles

    lines = (Path(rdkit.__file__).parent / "Data/NCI/first_5K.smi").read_text().splitlines()
    smiles = [line.split()[0] for line in lines if line.strip()]
    rng = np.random.default_rng(0)
    for _ in range(20_000):
        text = list(smiles[rng.integers(5000) % len(lines)])
        for place in rng.integers(len(text), size=rng.integers(1, 4)):
            text[place] = rng.choice(list("CNOPScnos[]()=#123+-H@/\\.F~*$%"))
        smiles.append("".join(text))
    batch, skipped = read_smiles(smiles)
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    assert [index for index, _ in skipped] == [i for i, molecule in enumerate(molecules) if molecule is None]
    read = [molecule for molecule in molecules if molecule is not None]
    assert len(read) > 6000
    expected = [(a.GetSymbol(), a.GetIsAromatic(), a.GetTotalNumHs()) for m in read for a in m.GetAtoms()]
    assert batch.node_labels.decode() == expected
    np.testing.assert_array_equal(np.diff(batch.entry_offsets), [2 * m.GetNumBonds() for m in read])
    orders = sorted(b.GetBondTypeAsDouble() for m in read for b in m.GetBonds())
    assert sorted(batch.edge_labels.decode())[::2] == orders


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
        ("a.csv", "smiles,y\n", "y", "holds no graphs"),
        ("a.csv", "smiles,y\nCC,1\n", "z", "no column 'z'; it has 'smiles', 'y'"),
        ("a.csv", "smiles,y\nCC,1\nC,\n", "y", "row 3: the column 'y' is empty"),
        ("a.csv", "smiles,y\nCC,1\nC(,2\n", "y", r"a.csv, row 3: RDKit cannot read the SMILES 'C\('; correct it or"),
        ("a.csv", "smiles,y\nC(,1\nC(,2\n", "y", "holds no graph that can be read; row 2: RDKit"),
        ("a.smi", "CC\n", "y", "has no columns"),
        ("a.smi", "\n", None, "holds no graphs"),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path, file, text, target, message):
    if text is not None:
        (tmp_path / file).write_text(text)
    raises(DatasetError, message, gv.datasets.load_smiles, tmp_path / file, target)


def test_rows_that_cannot_be_read_are_skipped_and_counted(tmp_path):
    (tmp_path / "a.csv").write_text("name,smiles,y\na,CC,1\nb,C(,2\nc,,3\nd,CO,\ne,CCO,5\n")
    table = open_graphs(tmp_path / "a.csv", target="Y").read()
    assert table.columns["name"].tolist() == ["a", "e"]
    assert table.y.tolist() == [1.0, 5.0]
    assert table.smiles == ["CC", "CCO"]
    assert table.batch.graph_sizes.tolist() == [2, 3]
    reasons = ["RDKit cannot read the SMILES 'C('", "the column 'smiles' is empty", "the column 'y' is empty"]
    assert table.skipped == list(zip([3, 4, 5], ["C(", "", "CO"], reasons, strict=True))
    assert len(open_graphs(tmp_path / "a.csv").read().ids) == 3  # no target is needed
    (tmp_path / "b.smi").write_text("CC\tethane gas\nC( what\nCO methanol\n")
    assert open_graphs(tmp_path / "b.smi").read().ids == ["ethane gas", "methanol"]


def test_without_rdkit_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "rdkit", None)
    raises(MissingDependencyError, r"gvoys\[chem\]", gv.from_smiles, ["C"])
