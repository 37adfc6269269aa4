"""The index as a folder: the same hits, builds that go on, and damage in one sentence."""

import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from mutations import mutate
from processes import content
from raising import raises

import gvoys as gv
from gvoys.io import open_graphs
from gvoys.io.files import write_sealed
from gvoys.search.build_index import build_index

LIBRARY = gv.datasets.molecules(200, mean_nodes=10, random_state=1)
QUERIES = gv.datasets.molecules(5, mean_nodes=10, random_state=2)
SMILES = ["C" * n + tail for n in range(1, 26) for tail in ("O", "N", "Cl", "c1ccccc1", "C(=O)O", "C#N", "S", "F")]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "library.smi"
    rows = [f"{smiles} m{i}" for i, smiles in enumerate(SMILES)]
    rows.insert(7, "not-a-molecule x")
    path.write_text("\n".join(rows))
    return path


def same(one, other):
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left, right)


ESTIMATORS = {
    "usual": lambda: None,
    "sketch": lambda: gv.RandomWalkKernel(gv.Geometric(0.05), gv.Walk(3), method="sketch", n_components=128),
    "classifier": lambda: gv.RandomWalkClassifier(gv.Walk(2), C=1.0).fit(LIBRARY[:40], LIBRARY.graph_sizes[:40] > 10),
    "regressor": lambda: gv.RandomWalkRegressor(gv.Walk(2), max_iterations=2).fit(
        LIBRARY[:40], LIBRARY.graph_sizes[:40]
    ),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_index_is_saved_and_opened(name, tmp_path):
    index = gv.Index(ESTIMATORS[name]()).add(LIBRARY[:120], [f"a{i}" for i in range(120)])
    index.save(tmp_path / "index")
    opened = gv.Index.open(tmp_path / "index")
    same(opened.nearest(QUERIES), index.nearest(QUERIES))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "index" / "segment-0000").rglob("*")}
    for each in (index, opened):
        each.add(LIBRARY[120:], [f"b{i}" for i in range(80)])
    opened.save(tmp_path / "index")  # what was there is not written again
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "index" / "segment-0000").rglob("*")}
    same(gv.Index.open(tmp_path / "index").nearest(QUERIES), index.nearest(QUERIES))


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "thesis.tex").write_text("…")
    index = gv.Index().add(LIBRARY[:20])
    raises(gv.errors.StoreError, "exists already and is no index", index.save, tmp_path / "index")
    raises(gv.errors.StoreError, "is no index", gv.Index.open, tmp_path / "index")
    index.save(tmp_path / "other")
    (tmp_path / "index.json").write_text("{}")
    raises(gv.errors.ParameterError, "is a file; name a folder", index.save, tmp_path / "index.json")
    raises(gv.errors.StoreError, "holds another index", gv.Index().add(LIBRARY[:30]).save, tmp_path / "other")


def test_an_index_is_not_mixed_with_another_one(tmp_path):
    """Of the same size, by another kernel; and by two hands at once."""
    gv.Index().add(LIBRARY[:50]).save(tmp_path / "index")
    other = gv.Index(gv.RandomWalkKernel(gv.Geometric(0.1), gv.Walk(3))).add(LIBRARY[50:100]).add(LIBRARY[100:150])
    alike = gv.Index().add(LIBRARY[:50], [f"x{i}" for i in range(50)]).add(LIBRARY[50:60])
    one, two = gv.Index.open(tmp_path / "index"), gv.Index.open(tmp_path / "index")
    one.add(LIBRARY[60:64]).save(tmp_path / "index")
    for index in (other, alike, two.add(LIBRARY[70:74])):
        with pytest.raises(gv.errors.StoreError, match="holds another index, or one that was added to since"):
            index.save(tmp_path / "index")
    same(gv.Index.open(tmp_path / "index").nearest(QUERIES), one.nearest(QUERIES))


@pytest.mark.parametrize("n_left", [10, 7])
def test_what_an_interrupted_save_left_is_not_taken(tmp_path, n_left):
    index = gv.Index().add(LIBRARY[:50])
    index.save(tmp_path / "index")
    gv.write_store(LIBRARY[100 : 100 + n_left], tmp_path / "index" / "segment-0001" / "graphs")
    index.add(LIBRARY[50:60]).save(tmp_path / "index")
    same(gv.Index.open(tmp_path / "index").nearest(LIBRARY[50:60]), index.nearest(LIBRARY[50:60]))


