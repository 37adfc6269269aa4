"""Runs that are killed, that find the disk full, and that meet another run: the same bytes, or one sentence.

GVOYS_KILLS is how often each kind of run is killed.
"""

import os
import random
import re
import shutil
import subprocess

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from input_files import SMILES
from mutations import change_file
from processes import KILLS, content, finish, gvoys, kill_often, start, timed
from raising import raises

import gvoys as gv
from gvoys.apps.scale.parts import part_path, skipped_beside

PIECES = 30


@pytest.fixture(scope="module")
def molecules(tmp_path_factory):
    file = tmp_path_factory.mktemp("molecules") / "many.smi"
    file.write_text("".join(f"{s.replace(' ', '')} m{k}\n" for k in range(60) for s in SMILES))
    return file


def write_pieces(path, n=PIECES):
    gv.write_store((gv.datasets.molecules(100, random_state=k) for k in range(n)), path)


def embed(molecules, folder, *more, log=os.devnull):
    """Large parts, slow to write."""
    return gvoys("embed", molecules, "--rows-per-part", 100, "--components", 8192, "-o", folder, *more, log=log)


def kernel(molecules, out, *more, log=os.devnull):
    return gvoys("kernel", molecules, "--rows-per-part", 100, "--components", 128, "-o", out, *more, log=log)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    graphs = gv.from_smiles(["C" * n + "O" * (n % 3) for n in range(1, 40)])
    file = tmp_path_factory.mktemp("model") / "m"
    gv.RandomWalkRegressor(gv.Walk(1), kernel="matern32", layers=("given",)).fit(graphs, graphs.graph_sizes).save(file)
    return file


def predict(model, molecules, out, *more, log=os.devnull):
    return gvoys("predict", model, molecules, "--rows-per-part", 40, "-o", out, *more, log=log)


# -- kill -9
def test_kills_of_embed_lose_nothing_and_repeat_nothing(molecules, tmp_path):
    seconds = [timed(lambda name=name: embed(molecules, tmp_path / name)) for name in ("whole", "timed")]
    chance, killed = random.Random(0), tmp_path / "killed"

    def undo():  # as if it had not been done
        (killed / "_summary.json").unlink()
        skipped_beside(killed).unlink()
        for index in range(18):
            if chance.random() < 0.8:
                part_path(killed, index).unlink()

    kill_often(lambda: embed(molecules, killed), (killed / "_summary.json").exists, undo, seconds[1], chance)
    assert finish(embed(molecules, killed)) == 0
    assert content(killed) == content(tmp_path / "whole") == content(tmp_path / "timed")
    assert skipped_beside(killed).read_bytes() == skipped_beside(tmp_path / "whole").read_bytes()
    assert hidden(tmp_path) == []


@pytest.mark.parametrize(("command", "name"), [("kernel", "K.npy"), ("predict", "p.csv")])
def test_kills_of_kernel_and_predict_lose_nothing(molecules, model, tmp_path, command, name):
    def begin(folder):
        out = tmp_path / folder / name
        return kernel(molecules, out) if command == "kernel" else predict(model, molecules, out)

    for folder in ("whole", "timed", "killed"):
        (tmp_path / folder).mkdir()
    _, seconds = (timed(lambda folder=folder: begin(folder)) for folder in ("whole", "timed"))
    killed = tmp_path / "killed"

    def is_done():
        return (killed / name).exists() and not content(killed / f"{name}.work")

    def undo():
        shutil.rmtree(killed)
        killed.mkdir()

    kill_often(lambda: begin("killed"), is_done, undo, seconds, random.Random(len(name)))
    if command == "kernel" or not is_done():
        assert finish(begin("killed")) == 0
    assert content(killed) == content(tmp_path / "whole") == content(tmp_path / "timed")


def build(molecules, folder):
    from gvoys.io import open_graphs
    from gvoys.search.build_index import build_index

    build_index(open_graphs(molecules), folder, rows_per_part=100)


def test_kills_of_an_index_build_with_damaged_parts(molecules, tmp_path):
    """Between two runs a file of some part is damaged, which is made again."""
    for name in ("whole", "timed"):
        seconds = timed(lambda name=name: start(build, molecules, tmp_path / name / "ix"))
    whole, killed, rng, damaged = content(tmp_path / "whole"), tmp_path / "killed", np.random.default_rng(4), []

    def begin():
        parts = sorted((killed / "ix.work").glob("part-*"))
        parts = [part for part in parts if any(part.iterdir())]
        if parts:
            damaged.append(change_file(parts[rng.integers(len(parts))], rng))
        return start(build, molecules, killed / "ix")

    def undo():
        assert content(killed / "ix") == content(tmp_path / "whole" / "ix")
        shutil.rmtree(killed)

    kill_often(begin, (killed / "ix").exists, undo, seconds, random.Random(4))
    assert finish(begin()) == 0
    assert content(killed) == whole == content(tmp_path / "timed")
    print(f"damaged between two runs: {', '.join(damaged)}")


