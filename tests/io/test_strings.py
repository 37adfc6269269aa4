"""SMILES wherever graphs are taken, and tables where they are not."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

pytest.importorskip("rdkit")

from raising import raises
from same import same_graphs

import gvoys as gv
from gvoys.errors import GraphError
from gvoys.io import open_graphs

SMILES = ["CCO", "c1ccccc1", "CC(=O)N", "C[NH3+].[Cl-]"]
FORMS = {
    "list": SMILES,
    "tuple": tuple(SMILES),
    "array": np.array(SMILES),
    "objects": np.array(SMILES, object),
    "Series": pd.Series(SMILES, index=list("dcba")),
    "strings": pd.Series(SMILES, dtype="string"),
    "with spaces": [f" {text}\n" for text in SMILES],
}


@pytest.mark.parametrize("form", FORMS)
def test_strings_are_molecules(form):
    same_graphs(gv.as_batch(FORMS[form]), gv.from_smiles(SMILES))


def test_estimators_take_a_column_of_smiles():
    table = pd.DataFrame({"smiles": SMILES * 3, "y": np.arange(12.0)})
    model = gv.RandomWalkRegressor(gv.Walk(2)).fit(table["smiles"], table["y"])
    other = gv.RandomWalkRegressor(gv.Walk(2)).fit(gv.from_smiles(SMILES * 3), np.arange(12.0))
    np.testing.assert_array_equal(model.predict(table["smiles"]), other.predict(gv.from_smiles(SMILES * 3)))
    plain = gv.as_batch(SMILES, node_label=None, edge_label=None)
    assert plain.node_labels is None
    assert plain.edge_labels is None
    np.testing.assert_array_equal(plain.indices, gv.from_smiles(SMILES).indices)
    assert gv.as_batch(SMILES, edge_label=None).node_labels is not None
    with pytest.raises(GraphError, match="no graph has the node_label 'symbol'; pass node_label=None"):
        gv.as_batch(SMILES, node_label="symbol")
    with pytest.raises(GraphError, match="no node has the attribute 'charge' that node_attributes asks for"):
        gv.as_batch(SMILES, node_attributes="charge")


@pytest.mark.parametrize(
    ("graphs", "sentence"),
    [
        (["CC", "C1CC"], "graph 1: RDKit cannot read the SMILES 'C1CC'; correct it or remove it"),
        (["CC", ""], "graph 1: there is no SMILES, but ''; correct it or remove it"),
        (["CC", " "], "graph 1: there is no SMILES, but ' '; correct it or remove it"),
        ([None, "CC"], "graph 0: there is no SMILES, but None; correct it or remove it"),
        (pd.Series(["CC", np.nan]), "graph 1: there is no SMILES, but nan; correct it or remove it"),
        (pd.Series(["CC", None], dtype="string"), "graph 1: there is no SMILES, but <NA>; correct it or remove it"),
        ([nx.path_graph(2), "CC"], "graph 1 is a 'str', which is not a graph; as_batch takes a list of"),
        (["CC", nx.path_graph(2)], "graph 0 is a 'str', which is not a graph; as_batch takes a list of"),
        ([1.5], "graph 0 is a 'float', which is not a graph"),
        (
            pd.DataFrame({"smiles": ["CC"]}),
            "as_batch takes a list of graphs, not a DataFrame; gvoys.datasets.load_smiles(table, target) and "
            "gvoys.io.open_graphs(table) read one, and a column of SMILES is such a list: table['smiles']",
        ),
    ],
    ids=["bad", "empty", "blank", "None", "nan", "NA", "after a graph", "before a graph", "number", "DataFrame"],
)
def test_what_is_no_smiles_is_named(graphs, sentence):
    assert raises(GraphError, "", gv.as_batch, graphs).startswith(sentence)


# -- rows without a SMILES
@pytest.mark.parametrize("empty", ["", " ", None, float("nan"), pd.NA])
def test_an_empty_smiles_is_a_skipped_row_whatever_the_form(tmp_path, empty):
    cells = ["CC", empty, "CO"]
    table = pd.DataFrame({"smiles": cells, "y": [1, 2, 3]})
    forms = [cells, table, pd.Series(cells), np.array(cells, object)]
    if isinstance(empty, str):
        for name, delimiter in (("a.csv", ","), ("a.tsv", "\t")):
            table.to_csv(tmp_path / name, sep=delimiter, index=False)
            forms.append(tmp_path / name)
    pytest.importorskip("pyarrow")
    table.to_parquet(tmp_path / "a.parquet")
    for form in [*forms, tmp_path / "a.parquet"]:
        source = open_graphs(form)
        graphs, first = source.read(), source.first_row
        assert graphs.rows == [first, first + 2]
        assert [(each.row, each.reason) for each in graphs.skipped] == [(first + 1, "the column 'smiles' is empty")]
        assert graphs.batch.graph_sizes.tolist() == [2, 2]


def test_a_line_that_begins_with_a_tab_has_an_id_and_no_smiles(tmp_path):
    """The id might be read as a molecule: CO is one."""
    (tmp_path / "a.smi").write_text("CC\tethane\n\tCO\n  CN amine\n\t\n")
    graphs = open_graphs(tmp_path / "a.smi").read()
    assert graphs.ids == ["ethane", "amine"]
    assert graphs.skipped == [(2, "\tCO", "the SMILES is empty")]
