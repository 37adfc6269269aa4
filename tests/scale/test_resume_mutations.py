"""Folders of unfinished and finished runs, changed at random: the bytes of a fresh run, or one sentence.

GVOYS_RESUME_MUTATIONS is the number of changes of four kinds of folders together, of the eleven that there are; with
-s, outcomes are counted by the file that was changed.
"""

import os
import shutil
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from mutations import change_file
from processes import content
from raising import raises

import gvoys as gv
from gvoys.apps.scale import embed_file, gram, predict, write_gram
from gvoys.apps.scale.job import Parameters
from gvoys.errors import GvoysError
from gvoys.io import open_graphs
from gvoys.search import build_index as building

CHANGES = int(os.environ.get("GVOYS_RESUME_MUTATIONS", "60"))
SMALL = Parameters(walk=gv.Walk(3), n_components=16, rows_per_part=7)
SPARSE = Parameters(walk=gv.Walk(3), method="sequences", rows_per_part=7)


@pytest.fixture(scope="module")
def molecules(inputs):
    return inputs / "a.smi"


def stop_after(n_calls):
    calls = []

    def stop(*_):
        calls.append(1)
        if len(calls) > n_calls:
            raise KeyboardInterrupt

    return stop


def outcome(run, made, expected):
    said = ""
    try:
        run()
    except GvoysError as error:
        said = str(error)
    assert "\n" not in said
    assert len(said) < 600
    assert said or content(made) == expected
    return "sentence" if said else "same bytes"


def count(name, run, prepared, folder, expected, seed, made=None):
    rng, counts = np.random.default_rng(seed), Counter()
    for _ in range(CHANGES // 4):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(prepared, folder)
        counts[change_file(folder, rng), outcome(run, made or folder, expected)] += 1
    for (kind, what), times in sorted(counts.items()):
        print(f"{name}: {kind}: {what}: {times}")


# -- folders
@pytest.mark.parametrize("parameters", [SMALL, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("calls", [3, 100], ids=["stopped", "finished"])
def test_embed_goes_on_in_a_damaged_folder(molecules, tmp_path, calls, parameters):
    embed_file(molecules, tmp_path / "whole", parameters)
    try:
        embed_file(molecules, tmp_path / "prepared", parameters, on_progress=stop_after(calls))
    except KeyboardInterrupt:
        assert calls == 3
    out = tmp_path / "out"
    name, expected = "stopped" if calls == 3 else "finished", content(tmp_path / "whole")
    count(f"embed, {name}", lambda: embed_file(molecules, out, parameters), tmp_path / "prepared", out, expected, calls)


@pytest.mark.parametrize("stage", ["filling", "moving"])
def test_kernel_goes_on_in_a_damaged_folder(molecules, tmp_path, monkeypatch, stage):
    for name in ("whole", "prepared"):
        (tmp_path / name).mkdir()
    write_gram(molecules, tmp_path / "whole" / "K.npy", SMALL)
    if stage == "moving":
        monkeypatch.setattr(gram, "move_in_place", move_two())
    on_rows = stop_after(3 if stage == "filling" else 100)
    with pytest.raises(KeyboardInterrupt):
        write_gram(molecules, tmp_path / "prepared" / "K.npy", SMALL, on_rows=on_rows)
    monkeypatch.undo()
    out = tmp_path / "out"
    run, expected = (lambda: write_gram(molecules, out / "K.npy", SMALL)), content(tmp_path / "whole")
    count(f"kernel, {stage}", run, tmp_path / "prepared", out, expected, len(stage))


def move_two():
    """The tables have their names, and the matrix has not."""
    moved = []

    def move(file, name):
        moved.append(name)
        if len(moved) > 2:
            raise KeyboardInterrupt
        file.replace(name)

    return move


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("stage", ["parts", "assembled"])
def test_an_index_goes_on_in_a_damaged_folder(molecules, tmp_path, monkeypatch, stage):
    def build(folder, stop=None):
        building.build_index(open_graphs(molecules), folder / "ix", rows_per_part=7, on_progress=stop)

    build(tmp_path / "whole")
    if stage == "assembled":
        monkeypatch.setattr(building, "write_manifest", interrupt)
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "prepared", stop_after(3) if stage == "parts" else None)
    monkeypatch.undo()
    out, expected = tmp_path / "out", content(tmp_path / "whole")
    count(f"index, {stage}", lambda: build(out), tmp_path / "prepared", out, expected, len(stage))


@pytest.mark.parametrize("stage", ["parts", "written"])
def test_predict_goes_on_in_a_damaged_folder(molecules, tmp_path, monkeypatch, stage):
    graphs = gv.from_smiles(["C" * n + "O" * (n % 3) for n in range(1, 40)])
    gv.RandomWalkRegressor(gv.Walk(1), kernel="matern32", layers=("given",)).fit(graphs, graphs.graph_sizes).save(
        tmp_path / "m"
    )

    def run(folder, stop=None):
        predict.predict_file(tmp_path / "m", molecules, folder / "p.csv", rows_per_part=7, on_progress=stop)

    for name in ("whole", "prepared"):
        (tmp_path / name).mkdir()
    run(tmp_path / "whole")
    if stage == "written":
        monkeypatch.setattr(predict, "remove_folder", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "prepared", stop_after(3) if stage == "parts" else None)
    monkeypatch.undo()
    out, expected = tmp_path / "out", content(tmp_path / "whole")
    count(f"predict, {stage}", lambda: run(out), tmp_path / "prepared", out, expected, len(stage))


def test_features_are_not_like_those_of_a_damaged_run(molecules, tmp_path):
    embed_file(molecules, tmp_path / "before", SMALL)
    embed_file(molecules, tmp_path / "whole", like=tmp_path / "before")
    (tmp_path / "prepared").mkdir()
    shutil.copy(tmp_path / "before" / "_job.json", tmp_path / "prepared")
    out = tmp_path / "out"

    def run():
        shutil.rmtree(out, ignore_errors=True)
        embed_file(molecules, out, like=tmp_path / "like")

    count("like", run, tmp_path / "prepared", tmp_path / "like", content(tmp_path / "whole"), 0, out)


@pytest.mark.parametrize("name", ["job.json", "coder.gvoys", "part-00000/done.json", "part-00001/graphs/indices.npy"])
@pytest.mark.parametrize("share", [0.0, 0.5], ids=["empty", "cut"])
def test_emptied_and_cut_files_of_an_index_build(molecules, tmp_path, name, share):
    def build(folder, stop=None):
        building.build_index(open_graphs(molecules), tmp_path / folder, rows_per_part=7, on_progress=stop)

    with pytest.raises(KeyboardInterrupt):
        build("ix", stop_after(3))
    file = tmp_path / "ix.work" / name
    file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    if name == "job.json":
        raises(GvoysError, r"job.json is damaged; remove .*ix.work and give the command again", build, "ix")
    else:
        for folder in ("ix", "whole"):
            build(folder)
        assert content(tmp_path / "ix") == content(tmp_path / "whole")