def test_kills_of_a_store_leave_none_or_all_of_it(tmp_path):
    for name in ("whole", "timed"):
        seconds = timed(lambda name=name: start(write_pieces, tmp_path / name / "store"))
    store = tmp_path / "killed" / "store"

    def undo():
        shutil.rmtree(store)

    kill_often(lambda: start(write_pieces, store), store.exists, undo, seconds, random.Random(2))
    assert finish(start(write_pieces, store)) == 0
    assert content(tmp_path / "killed") == content(tmp_path / "whole") == content(tmp_path / "timed")


# -- a full disk
@pytest.fixture
def disk(tmp_path):
    """A disk of any size, for those who may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here: that is for root alone")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def resize(disk, size):
    subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)


def said(log):
    """The one sentence of a run, without the name of the program."""
    lines = log.read_text().strip().splitlines()
    assert len(lines) == 1
    return lines[0].removeprefix("gvoys: ")


def hidden(folder):
    return [file.name for file in folder.rglob(".*")]


def test_embed_on_a_full_disk(molecules, tmp_path, disk):
    log = tmp_path / "log"
    assert finish(embed(molecules, disk / "out", log=log)) == 2
    assert "out: the disk is full; make room" in said(log)
    assert hidden(disk) == []
    resize(disk, "200m")
    assert finish(embed(molecules, disk / "out")) == 0
    assert finish(embed(molecules, tmp_path / "whole")) == 0
    assert content(disk / "out") == content(tmp_path / "whole")


@pytest.mark.parametrize("size", ["100k", "15m"], ids=["features", "matrix"])
def test_kernel_on_a_full_disk(molecules, tmp_path, disk, size):
    """Features of 5 MB, a matrix of 16.6 MB."""
    log = tmp_path / "log"
    resize(disk, size)
    assert finish(kernel(molecules, disk / "K.npy", log=log)) == 2
    if size == "100k":
        assert "K.npy: the disk is full; make room" in said(log)
    else:
        assert said(log).startswith("the matrix needs 16.6 MB and ")
    assert hidden(disk) == []
    assert not (disk / "K.npy").exists()
    resize(disk, "200m")
    assert finish(kernel(molecules, disk / "K.npy")) == 0
    (tmp_path / "whole").mkdir()
    assert finish(kernel(molecules, tmp_path / "whole" / "K.npy")) == 0
    assert content(disk) == content(tmp_path / "whole")


@pytest.mark.parametrize("size", ["4k", "64k", "700k", "1m"])
def test_a_store_on_a_full_disk(tmp_path, disk, size):
    resize(disk, size)
    raises(OSError, "No space left on device", write_pieces, disk / "store")
    assert list(disk.iterdir()) == []
    resize(disk, "100m")
    write_pieces(disk / "store")
    write_pieces(tmp_path / "whole")
    assert content(disk / "store") == content(tmp_path / "whole")


def test_embed_where_files_may_not_grow(molecules, tmp_path):
    """The same for those who cannot mount a disk."""
    log = tmp_path / "log"
    assert finish(start(_limited, molecules, tmp_path / "out", log=log)) == 2
    assert "out: it is larger than files may be here" in said(log)
    assert hidden(tmp_path) == []
    for name in ("out", "whole"):
        assert finish(embed(molecules, tmp_path / name)) == 0
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def _limited(molecules, folder):
    import resource
    import sys

    from gvoys.apps.cli import main

    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
    sys.argv = ["gvoys", "embed", str(molecules), "--rows-per-part", "100", "--components", "8192", "-o", str(folder)]
    main()


# -- two at once
def test_two_embeds_with_different_seeds(molecules, tmp_path):
    """Started together, into one new folder: it is that of one of them."""
    seeds = [["--seed", 0], ["--seed", 1]]
    for seed in seeds:
        assert finish(embed(molecules, tmp_path / f"whole{seed[1]}", *seed)) == 0
    for turn in range(max(KILLS // 2, 2)):
        logs = [tmp_path / f"log{seed[1]}" for seed in seeds]
        runs = [
            embed(molecules, tmp_path / f"out{turn}", *seed, log=log) for seed, log in zip(seeds, logs, strict=True)
        ]
        codes = [finish(run) for run in runs]
        assert sorted(codes) == [0, 2]
        assert re.search("another run is at work|holds a run with other parameters", said(logs[codes.index(2)]))
        assert content(tmp_path / f"out{turn}") == content(tmp_path / f"whole{codes.index(0)}")


def test_two_kernels(molecules, tmp_path):
    (tmp_path / "whole").mkdir()
    assert finish(kernel(molecules, tmp_path / "whole" / "K.npy")) == 0
    for turn in range(max(KILLS // 2, 2)):
        logs = [tmp_path / "log0", tmp_path / "log1"]
        runs = [kernel(molecules, tmp_path / f"two{turn}" / "K.npy", log=log) for log in logs]
        codes = [finish(run) for run in runs]
        assert sorted(codes) == [0, 2]
        assert re.search("another run is at work|exists already", said(logs[codes.index(2)]))
        assert content(tmp_path / f"two{turn}") == content(tmp_path / "whole")


def test_two_writers_of_a_store(tmp_path):
    write_pieces(tmp_path / "whole" / "store")
    for turn in range(max(KILLS // 2, 2)):
        runs = [start(write_pieces, tmp_path / f"two{turn}" / "store") for _ in range(2)]
        assert sorted(map(finish, runs)) == [0, 1]
        assert content(tmp_path / f"two{turn}") == content(tmp_path / "whole")
