"""open_graphs: whatever the form, the same graphs, ids, columns and skipped rows, and in every command."""

import csv
import json
import shutil

import networkx as nx
import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from input_files import write_inputs, write_tu
from raising import raises
from rdkit import Chem
from same import same_graphs
from typer.testing import CliRunner

import gvoys as gv
from gvoys.apps.cli import app
from gvoys.apps.scale.parts import part_ids
from gvoys.errors import DatasetError, GraphError
from gvoys.io import Skipped, open_graphs
from gvoys.io.sources import GraphSource

# five molecules, and rows without a SMILES, an id, a target, or a molecule
HEADER = ["Name", "SMILES", "y", "group"]
ROWS = [
    ("a", "CCO", "1.5", "x, 1"),
    ("b", "C1CC", "2", "y"),
    ("c", "c1ccccc1", "-3", 'say "z"'),
    ("d", "", "4", "x"),
    ("", "CC", "5", "x"),
    ("f", "CCN", "", "x"),
    ("g", "CC(=O)O", "7e-1", ""),
    ("h", "N#N", "8", "y"),
    ("i", "[Na+].[Cl-]", "9", "é"),
]
KEPT = [0, 2, 6, 7, 8]
IDS = [ROWS[i][0] for i in KEPT]
BROKEN = Skipped(2, "C1CC", "RDKit cannot read the SMILES 'C1CC'")
EMPTY = {
    "smiles": Skipped(4, "", "the column 'SMILES' is empty"),
    "id": Skipped(5, "CC", "the column 'Name' is empty"),
    "target": Skipped(6, "CCN", "the column 'y' is empty"),
}
SKIPPED = [BROKEN, EMPTY["smiles"], EMPTY["id"], EMPTY["target"]]


def without_header(source, skipped):
    """Skipped rows as numbers from 1: a row of a text file is a line, of which the header is the first."""
    return [each._replace(row=each.row - source.first_row + 1) for each in skipped]


def frame():
    """As pandas reads the table: numbers are numbers and empty cells are nan."""
    table = pd.DataFrame(ROWS, columns=HEADER).replace("", np.nan)
    return table.assign(y=table["y"].astype(float))


def write_text(path, delimiter, bom="", end="\n"):
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(bom)
        csv.writer(file, delimiter=delimiter, lineterminator=end).writerows([HEADER, *ROWS])
    return path


def write_parquet(path, table, **how):
    table.to_parquet(path, **how)
    return path


TABLES = {
    "csv": lambda folder: write_text(folder / "five.csv", ","),
    "CSV of Excel": lambda folder: write_text(folder / "five.CSV", ",", "\ufeff", "\r\n"),
    "tsv": lambda folder: write_text(folder / "five.tsv", "\t"),
    "txt": lambda folder: write_text(folder / "five.txt", "\t"),
    "parquet": lambda folder: write_parquet(folder / "five.parquet", frame(), row_group_size=2),
    "parquet of texts": lambda folder: write_parquet(folder / "five.parquet", pd.DataFrame(ROWS, columns=HEADER)),
    "DataFrame": lambda folder: frame(),
    "DataFrame of texts": lambda folder: pd.DataFrame(ROWS, columns=HEADER),
}


@pytest.mark.parametrize("form", TABLES)
def test_a_table_is_the_same_whatever_its_form(tmp_path, form):
    source = open_graphs(TABLES[form](tmp_path), id="name", target="Y")
    assert isinstance(source, GraphSource)
    assert source.column_names == HEADER
    graphs = source.read()
    same_graphs(graphs.batch, gv.from_smiles([ROWS[i][1] for i in KEPT]))
    assert graphs.ids == IDS
    assert source.first_row == (2 if "csv" in form.lower() or form in ("tsv", "txt") else 1)
    assert graphs.rows == [i + source.first_row for i in KEPT]
    assert without_header(source, graphs.skipped) == SKIPPED
    assert graphs.smiles == [ROWS[i][1] for i in KEPT]
    assert graphs.columns.keys() == {"Name", "y", "group"}
    np.testing.assert_array_equal(graphs.y, [1.5, -3.0, 0.7, 8.0, 9.0])
    np.testing.assert_array_equal(graphs.columns["y"], graphs.y)
    assert graphs.columns["group"].tolist() == ["x, 1", 'say "z"', "", "y", "é"]


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("n_rows", [1, 2, 4, 100])
def test_pieces_are_those_of_the_whole(tmp_path, form, n_rows):
    source = open_graphs(TABLES[form](tmp_path), id="name", target="y")
    pieces = list(source.batches(n_rows))
    whole = source.read()
    assert [name for piece in pieces for name in piece.ids] == whole.ids
    assert [each for piece in pieces for each in piece.skipped] == whole.skipped
    same_graphs(gv.GraphBatch.concatenate([piece.batch for piece in pieces if len(piece.batch)]), whole.batch)


