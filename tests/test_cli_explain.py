"""gvoys explain: from a trained model and a table to a page that says why."""

import json
import re

import networkx as nx
import numpy as np
import pytest
from commands import done, run, sentence

pytest.importorskip("rdkit")

import gvoys as gv

TRAINING = [f"{'C' * n}{end}" for n in range(1, 9) for end in ("", "O", "N", "C#N")]
NEW = ["CCCCCO", "C1CC", "CCN"]


def graphs_of(smiles):
    return gv.io.open_graphs(smiles).read().batch


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A classifier and a regressor, trained once."""
    folder = tmp_path_factory.mktemp("models")
    batch = graphs_of(TRAINING)
    kind = np.array(["acid" if "O" in text else "other" for text in TRAINING])
    for model, y, target in (
        (gv.RandomWalkClassifier(gv.Walk(refine=1), C=100.0), kind, "kind"),
        (gv.RandomWalkRegressor(), batch.graph_sizes + 0.1, "size"),
    ):
        model.fit(batch, y)
        model.training_ = {"data": "train", "target": target, "smiles": "structure", "chemistry": {}, "ids": None}
        model.save(folder / f"{target}.gvoys")
    return folder


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("code,Structure\n" + "".join(f"n{k},{text}\n" for k, text in enumerate(NEW)))
    return path


def test_a_page_from_a_model_and_a_table(models, table, tmp_path):
    out = tmp_path / "page.html"
    result = done("explain", models / "kind.gvoys", table, "--id", "code", "-o", out)
    assert "1 of 3 rows was skipped: row 3: " in result.output
    assert "2 graphs" in result.output
    assert "in a browser" in result.output
    text = out.read_text(encoding="utf-8")
    assert "<h1>kind: why these predictions for new.csv</h1>" in text
    assert "The model is kind.gvoys, trained on train to predict kind." in text
    assert "A decision above 0 means other; below 0, acid." in text
    assert re.findall('<h2 id="name.">(.*?)</h2>', text) == ["n0", "n2"]
    assert re.findall('class="smiles">(.*?)<', text) == ["CCCCCO", "CCN"]
    assert re.findall('class="prediction">(.*?),', text) == ["acid", "other"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["new.csv", "page.html"]


@pytest.mark.parametrize("target", ["kind", "size"])
def test_json_is_what_python_says_and_adds_up(models, table, tmp_path, target):
    path = models / f"{target}.gvoys"
    result = done("explain", path, table, "--id", "code", "-o", tmp_path / "page.html", "--json")
    found = json.loads(result.stdout)
    assert "rows was skipped" in result.stderr
    model = gv.load_model(path)
    batch = graphs_of(["CCCCCO", "CCN"])
    assert [each["id"] for each in found] == ["n0", "n2"]
    assert [each["prediction"] for each in found] == model.predict(batch).tolist()
    for each, explanation in zip(found, model.explain(batch), strict=True):
        assert each["of"] == explanation.of == {"kind": "other", "size": None}[target]
        assert each["baseline"] + sum(each["nodes"]) == pytest.approx(each["decision"])
        assert np.sum(each["lengths"]) == pytest.approx(sum(each["nodes"]))
        np.testing.assert_allclose(each["nodes"], explanation.nodes, atol=1e-12)
        np.testing.assert_allclose(each["edge_shares"], explanation.edge_shares, atol=1e-12)
        assert each["edges"] == explanation.edges.tolist()
        assert (each["decision"] > 0) == (each["prediction"] == "other") if target == "kind" else True
    if target == "size":
        np.testing.assert_allclose([each["decision"] for each in found], [each["prediction"] for each in found])


def test_one_graph_is_a_drawing(models, table, tmp_path):
    model = models / "kind.gvoys"
    for name in ("a.svg", "a.png"):
        result = done("explain", model, table, "-o", tmp_path / name, "--graphs", 1)
        assert "These are the first 1 graphs of new.csv." in result.output
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").count('class="node"') == 6
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    words = sentence("explain", model, table, "-o", tmp_path / "b.svg")
    assert "b.svg holds the drawing of one graph, and new.csv has 2" in words
    assert not (tmp_path / "b.svg").exists()


def test_the_first_graphs_of_many(models, tmp_path):
    rows = ["structure", *TRAINING[:5], "C1CC", *TRAINING[:5], "C1CC"]
    (tmp_path / "many.csv").write_text("\n".join(rows) + "\n")
    out = tmp_path / "page.html"
    result = done("explain", models / "kind.gvoys", tmp_path / "many.csv", "-o", out, "--graphs", 7)
    assert "These are the first 7 graphs of many.csv." in result.output
    assert "1 of 8 rows was skipped: row 7" in result.output  # and none after them
    text = out.read_text(encoding="utf-8")
    assert text.count("<article") == 7
    assert "These are the first 7 graphs of many.csv." in text
    assert re.findall('<h2 id="name.">(.*?)</h2>', text)[4:] == ["row 6", "row 8", "row 9"]
    again = ("explain", models / "kind.gvoys", tmp_path / "many.csv", "-o", out, "--graphs", 10, "--overwrite")
    result = run(*again)
    assert "These are the first" not in result.output
    assert "2 of 12 rows were skipped" in result.output


def test_other_inputs(models, table, tmp_path):
    out = tmp_path / "page.html"
    result = done("explain", models / "kind.gvoys", "-", "--id", "code", "-o", out, input=table.read_bytes())
    assert out.read_text(encoding="utf-8").count("<article") == 2
    batch = gv.io.open_graphs(TRAINING, chemistry={"hydrogens": "atoms"}).read().batch
    model = gv.RandomWalkClassifier(gv.Walk(refine=1), C=1.0).fit(batch, np.arange(len(TRAINING)) % 2)
    model.training_ = {"smiles": "smiles", "chemistry": {"hydrogens": "atoms"}}
    model.save(tmp_path / "m.gvoys")
    (tmp_path / "a.smi").write_text("CC ethane\n")
    result = run("explain", tmp_path / "m.gvoys", tmp_path / "a.smi", "-o", out, "--json", "--overwrite")
    assert [len(each["nodes"]) for each in json.loads(result.stdout)] == [8]
    assert '<h2 id="name0">ethane</h2>' in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_bad_input_is_one_sentence_and_leaves_nothing(models, table, tmp_path):
    model, out = models / "kind.gvoys", tmp_path / "page.html"
    graphs = tmp_path / "graphs.g6"
    nx.write_graph6(nx.path_graph(4), graphs)
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.csv").write_text("structure\nC1CC\n")
    batch = graphs_of(TRAINING)
    two = np.column_stack([np.arange(len(batch)) % 2, np.arange(len(batch)) % 3])
    fitted = gv.RandomWalkClassifier(gv.Walk(refine=1), C=1.0).fit(batch, two)
    fitted.training_ = {"smiles": "structure", "chemistry": {}}
    fitted.save(tmp_path / "two.gvoys")
    before = sorted(tmp_path.iterdir())
    for arguments, words in (
        ((tmp_path / "no.gvoys", table, "-o", out), "there is no model file"),
        ((table, table, "-o", out), "damaged or no model file"),
        ((tmp_path / "empty", table, "-o", out), "is a folder without models"),
        ((models, table, "-o", out), "holds 2 models, and one is wanted: name its file"),
        ((model, tmp_path / "no.csv", "-o", out), "there is no file"),
        ((model, table, "-o", out, "--smiles", "nothing"), "has no column 'nothing'"),
        ((model, tmp_path / "bad.csv", "-o", out), "holds no graph that can be read; row 2"),
        ((model, graphs, "-o", out), "label"),
        ((tmp_path / "two.gvoys", table, "-o", out), "explanations are of models with one column of classes"),
        ((model, table, "-o", tmp_path / "page.pdf"), "written to a page, NAME.html, or of one graph to NAME.svg"),
        ((model, table, "-o", tmp_path), "written to a page, NAME.html"),
        ((model, table, "-o", tmp_path / "none" / "page.html"), "there is no folder"),
        ((model, table, "-o", out, "--graphs", 0), "--graphs must lie between 1 and 500, not 0"),
        ((model, table, "-o", out, "--graphs", 501), "--graphs must lie between 1 and 500, not 501"),
    ):
        assert words in sentence("explain", *arguments), words
    assert sorted(tmp_path.iterdir()) == before


def test_the_class_to_explain_and_what_help_says(models, table, tmp_path):
    arguments = ("explain", models / "kind.gvoys", table, "-o", tmp_path / "why.html", "--json", "--overwrite")
    usual, other = (json.loads(run(*arguments, *more).stdout) for more in ((), ("--of", "acid")))
    assert [each["of"] for each in usual] == ["other"] * 2
    assert [each["of"] for each in other] == ["acid"] * 2
    assert np.allclose([each["decision"] for each in usual], [-each["decision"] for each in other])
    assert "--of base is no class of this model; it has acid, other" in sentence(*arguments, "--of", "base")
    numbers = (models / "size.gvoys", table, "-o", tmp_path / "other.html", "--of", "3")
    assert "this model predicts numbers" in sentence("explain", *numbers)
    text = run("explain", "--help").output
    assert "Show why a model predicts what it does" in text
    assert re.search(r"--graphs.*up to 500", text)
    listed = re.findall(r"^│ (\w+) ", run("--help").output, re.MULTILINE)
    assert listed[listed.index("predict") :][:4] == ["predict", "explain", "search", "learn"]
