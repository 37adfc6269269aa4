"""What commands make of tables and graphs with doubtful content: one sentence, never a silent guess."""

import csv
import json

import numpy as np
import pytest
from commands import done, rows_of, run

pytest.importorskip("rdkit")
pytest.importorskip("pyarrow")

import gvoys as gv


def said(result):
    return " ".join((result.output + str(result.exception or "")).split())


def table(folder, values, header="smiles,y"):
    smiles = ["C" * (1 + k % 7) + "O" * (k % 3) + "N" * (k % 2) for k in range(len(values))]
    (folder / "t.csv").write_text(header + "\n" + "".join(f"{a},{b}\n" for a, b in zip(smiles, values, strict=True)))
    return folder / "t.csv"


MICS = ["0.5", "1", "2", "4", "8", "16", "32", "64"] * 4


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([*MICS, ">64", *MICS, ">64", "n.d."], "'y' holds numbers, but also '>64' in rows 34, 67 and 'n.d.' in row 68"),
        ([str(k / 2) for k in range(15)] * 3 + ["n.d."], "'y' holds numbers, but also 'n.d.' in row 47;"),
        ([*MICS, "inf"], "'y' holds numbers, but also 'inf' in row 34; "),
        (['"1,5"', '"2,5"', "3"] * 9, "numbers, but also '1,5' in rows 2, 5, 8 and 6 more and '2,5' in rows"),
    ],
)
@pytest.mark.parametrize("command", ["train", "evaluate", "learn"])
def test_numbers_never_become_classes(tmp_path, command, values, message):
    out = ("-o", tmp_path / "m.gvoys") if command == "train" else ()
    found = said(run(command, table(tmp_path, values), "--target", "y", *out))
    assert message in found
    remedy = "write numbers with a point" if "1,5" in message else "leave such cells empty, and their rows are skipped"
    assert f"; {remedy}, or give --task classes" in found
    assert not (tmp_path / "m.gvoys").exists()


def test_classes_that_look_like_numbers_can_be_chosen(tmp_path):
    path = table(tmp_path, ["1", "2", "3A"] * 12)
    result = run("train", path, "--target", "y", "--task", "classes", "--no-cv", "-o", tmp_path / "m.gvoys")
    assert "tells 3 classes apart: 1, 2, 3A" in said(result)


@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_whole_numbers_that_are_taken_as_classes_are_said(tmp_path, command):
    path = table(tmp_path, [0, 1, 2] * 10)
    out = ("--no-cv", "-o", tmp_path / "m.gvoys") if command == "train" else ("--folds", 2, "--no-baselines")
    sentence = "The column 'y' holds 3 different whole numbers, which are taken as classes; --task numbers predicts"
    assert sentence in said(run(command, path, "--target", "y", *out))
    (tmp_path / "m.gvoys").unlink(missing_ok=True)
    assert "whole numbers" not in said(run(command, path, "--target", "y", "--task", "classes", *out))


@pytest.mark.parametrize("command", ["train", "embed", "explore", "search"])
@pytest.mark.parametrize(("option", "values"), [("--smiles", "ligand base"), ("--id", "a b")])
def test_an_option_that_takes_one_value_is_given_once(tmp_path, command, option, values):
    first, second = values.split()
    words = (command, "t.csv", *(["q.csv"] if command == "search" else []), option, first, option, second, "-o", "x")
    assert str(run(*words).exception) == f"{option} takes one value and is given 2 times; give it once"