@pytest.mark.parametrize("form", TABLES)
def test_an_id_and_a_target_are_needed_only_where_they_are_asked_for(tmp_path, form):
    source = TABLES[form](tmp_path)
    opened = open_graphs(source)
    plain = opened.read()
    assert without_header(opened, plain.skipped) == [BROKEN, EMPTY["smiles"]]
    assert plain.ids == ["1", "3", "5", "6", "7", "8", "9"]
    assert plain.y is None
    np.testing.assert_array_equal(plain.columns["y"], [1.5, -3, 5, np.nan, 0.7, 8, 9])
    named = open_graphs(source, id="NAME").read()
    assert without_header(opened, named.skipped) == [BROKEN, EMPTY["smiles"], EMPTY["id"]]
    several = open_graphs(source, target=["y", "group"]).read()
    assert several.y.shape == (5, 2)
    assert several.y[0].tolist() == ["1.5", "x, 1"]
    assert open_graphs(source, target=["y"]).read().y.shape == (6, 1)


SMILES = [row[1] for row in ROWS]
LISTS = {
    "list": SMILES,
    "tuple": tuple(SMILES),
    "array": np.array(SMILES),
    "Series": pd.Series(SMILES, index=list("zyxwvutsr")),
    "with None": [text or None for text in SMILES],
    "molecules": [Chem.MolFromSmiles(text) if text else None for text in SMILES],
}


@pytest.mark.parametrize("form", LISTS)
def test_lists_of_smiles(form):
    graphs = open_graphs(LISTS[form]).read()
    table = open_graphs(frame()).read()
    same_graphs(graphs.batch, table.batch)
    assert graphs.ids == table.ids
    if form == "molecules":
        assert [each.row for each in graphs.skipped] == [2, 4]
        assert graphs.skipped[0].reason == "there is no graph, but None"
    else:
        assert graphs.smiles == table.smiles
        assert graphs.skipped == [BROKEN, EMPTY["smiles"]._replace(reason="the column 'smiles' is empty")]


def test_lines_of_smiles(tmp_path):
    """The same rows: a blank line is counted, and is no row."""
    lines = [f"{row[1]} {row[0]}" if row[1] else "" for row in ROWS]
    (tmp_path / "five.smi").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    graphs = open_graphs(tmp_path / "five.smi").read()
    table = open_graphs(frame()).read()
    same_graphs(graphs.batch, table.batch)
    assert graphs.ids == ["a", "c", "5", "f", "g", "h", "i"]  # of a molecule without a name, the row
    assert graphs.rows == table.rows
    assert graphs.smiles == table.smiles
    assert graphs.skipped == [BROKEN]


# -- rows of text
REMEDY = "remove the line breaks, or write it as Parquet"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'CC,"1', f"a quoted field spans several lines, and a row is one line; {REMEDY}"),
        (b"CC\xff,1", "RDKit cannot read the SMILES 'CCÿ'"),
        (b"", None),
        (b",", None),
        (b" \t", None),
        (b" , ", None),
        (b'CC,5" pipe', ""),
        (b'"CC",1,2,3', ""),
        (b" CC ,1", ""),
        (b"CC", ""),
    ],
)
def test_odd_lines_stand_alone(tmp_path, line, reason):
    """None: no row at all; empty: a row like others."""
    (tmp_path / "a.csv").write_bytes(b"smiles,y\nCO,1\n" + line + b"\nCN,3\n")
    graphs = open_graphs(tmp_path / "a.csv").read()
    assert graphs.rows == ([2, 3, 4] if reason == "" else [2, 4])
    assert [(each.row, each.reason) for each in graphs.skipped] == ([(3, reason)] if reason else [])
    assert set(graphs.columns) == {"y"}
    (tmp_path / "a.smi").write_text("CC\n" + "X" * 5000 + "\n")
    (skipped,) = open_graphs(tmp_path / "a.smi").read().skipped
    assert skipped.text == "X" * 100 + "…"
    assert len(skipped.reason) < 200


# -- graphs
def labelled():
    graphs = []
    for k in range(6):
        graph = nx.cycle_graph(3 + k)
        nx.set_node_attributes(graph, {u: "ab"[u % 2] for u in graph}, "label")
        graph.graph.update(kind="xy"[k % 2], size=3 + k)
        graphs.append(graph)
    return graphs


