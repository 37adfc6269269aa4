"""RDKit molecules are the graphs that their SMILES are."""

import numpy as np
import pytest
from raising import raises
from same import same_graphs

import gvoys as gv
from gvoys.errors import GraphError

Chem = pytest.importorskip("rdkit.Chem")

SMILES = ["CCO", "c1ccccc1", "[Na+].[Cl-]", "C", "", "*C", "C*", "[2H]CCl", "[H][H]", "C~C", "[Fe]<-N", "C:C"]
SMILES += ["C[C@H](N)C(=O)O", "F/C=C/F", "c1cc[nH]c1", "O=[N+]([O-])c1ccccc1", "N[Pt](N)(Cl)Cl", "[C]$[C]", "C[#1]"]
SMILES += ["c1ccc2cccc-2cc1", "[CH3:1]C", "[NH4+]", "[H]C([H])O", "C" * 200]


def test_a_molecule_is_the_graph_of_its_smiles():
    same_graphs(gv.as_batch([Chem.MolFromSmiles(text) for text in SMILES]), gv.from_smiles(SMILES))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(Chem.AddHs, id="hydrogens as atoms"),
        pytest.param(Chem.RWMol, id="editable"),
        pytest.param(lambda molecule: Chem.Mol(molecule.ToBinary()), id="copied"),
    ],
)
def test_hydrogens_and_kinds_of_molecule_do_not_matter(change):
    smiles = [text for text in SMILES if "[H]" not in text and "2H" not in text]
    molecules = [change(Chem.MolFromSmiles(text)) for text in smiles]
    sizes = [molecule.GetNumAtoms() for molecule in molecules]
    same_graphs(gv.as_batch(molecules), gv.from_smiles(smiles))
    assert [molecule.GetNumAtoms() for molecule in molecules] == sizes  # they are as they were


def test_molecules_are_read_as_from_a_file():
    drawn = [Chem.MolFromSmiles(text, sanitize=False) for text in ("Oc1ccccc1", "C1=CC=CC=C1")]
    same_graphs(gv.as_batch(drawn), gv.from_smiles(["Oc1ccccc1", "c1ccccc1"]))
    smiles = ["CCO", "c1ccccc1", "CC(=O)N"]
    K = gv.RandomWalkKernel(walk=gv.Walk(3)).fit_transform([Chem.MolFromSmiles(text) for text in smiles])
    np.testing.assert_array_equal(K, gv.RandomWalkKernel(walk=gv.Walk(3)).fit_transform(gv.from_smiles(smiles)))


def test_what_is_no_molecule_is_named():
    five = Chem.MolFromSmiles("C(C)(C)(C)(C)C", sanitize=False)
    with pytest.raises(GraphError, match=r"graph 1: RDKit cannot sanitise the molecule \(Explicit valence .* 5"):
        gv.as_batch([Chem.MolFromSmiles("C"), five])
    raises(GraphError, r"single graph; wrap it: as_batch\(\[graph\]\)", gv.as_batch, five)
    molecules = [Chem.MolFromSmiles("CCO")]
    plain = gv.as_batch(molecules, node_label=None, edge_label=None)
    assert plain.node_labels is None
    assert plain.edge_labels is None
    with pytest.raises(GraphError, match="no graph has the node_label 'symbol'; pass node_label=None"):
        gv.as_batch(molecules, node_label="symbol")
