"""The folder of gvoys embed: readers of Parquet take it as it is, and what earlier versions wrote is not lost."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from raising import raises

import gvoys as gv
from gvoys.apps.scale import embed_file, write_gram
from gvoys.apps.scale.parts import skipped_beside
from gvoys.errors import GvoysError, ParameterError

SMALL = {"walk": gv.Walk(2), "n_components": 32, "rows_per_part": 3}
ROWS = ["C1CC", "(((", "C1", "CCO", "c1ccccc1N", "no", "[Na+].[Cl-]", "CCN"]  # the first part has no graph


@pytest.fixture
def made(tmp_path):
    (tmp_path / "a.smi").write_text("".join(f"{text} m{k}\n" for k, text in enumerate(ROWS)))
    embed_file(tmp_path / "a.smi", tmp_path / "out", SMALL)
    return tmp_path


def as_of_version_4(folder):
    """The names that files had, and a job without what is new."""
    for name in ("job.json", "summary.json", "checksums.txt"):
        (folder / f"_{name}").rename(folder / name)
    skipped_beside(folder).rename(folder / "skipped.csv")
    job = json.loads((folder / "job.json").read_text())
    del job["like"], job["fitted"]["labels"], job["fitted"]["directed"]
    (folder / "job.json").write_text(json.dumps(job | {"version": 4}))


def test_readers_of_parquet_read_the_folder(made):
    pandas = pytest.importorskip("pandas")
    from pyarrow import dataset

    ids, features = gv.read_features(made / "out")
    assert ids == ["m3", "m4", "m6", "m7"]
    frame = pandas.read_parquet(made / "out")
    assert frame["id"].tolist() == ids
    np.testing.assert_array_equal(np.stack(frame["features"]), features)
    table = dataset.dataset(made / "out").to_table()
    assert table.column("id").to_pylist() == ids
    assert len(pandas.read_parquet(made / "out" / "part-0000000.parquet")) == 0
    names = sorted(file.name for file in (made / "out").iterdir())
    assert names[:3] == ["_checksums.txt", "_job.json", "_summary.json"]
    assert all(name.startswith("part-") for name in names[3:])
    assert sorted(file.name for file in made.iterdir()) == ["a.smi", "out", "out.skipped.csv"]
    lines = (made / "out.skipped.csv").read_text().splitlines()
    assert lines[0] == "row,text,reason"
    assert [line.partition(",")[0] for line in lines[1:]] == ["1", "2", "3", "6"]


@pytest.mark.parametrize(("folder", "table"), [(".", "../work.skipped.csv"), ("out/", "out.skipped.csv")])
def test_the_table_stands_beside_any_folder(tmp_path, monkeypatch, folder, table):
    (tmp_path / "a.smi").write_text("CCO\n")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    embed_file("../a.smi", folder, SMALL)
    assert (tmp_path / "work" / table).exists()
    assert skipped_beside(Path("up/..")) == tmp_path / "work.skipped.csv"


# -- the table of skipped rows is beside the folder, where other files may be
def test_tables_of_other_runs(made, monkeypatch):
    (made / "new.skipped.csv").write_text("mine\n")
    raises(ParameterError, r"new.skipped.csv exists already", embed_file, made / "a.smi", made / "new", SMALL)
    assert (made / "new.skipped.csv").read_text() == "mine\n"
    assert not (made / "new").exists()
    monkeypatch.setattr(os, "access", lambda path, mode: path != made)
    with pytest.raises(ParameterError, match=r"cannot be written, where new.skipped.csv would go"):
        embed_file(made / "a.smi", made / "new", SMALL, on_progress=lambda *_: pytest.fail("the work began"))


def test_tables_that_were_left_behind(made):
    before = (made / "out.skipped.csv").read_bytes()
    (made / "new.skipped.csv").write_text("row,text,reason\n1,X,old\n")
    embed_file(made / "a.smi", made / "new", SMALL)
    assert (made / "new.skipped.csv").read_bytes() == before
    left, other = made / ".out.skipped.csv.123.partial", made / ".other.skipped.csv.123.partial"
    for file in (left, other):
        file.write_text("row,te")
    (made / "out" / "_summary.json").unlink()
    embed_file(made / "a.smi", made / "out", SMALL)
    assert not left.exists()
    assert other.exists()


# -- folders of earlier versions


@pytest.mark.parametrize("done", [True, False])
def test_a_run_does_not_go_on_in_a_folder_of_an_earlier_version(made, done):
    ids, features = gv.read_features(made / "out")
    as_of_version_4(made / "out")
    old_ids, old = gv.read_features(made / "out")
    assert old_ids == ids
    np.testing.assert_array_equal(old, features)
    if not done:
        (made / "out" / "summary.json").unlink()
    before = sorted(file.name for file in (made / "out").iterdir())
    with pytest.raises(ParameterError, match=r"of another version of gvoys; choose another folder, or start anew"):
        embed_file(made / "a.smi", made / "out", SMALL)
    assert sorted(file.name for file in (made / "out").iterdir()) == before
    for use in (lambda: gv.read_features(made / "out", like=made / "out"), lambda: embed(made)):
        raises(ParameterError, "of another version of gvoys, whose features may differ", use)


def embed(made):
    return embed_file(made / "a.smi", made / "new", like=made / "out")


def test_a_matrix_does_not_go_on_with_features_of_an_earlier_version(made, monkeypatch):
    monkeypatch.setattr("gvoys.apps.scale.gram._fill", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_gram(made / "a.smi", made / "K.npy")
    monkeypatch.undo()
    as_of_version_4(made / "K.npy.work" / "features")
    raises(GvoysError, "of another version of gvoys", write_gram, made / "a.smi", made / "K.npy")