def test_graphs_of_every_form(tmp_path):
    graphs = labelled()
    batch = gv.as_batch(graphs)
    gv.write_store(batch, tmp_path / "store")
    source = open_graphs(tmp_path / "store")
    assert np.shares_memory(source.read().batch.indices, source.batch().indices)
    lines = [json.dumps(nx.node_link_data(graph, edges="links")) for graph in graphs]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, "{}"]))
    plain = [nx.Graph(graph.edges) for graph in graphs]
    (tmp_path / "a.g6").write_bytes(b"".join(nx.to_graph6_bytes(graph, header=False) for graph in plain) + b"\x01\n")
    forms = [batch, graphs, iter(graphs), [batch[:2], batch[2:]], tmp_path / "store", str(tmp_path / "a.jsonl")]
    for form in [*forms, tmp_path / "a.g6"]:
        found = open_graphs(form).read()
        same_graphs(found.batch, gv.as_batch(plain) if str(form).endswith("g6") else batch)
        assert found.ids == ["1", "2", "3", "4", "5", "6"]
        assert [each.row for each in found.skipped] == ([7] if "a." in str(form) else [])
        assert found.smiles is None


def test_node_link_graphs_have_columns(tmp_path):
    lines = [json.dumps(nx.node_link_data(graph, edges="links")) for graph in labelled()]
    lines[2] = lines[2].replace('"size": 5', '"size": null')
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    graphs = open_graphs(tmp_path / "a.jsonl", target="size").read()
    assert graphs.y.tolist() == [3, 4, 6, 7, 8]
    assert graphs.columns["kind"].tolist() == ["x", "y", "y", "x", "y"]
    assert [(each.row, each.reason) for each in graphs.skipped] == [(3, "the column 'size' is empty")]
    with pytest.raises(DatasetError, match=r"a.jsonl has no column 'weight'; it has 'kind', 'size'; choose one"):
        open_graphs(tmp_path / "a.jsonl", target="weight")
    line = '{"graph": {"y": 1}, "nodes": [{"id": 0}], "links": []}'
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf\n\xff\n{}\n" + line.encode() + b"\n")
    graphs = open_graphs(tmp_path / "a.jsonl", target="y").read()
    assert graphs.rows == [4]
    assert graphs.y.tolist() == [1.0]


def test_columns_of_parquet_that_are_no_texts_or_numbers(tmp_path):
    stamps = pd.to_datetime(["2020-01-02T03:04:05.000000006", None])
    table = pd.DataFrame({"smiles": ["CC", "C"], "when": stamps, "vector": [[1.0], [2.0]], "flag": [True, False]})
    graphs = open_graphs(write_parquet(tmp_path / "a.parquet", table)).read()
    assert graphs.columns["when"].tolist() == ["2020-01-02 03:04:05.000000006", ""]
    assert graphs.columns["flag"].tolist() == ["True", "False"]
    assert "vector" not in graphs.columns


def test_graphs_that_do_not_go_with_the_first_are_skipped():
    graphs = [*labelled(), nx.cycle_graph(4), nx.DiGraph([(0, 1)]), 5]
    found = open_graphs(graphs).read()
    assert found.rows == [1, 2, 3, 4, 5, 6]
    assert [each.row for each in found.skipped] == [7, 8, 9]
    reason = "it has no node labels and the first graph has; give node labels to all graphs or to none"
    assert found.skipped[0].reason == reason
    assert "directed" in found.skipped[1].reason
    assert found.skipped[2].reason.startswith("it is a 'int', which is not a graph")
    single = nx.empty_graph(1)
    graphs = [single, nx.Graph([(0, 1, {"label": "x"})]), nx.path_graph(3), single]
    assert open_graphs(graphs).read().rows == [1, 2, 4]


def test_tu_datasets(tmp_path, monkeypatch):
    write_tu(tmp_path / "TINY")
    shutil.make_archive(str(tmp_path / "ZIPPED"), "zip", tmp_path, "TINY")
    (tmp_path / "ZIPPED.zip").rename(tmp_path / "zip")
    monkeypatch.setenv("GVOYS_DATA", str(tmp_path / "data"))
    batch, y = gv.datasets.load_tu("TINY", tmp_path)
    (tmp_path / "data").mkdir()
    shutil.copytree(tmp_path / "TINY", tmp_path / "data" / "tu" / "TINY")
    for source, how in ((tmp_path / "TINY", {}), ("TINY", {}), ("TINY", {"root": tmp_path})):
        opened = open_graphs(source, **how)
        graphs = opened.read()
        assert opened.name == "TINY"
        same_graphs(graphs.batch, batch)
        assert graphs.y.dtype == np.int64
        np.testing.assert_array_equal(graphs.y, y)
        np.testing.assert_array_equal(graphs.columns["class"], y)
    np.testing.assert_array_equal(open_graphs(tmp_path / "TINY", target="Class").read().y, y)
    raises(DatasetError, "TINY has no column 'y'; it has 'class'", open_graphs, tmp_path / "TINY", target="y")