def test_copies_whose_values_differ_are_counted(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{'C' * k}O,{k}.5,{'ab'[k % 2]}" for k in range(1, 30)] + ["OCC,2.5,a", "OCCC,9.75,b", "C(O)CC,3.5,a"]
    path.write_text("\n".join(["smiles,y,kind", *rows]) + "\n")
    how = ("--folds", 2, "--no-baselines")
    found = said(run("evaluate", path, "--target", "y", *how))
    assert "3 are duplicates of others, by their canonical SMILES; they stay in one fold." in found
    assert "The values of 1 structure differ between its copies, by up to 6.25." in found
    assert "1 structure has copies of several classes." in said(run("evaluate", path, "--target", "kind", *how))


# -- what is written
def header(path):
    with path.open(newline="") as file:
        return next(csv.reader(file))


def test_smiles_in_outputs(tmp_path):
    pytest.importorskip("matplotlib")
    path = table(tmp_path, [k / 4 for k in range(30)], "Structure,y")
    with path.open("a") as file:
        file.write("C1CC,1\n")
    smiles = [line.split(",")[0] for line in path.read_text().splitlines()[1:-1]]
    how = ("--smiles", "structure")
    done("train", path, *how, "--target", "y", "--no-cv", "-o", tmp_path / "m.gvoys")
    done("predict", tmp_path / "m.gvoys", path, "--rows-per-part", 7, "-o", tmp_path / "p.csv")
    assert header(tmp_path / "p.csv")[:3] == ["id", "smiles", "prediction"]
    assert [row["smiles"] for row in rows_of(tmp_path / "p.csv")] == smiles
    done("search", path, path, *how, "--library-smiles", "structure", "-k", 2, "-o", tmp_path / "h.csv")
    assert header(tmp_path / "h.csv")[:4] == ["query", "smiles", "rank", "id"]
    assert [row["smiles"] for row in rows_of(tmp_path / "h.csv")[::2]] == smiles
    quick = ("--target", "y", "--folds", 2, "--seed", 0, "--no-baselines")
    done("evaluate", path, *how, *quick, "-o", tmp_path / "e")
    found = {row["id"]: row["smiles"] for row in rows_of(tmp_path / "e" / "t" / "predictions.csv")}
    assert found == {str(number): text for number, text in enumerate(smiles, 1)}
    gv.write_store(gv.datasets.molecules(30), tmp_path / "store")
    batch = gv.open_store(tmp_path / "store")  # graphs without SMILES have no such column
    gv.RandomWalkRegressor(gv.Walk(2), max_iterations=2).fit(batch, batch.graph_sizes).save(tmp_path / "n.gvoys")
    done("predict", tmp_path / "n.gvoys", tmp_path / "store", "-o", tmp_path / "q.csv")
    assert header(tmp_path / "q.csv")[:2] == ["id", "prediction"]


# -- names of fields
@pytest.fixture
def graphs(tmp_path):
    """Rings, whose classes only the attribute 'charge' tells apart."""
    lines = []
    for k in range(24):
        nodes = [{"id": i, "element": "C", "charge": float(k % 2) + 0.01 * i} for i in range(4 + k % 3)]
        links = [{"source": i, "target": (i + 1) % len(nodes), "length": 1.5, "kind": "x"} for i in range(len(nodes))]
        lines.append({"nodes": nodes, "links": links, "graph": {"class": f"c{k % 2}", "y": k + 0.5}})
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path / "a.jsonl"


NAMES = ("--node-label", "element", "--edge-label", "kind", "--weight", "length", "--node-attributes", "charge")


def test_attributes_are_used_or_said_not_to_be(graphs, tmp_path):
    how = ("--target", "class", "--folds", 2, "--seed", 0, "--no-baselines")
    found = said(run("evaluate", graphs, "--attributes", *how))
    assert "1.000 ± 0.000" in found
    assert "Node attributes: 'charge'." in found
    refused = said(run("evaluate", graphs, "--attributes", "--node-attributes", "none", *how))
    assert "a has no node attributes that are read; name them with --node-attributes, or leave out --attr" in refused
    with pytest.warns(gv.errors.InputWarning, match="node and edge attributes are not used"):
        found = said(run("evaluate", graphs, "--target", "y", "--folds", 2, "--no-baselines"))
    assert "RMSE" in found


def test_fields_in_every_command(graphs, tmp_path):
    pytest.importorskip("plotly")
    work = ("--max-length", 1)
    for arguments in (
        ("train", graphs, "--target", "class", "--no-cv", "-o", tmp_path / "m.gvoys", *NAMES),
        ("evaluate", graphs, "--target", "class", "--folds", 2, "--no-baselines", *NAMES),
        ("learn", graphs, "--target", "class", "--folds", 2, *work, *NAMES),
        ("embed", graphs, "-o", tmp_path / "f", "--components", 8, *work, *NAMES),
        ("kernel", graphs, "-o", tmp_path / "K.npy", "--components", 8, *work, *NAMES),
        ("explore", graphs, "-o", tmp_path / "x.html", *work, *NAMES),
        ("search", graphs, graphs, "-o", tmp_path / "h.csv", *NAMES),
        ("predict", tmp_path / "m.gvoys", graphs, "-o", tmp_path / "p.csv", *NAMES),
        ("explain", tmp_path / "m.gvoys", graphs, "-o", tmp_path / "e.html", *NAMES),
    ):
        refused = run(*arguments, "--edge-attributes", "nothing")
        assert "no edge has the attribute 'nothing'" in said(refused), arguments[0]
        done(*arguments)


def test_a_model_reads_the_fields_that_it_was_trained_on(graphs, tmp_path):
    """Without a word about them, also where other fields are there."""
    done("train", graphs, "--target", "class", "--attributes", "--no-cv", "-o", tmp_path / "m.gvoys", *NAMES[:2])
    assert gv.load_model(tmp_path / "m.gvoys").training_["fields"]["node_label"] == "element"
    lines = [json.loads(line) for line in graphs.read_text().splitlines()]
    for line in lines:
        for node in line["nodes"]:
            node["mass"] = 1.5
    graphs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done("predict", tmp_path / "m.gvoys", graphs, "-o", tmp_path / "p.csv")
    found = rows_of(tmp_path / "p.csv")
    assert np.mean([row["prediction"] == f"c{k % 2}" for k, row in enumerate(found)]) == 1.0
    assert {row["unseen"] for row in found} == {"0.0"}
    (tmp_path / "q.smi").write_text("CCO\n")  # which has no fields
    assert run("explain", tmp_path / "m.gvoys", tmp_path / "q.smi", "-o", tmp_path / "e.html").exit_code in (0, 1)
