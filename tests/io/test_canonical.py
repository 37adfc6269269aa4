"""Canonical SMILES and scaffolds, against RDKit's own on whole molecules."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("rdkit")

from plain_chemistry import SMILES, first_5000
from raising import raises
from rdkit import Chem
from rdkit.Chem.Scaffolds import MurckoScaffold

from gvoys.errors import GraphError, ParameterError
from gvoys.io import canonical_smiles, scaffolds


@pytest.mark.parametrize(
    ("options", "smiles", "name"),
    [
        ({}, "OCC", "CCO"),
        ({}, "C1=CC=CC=C1", "c1ccccc1"),
        ({}, "C[C@H](N)O", "CC(N)O"),
        ({}, "F/C=C/F", "FC=CF"),
        ({}, "[13CH4]", "C"),
        ({}, "[2H]CCl", "[H]CCl"),  # deuterium is a node
        ({}, "CC(=O)[O-].[Na+]", "CC(=O)[O-].[Na+]"),
        ({}, "[CH3:1][OH:2]", "CO"),
        ({}, "[Cl].C", "C.[Cl]"),
        ({"charges": True}, "C[NH3+]", "C[NH3+]"),
        ({"hydrogens": "ignore"}, "C[NH3+]", "C[NH3+]"),
        ({"hydrogens": "atoms"}, "[2H]CCl", "CCl"),
        ({"hydrogens": "atoms"}, "F/C=C/[2H]", "C=CF"),
        ({"hydrogens": "atoms", "isotopes": True}, "[2H]CCl", "[2H]CCl"),
        ({"isotopes": True}, "[13CH3][C@H](N)O", "[13CH3]C(N)O"),
        ({"isotopes": True}, "F/C=C/[2H]", "[2H]C=CF"),
        ({"stereo": True}, "[13CH3][C@H](N)O", "C[C@H](N)O"),
        ({"stereo": True}, "[13CH3][C@H](C)O", "CC(C)O"),
        ({"stereo": True, "isotopes": True}, "[13CH3][C@H](C)O", "C[C@@H]([13CH3])O"),
        ({"stereo": True}, "F/C=C/F", "F/C=C/F"),
        ({"fragments": "largest"}, "CC(=O)[O-].[Na+]", "CC(=O)[O-]"),
        ({"fragments": "largest"}, "COC.CCO", "CCO"),
        ({"fragments": "largest"}, "C[NH3+].[Cl-].[CH3:1]F", "CF"),
    ],
)
def test_what_labels_do_not_tell_is_dropped(options, smiles, name):
    assert canonical_smiles([smiles], options) == [name]


def test_rdkits_own_names():
    smiles = first_5000()[::3] or SMILES
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    read = [(text, molecule) for text, molecule in zip(smiles, molecules, strict=True) if molecule is not None]
    texts = [text for text, _ in read]
    assert canonical_smiles(texts) == [Chem.MolToSmiles(molecule, isomericSmiles=False) for _, molecule in read]
    both = {"stereo": True, "isotopes": True}
    assert canonical_smiles(texts, both) == [Chem.MolToSmiles(molecule) for _, molecule in read]
    assert scaffolds(texts) == [MurckoScaffold.MurckoScaffoldSmiles(mol=molecule) for _, molecule in read]


def test_scaffolds_of_molecules_with_everything_and_of_salts():
    expected = [MurckoScaffold.MurckoScaffoldSmiles(mol=Chem.MolFromSmiles(text)) for text in SMILES]
    assert scaffolds(SMILES) == expected
    assert expected[SMILES.index("CCO")] == ""
    salt = "c1ccc2ccccc2c1CN.O=S(=O)(O)c1ccccc1"
    assert scaffolds([salt]) == ["c1ccc2ccccc2c1.c1ccccc1"]
    assert scaffolds([salt], {"fragments": "largest"}) == ["c1ccc2ccccc2c1"]
    assert scaffolds(["C[C@H]1CC1.[13CH4]"], {"stereo": True, "isotopes": True}) == ["C1CC1"]


@pytest.mark.parametrize("function", [canonical_smiles, scaffolds])
def test_anything_like_a_list(function):
    names = function(["OCC", "c1ccccc1C"])
    for given in (("OCC", "c1ccccc1C"), np.array(["OCC", "c1ccccc1C"]), pd.Series(["OCC", "c1ccccc1C"], index=[5, 3])):
        assert function(given) == names
    assert function(iter(["OCC", "c1ccccc1C"])) == names
    assert function([]) == []
    raises(ParameterError, "fragments must be", function, ["C"], {"fragments": 1})


@pytest.mark.parametrize("function", [canonical_smiles, scaffolds])
@pytest.mark.parametrize(
    ("smiles", "sentence"),
    [
        (["C", "C1CC"], "molecule 1: RDKit cannot read the SMILES 'C1CC'; correct it or remove it"),
        (["C", None], "molecule 1: RDKit cannot read the SMILES None; correct it or remove it"),
        (["C" * 10_001], "molecule 0: the SMILES has 10,001 characters, and at most 10,000 are read; correct it or "),
        ("CCO", " takes a list of SMILES strings and was given a single one; wrap it in a list"),
        (5, " takes a list of SMILES strings, not 'int'"),
        (pd.DataFrame({"smiles": ["C"]}), " takes a list of SMILES strings, not a DataFrame; pass a column: table['s"),
    ],
    ids=["unreadable", "missing", "long", "one", "number", "DataFrame"],
)
def test_what_is_no_list_of_smiles(function, smiles, sentence):
    assert sentence in raises(GraphError, "", function, smiles)
