"""gvoys evaluate and gvoys learn, as a user meets them."""

import json
import re

import numpy as np
import pytest
from commands import done, rows_of, run
from raising import raises

import gvoys as gv
from gvoys.apps.cli.data import is_real


@pytest.fixture
def mutag():
    pytest.importorskip("grakel")
    return "MUTAG"


@pytest.fixture
def table(tmp_path):
    pytest.importorskip("rdkit")
    chains = [f"{'C' * n}{end}" for n in range(1, 16) for end in ("", "O", "N", "C#N")]
    rows = [f"{text},{len(text) + 0.1:.1f},{'acid' if 'O' in text else 'other'}" for text in chains]
    file = tmp_path / "chains.csv"
    file.write_text("\n".join(["smiles,size,kind", *rows]) + "\n")
    return file


def test_evaluate_writes_what_it_found(mutag, tmp_path):
    pytest.importorskip("matplotlib")
    result = done("evaluate", mutag, "--folds", 3, "--seed", 5, "--out", tmp_path)
    assert "everything chosen inside the training folds" in result.output
    files = ["confusion.png", "lengths.png", "predictions.csv", "report.html", "results.json"]
    assert sorted(file.name for file in (tmp_path / "MUTAG").iterdir()) == files
    rows = rows_of(tmp_path / "MUTAG" / "predictions.csv")
    assert len(rows) == 188
    assert sum(int(row["error"]) for row in rows) == sum(row["truth"] != row["prediction"] for row in rows)
    page = (tmp_path / "MUTAG" / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 2
    assert "http" not in page.replace("http-equiv", "")  # it needs no network
    assert "WL + SVC" in result.output
    found = json.loads((tmp_path / "MUTAG" / "results.json").read_text())
    assert np.shape(found["scores"]) == (1, 3)
    assert found["seeds"] == [5]
    assert found["mean"] > 0.75


def test_classify_is_another_name(mutag):
    """Its name in 0.1, which --help no longer lists."""
    assert run("classify", mutag, "--folds", 1).output == run("evaluate", mutag, "--folds", 1).output
    listed = run("--help").output
    assert "evaluate" in listed
    assert "classify" not in listed.replace("classifies", "")


def test_tables_of_molecules(table, tmp_path):
    pytest.importorskip("matplotlib")
    result = done("evaluate", table, "--target", "kind", "--folds", 3, "--seed", 0)
    assert "gvoys is ahead of majority by" in result.output
    assert "more than noise" in result.output
    result = done("evaluate", table, "--target", "size", "--folds", 3, "--out", tmp_path / "plots", "--no-baselines")
    assert "RMSE" in result.output
    assert "majority" not in result.output
    assert (tmp_path / "plots" / "chains" / "predictions.png").stat().st_size > 1000
    found = json.loads((tmp_path / "plots" / "chains" / "results.json").read_text())
    assert found["mean"] < 1.0
    assert found["seeds"] == [0, 1, 2]  # few graphs, so that one split says little


def test_several_targets_and_json(table, tmp_path):
    pytest.importorskip("matplotlib")
    options = ("--folds", 2, "--seed", 1, "--json", "--out", tmp_path / "out")
    result = done("evaluate", table, "--target", "size", "--target", "kind", *options)
    found = json.loads(result.stdout)  # and all else is on standard error
    assert [(each["target"], each["score"]) for each in found] == [("size", "RMSE"), ("kind", "accuracy")]
    assert list(found[0]["methods"]) == ["gvoys", "mean", "WL + GP", "ECFP4 + RF", "Tanimoto + GP"]
    assert found[0]["methods"]["mean"]["difference"]["more_than_noise"] in (True, False)
    assert np.shape(found[1]["scores"]) == (1, 2)
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["chains-kind", "chains-size"]


def test_duplicates_are_never_on_both_sides_and_said(table, tmp_path):
    pytest.importorskip("matplotlib")
    with table.open("a") as file:
        file.write("OCC,9.9,acid\nOCCC,9.9,other\n")  # CCO and CCCO again
    same = [{"CCO", "OCC"}, {"CCCO", "OCCC"}]
    smiles = {str(row): line.split(",")[0] for row, line in enumerate(table.read_text().split()[1:], 1)}
    options = ("--target", "kind", "--folds", 4, "--seed", 3, "--no-baselines", "--out", tmp_path / "out")
    result = run("evaluate", table, *options)
    assert "2 are duplicates of others, by their canonical SMILES; they stay in one fold" in result.output
    rows = rows_of(tmp_path / "out" / "chains" / "predictions.csv")
    for pair in same:
        assert len({row["fold"] for row in rows if smiles[row["id"]] in pair}) == 1
    result = run("evaluate", table, *options, "--duplicates", "merge", "--overwrite")
    assert "2 duplicates were merged, without 1 molecules of several classes" in result.output
    assert len(rows_of(tmp_path / "out" / "chains" / "predictions.csv")) == 59


def test_splits(table, tmp_path):
    lines = table.read_text().split()
    table.write_text("\n".join([f"{lines[0]},lab", *(f"{line},{k % 5}" for k, line in enumerate(lines[1:]))]))
    options = ("--target", "kind", "--folds", 5, "--seed", 0, "--no-baselines")
    result = done("evaluate", table, *options, "--split", "group", "--group", "lab", "--out", tmp_path / "out")
    rows = rows_of(tmp_path / "out" / "chains" / "predictions.csv")
    fold_of = {(int(row["id"]) - 1) % 5: row["fold"] for row in rows}
    assert sorted(fold_of.values()) == list("12345")
    assert all(fold_of[(int(row["id"]) - 1) % 5] == row["fold"] for row in rows)
    result = run("evaluate", table, *options, "--split", "scaffold")
    assert "5 folds need as many groups, and there are 1" in str(result.exception)  # chains have no rings
    result = run("evaluate", table, *options, "--duplicates", "drop")
    assert "--duplicates is keep or merge, not 'drop'" in str(result.exception)


def test_json_lines_in_evaluate(tmp_path):
    """A file of graphs with a class each."""
    file = tmp_path / "graphs.jsonl"
    lines = []
    for k in range(20):
        nodes = [{"id": i, "label": "ab"[i % 2] if k % 2 else "a"} for i in range(4 + k % 3)]
        links = [{"source": i, "target": i + 1} for i in range(3 + k % 3)]
        lines.append(json.dumps({"nodes": nodes, "links": links, "graph": {"kind": f"k{k % 2}"}}))
    file.write_text("\n".join(lines))
    result = done("evaluate", file, "--target", "kind", "--folds", 2, "--seed", 0, "--json")
    assert json.loads(result.stdout)["mean"] == 1.0


def test_classes_of_few_members_and_rows_that_cannot_be_read(table):
    with table.open("a") as file:
        file.write("CCBr,1.0,bromide\n")
    result = done("evaluate", table, *["--target", "kind"] * 2, "--folds", 3, "--seed", 0, "--no-baselines")
    assert result.output.count("everything chosen inside") == 1
    assert "Classes with a single graph, which no fold can learn and test: bromide." in result.output
    with table.open("a") as file:
        file.write("".join(f"C({i},1,long\n" for i in range(5)))
    result = done("learn", table, "--target", "size", "--max-length", 1)
    said = " ".join(result.output.split())
    assert re.search(r"5 of \d+ rows were skipped: row \d+: RDKit cannot read the SMILES 'C\(0';", said)
    assert "; and 2 more." in said


def test_learn_shows_mu_and_what_it_is_worth(mutag, tmp_path):
    pytest.importorskip("matplotlib")
    result = done("learn", mutag, "--labels", "none", "--folds", 2, "--max-length", 3, "--out", tmp_path)
    assert "learned in the training folds" in result.output
    assert "biased by selection" in result.output
    assert sorted(file.name for file in tmp_path.iterdir()) == ["MUTAG-curve.png", "MUTAG-lengths.png"]


def test_learn_for_real_targets(table):
    result = done("learn", table, "--target", "size", "--max-length", 2, "--folds", 3)
    assert "likelihood" in result.output
    assert "RMSE" in result.output
    found = run("learn", table, "--target", "size", "--start", "ones", "--stop", "ones", "--folds", 3, "--json")
    errors = json.loads(found.stdout)["rmse"]
    assert [len(errors[name]) for name in ("geometric", "learned")] == [3, 3]
    assert np.mean(errors["learned"]) < 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "molecules.csv"], "there is no file or folder molecules.csv"),
        (["evaluate", "molecules.csv", "--target", "y"], "there is no file"),
        (["evaluate", "MUTAG", "--attributes"], "has no node attributes"),
        (["evaluate", "MUTAG", "--folds", "1"], "folds must lie between 2 and"),
        (["learn", "MUTAG", "--objective", "magic"], "there is no objective"),
    ],
)
def test_bad_input_ends_in_one_sentence(mutag, arguments, message):
    result = run(*arguments)
    assert result.exit_code != 0
    assert message in str(result.exception)