@pytest.mark.parametrize("ids", [np.arange(20), [np.int32(3)] * 20, [1.5] * 20, ["a"] * 20, range(5, 25)])
def test_ids_of_any_kind_come_back(tmp_path, ids):
    index = gv.Index().add(LIBRARY[:20], ids)
    index.save(tmp_path / "index")
    found = gv.Index.open(tmp_path / "index").nearest(LIBRARY[:2], k=20).ids
    assert found.tolist() == index.nearest(LIBRARY[:2], k=20).ids.tolist()
    assert sorted(found[0].tolist()) == sorted(ids)


def test_damage_is_one_sentence(tmp_path):
    gv.Index().add(LIBRARY[:50], [f"a{i}" for i in range(50)]).save(tmp_path / "index")
    files = [path for path in (tmp_path / "index").rglob("*") if path.is_file()]
    assert len(files) > 8
    for path in files:
        held = path.read_bytes()
        for broken in (held[: len(held) // 2], b"", mutate(held, np.random.default_rng(0))):
            path.write_bytes(broken)
            raises(gv.errors.GvoysError, "", gv.Index.open, tmp_path / "index")
            path.write_bytes(held)
        path.unlink()
        with pytest.raises(gv.errors.GvoysError):
            gv.Index.open(tmp_path / "index")
        path.write_bytes(held)
    gv.Index.open(tmp_path / "index")


def test_an_index_of_a_file_is_that_of_its_graphs(table, tmp_path):
    calls = []
    count, skipped = build_index(
        open_graphs(table), tmp_path / "index", rows_per_part=64, on_progress=lambda *done: calls.append(done)
    )
    index = gv.Index.open(tmp_path / "index")
    assert count == len(index) == len(SMILES)
    assert [each.row for each in skipped] == [8]
    assert calls[-1][0] == calls[-1][1]
    assert calls[-1][2] == len(SMILES)
    assert not (tmp_path / "index.work").exists()
    queries = gv.from_smiles(["CCCO", "CCc1ccccc1"])
    ids, similarities, _ = index.nearest(queries, 3)
    assert ids[:, 0].tolist() == ["m16", "m11"]
    np.testing.assert_allclose(similarities[:, 0], 1.0, atol=1e-9)
    raises(gv.errors.ParameterError, "exists already", build_index, open_graphs(table), tmp_path / "index")


PROGRAM = """
import sys, time
from gvoys.io import open_graphs
from gvoys.io.files import write_sealed
from gvoys.search import build_index as building
make = building._Builder._make
def slowly(self, *arguments):
    made = make(self, *arguments)
    print("part", flush=True)
    time.sleep(float(sys.argv[3]))
    return made
building._Builder._make = slowly
building.build_index(open_graphs(sys.argv[1]), sys.argv[2], rows_per_part=32)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill")
def test_a_killed_build_goes_on_and_ends_with_the_same_bytes(table, tmp_path):
    build_index(open_graphs(table), tmp_path / "whole", rows_per_part=32)
    program = [sys.executable, "-c", PROGRAM, str(table), str(tmp_path / "killed"), "0.5"]
    run = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    for _ in range(3):
        run.stdout.readline()
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    run.stdout.close()
    parts = sorted((tmp_path / "killed.work").glob("part-*/done.json"))
    assert 2 <= len(parts) < 7
    (parts[0].parent / "values.npy").write_bytes(b"damaged")  # which is made again
    count, _ = build_index(open_graphs(table), tmp_path / "killed", rows_per_part=32)
    assert count == len(SMILES)
    assert content(tmp_path / "killed") == content(tmp_path / "whole")


def test_builds_that_cannot_be_made(table, tmp_path):
    work = tmp_path / "index.work"
    work.mkdir()
    (work / "thesis.tex").write_text("…")
    said = r"index.work is not empty and holds no unfinished index"
    raises(gv.errors.ParameterError, said, build_index, open_graphs(table), tmp_path / "index")
    assert (work / "thesis.tex").exists()
    write_sealed(work / "job.json", {"input": "another"})
    with pytest.raises(gv.errors.ParameterError, match="unfinished index of another input"):
        build_index(open_graphs(table), tmp_path / "index")
    shutil.rmtree(work)
    (tmp_path / "bad.smi").write_text("nothing\nof\nthe\nkind\n")
    with pytest.raises(gv.errors.DatasetError, match="holds no graph that can be read"):
        build_index(open_graphs(tmp_path / "bad.smi"), tmp_path / "index")
    assert not (tmp_path / "index").exists()
