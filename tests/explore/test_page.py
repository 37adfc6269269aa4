"""What is written into an explorer's page, and what is refused."""

import builtins
import inspect
import json
import re

import networkx as nx
import numpy as np
import pytest
from commands import done, sentence
from raising import raises

import gvoys as gv
from gvoys.apps.explore import Collection, as_property, explore, load_collection
from gvoys.apps.explore.blocks import compute_blocks
from gvoys.apps.explore.collection import has_bonds
from gvoys.apps.explore.explore_page import draw
from gvoys.datasets.loaders import read_freesolv
from gvoys.drawing.structures import BOND, LARGEST
from gvoys.errors import DatasetError, MissingDependencyError, ParameterError
from gvoys.io.fetch import find_dataset
from gvoys.io.tu import LabelNames, parse_names, read_names

TABLE = "id,SMILES,group,weight,note\n" + "".join(
    f"m{i},{smiles},{'ab'[i % 2]},{i + 0.5 if i else ''},n{i}\n"
    for i, smiles in enumerate(["CCO", "c1ccccc1", "CC(=O)N", "C#N", "CCCl"])
)


def quiet(stage):
    pass


def data_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "molecules.csv"
    path.write_text(TABLE)
    return path


def test_a_table_of_molecules(table, tmp_path):
    explore(load_collection(table), tmp_path / "page.html", walk=gv.Walk(2))
    data = data_of(tmp_path / "page.html")
    assert data["captions"][0] == "m0"
    texts = {each["name"]: each["values"] for each in data["texts"]}
    assert texts["SMILES"][0] == "CCO"
    assert texts["note"] == [f"n{i}" for i in range(5)]  # all differ: no classes
    assert {each["name"] for each in data["properties"]} == {"group", "weight", "nodes", "edges", "mean degree"}
    by_name = {each["name"]: each for each in data["properties"]}
    assert by_name["group"] == {"name": "group", "values": [0, 1, 0, 1, 0], "classes": ["a", "b"]}
    assert by_name["weight"]["values"] == [None, 1.5, 2.5, 3.5, 4.5]
    assert ">OH</text>" in data["drawings"]["structures"][0][2]


def test_the_page_needs_nothing_else_and_what_is_written_cannot_end_it(tmp_path):
    captions = ["</script><script>alert(1)</script>", "<!--", "é"]
    path = tmp_path / "page.html"
    explore(Collection("<b>name</b>", gv.datasets.molecules(3), captions), path, walk=gv.Walk(1))
    assert data_of(path)["captions"] == captions
    text = path.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<title>&lt;b&gt;name" in text
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", text.split('id="data"')[0])
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("how", [gv.Walk(60, None), gv.Walk(12, "node")])
def test_long_walks_stay_within_a_pages_numbers(tmp_path, how):
    graphs = gv.as_batch([nx.complete_graph(n) for n in range(30, 40)])
    batch = gv.GraphBatch.from_arrays(
        np.column_stack([graphs.rows(), graphs.columns()]), graphs.graph_sizes, node_labels=["C"] * graphs.n_nodes
    )
    shown = explore(Collection("complete", batch, [""] * 10), tmp_path / "page.html", walk=how).blocks
    assert np.isfinite(shown.mu).all()
    for length in shown.lengths:
        assert np.isfinite(length.values).all()
        assert np.abs(length.values).max() > 0
    np.testing.assert_allclose(shown.diagonal.mean(axis=0), 1)


def test_rows_that_cannot_be_read_are_told_of(table, tmp_path):
    table.write_text(TABLE + "m9,C(,a,1,n\n*,*CCO,b,2,n\n")
    explore(load_collection(table), tmp_path / "page.html", walk=gv.Walk(1))
    data = data_of(tmp_path / "page.html")
    assert data["about"].endswith("; 1 rows were skipped")
    assert ">*</text>" in data["drawings"]["structures"][-1][2]
    table.write_text("smiles,id\nC(,1\nCC,2\nC,3\n")
    raises(ParameterError, r"has 2 \(1 rows were skipped\)", explore, load_collection(table), tmp_path / "page.html")
    table.write_bytes("smiles,name\nCC,\xe9t\xe9\n".encode("latin-1"))
    assert load_collection(table).captions == ["été"]