@pytest.mark.parametrize("command", ["evaluate", "learn"])
def test_a_target_that_is_missing_is_named_with_those_there_are(table, command):
    columns = "'smiles', 'size', 'kind'"
    assert f"name the column to predict with --target; it has {columns}" in str(run(command, table).exception)
    result = run(command, table, "--target", "weight")
    assert f"chains.csv has no column 'weight'; it has {columns}; choose one" in str(result.exception)


def _numbers(folder, values, name="t.csv"):
    smiles = ["C" * (1 + k % 7) + "O" * (k % 3) + "N" * (k % 2) for k in range(len(values))]
    path = folder / name
    path.write_text("smiles,logP\n" + "".join(f"{a},{b}\n" for a, b in zip(smiles, values, strict=True)))
    return path


@pytest.mark.parametrize("missing", ["NA", "n/a", "N/A", "null", "NaN", "#N/A", ""])
def test_what_tables_write_for_nothing_is_missing(tmp_path, missing):
    table = _numbers(tmp_path, [0.5 * k for k in range(30)] + [missing])
    found = gv.io.open_graphs(table, target="logP").read()
    assert found.y.dtype.kind == "f"
    assert len(found.y) == 30
    assert len(found.skipped) == 1
    found = gv.io.open_graphs(_numbers(tmp_path, ["Na", "K"] * 15), target="logP").read()
    assert found.y.tolist() == ["Na", "K"] * 15  # sodium is no missing value
    assert not found.skipped


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([*(0.5 * k for k in range(30)), ">10"], "'logP' holds numbers, but also '>10' in row 32; leave such cells"),
        ([f"molecule {k}" for k in range(30)], "30 different values in 30 graphs, which are too many to be classes"),
    ],
)
def test_columns_that_are_no_targets(tmp_path, values, said):
    table = _numbers(tmp_path, values)
    result = run("train", table, "--target", "logP", "-o", tmp_path / "m.gvoys", "--no-cv")
    assert said in str(result.exception)
    assert not (tmp_path / "m.gvoys").exists()


