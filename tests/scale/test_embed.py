"""Embedding files: the features are those of the estimator, every format streams, and no run is half done."""

import contextlib
import csv
import os
import shutil
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

import networkx as nx
from input_files import GRAPHS, SMILES, write_tu
from processes import content, finish, start
from raising import raises

import gvoys as gv
from gvoys.apps.scale import embed_file
from gvoys.apps.scale.job import Parameters, claim_folder
from gvoys.apps.scale.parts import part_features, part_ids, part_path
from gvoys.errors import DatasetError, GvoysError, ParameterError
from gvoys.io import open_graphs
from gvoys.io.files import appearing
from gvoys.io.sources import lines as lines_module

SMALL = Parameters(walk=gv.Walk(2), n_components=128, rows_per_part=4)
READABLE = [i for i, s in enumerate(SMILES) if s not in ("C1CC", "not a molecule")]


def embedded(folder):
    parts = sorted(folder.glob("part-*.parquet"))
    return [name for part in parts for name in part_ids(part)], np.concatenate([part_features(part) for part in parts])


# -- what comes out


@pytest.mark.parametrize("name", ["a.smi", "a.csv", "a.tsv", "a.parquet"])
def test_molecules_have_the_features_of_the_estimator(inputs, tmp_path, name):
    columns = {} if name == "a.smi" else {"id": "name"}
    summary = embed_file(inputs / name, tmp_path / "out", SMALL, **columns)
    assert (summary.n_graphs, summary.n_skipped) == (24, 6)
    ids, X = embedded(tmp_path / "out")
    comma = ", " if name in ("a.csv", "a.tsv") else ""
    assert ids == [f"m{comma}{i}" for i in READABLE]
    batch = gv.from_smiles([SMILES[i] for i in READABLE])
    model = gv.RandomWalkFeatures(gv.Geometric(1 / 16), gv.Walk(2), n_components=128, lengths="summed").fit(batch)
    np.testing.assert_array_equal(X, model.transform(batch))
    with (tmp_path / "out.skipped.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["row", "text", "reason"]
    first = 1 if name in ("a.smi", "a.parquet") else 2  # after the header of a text
    assert [int(row) for row, *_ in rows[1:]] == [i + first for i in range(30) if i not in READABLE]
    assert rows[1] == [str(2 + first), "C1CC", "RDKit cannot read the SMILES 'C1CC'"]


@pytest.mark.parametrize("name", ["a.jsonl", "TINY", "store", "a.g6", "a.s6"])
def test_other_formats(inputs, tmp_path, name):
    graphs = [piece.batch for piece in open_graphs(inputs / name).batches(4)]
    embed_file(inputs / name, tmp_path / "out", SMALL)
    ids, X = embedded(tmp_path / "out")
    batch = gv.as_batch(list(_labelled())) if name == "a.jsonl" else gv.GraphBatch.concatenate(graphs)
    plain = name in ("a.g6", "a.s6")  # graphs without labels have their moments
    batch = gv.as_batch(GRAPHS) if plain else batch
    assert ids == [str(i + 1) for i in range(len(batch))]
    assert (X.dtype == np.float64) == plain
    how = {} if plain else {"n_components": 128, "lengths": "summed"}
    model = gv.RandomWalkFeatures(gv.Geometric(1 / 16), gv.Walk(2), **how).fit(batch)
    np.testing.assert_array_equal(X, model.transform(batch))


def _labelled():
    for g in GRAPHS:
        copy = nx.Graph(g)
        nx.set_node_attributes(copy, {u: ("C", u % 3) for u in copy}, "label")
        yield copy


def test_odd_rows_are_skipped_alone(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "a.tsv").write_text("smiles\tother\nCCO\tN\n\tOOO\n\t\nC\t\n")
    summary = embed_file(tmp_path / "a.tsv", tmp_path / "tsv", SMALL)
    assert (summary.n_graphs, summary.n_skipped) == (2, 1)
    (tmp_path / "b.tsv").write_text("\tsmiles\n0\tCCO\n1\tCC\n")  # as pandas writes an index
    assert embed_file(tmp_path / "b.tsv", tmp_path / "index", SMALL).n_graphs == 2
    (tmp_path / "a.smi").write_bytes("CCO a\r\n\u00a0\n\x1c\nCC\n".encode())
    assert embed_file(tmp_path / "a.smi", tmp_path / "smi", SMALL).n_graphs == 2
    column = pa.array([b"CCO", b"C\xff", None, b"CC", b" "]).cast(pa.binary())
    bad = pa.StringArray.from_buffers(5, column.buffers()[1], column.buffers()[2], column.buffers()[0])
    names = pa.array(["a", "b", "c", None, "e"]).dictionary_encode()
    pq.write_table(pa.table({"smiles": bad, "id": names}), tmp_path / "a.parquet")
    summary = embed_file(tmp_path / "a.parquet", tmp_path / "parquet", SMALL, id="id")
    assert (summary.n_graphs, summary.n_skipped) == (1, 4)
    reasons = (tmp_path / "parquet.skipped.csv").read_text()
    assert "the column 'smiles' is not UTF-8" in reasons
    assert "4,CC,the column 'id' is empty" in reasons
    lines = ['{"nodes": [{"id": 0, "label": "a"}, {"id": 1, "label": "b"}], "links": [{"source": 0, "target": 1}]}'] * 5
    lines[2] = '{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}'
    lines[3] = '{"directed": true, "nodes": [{"id": 0, "label": "a"}], "links": [{"source": 0, "target": 0}]}'
    lines[4] = '{"nodes": [{"id": 0, "label": "a"}], "links": [{"source": 0, "target": 7}]}'
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    summary = embed_file(tmp_path / "a.jsonl", tmp_path / "out", SMALL)
    skipped = (tmp_path / "out.skipped.csv").read_text()
    assert summary.n_graphs == 3  # a directed graph of one node is a graph that the sketch can do
    assert "3," in skipped
    assert "have none" in skipped
    assert "not among the nodes: 7" in skipped


DEEP = '{"nodes": [{"id": 0, "label": ' + "[" * 900 + "]" * 900 + '}], "links": []}'
LARGE = '{"nodes": [{"id": 0, "label": "a"}], "links": [{"source": 0, "target": 0, "weight": 1' + "0" * 400 + "}]}"
GOOD = '{"nodes": [{"id": 0, "label": "a"}], "links": []}'


@pytest.mark.parametrize(
    ("name", "good", "line", "said"),
    [("a.jsonl", GOOD, DEEP, ""), ("a.jsonl", GOOD, LARGE, ""), ("a.smi", "CC", "X" * 100_000, "100,000 characters")],
    ids=["deep", "large", "long"],
)
def test_rows_past_every_limit_are_skipped_alone(tmp_path, name, good, line, said):
    (tmp_path / name).write_text(f"{good}\n{line}\n{good}\n")
    summary = embed_file(tmp_path / name, tmp_path / "out", SMALL)
    assert (summary.n_graphs, summary.n_skipped) == (2, 1)
    assert said in (tmp_path / "out.skipped.csv").read_text()


def test_inputs_of_like_names(tmp_path):
    for n in (20, 30):
        gv.write_store(gv.datasets.molecules(n, random_state=n), tmp_path / "store")
        assert embed_file(tmp_path / "store", tmp_path / f"of{n}", SMALL).n_graphs == n
        shutil.rmtree(tmp_path / "store")
    write_tu(tmp_path / "X.v2", 3)
    write_tu(tmp_path / "X", 5)
    shutil.make_archive(str(tmp_path / "X"), "zip", tmp_path, "X")
    shutil.rmtree(tmp_path / "X")
    write_tu(tmp_path / "X", 4)
    for name, n in (("X.v2", 3), ("X", 4), ("X.zip", 5)):
        assert embed_file(tmp_path / name, tmp_path / f"out{n}", SMALL).n_graphs == n


# -- however it is cut
@pytest.mark.parametrize("rows", [1, 3, 7, 1000])
def test_any_partitioning_gives_the_same_bits(inputs, tmp_path, rows):
    pieces = Parameters(walk=gv.Walk(2), n_components=128, rows_per_part=rows)
    whole = Parameters(walk=gv.Walk(2), n_components=128, rows_per_part=30)
    for folder, parameters in (("whole", whole), ("pieces", pieces)):
        embed_file(inputs / "a.smi", tmp_path / folder, parameters)
    ids, X = embedded(tmp_path / "whole")
    other_ids, Y = embedded(tmp_path / "pieces")
    assert ids == other_ids
    np.testing.assert_array_equal(X, Y)


@pytest.mark.parametrize("block", [1, 5, 64, 1 << 20])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_chunks_cover_every_line_once(tmp_path, monkeypatch, block, end):
    monkeypatch.setattr(lines_module, "_READ_BYTES", block)
    monkeypatch.setattr(lines_module, "_CHUNK_BYTES", 40)
    texts = ["C" * (k * 7 % 23 + 1) for k in range(50)]
    (tmp_path / "a.smi").write_text("\n".join(texts) + end)
    source = open_graphs(tmp_path / "a.smi")
    chunks = list(source.chunks(6))
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert all(before.end == after.begin for before, after in pairwise(chunks))
    rows = [row for chunk in chunks for row in source.records(chunk).rows]
    assert rows == list(range(1, 51))
    sizes = [source.build(source.records(chunk).items)[0].graph_sizes for chunk in chunks]
    assert np.concatenate(sizes).tolist() == [len(text) for text in texts]


# -- stopping and going on


def test_the_folder_is_locked_before_it_is_claimed(inputs, tmp_path, monkeypatch):
    other, calls = replace(SMALL, seed=1), []

    def claim(folder, job):
        if not calls:
            calls.append(1)
            raises(ParameterError, "another run is at work", embed_file, inputs / "a.smi", tmp_path / "out", other)
        claim_folder(folder, job)

    monkeypatch.setattr("gvoys.apps.scale.run.claim_folder", claim)
    embed_file(inputs / "a.smi", tmp_path / "out", SMALL)
    embed_file(inputs / "a.smi", tmp_path / "whole", SMALL)
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def test_a_lock_that_was_removed_while_it_was_taken_is_none(inputs, tmp_path, monkeypatch):
    """As when the run before ends between another's opening of the file and its lock."""
    fcntl = pytest.importorskip("fcntl")
    real, calls = fcntl.flock, []

    def flock(file, how):
        if not calls:
            calls.append(os.unlink(tmp_path / "out" / ".lock"))
        real(file, how)

    def second(done, total, graphs):
        raises(ParameterError, "another run is at work", embed_file, inputs / "a.smi", tmp_path / "out", SMALL)

    monkeypatch.setattr(fcntl, "flock", flock)
    embed_file(inputs / "a.smi", tmp_path / "out", SMALL, on_progress=second)
    assert not (tmp_path / "out" / ".lock").exists()


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_damaged_part_is_made_again(inputs, tmp_path, place):
    embed_file(inputs / "a.smi", tmp_path / "out", SMALL)
    before = content(tmp_path / "out")
    part = part_path(tmp_path / "out", 1)
    damaged = bytearray(part.read_bytes())
    damaged[{"first": 0, "middle": len(damaged) // 2, "last": -1}[place]] ^= 1
    part.write_bytes(damaged)
    embed_file(inputs / "a.smi", tmp_path / "out", SMALL)
    assert content(tmp_path / "out") == before


# -- an input that changes
def _swap(path, stealthily):
    """Other molecules in a file of the same size, in place of the first ones."""
    time = path.stat().st_mtime_ns
    text = path.read_text().replace("O m", "N m")
    if stealthily:
        path.write_text(text)
        os.utime(path, ns=(time, time))
    else:
        path.with_suffix(".new").write_text(text)
        path.with_suffix(".new").replace(path)


@pytest.mark.parametrize("stealthily", [False, True], ids=["replaced", "same size and time"])
@pytest.mark.parametrize("when", [0, 3])
def test_an_input_that_changes_in_mid_run_leaves_nothing(inputs, tmp_path, stealthily, when):
    molecules, calls = Path(shutil.copy(inputs / "a.smi", tmp_path)), []

    def change(done, total, graphs):
        calls.append(done)
        if len(calls) == when + 1:
            _swap(molecules, stealthily)

    with pytest.raises(DatasetError, match=r"a.smi was changed while it was read, .*; give the command again$"):
        embed_file(molecules, tmp_path / "out", SMALL, on_progress=change)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.skipped.csv").exists()
    for folder in ("out", "whole"):
        embed_file(molecules, tmp_path / folder, SMALL)
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def test_an_input_that_changes_leaves_the_parts_of_earlier_runs(inputs, tmp_path):
    molecules, out = Path(shutil.copy(inputs / "a.smi", tmp_path)), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        embed_file(molecules, out, SMALL, on_progress=interrupt_after(3, []))
    before = content(out)
    with pytest.raises(DatasetError, match="choose another folder"):
        embed_file(molecules, out, SMALL, on_progress=lambda done, total, graphs: _swap(molecules, False))
    assert content(out).items() <= before.items()
    assert part_path(out, 0).exists()
    embed_file(Path(shutil.copy(inputs / "a.smi", tmp_path)), out, SMALL)
    embed_file(molecules, tmp_path / "whole", SMALL)
    assert content(out) == content(tmp_path / "whole")


def test_a_store_that_is_truncated_in_mid_run_is_a_sentence(inputs, tmp_path):
    shutil.copytree(inputs / "store", tmp_path / "store")
    assert finish(start(_embed_truncated, tmp_path / "store", tmp_path / "out", log=tmp_path / "log")) == 0
    assert "store was changed while it was read" in (tmp_path / "log").read_text()


def _embed_truncated(store, out):
    def truncate(done, total, graphs):
        os.truncate(store / "indices.npy", 0)

    try:
        embed_file(store, out, SMALL, on_progress=truncate)
    except DatasetError as error:
        print(error, flush=True)
    else:
        sys.exit("nothing was said")


def test_a_finished_run_is_left_alone_and_others_raise(inputs, tmp_path):
    out, smi = tmp_path / "out", inputs / "a.smi"
    embed_file(smi, out, SMALL)
    before = content(out)
    embed_file(smi, out, SMALL)
    assert content(out) == before
    other = replace(SMALL, walk=gv.Walk(3))
    raises(ParameterError, "holds a run with other parameters", embed_file, smi, out, other)
    raises(ParameterError, "holds a run with another input", embed_file, inputs / "a.g6", out, SMALL)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    raises(ParameterError, "not empty and holds no run", embed_file, smi, tmp_path / "full", SMALL)
    part_path(out, 2).unlink()
    (out / "_summary.json").unlink()
    embed_file(smi, out, SMALL)
    assert content(out) == before


def interrupt_after(n_calls, calls):
    def interrupt(*progress):
        calls.append(progress)
        if len(calls) == n_calls:
            raise KeyboardInterrupt

    return interrupt


def test_an_interrupt_leaves_whole_parts_only(inputs, tmp_path):
    calls = []
    with pytest.raises(KeyboardInterrupt):
        embed_file(inputs / "a.smi", tmp_path / "out", SMALL, on_progress=interrupt_after(3, calls))
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert "_summary.json" not in files
    assert not any(name.startswith(".") for name in files)
    embed_file(inputs / "a.smi", tmp_path / "out", SMALL)
    embed_file(inputs / "a.smi", tmp_path / "other", SMALL)
    assert content(tmp_path / "out") == content(tmp_path / "other")
    assert calls[0] == (0, (inputs / "a.smi").stat().st_size, 0)


def test_a_file_is_seen_only_when_it_is_whole(tmp_path):
    path = tmp_path / "part"
    with appearing(path) as partial:
        partial.write_text("half")
        assert not path.exists()
        assert partial.exists()
    assert path.read_text() == "half"
    with contextlib.suppress(RuntimeError), appearing(path) as partial:
        partial.write_text("less")
        raise RuntimeError
    assert path.read_text() == "half"
    assert list(tmp_path.iterdir()) == [path]


# -- refusals
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.xyz", "", "is not one of .smi, .csv"),
        ("a.smi.gz", "C\n", "a.smi cannot be unpacked: it is damaged, or was not written by gzip"),
        ("a.smi", "", "holds no graph"),
        ("a.smi", "garbage\n(((\n", "holds no graph"),
        ("a.csv", "name,y\nx,1\n", "no column 'smiles'; it has 'name', 'y'; choose one with smiles=… or --smiles"),
        ("a.csv", 'smiles,"\nC,1\n', "a.csv, header: a quoted field spans several lines"),
        ("a.parquet", "PAR1 nothing", "not a readable Parquet file"),
        ("a.zip", "nothing", "not a readable zip file"),
    ],
)
def test_inputs_that_are_none(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    raises(GvoysError, message, embed_file, tmp_path / name, tmp_path / "out", SMALL)
    assert not (tmp_path / "out").exists()


OUT_OF_RANGE = [
    *({"series": "harmonic"}, {"lengths": "long"}, {"rows_per_part": 0}, {"decay": -1.0}),
    *({"walk": gv.Walk(labels="colour")}, {"n_columns": 64}),
    *({"method": "sequences", "n_columns": 0}, {"method": "sequences", "lengths": "summed"}),
]


def test_inputs_and_parameters_that_cannot_be_used(inputs, tmp_path, monkeypatch):
    out = tmp_path / "out"
    raises(DatasetError, "there is no file or folder", embed_file, tmp_path / "nowhere.smi", out)
    raises(ParameterError, "this takes a file; for graphs in memory use the estimators", embed_file, ["CCO", "CC"], out)
    for parameters in OUT_OF_RANGE:
        raises(GvoysError, "", embed_file, inputs / "a.smi", out, Parameters(**parameters))
    assert not out.exists()
    monkeypatch.setattr(lines_module, "_LINE_BYTES", 1000)
    monkeypatch.setattr(lines_module, "_READ_BYTES", 100)
    (tmp_path / "a.smi").write_text("CC\n" + "C" * 3000)
    raises(DatasetError, "a line of over", embed_file, tmp_path / "a.smi", out, SMALL)


def test_what_is_no_finished_run(tmp_path):
    (tmp_path / "a.smi").write_text("CCO\nCCC\n")
    raises(DatasetError, "holds no finished run", gv.read_features, tmp_path)
    embed_file(tmp_path / "a.smi", tmp_path / "out", Parameters(n_components=16, rows_per_part=1))
    part_path(tmp_path / "out", 1).unlink()
    raises(DatasetError, r"a part of .* is damaged or missing", gv.read_features, tmp_path / "out")


@pytest.mark.parametrize(("package", "extra"), [("pyarrow", "parquet"), ("rdkit", "chem")])
def test_missing_packages_are_named(inputs, monkeypatch, tmp_path, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    raises(GvoysError, rf"gvoys\[{extra}\]", embed_file, inputs / "a.smi", tmp_path / "out", SMALL)