def test_several_real_targets_of_a_tu_dataset(tmp_path):
    write_tu(tmp_path / "TINY", 4)
    (tmp_path / "TINY" / "TINY_graph_labels.txt").unlink()
    (tmp_path / "TINY" / "TINY_graph_attributes.txt").write_text("".join(f"{k}.5, {k}\n" for k in range(4)))
    graphs = open_graphs(tmp_path / "TINY").read()
    assert graphs.y.shape == (4, 2)
    assert graphs.columns["target 2"].tolist() == [0, 1, 2, 3]
    assert open_graphs(tmp_path / "TINY", target="target 1").read().y.tolist() == [0.5, 1.5, 2.5, 3.5]


# -- what cannot be opened
@pytest.mark.parametrize(
    ("source", "how", "message"),
    [
        ("a.xls", {}, r"^a.xls is not one of .smi, .csv, .tsv, .txt, .xlsx or .parquet \(SMILES\), .g6, .s6, .jsonl"),
        ("a.csv.gz", {}, "a.csv cannot be unpacked: it is damaged, or was not written by gzip"),
        ("none.csv", {}, "there is no file or folder .*none.csv"),
        ("folder", {}, "folder is neither a store nor a dataset of the TU collection"),
        ("a.csv", {"smiles": "mol"}, "a.csv has no column 'mol'; it has 'smiles', 'y'; choose one with smiles=…"),
        ("a.csv", {"id": "name"}, "a.csv has no column 'name'; it has 'smiles', 'y'; choose one with id=… or --id"),
        ("a.csv", {"target": ["y", "z"]}, "a.csv has no column 'z'; it has 'smiles', 'y'; choose one with target=…"),
        ("a.smi", {"target": "y"}, "a.smi has no columns to predict; a target needs a table, a TU dataset, or .jsonl"),
        ("a.smi", {"id": "name"}, "a.smi has no column of ids; leave out id=… or --id"),
        ("a.jsonl", {"target": "y"}, 'a.jsonl has no columns to predict; .* values under "graph"'),
        ("empty.csv", {}, "begins with an empty line; a table begins with the names of its columns"),
    ],
)
def test_one_sentence_and_a_remedy(tmp_path, source, how, message):
    (tmp_path / "folder").mkdir()
    texts = {"a.csv.gz": "smiles\nC\n", "a.csv": "smiles,y\nC,1\n", "a.smi": "C\n", "a.jsonl": "{}\n"}
    for name, text in (texts | {"a.xls": "", "empty.csv": ""}).items():
        (tmp_path / name).write_text(text)
    raises(DatasetError, message, open_graphs, tmp_path / source, **how)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (nx.path_graph(3), r"open_graphs takes a list of graphs and was given a single graph; wrap it"),
        (Chem.MolFromSmiles("C"), "wrap it"),
        (5, "open_graphs takes a list of"),
        ([], "graphs holds no graphs"),
        ([5], "graphs holds no graph that can be read; row 1: it is a 'int', which is not a graph"),
        (["C1CC"], "the list holds no graph that can be read; row 1: RDKit cannot read"),
        (pd.DataFrame(), "the DataFrame has no column 'smiles'; it has none"),
        (pd.DataFrame({"mol": ["C"]}), "the DataFrame has no column 'smiles'; it has 'mol'"),
    ],
)
def test_objects_that_are_no_graphs(source, message):
    raises((GraphError, DatasetError), message, lambda: open_graphs(source).read())