def test_what_was_trained_is_said(tmp_path):
    table = _numbers(tmp_path, [k % 3 for k in range(30)])
    result = run("train", table, "--target", "logP", "-o", tmp_path / "a.gvoys", "--no-cv")
    assert "tells 3 classes apart: 0.0, 1.0, 2.0" in result.output
    result = run("train", table, "--target", "logP", "-o", tmp_path / "b.gvoys", "--no-cv", "--task", "numbers")
    assert "predicts numbers" in result.output
    assert isinstance(gv.load_model(tmp_path / "b.gvoys"), gv.RandomWalkRegressor)
    (tmp_path / "file").touch()
    result = run("evaluate", table, "--target", "logP", "-o", tmp_path / "file")
    assert "is a file; name a folder" in str(result.exception)


def test_the_task_can_be_chosen():
    assert is_real(np.array([0.5, 1.0]))
    assert is_real(np.arange(30.0))
    for classes in ([1.0, 2.0], ["a", "b"], [1, -1]):
        assert not is_real(np.array(classes))
    whole = np.array([1.0, 2.0, 3.0, 1.0])
    assert not is_real(whole)
    assert is_real(whole, "numbers")
    assert not is_real(np.array([0.5, 1.5, 0.5]), "classes")
    assert not is_real(np.array(["1", "x", "y"]))
    assert not is_real(np.array(["<10", ">10"]))  # no cell is a number
    assert not is_real(np.array(["1", "2", "x"]), "classes")
    for task, texts in (("auto", ["1", "2", "x"]), ("numbers", ["1", "y", "x"])):
        raises(gv.errors.DatasetError, r"holds numbers, but also .*'x' in row 3", is_real, np.array(texts), task)
    many = np.arange(100) % 40  # integers, as TU datasets have them
    assert not is_real(many)
    assert is_real(many, "numbers")
    raises(gv.errors.ParameterError, "--task is auto, classes or numbers", is_real, whole, "regress")