def test_samples_say_so(tmp_path):
    batch = gv.datasets.molecules(30)
    collection = Collection("some", batch, [str(i) for i in range(30)], {"nodes": as_property(batch.graph_sizes)})
    explore(collection, tmp_path / "page.html", walk=gv.Walk(1), n_graphs=10)
    data = data_of(tmp_path / "page.html")
    assert data["about"].startswith("10 of 30 graphs, drawn at random")
    assert data["captions"] == [str(place) for place in data["numbers"]]
    assert data["properties"][0]["values"] == batch.graph_sizes[data["numbers"]].tolist()
    explore(collection, tmp_path / "again.html", walk=gv.Walk(1), n_graphs=10)
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "page.html").read_bytes()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2", "1"], ("1", "2")),
        ([0.5, 1.5, 1.0], None),
        (["x", "y", ""], ("none", "x", "y")),
        (["0", "1", "", "NA"], ("0", "1", "none")),
        ([1234567, 1234568], ("1234567", "1234568")),
        (["0.5", "n/a", "1.5"], None),
        (list(range(100)), None),
    ],
)
def test_what_is_a_class(values, kind):
    assert as_property(values).classes == kind
    assert as_property([f"name {i}" for i in range(100)]) is None  # which cannot be coloured
    assert as_property(["", "", ""]) is None
    assert inspect.signature(gv.explore) == inspect.signature(explore)
    assert gv.explore.Collection is Collection


def test_how_graphs_are_drawn():
    graphs = [nx.path_graph(3), nx.path_graph(LARGEST + 1), nx.Graph([(0, 0), (0, 1)]), nx.empty_graph(2)]
    drawings = draw(Collection("four", gv.as_batch(graphs), [""] * 4), quiet)
    assert [len(graph.xy) for graph in drawings.graphs] == [3, 0, 2, 2]
    assert [graph.ends.tolist() for graph in drawings.graphs] == [[[0, 1], [1, 2]], [], [[0, 0], [0, 1]], []]
    assert all(np.isfinite(graph.xy).all() for graph in drawings.graphs)
    xy = drawings.graphs[0].xy
    lengths = np.linalg.norm(xy[[0, 1]] - xy[[1, 2]], axis=1)
    assert lengths.min() > 0.3 * lengths.max()
    batch = gv.as_batch([nx.DiGraph([(0, 1), (1, 0), (1, 2)])] * 3)
    drawings = draw(Collection("directed", batch, [""] * 3), quiet)
    assert drawings.directed
    assert [len(graph.ends) for graph in drawings.graphs] == [3, 3, 3]
    graph = nx.disjoint_union_all([nx.cycle_graph(6), nx.path_graph(4), nx.empty_graph(2)])
    places = draw(Collection("parts", gv.as_batch([graph] * 3), [""] * 3), quiet).graphs[0].xy / BOND
    parts = [places[:6], places[6:10], places[10:11], places[11:]]
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in parts]
    for k, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:k]:
            assert (low > other_high + 1).any() or (high < other_low - 1).any()
    edge = np.linalg.norm(places[0] - places[1])
    assert np.ptp(places, axis=0).max() < 12 * edge  # no component lies far away


@pytest.mark.parametrize(
    "chemistry",
    [{"charges": True, "isotopes": True, "stereo": True}, {"hydrogens": "atoms", "stereo": True}, {"atoms": "element"}],
)
def test_other_chemistry_is_drawn_too(chemistry):
    pytest.importorskip("rdkit")
    texts = ["C[C@H](O)[NH3+]", "F/C=C/[18F]", "[NH4+].[Cl-]"]
    drawn = draw(load_collection(texts, chemistry=chemistry), quiet)
    assert drawn.molecules
    assert ">+</text>" in drawn.graphs[0].structure.ink
    ring = draw(load_collection(["c1ccccc1"]), quiet).graphs[0].xy
    radii = np.linalg.norm(ring - ring.mean(axis=0), axis=1)
    np.testing.assert_allclose(radii, radii.mean(), rtol=0.01)


