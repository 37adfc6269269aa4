"""gvoys evaluate and gvoys learn, as a user meets them."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from gvoys.cli import app
from gvoys.cli.read import is_real


def run(*arguments):
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, [str(argument) for argument in arguments])


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
    result = run("evaluate", mutag, "--folds", 3, "--seed", 5, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "everything chosen inside the training folds" in result.output
    assert sorted(file.name for file in (tmp_path / "MUTAG").iterdir()) == [
        "confusion.png",
        "lengths.png",
        "results.json",
    ]
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
    result = run("evaluate", table, "--target", "kind", "--folds", 3, "--seed", 0)
    assert result.exit_code == 0, result.output
    assert "%" in result.output
    result = run("evaluate", table, "--target", "size", "--folds", 3, "--out", tmp_path / "plots")
    assert result.exit_code == 0, result.output
    assert "RMSE" in result.output
    assert (tmp_path / "plots" / "chains" / "predictions.png").stat().st_size > 1000
    found = json.loads((tmp_path / "plots" / "chains" / "results.json").read_text())
    assert found["mean"] < 1.0
    assert found["seeds"] == [0, 1, 2]  # few graphs, so that one split says little


def test_rows_that_cannot_be_read_are_named_and_skipped(table):
    with table.open("a") as file:
        file.write("".join(f"C({i},1,long\n" for i in range(5)))
    result = run("learn", table, "--target", "size", "--max-length", 1)
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert re.search(r"5 of \d+ rows were skipped: row \d+: RDKit cannot read the SMILES 'C\(0';", said)
    assert "; and 2 more." in said


def test_learn_shows_mu_and_what_it_is_worth(mutag, tmp_path):
    pytest.importorskip("matplotlib")
    result = run("learn", mutag, "--labels", "none", "--folds", 2, "--max-length", 3, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "learned in the training folds" in result.output
    assert "biased by selection" in result.output
    assert sorted(file.name for file in tmp_path.iterdir()) == ["MUTAG-curve.png", "MUTAG-lengths.png"]


def test_learn_for_real_targets(table):
    result = run("learn", table, "--target", "size", "--max-length", 2)
    assert result.exit_code == 0, result.output
    assert "likelihood" in result.output


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


def test_what_is_real():
    assert is_real(np.array([0.5, 1.0]))
    assert is_real(np.arange(30.0))
    assert not is_real(np.array([1.0, 2.0]))
    assert not is_real(np.array(["a", "b"]))
    assert not is_real(np.array([1, -1]))
