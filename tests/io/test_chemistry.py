"""Chemistry: each option against RDKit read atom by atom, the defaults bit for bit, and the same from every source."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("rdkit")

from plain_chemistry import SMILES, first_5000, graph_of, invariant, plain_graph
from raising import raises
from rdkit import Chem
from same import same_graphs

import gvoys as gv
from gvoys.errors import DatasetError, GraphError, ParameterError
from gvoys.io import Chemistry, canonical_smiles, open_graphs
from gvoys.io.chemistry import as_chemistry, parse

FIELDS = ("fragments", "charges", "isotopes", "stereo", "hydrogens", "atoms")
VALUES = (
    ("keep", "largest"),
    (False, True),
    (False, True),
    (False, True),
    ("count", "ignore", "atoms"),
    ("usual", "element", "fine"),
)
ALL = [dict(zip(FIELDS, values, strict=True)) for values in product(*VALUES)]
ONE_EACH = [{}, *({name: value} for name, values in zip(FIELDS, VALUES, strict=True) for value in values[1:])]


# -- labels
@pytest.mark.parametrize(
    ("smiles", "options", "atoms"),
    [
        ("C[NH3+]", {}, [("C", False, 3), ("N", False, 3)]),
        ("C[NH3+]", {"charges": True}, [("C", False, 3), ("N", False, 3, "+1")]),
        ("[O-]C", {"charges": True}, [("O", False, 0, "-1"), ("C", False, 3)]),
        ("[Fe+2]", {"charges": True, "hydrogens": "ignore"}, [("Fe", False, "+2")]),
        ("[13CH4]", {}, [("C", False, 4)]),
        ("[13CH4]", {"isotopes": True}, [("C", False, 4, "13")]),
        ("[2H]Cl", {}, [("H", False, 0), ("Cl", False, 0)]),
        ("[2H]Cl", {"isotopes": True}, [("H", False, 0, "2"), ("Cl", False, 0)]),
        ("F[C@H](Cl)Br", {}, [("F", False, 0), ("C", False, 1), ("Cl", False, 0), ("Br", False, 0)]),
        ("F[C@H](Cl)Br", {"stereo": True}, [("F", False, 0), ("C", False, 1, "R"), ("Cl", False, 0), ("Br", False, 0)]),
        (
            "F[C@@H](Cl)Br",
            {"stereo": True},
            [("F", False, 0), ("C", False, 1, "S"), ("Cl", False, 0), ("Br", False, 0)],
        ),
        ("CO", {"hydrogens": "ignore"}, [("C", False), ("O", False)]),
        ("CO", {"atoms": "element"}, [("C",), ("O",)]),
        ("C[O-]", {"atoms": "element", "charges": True}, [("C",), ("O", "-1")]),
        ("C[O-]", {"atoms": "fine"}, [("C", False, 3, "D1"), ("O", False, 0, "-1", "D1")]),
        ("C1CC1", {"atoms": "fine", "hydrogens": "ignore"}, [("C", False, "D2", "R3")] * 3),
        ("O", {"hydrogens": "atoms"}, [("O", False), ("H", False), ("H", False)]),
        ("[2H]O", {"hydrogens": "atoms", "isotopes": True}, [("H", False, "2"), ("O", False), ("H", False)]),
        ("[Na+].OC", {"fragments": "largest"}, [("O", False, 1), ("C", False, 3)]),
        ("[Na+].[Cl-]", {"fragments": "largest", "charges": True}, [("Cl", False, 0, "-1")]),
        ("C=C.CC", {"fragments": "largest"}, [("C", False, 3), ("C", False, 3)]),
        ("COC.CCO", {"fragments": "largest"}, [("C", False, 3), ("C", False, 2), ("O", False, 1)]),
        (
            "[13CH3][C@H]([NH3+])O.Cl",
            {"fragments": "largest", "charges": True, "isotopes": True, "stereo": True},
            [("C", False, 3, "13"), ("C", False, 1, "R"), ("N", False, 3, "+1"), ("O", False, 1)],
        ),
        ("[13CH3][C@H](C)O", {"stereo": True}, [("C", False, 3), ("C", False, 1), ("C", False, 3), ("O", False, 1)]),
    ],
)
def test_labels_of_atoms_by_option(smiles, options, atoms):
    assert gv.from_smiles([smiles], options).node_labels.decode() == atoms


@pytest.mark.parametrize(
    ("smiles", "options", "bonds"),
    [
        ("F/C=C/F", {}, [1.0, 1.0, 2.0, 2.0, 1.0, 1.0]),
        ("F/C=C/F", {"stereo": True}, [1.0, 1.0, (2.0, "E"), (2.0, "E"), 1.0, 1.0]),
        ("F/C=C\\F", {"stereo": True}, [1.0, 1.0, (2.0, "Z"), (2.0, "Z"), 1.0, 1.0]),
        ("FC=CF", {"stereo": True}, [1.0, 1.0, 2.0, 2.0, 1.0, 1.0]),
        ("O", {"hydrogens": "atoms"}, [1.0] * 4),
    ],
)
def test_labels_of_bonds_by_option(smiles, options, bonds):
    batch = gv.from_smiles([smiles], options)
    assert batch.edge_labels.decode() == bonds
    assert set(batch.edge_labels.values) == set(bonds)  # and none that no bond has


@pytest.mark.parametrize("options", ALL, ids=str)
def test_every_combination_is_what_rdkit_reads(options):
    batch = gv.from_smiles(SMILES, options)
    for graph, text in zip(batch, SMILES, strict=True):
        assert graph_of(graph) == plain_graph(text, **options), text


@pytest.mark.parametrize("options", ONE_EACH, ids=str)
def test_each_option_on_rdkits_own_molecules(options):
    smiles = [text for text in first_5000()[:: 1 if not options else 5] if Chem.MolFromSmiles(text) is not None]
    if not smiles:
        pytest.skip("RDKit is installed without its data")
    batch = gv.from_smiles(smiles, options)
    plain = [plain_graph(text, **options) for text in smiles]
    assert batch.node_labels.decode() == [label for labels, _ in plain for label in labels]
    assert [graph_of(graph)[1] for graph in batch] == [bonds for _, bonds in plain]


@pytest.mark.parametrize("given", [None, {}, Chemistry(), Chemistry().as_dict()])
def test_the_defaults_are_the_graphs_of_before(given):
    """Built from the atoms one by one, in the order of the table of labels that the packed integers give."""
    batch = gv.from_smiles(SMILES, given)
    same_graphs(batch, gv.from_smiles(SMILES))
    same_graphs(batch, open_graphs(SMILES).read().batch)
    plain = [plain_graph(text) for text in SMILES]
    labels = [label for atoms, _ in plain for label in atoms]
    number = Chem.GetPeriodicTable().GetAtomicNumber
    table = sorted(set(labels), key=lambda each: (0 if each[0] == "*" else number(each[0]), each[2], each[1]))
    assert list(batch.node_labels.values) == table
    assert batch.node_labels.codes.tolist() == [table.index(label) for label in labels]
    offsets = np.cumsum([0, *(len(atoms) for atoms, _ in plain)])
    again = gv.GraphBatch.from_arrays(
        [[u + first, v + first] for (_, bonds), first in zip(plain, offsets, strict=False) for u, v in bonds if u < v],
        [len(atoms) for atoms, _ in plain],
        labels,
        [order for _, bonds in plain for (u, v), order in bonds.items() if u < v],
    )
    same_graphs(again, batch)


def test_options_add_to_labels_only_where_there_is_something_to_tell():
    plain = ["CCO", "c1ccccc1", "CC(=O)N"]
    every = {"charges": True, "isotopes": True, "stereo": True, "fragments": "largest"}
    same_graphs(gv.from_smiles(plain, {"fragments": "largest"}), gv.from_smiles(plain))
    same = gv.from_smiles(plain, every)
    assert same.node_labels.decode() == gv.from_smiles(plain).node_labels.decode()
    np.testing.assert_array_equal(np.sort(same.node_labels.hashed), np.sort(gv.from_smiles(plain).node_labels.hashed))


@pytest.mark.parametrize("options", ONE_EACH, ids=str)
def test_no_molecules_and_bad_ones(options):
    assert len(gv.from_smiles([], options)) == 0
    assert gv.from_smiles(["C1.C1"], options).n_nodes in (2, 8)
    graphs = open_graphs(["C1CC", "CC", "C(", "C.C("], chemistry=options).read()
    assert graphs.rows == [2]
    assert [each.row for each in graphs.skipped] == [1, 3, 4]


# -- invariance
@st.composite
def _mixtures(draw):
    parts = draw(
        st.lists(
            st.sampled_from([text for text in SMILES if "." not in text and len(text) < 99]), min_size=1, max_size=4
        )
    )
    options = draw(st.sampled_from(ALL))
    return parts, draw(st.permutations(parts)), options, draw(st.integers(0, 2**31 - 1))


@given(_mixtures())
@settings(max_examples=300, deadline=None)
def test_neither_the_order_of_atoms_nor_of_parts_matters(mixture):
    parts, others, options, seed = mixture
    first, second = (".".join(texts) for texts in (parts, others))
    turned = Chem.MolToRandomSmilesVect(Chem.MolFromSmiles(second), 1, randomSeed=seed)[0]
    one, other = gv.from_smiles([first], options), gv.from_smiles([turned], options)
    assert invariant(one) == invariant(other)
    assert len(set(canonical_smiles([first, second, turned], options))) == 1


@pytest.mark.parametrize("options", ALL, ids=str)
def test_the_same_canonical_smiles_is_the_same_graph(options):
    changes = [*SMILES, "OCC", "CC(N)C(O)=O", "FC=CF", "C", "[CH4:7]", "CO", "[2H]CO", "[Cl-]", "Cl", "[Cl]", "C=CF"]
    names = canonical_smiles(changes, options)
    groups = {}
    for name, graph in zip(names, gv.from_smiles(changes, options), strict=True):
        groups.setdefault(name, set()).add(repr(invariant(graph)))
    assert {len(graphs) for graphs in groups.values()} == {1}
    assert len(groups) < len(changes) - 3


# -- from every source
def write(folder, kind):
    rows = [("a", "C[NH3+].[Cl-]"), ("b", "C1CC"), ("c", "F/C=C/F"), ("d", "")]
    text = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
    path = folder / f"molecules{kind}"
    if kind in text:
        path.write_text("".join(text[kind].join(row) + "\n" for row in [("id", "smiles"), *rows]))
    elif kind == ".smi":
        path.write_text("".join(f"{smiles}\t{name}\n" for name, smiles in rows))
    elif kind == ".parquet":
        pytest.importorskip("pyarrow")
        import pandas as pd

        pd.DataFrame(rows, columns=["id", "smiles"]).to_parquet(path)
    elif kind == "DataFrame":
        return pytest.importorskip("pandas").DataFrame(rows, columns=["id", "smiles"])
    else:
        return [smiles for _, smiles in rows]
    return path


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".txt", ".smi", ".parquet", "DataFrame", "list"])
@pytest.mark.parametrize("options", [{}, {"stereo": True, "charges": True}, {"fragments": "largest"}], ids=str)
def test_every_source_of_smiles_passes_it_on(tmp_path, kind, options):
    source = write(tmp_path, kind)
    for given_options in (options, Chemistry(**options), Chemistry(**options).as_dict()):
        opened = open_graphs(source, chemistry=given_options)
        graphs = opened.read()
        same_graphs(graphs.batch, gv.from_smiles(["C[NH3+].[Cl-]", "F/C=C/F"], options))
        assert [each.row - opened.first_row for each in graphs.skipped] == [1, 3]
        assert "empty" in graphs.skipped[1].reason
        pieces = [piece.batch for piece in opened.batches(1) if len(piece.batch)]
        np.testing.assert_array_equal(
            gv.GraphBatch.concatenate(pieces).node_labels.hashed, graphs.batch.node_labels.hashed
        )


def test_options_of_a_source(tmp_path):
    path = write(tmp_path, ".csv")
    plain = open_graphs(path).identity()
    assert plain.keys() == {"name", "bytes", "blake2b", "columns"}
    assert open_graphs(path, chemistry=Chemistry()).identity() == plain
    told = open_graphs(path, chemistry={"charges": True, "stereo": False}).identity()
    assert told == plain | {"chemistry": {"charges": True}}
    assert json.loads(json.dumps(told)) == told
    assert open_graphs(path, chemistry=told["chemistry"]).chemistry == Chemistry(charges=True)
    (tmp_path / "a.g6").write_text("Bw\n")
    sentence = "a.g6 holds no SMILES, and only these have options of chemistry; leave out charges, stereo"
    raises(DatasetError, sentence, open_graphs, tmp_path / "a.g6", chemistry={"charges": True, "stereo": True})
    assert len(open_graphs(tmp_path / "a.g6", chemistry=Chemistry()).read().batch) == 1
    raises(DatasetError, "leave out charges", open_graphs, [Chem.MolFromSmiles("C")], chemistry={"charges": True})


# -- what cannot be asked for
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"fragments": "all"}, "fragments must be 'keep' or 'largest', not 'all'"),
        ({"hydrogens": None}, "hydrogens must be 'count', 'ignore' or 'atoms', not None"),
        ({"charges": 1}, "charges must be True or False, not 1"),
        ({"stereo": "R"}, "stereo must be True or False, not 'R'"),
        (
            {"isotope": True},
            "chemistry has no option 'isotope'; it has fragments, charges, isotopes, stereo, hydrogens, atoms",
        ),
        ("charges", "chemistry must be a Chemistry or a dictionary of its options, not 'charges'"),
    ],
)
def test_options_that_are_none(options, sentence):
    for call in (as_chemistry, lambda it: gv.from_smiles(["C"], it), lambda it: open_graphs(["C"], chemistry=it)):
        assert raises(ParameterError, "", call, options) == sentence


def test_options_are_values():
    assert Chemistry() == Chemistry(fragments="keep")
    assert hash(Chemistry()) != hash(Chemistry(stereo=True))
    with pytest.raises(AttributeError):
        Chemistry().stereo = True
    molecule = Chem.MolFromSmiles("CC(C)O")
    molecule.GetAtomWithIdx(1).SetProp("_CIPCode", "R")
    assert not parse._label_stereo(molecule, "C[C@H](C)O").GetAtomWithIdx(1).HasProp("_CIPCode")


def test_cip_labels_that_take_too_long(monkeypatch):
    monkeypatch.setattr(parse, "_CIP_STEPS", 1)
    smiles = ["C[C@H](CCCCO)CCCCN", "CC"]
    graphs = open_graphs(smiles, chemistry={"stereo": True}).read()
    reason = "RDKit cannot find the CIP labels of 'C[C@H](CCCCO)CCCCN' in 1 steps"
    assert [(each.row, each.reason) for each in graphs.skipped] == [(1, reason)]
    raises(GraphError, "molecule 0: RDKit cannot find the CIP labels", gv.from_smiles, smiles, {"stereo": True})
    assert canonical_smiles(smiles, {"stereo": True})[0] == "C[C@@H](CCCCN)CCCCO"  # which needs no CIP labels