def test_names_of_labels():
    notes = (
        "(4) DS_node_labels.txt\n\nNode labels:\t[symbol]\n\nComponent 0:\n\t0\tC \n\t1\tO \n\n"
        "Edge labels were …:\n\t0\t1\n"
    )
    assert parse_names(notes + "Class labels:\n 0 a\n").nodes == {0: "C", 1: "O"}
    assert parse_names(notes).edges == {0: "1"}
    pytest.importorskip("grakel")
    assert read_names(find_dataset("MUTAG", None)).nodes[6] == "Br"
    assert parse_names("Edge labels:\n 0 single\n=== References ===\n 2012 ICML\n").edges == {0: "single"}


def test_refusals(tmp_path, table, monkeypatch):
    with pytest.raises(ParameterError, match="a map needs at least 3 graphs, and two has 2"):
        explore(Collection("two", gv.datasets.molecules(2), ["", ""]), tmp_path / "page.html")
    with pytest.raises(ParameterError, match="at least 3 graphs, not 1"):
        explore(Collection("few", gv.datasets.molecules(9), [""] * 9), tmp_path / "page.html", n_graphs=1)
    raises(DatasetError, r"there is no file .*gone\.csv", load_collection, tmp_path / "gone.csv")
    real = builtins.__import__

    def without_plotly(name, *rest, **more):
        if name.startswith("plotly"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_plotly)
    with pytest.raises(MissingDependencyError, match=r"gvoys\[explore\]"):
        explore(Collection("few", gv.datasets.molecules(9), [""] * 9), tmp_path / "page.html")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (["-o", "no/page.html"], "there is no folder"),
        (["-o", "."], "is a folder; name the file to write"),
        (["--seed", "-1"], "random_state"),
        (["--decay", "0.1"], "--decay needs --series"),
        (["--series", "linear"], "series must be 'geometric' or 'exponential'"),
        (["--smiles", "text"], "has no column 'text'"),
    ],
)
def test_the_command(tmp_path, table, wrong, why, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "5 graphs, exact label sequences" in done("explore", table, "-o", "page.html", "--max-length", 2).output
    assert data_of(tmp_path / "page.html")["name"] == "molecules"
    words = wrong if "-o" in wrong else ["-o", "page.html", *wrong]
    assert why in sentence("explore", table, "--overwrite", *words)


def test_graphs_are_named_by_ids_names_or_what_differs(tmp_path):
    (tmp_path / "a.csv").write_text("code,id,smiles,none\nx,7,CCO,1\ny,8,C,2\nz,,CC,3\n")
    plain = load_collection(tmp_path / "a.csv")
    assert plain.captions == ["7", "8", ""]
    assert plain.texts == {"code": ["x", "y", "z"], "SMILES": ["CCO", "C", "CC"]}
    named = load_collection(tmp_path / "a.csv", id="Code")
    assert named.captions == ["x", "y", "z"]
    assert named.texts == {"id": ["7", "8", ""], "SMILES": ["CCO", "C", "CC"]}
    assert set(named.properties) == {"none"}
    (tmp_path / "a.smi").write_text("CCO ethanol\nC\n")
    assert load_collection(tmp_path / "a.smi").captions == ["ethanol", ""]
    (tmp_path / "b.csv").write_text(
        "smiles,iupac,kind\nc1ccccc1,benzene,ring\nCCO,ethanol,chain\nCC#N,acetonitrile,chain\n"
    )
    found = load_collection(tmp_path / "b.csv")
    assert found.captions == ["benzene", "ethanol", "acetonitrile"]
    assert set(found.properties) == {"kind"}


def test_lists_of_graphs_with_values(tmp_path):
    graphs = [nx.path_graph(n) for n in range(3, 9)]
    page = gv.explore(
        graphs, ["a", "b"] * 3, tmp_path / "page.html", names=[f"path {n}" for n in range(3, 9)], title="paths"
    )
    assert (page.path, page.n_graphs) == (tmp_path / "page.html", 6)
    data = data_of(page.path)
    assert (data["name"], data["captions"][0]) == ("paths", "path 3")
    assert data["properties"][0] == {"name": "y", "values": [0, 1] * 3, "classes": ["a", "b"]}
    several = {"weight": np.linspace(0, 1, 6), "kind": ["x"] * 5 + ["y"]}
    gv.explore(graphs, several, tmp_path / "page.html", walk=gv.Walk(2, labels=None))
    assert [each["name"] for each in data_of(page.path)["properties"]][:2] == ["weight", "kind"]
    gv.explore(graphs, tmp_path / "alone.html", walk=gv.Walk(1))
    assert data_of(tmp_path / "alone.html")["captions"] == [""] * 6
    skipping = gv.explore(["CCO", "C(", "CC", "CCC"], [1.5, 2.5, 3.5, 4.5], tmp_path / "page.html", walk=gv.Walk(1))
    assert data_of(skipping.path)["properties"][0]["values"] == [1.5, 3.5, 4.5]  # values of skipped rows go with them


def test_wrong_values_are_one_sentence(tmp_path):
    graphs, path = [nx.path_graph(n) for n in range(3, 9)], tmp_path / "page.html"
    batch = gv.as_batch(graphs)
    sizes = {"size": as_property([1, 2, 3])}
    for said, call, *arguments in (
        ("y must have one value for each of 6 graphs, not 2", gv.explore, graphs, [1, 2], path),
        (r"path must be the \.html file to write", gv.explore, graphs),
        ("has captions and properties of its own", gv.explore, Collection("six", batch, [""] * 6), [1] * 6, path),
        ("captions must have one value for each of 6 graphs, not 2", Collection, "short", batch, ["", ""]),
        ("'size' must have one value for each of 6 graphs, not 3", Collection, "short", batch, [""] * 6, sizes),
    ):
        raises(ParameterError, said, call, *arguments)
    said = "names must have one value for each of 6 graphs, not 1"
    raises(ParameterError, said, gv.explore, graphs, None, path, names=["one"])
    weights = {"weight": [1, 2, 3]}
    raises(DatasetError, "has no column 'weigth'", load_collection, ["CCO", "CC", "C"], weights, target="weigth")


def test_bonds_of_molecules_are_compared(tmp_path):
    """Acetonitrile is no butene, whose carbons have as many neighbours."""
    smiles = ["CC#N", "CC=CC", "C=CCC", "CCC#N", "CCCC"]
    blocks = gv.explore(smiles, tmp_path / "page.html").blocks
    X = blocks.features()
    assert np.argsort(-(X @ X[0]))[1] == 3


def test_tu_molecules_are_graphs_with_elements_and_bonds(tmp_path):
    pytest.importorskip("rdkit")
    try:
        mutag = load_collection("MUTAG")
    except DatasetError:
        pytest.skip("MUTAG is neither in the cache nor in an installed package")
    drawings = draw(mutag.sampled(5, 0), quiet)
    assert not drawings.molecules  # charges and hydrogens are not known
    assert set(drawings.texts) == {"C", "N", "O", "F", "I", "Cl", "Br"}
    found = gv.explore(mutag, walk=gv.Walk(2), path=tmp_path / "page.html").blocks
    wanted = compute_blocks(mutag.batch, None, gv.Walk(2, "both"), 0)
    np.testing.assert_allclose(found.means, wanted.means)


# -- molecules and bonds
def test_molecules_without_their_smiles_are_graphs():
    pytest.importorskip("rdkit")
    graphs = read_freesolv()
    unknown = draw(load_collection(graphs.batch[:4]), quiet)
    assert not unknown.molecules
    assert "OH" in unknown.texts
    known = draw(Collection("known", graphs.batch[:4], [""] * 4, smiles=graphs.smiles[:4]), quiet)
    assert known.molecules


def test_one_molecule_that_does_not_fit_is_a_graph():
    pytest.importorskip("rdkit")
    drawings = draw(Collection("some", gv.from_smiles(["CO", "CC"]), [""] * 2, smiles=["CO", "CN"]), quiet)
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
