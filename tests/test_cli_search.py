"""gvoys search: from a library and queries to a table of hits."""

import csv
import json

import pytest
from typer.testing import CliRunner

pytest.importorskip("rdkit")

import gvoys as gv
from gvoys.apps.cli import app
from gvoys.apps.cli.messages import in_one_sentence

LIBRARY = ["CCO", "CCN", "CCCO", "c1ccccc1", "nonsense", "Cc1ccccc1", "CC(=O)O", "CCCl", "CCCCO", "CC#N", "CCS"]
QUERIES = {"q1": "OCC", "q2": "c1ccccc1C"}


def run(*arguments):
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, ["search", *map(str, arguments)])


def refused(*arguments):
    result = run(*arguments)
    with pytest.raises(SystemExit) as ended, in_one_sentence():
        raise result.exception
    assert ended.value.code == 2
    return str(result.exception)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "library.smi").write_text("".join(f"{text} m{i}\n" for i, text in enumerate(LIBRARY)))
    rows = "".join(f"{name},{text}\n" for name, text in QUERIES.items())
    (tmp_path / "queries.csv").write_text(f"name,smiles\n{rows}")
    return tmp_path


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_hits_of_a_library(files):
    out = files / "hits.csv"
    result = run(files / "library.smi", files / "queries.csv", "--id", "name", "-k", 3, "-o", out)
    assert result.exit_code == 0, result.output
    assert "1 of 11 rows was skipped" in result.output
    rows = rows_of(out)
    assert [row["query"] for row in rows] == ["q1"] * 3 + ["q2"] * 3
    assert [row["rank"] for row in rows] == ["1", "2", "3"] * 2
    assert (rows[0]["id"], rows[3]["id"]) == ("m0", "m5")
    assert float(rows[0]["similarity"]) == 1.0
    assert not any(path.name.startswith(("library.smi.", ".")) for path in files.iterdir())


def test_an_index_is_kept_and_gives_the_same_hits(files):
    kept, first, second = files / "kept", files / "one.csv", files / "two.csv"
    how = (files / "queries.csv", "-k", 4)
    assert run(files / "library.smi", *how, "--index", kept, "-o", first).exit_code == 0
    assert run(kept, *how, "-o", second).exit_code == 0
    assert first.read_bytes() == second.read_bytes()
    assert len(gv.Index.open(kept)) == 10
    assert "is an index already" in refused(kept, *how, "--index", files / "other", "-o", files / "three.csv")
    assert "is an index already" in refused(files / "library.smi", *how, "--index", kept, "-o", files / "three.csv")


def test_molecules_are_read_as_those_of_the_library(files):
    """With charges in their labels, acetate is no acetic acid."""
    (files / "ions.smi").write_text("CC(=O)[O-] ion\nCC(=O)O acid\nCCCC other\nCCCCC more\n")
    (files / "q.smi").write_text("CC(=O)[O-] q\n")
    kept = files / "ions"
    assert run(files / "ions.smi", files / "q.smi", "--charges", "--index", kept, "-o", files / "a.csv").exit_code == 0
    assert run(kept, files / "q.smi", "-o", files / "b.csv").exit_code == 0  # without --charges
    assert (files / "a.csv").read_bytes() == (files / "b.csv").read_bytes()
    assert rows_of(files / "b.csv")[0]["id"] == "ion"


def test_as_a_model_compares_them(files):
    batch = gv.from_smiles([text for text in LIBRARY if text != "nonsense"])
    gv.RandomWalkRegressor(gv.Walk(2), max_iterations=2).fit(batch, batch.graph_sizes).save(files / "size.gvoys")
    how = (files / "library.smi", files / "queries.csv", "--like", files / "size.gvoys", "-k", 2)
    result = run(*how, "-o", files / "hits.csv", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [row["id"] for row in found] == [row["id"] for row in rows_of(files / "hits.csv")]
    assert found[0]["similarity"] == pytest.approx(1.0)


def test_bad_input_is_one_sentence(files):
    out = ("-o", files / "hits.csv")
    assert "there is no file or folder" in refused(files / "nothing.smi", files / "queries.csv", *out)
    assert "there is no file or folder" in refused(files / "library.smi", files / "nothing.csv", *out)
    assert "k must be an integer of at least 1" in refused(files / "library.smi", files / "queries.csv", "-k", 0, *out)
    assert not (files / "hits.csv").exists()
