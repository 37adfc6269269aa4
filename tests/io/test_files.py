"""Files that appear: complete, whoever else writes them, and on the disk before they have their name.

GVOYS_SAVING_SECONDS is how long two threads save models to one path while another loads them.
"""

import errno
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from raising import raises

import gvoys as gv
from gvoys.io import files, open_graphs

SECONDS = float(os.environ.get("GVOYS_SAVING_SECONDS", "1"))
GRAPHS = gv.datasets.molecules(30, mean_nodes=8)
MODELS = [gv.RandomWalkClassifier(gv.Walk(2), C=C).fit(GRAPHS, GRAPHS.graph_sizes > 8) for C in (0.1, 10.0)]


def test_two_savers_and_a_loader_of_one_path(tmp_path):
    """The loader has one of the two models, complete."""
    path, faults, loaded = tmp_path / "m.gvoys", [], []
    MODELS[0].save(path)
    expected = [model.predict_proba(GRAPHS) for model in MODELS]
    end = time.monotonic() + SECONDS

    def repeat(work):
        while time.monotonic() < end and not faults:
            try:
                work()
            except Exception as error:
                faults.append(error)

    def load():
        values = gv.load_model(path).predict_proba(GRAPHS)
        loaded.append([np.array_equal(values, each) for each in expected])

    works = [lambda: MODELS[0].save(path), lambda: MODELS[1].save(path), load]
    threads = [threading.Thread(target=repeat, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert all(sum(each) == 1 for each in loaded)
    assert [file.name for file in tmp_path.iterdir()] == ["m.gvoys"]
    print(f"{SECONDS} seconds: {len(loaded)} models loaded while two threads saved")


def test_what_killed_runs_left_is_removed_and_nothing_else(tmp_path):
    kept = [
        ".a.csv.0a1b.txt",
        ".other.csv.0a1b.partial",
        ".a.csv.gz.0a1b.partial",
        "a.csv",
        ".a.csv.lock",
        ".a.partial",
    ]
    kept.append(".b.csv.0a.partial")
    left = [".a.csv.12345.partial", ".a.csv.0123456789abcdef.partial", ".a.csv.12345.part"]
    folder = files.partial_name(tmp_path / "a.csv")
    (folder / "inside").mkdir(parents=True)
    for name in (*kept, *left):
        (tmp_path / name).write_text("x")
    files.remove_left_over(tmp_path / "a.csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(kept)
    files.remove_partial(tmp_path, r"\w\.csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted({*kept} - {".b.csv.0a.partial"})


def test_a_run_leaves_alone_what_others_write_into_its_folder(tmp_path):
    """A model that is being saved, say."""
    pytest.importorskip("rdkit")
    pytest.importorskip("pyarrow")
    (tmp_path / "a.smi").write_text("CCO\nCC\n")
    (tmp_path / "features").mkdir()
    (tmp_path / "features" / "._job.json.123.partial").write_text("of a run that was killed")
    with files.appearing(tmp_path / "features" / "m.gvoys") as partial:
        partial.write_text("half")
        embed(tmp_path / "a.smi", tmp_path / "features")
    assert (tmp_path / "features" / "m.gvoys").read_text() == "half"
    assert not list((tmp_path / "features").glob(".*partial"))


# -- on the disk
@pytest.fixture
def renamed(monkeypatch):
    """Names that were given to files and folders, all of which were on the disk by then."""
    synced, names, folders = set(), [], set()
    fsync, replace = os.fsync, Path.replace

    def key(status):
        return status.st_dev, status.st_ino

    def watched_fsync(handle):
        fsync(handle)
        synced.add(key(os.fstat(handle)))
        folders.discard(key(os.fstat(handle)))

    def watched_replace(path, target):
        if ".partial/" not in f"{target}/" and ".work/part-" not in f"{target}":  # such parts are verified
            late = [each for each in (path, *path.rglob("*")) if key(each.stat()) not in synced]
            assert late == []
            names.append(Path(target).name)
            folders.add(key(Path(target).parent.stat()))
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(Path, "replace", watched_replace)
    monkeypatch.setattr(Path, "rename", watched_replace)
    yield names
    assert folders == set()  # the new names too are on the disk


def build(table, out):
    from gvoys.search.build_index import build_index

    build_index(open_graphs(table), out, rows_per_part=3)


def embed(table, out):
    from gvoys.apps.scale import embed_file

    embed_file(table, out, {"walk": gv.Walk(2), "n_components": 16})


def write_gram(table, out):
    from gvoys.apps.scale import write_gram
    from gvoys.apps.scale.job import Parameters

    write_gram(table, out, Parameters(walk=gv.Walk(2), n_components=16))


WRITERS = {
    "m.gvoys": lambda table, out: MODELS[0].save(out),
    "store": lambda table, out: gv.write_store(GRAPHS, out),
    "saved": lambda table, out: gv.Index().add(GRAPHS).save(out),
    "built": build,
    "features": embed,
    "K.npy": write_gram,
}
LAST = {"features": "_summary.json", "saved": "index.json"}


@pytest.mark.parametrize("name", WRITERS)
def test_files_are_on_the_disk_before_they_have_their_names(tmp_path, renamed, name):
    if name in ("built", "features", "K.npy"):
        pytest.importorskip("rdkit")
        pytest.importorskip("pyarrow")
    (tmp_path / "a.smi").write_text("CCO\nCC\nCCN\nC\nCO\n")
    WRITERS[name](tmp_path / "a.smi", tmp_path / name)
    assert renamed[-1] == LAST.get(name, name)


@pytest.mark.parametrize("number", [errno.EIO, errno.EINVAL])
def test_file_systems_that_fail_and_those_that_cannot_sync(tmp_path, monkeypatch, number):
    def fail(handle):
        raise OSError(number, os.strerror(number))

    def write():
        with files.appearing(tmp_path / "a.csv") as partial:
            partial.write_text("x")

    monkeypatch.setattr(os, "fsync", fail)
    if number == errno.EIO:
        raises(OSError, "Input/output error", write)
        assert list(tmp_path.iterdir()) == []
    else:
        write()
        assert (tmp_path / "a.csv").read_text() == "x"