def test_load_smiles_takes_tables_of_every_form(tmp_path):
    table = pd.DataFrame({"smiles": ["CCO", "CC"], "y": [1, 2], "z": [0.5, 1.5]})
    for form in (table, write_parquet(tmp_path / "a.parquet", table)):
        batch, y = gv.datasets.load_smiles(form, ["y", "z"])
        assert batch.graph_sizes.tolist() == [3, 2]
        np.testing.assert_array_equal(y, [[1, 0.5], [2, 1.5]])
        np.testing.assert_array_equal(gv.datasets.load_smiles(form, "Y")[1], [1.0, 2.0])
    empty = "the DataFrame, row 2: the column 'smiles' is empty; correct it or remove it"
    raises(DatasetError, empty, gv.datasets.load_smiles, pd.DataFrame({"smiles": ["C", None]}))
    gv.write_store(gv.datasets.molecules(3), tmp_path / "store")
    kinds = r"store holds no SMILES; gvoys\.io\.open_graphs reads graphs of other kinds"
    raises(DatasetError, kinds, gv.datasets.load_smiles, tmp_path / "store")


# -- in every command
def run(*arguments):
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output + str(done.exception)
    return " ".join(done.output.split())


def ids_of(folder):
    return [name for part in sorted(folder.glob("part-*")) for name in part_ids(part)]


@pytest.mark.parametrize("form", [form for form in TABLES if "DataFrame" not in form])
def test_every_table_in_every_command(tmp_path, form):
    pytest.importorskip("plotly")
    path = TABLES[form](tmp_path)
    assert "4 of 9 rows were skipped" not in run("embed", path, "-o", tmp_path / "out", "--components", 16)
    with (tmp_path / "out.skipped.csv").open(encoding="utf-8") as file:
        skipped = open_graphs(path).read().skipped
        assert [tuple(row) for row in csv.reader(file)][1:] == [(str(s.row), *s[1:]) for s in skipped]
    said = run("embed", path, "--id", "name", "-o", tmp_path / "named", "--components", 16)
    assert f"3 of 9 rows were skipped; {tmp_path / 'named.skipped.csv'} lists them" in said
    assert ids_of(tmp_path / "named") == [row[0] for i, row in enumerate(ROWS) if i in (*KEPT, 5)]
    run("kernel", path, "--id", "NAME", "-o", tmp_path / "K.npy", "--components", 16)
    assert (tmp_path / "K.ids.txt").read_text().split() == ids_of(tmp_path / "named")
    two, four, six = (open_graphs(path).first_row + k for k in (1, 3, 5))  # as lines of a text
    reasons = f"row {two}: RDKit cannot read the SMILES 'C1CC'; row {four}: the column 'SMILES' is empty"
    assert f"2 of 9 rows were skipped: {reasons}." in run("explore", path, "-o", tmp_path / "a.html", "--max-length", 1)
    said = run("learn", path, "--target", "y", "--max-length", 1, "--folds", 2)
    assert f"3 of 9 rows were skipped: {reasons}; row {six}: the column 'y' is empty." in said


def test_every_kind_of_graphs_in_every_command(tmp_path):
    pytest.importorskip("plotly")
    write_inputs(tmp_path / "in")
    for path in sorted((tmp_path / "in").iterdir()):
        run("embed", path, "-o", tmp_path / f"{path.name}.features", "--components", 8, "--max-length", 1)
        run("explore", path, "-o", tmp_path / f"{path.name}.html", "--max-length", 1)
    write_tu(tmp_path / "MORE", 40)
    for command in ("evaluate", "learn"):
        run(command, tmp_path / "MORE", "--folds", 2)
        refused = CliRunner().invoke(app, [command, str(tmp_path / "in" / "a.g6")])
        assert str(refused.exception).startswith("a.g6 has no columns to predict; a target needs a table")


def test_other_graphs_in_commands(tmp_path):
    graphs = [nx.cycle_graph(4 + k // 2) if k % 2 else nx.path_graph(4 + k // 2) for k in range(24)]
    lines = [
        nx.node_link_data(graph, edges="links") | {"graph": {"kind": "pc"[k % 2]}} for k, graph in enumerate(graphs)
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "1.000 ± 0.000" in run("evaluate", tmp_path / "a.jsonl", "--target", "kind", "--folds", 2, "--no-baselines")
    write_tu(tmp_path / "TINY", 40)
    said = run("embed", "TINY", "--root", tmp_path, "-o", tmp_path / "out", "--components", 8)
    assert "40 graphs in 1 part," in said
    run("learn", "TINY", "--root", tmp_path, "--folds", 2, "--max-length", 1)
    path = TABLES["csv"](tmp_path)  # options as version 0.1 spelled them
    run("embed", path, "--smiles-column", "SMILES", "--id-column", "Name", "-o", tmp_path / "old", "--components", 8)
    assert ids_of(tmp_path / "old")[0] == "a"
    assert "--id-column" not in CliRunner().invoke(app, ["embed", "--help"]).output
