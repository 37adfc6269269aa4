"""gvoys search: from a library and queries to a table of hits."""

import json
from functools import partial

import commands
import pytest
from commands import rows_of

pytest.importorskip("rdkit")

import gvoys as gv

LIBRARY = ["CCO", "CCN", "CCCO", "c1ccccc1", "nonsense", "Cc1ccccc1", "CC(=O)O", "CCCl", "CCCCO", "CC#N", "CCS"]
run, done, sentence = (partial(each, "search") for each in (commands.run, commands.done, commands.sentence))
QUERIES = {"q1": "OCC", "q2": "c1ccccc1C"}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "library.smi").write_text("".join(f"{text} m{i}\n" for i, text in enumerate(LIBRARY)))
    rows = "".join(f"{name},{text}\n" for name, text in QUERIES.items())
    (tmp_path / "queries.csv").write_text(f"name,smiles\n{rows}")
    return tmp_path


def test_hits_of_a_library(files):
    out = files / "hits.csv"
    result = done(files / "library.smi", files / "queries.csv", "--id", "name", "-k", 3, "-o", out)
    assert "1 of 11 rows was skipped" in result.output
    rows = rows_of(out)
    assert [row["query"] for row in rows] == ["q1"] * 3 + ["q2"] * 3
    assert [row["rank"] for row in rows] == ["1", "2", "3"] * 2
    assert (rows[0]["id"], rows[3]["id"]) == ("m0", "m5")
    assert float(rows[0]["similarity"]) == 1.0
    assert not any(path.name.startswith(("library.smi.", ".")) for path in files.iterdir())
    out = ("-o", files / "none.csv")
    assert "there is no file or folder" in sentence(files / "nothing.smi", files / "queries.csv", *out)
    assert "there is no file or folder" in sentence(files / "library.smi", files / "nothing.csv", *out)
    assert "k must be an integer of at least 1" in sentence(files / "library.smi", files / "queries.csv", "-k", 0, *out)
    assert not (files / "none.csv").exists()


def test_an_index_is_kept_and_gives_the_same_hits(files):
    kept, first, second = files / "kept", files / "one.csv", files / "two.csv"
    how = (files / "queries.csv", "-k", 4)
    done(files / "library.smi", *how, "--index", kept, "-o", first)
    done(kept, *how, "-o", second)
    assert first.read_bytes() == second.read_bytes()
    assert len(gv.Index.open(kept)) == 10
    assert "is an index already" in sentence(kept, *how, "--index", files / "other", "-o", files / "three.csv")
    assert "is an index already" in sentence(files / "library.smi", *how, "--index", kept, "-o", files / "three.csv")


def test_molecules_are_read_as_those_of_the_library(files):
    """With charges in their labels, acetate is no acetic acid."""
    (files / "ions.smi").write_text("CC(=O)[O-] ion\nCC(=O)O acid\nCCCC other\nCCCCC more\n")
    (files / "q.smi").write_text("CC(=O)[O-] q\n")
    kept = files / "ions"
    done(files / "ions.smi", files / "q.smi", "--charges", "--index", kept, "-o", files / "a.csv")
    assert run(kept, files / "q.smi", "-o", files / "b.csv").exit_code == 0  # without --charges
    assert (files / "a.csv").read_bytes() == (files / "b.csv").read_bytes()
    assert rows_of(files / "b.csv")[0]["id"] == "ion"


def test_as_a_model_compares_them(files):
    batch = gv.from_smiles([text for text in LIBRARY if text != "nonsense"])
    gv.RandomWalkRegressor(gv.Walk(2), max_iterations=2).fit(batch, batch.graph_sizes).save(files / "size.gvoys")
    how = (files / "library.smi", files / "queries.csv", "--like", files / "size.gvoys", "-k", 2)
    result = done(*how, "-o", files / "hits.csv", "--json")
    found = json.loads(result.stdout)
    assert [row["id"] for row in found] == [row["id"] for row in rows_of(files / "hits.csv")]
    assert found[0]["similarity"] == pytest.approx(1.0)
