"""Embedding files: the features are those of the estimator, every format streams, and no run is half done."""

import contextlib
import csv
import multiprocessing
import os
import random
import shutil
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

import networkx as nx
from input_files import GRAPHS, SMILES, write_inputs, write_tu

import gvoys as gv
from gvoys.errors import DatasetError, GvoysError, ParameterError
from gvoys.io import open_graphs
from gvoys.io.files import appearing
from gvoys.io.sources import lines as lines_module
from gvoys.scale import embed_file
from gvoys.scale.job import Parameters
from gvoys.scale.parts import part_path, read_features, read_ids

SMALL = Parameters(max_length=2, n_components=128, rows_per_part=4)
READABLE = [i for i, s in enumerate(SMILES) if s not in ("C1CC", "not a molecule")]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


def embedded(folder):
    parts = sorted(folder.glob("part-*.parquet"))
    return [name for part in parts for name in read_ids(part)], np.concatenate([read_features(part) for part in parts])


def content(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


# -- what comes out


def test_features_of_any_two_runs_compare(tmp_path):
    """A molecule has the same bits beside small neighbours and beside one with a larger degree."""
    (tmp_path / "small.smi").write_text("CCO a\nCC b\n")
    (tmp_path / "large.smi").write_text("FS(F)(F)(F)(F)F sf6\nC1CC2(CC1)CCC2 spiro\nCCO a\n")
    features = {}
    for name in ("small", "large"):
        embed_file(tmp_path / f"{name}.smi", tmp_path / name, SMALL)
        ids, X = embedded(tmp_path / name)
        features[name] = X[ids.index("a")]
    np.testing.assert_array_equal(features["small"], features["large"])


@pytest.mark.parametrize("name", ["a.smi", "a.csv", "a.tsv", "a.parquet"])
def test_molecules_have_the_features_of_the_estimator(inputs, tmp_path, name):
    columns = {} if name == "a.smi" else {"id": "name"}
    summary = embed_file(inputs / name, tmp_path / "out", SMALL, **columns)
    assert (summary.n_graphs, summary.n_skipped) == (24, 6)
    ids, X = embedded(tmp_path / "out")
    comma = ", " if name in ("a.csv", "a.tsv") else ""
    assert ids == [f"m{comma}{i}" for i in READABLE]
    batch = gv.from_smiles([SMILES[i] for i in READABLE])
    model = gv.RandomWalkFeatures(gv.Geometric(1 / 16), max_length=2, n_components=128, lengths="summed").fit(batch)
    np.testing.assert_array_equal(X, model.transform(batch))
    with (tmp_path / "out" / "skipped.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["row", "text", "reason"]
    assert [int(row) for row, *_ in rows[1:]] == [i + 1 for i in range(30) if i not in READABLE]
    assert rows[1] == ["3", "C1CC", "RDKit cannot read the SMILES 'C1CC'"]


@pytest.mark.parametrize("name", ["a.g6", "a.s6"])
def test_graphs_without_labels_have_their_moments(inputs, tmp_path, name):
    embed_file(inputs / name, tmp_path / "out", SMALL)
    _, X = embedded(tmp_path / "out")
    assert X.dtype == np.float64
    model = gv.RandomWalkFeatures(gv.Geometric(1 / 16), max_length=2).fit(GRAPHS)
    np.testing.assert_array_equal(X, model.transform(GRAPHS))


@pytest.mark.parametrize("name", ["a.jsonl", "TINY", "store"])
def test_other_formats(inputs, tmp_path, name):
    graphs = [piece.batch for piece in open_graphs(inputs / name).batches(4)]
    embed_file(inputs / name, tmp_path / "out", SMALL)
    ids, X = embedded(tmp_path / "out")
    batch = gv.as_batch(list(_labelled())) if name == "a.jsonl" else gv.GraphBatch.concatenate(graphs)
    assert ids == [str(i + 1) for i in range(len(batch))]
    model = gv.RandomWalkFeatures(gv.Geometric(1 / 16), max_length=2, n_components=128, lengths="summed").fit(batch)
    np.testing.assert_array_equal(X, model.transform(batch))


def _labelled():
    for g in GRAPHS:
        copy = nx.Graph(g)
        nx.set_node_attributes(copy, {u: ("C", u % 3) for u in copy}, "label")
        yield copy


def test_a_graph_unlike_the_others_is_skipped_alone(tmp_path):
    lines = ['{"nodes": [{"id": 0, "label": "a"}, {"id": 1, "label": "b"}], "links": [{"source": 0, "target": 1}]}'] * 5
    lines[2] = '{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}'
    lines[3] = '{"directed": true, "nodes": [{"id": 0, "label": "a"}], "links": [{"source": 0, "target": 0}]}'
    lines[4] = '{"nodes": [{"id": 0, "label": "a"}], "links": [{"source": 0, "target": 7}]}'
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    summary = embed_file(tmp_path / "a.jsonl", tmp_path / "out", SMALL)
    skipped = (tmp_path / "out" / "skipped.csv").read_text()
    assert summary.n_graphs == 3  # a directed graph of one node is a graph that the sketch can do
    assert "3," in skipped
    assert "have none" in skipped
    assert "not among the nodes: 7" in skipped


def test_rows_of_odd_tables(tmp_path):
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
    reasons = (tmp_path / "parquet" / "skipped.csv").read_text()
    assert "the column 'smiles' is not UTF-8" in reasons
    assert "4,CC,the column 'id' is empty" in reasons


def test_a_row_of_rubbish_has_a_short_reason(tmp_path):
    (tmp_path / "a.smi").write_text("X" * 100_000 + "\nCC\n")
    embed_file(tmp_path / "a.smi", tmp_path / "out", SMALL)
    assert "100,000 characters" in (tmp_path / "out" / "skipped.csv").read_text()


@pytest.mark.parametrize(
    "line",
    [
        '{"nodes": [{"id": 0, "label": ' + "[" * 900 + "]" * 900 + '}], "links": []}',
        '{"nodes": [{"id": 0, "label": "a"}], "links": [{"source": 0, "target": 0, "weight": 1' + "0" * 400 + "}]}",
    ],
    ids=["deep", "large"],
)
def test_rows_past_every_limit_are_skipped_alone(tmp_path, line):
    good = '{"nodes": [{"id": 0, "label": "a"}], "links": []}'
    (tmp_path / "a.jsonl").write_text(f"{good}\n{line}\n{good}\n")
    summary = embed_file(tmp_path / "a.jsonl", tmp_path / "out", SMALL)
    assert (summary.n_graphs, summary.n_skipped) == (2, 1)


def test_an_input_that_was_replaced_is_read_anew(tmp_path):
    for n in (20, 30):
        gv.write_store(gv.datasets.molecules(n, random_state=n), tmp_path / "store")
        assert embed_file(tmp_path / "store", tmp_path / f"out{n}", SMALL).n_graphs == n
        shutil.rmtree(tmp_path / "store")


def test_a_folder_is_not_the_zip_beside_it(tmp_path):
    write_tu(tmp_path / "X.v2", 3)
    write_tu(tmp_path / "X", 5)
    shutil.make_archive(str(tmp_path / "X"), "zip", tmp_path, "X")
    shutil.rmtree(tmp_path / "X")
    write_tu(tmp_path / "X", 4)
    for name, n in (("X.v2", 3), ("X", 4), ("X.zip", 5)):
        assert embed_file(tmp_path / name, tmp_path / f"out{n}", SMALL).n_graphs == n


def test_missing_rdkit_is_not_the_molecules_fault(inputs, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(GvoysError, match=r"gvoys\[chem\]"):
        embed_file(inputs / "a.smi", tmp_path / "out", SMALL)


# -- however it is cut


@pytest.mark.parametrize("rows", [1, 3, 7, 1000])
def test_any_partitioning_gives_the_same_bits(inputs, tmp_path, rows):
    pieces = Parameters(max_length=2, n_components=128, rows_per_part=rows)
    whole = Parameters(max_length=2, n_components=128, rows_per_part=30)
    for folder, parameters in (("whole", whole), ("pieces", pieces)):
        embed_file(inputs / "a.smi", tmp_path / folder, parameters)
    ids, X = embedded(tmp_path / "whole")
    other_ids, Y = embedded(tmp_path / "pieces")
    assert ids == other_ids
    np.testing.assert_array_equal(X, Y)


@pytest.mark.parametrize("block", [1, 5, 64, 1 << 20])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_chunks_cover_every_line_once(tmp_path, monkeypatch, block, end):
    monkeypatch.setattr(lines_module, "_READ", block)
    monkeypatch.setattr(lines_module, "_HEAVY", 40)
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


def test_a_finished_run_is_left_alone_and_others_are_refused(inputs, tmp_path):
    out = tmp_path / "out"
    embed_file(inputs / "a.smi", out, SMALL)
    before = content(out)
    embed_file(inputs / "a.smi", out, SMALL)
    assert content(out) == before
    with pytest.raises(ParameterError, match="holds a run with other parameters"):
        embed_file(inputs / "a.smi", out, Parameters(max_length=3, n_components=128, rows_per_part=4))
    with pytest.raises(ParameterError, match="holds a run with another input"):
        embed_file(inputs / "a.g6", out, SMALL)
    with pytest.raises(ParameterError, match="not empty and holds no run"):
        embed_file(inputs / "a.smi", inputs, SMALL)
    part_path(out, 2).unlink()
    (out / "summary.json").unlink()
    embed_file(inputs / "a.smi", out, SMALL)
    assert content(out) == before


def test_two_runs_at_once_and_damaged_parts(inputs, tmp_path):
    def second(done, total, graphs):
        with pytest.raises(ParameterError, match="another run is at work"):
            embed_file(inputs / "a.smi", tmp_path / "out", SMALL)

    embed_file(inputs / "a.smi", tmp_path / "out", SMALL, on_progress=second)
    part_path(tmp_path / "out", 1).write_bytes(b"")
    with pytest.raises(DatasetError, match=r"part-0000001.parquet is damaged"):
        embed_file(inputs / "a.smi", tmp_path / "out", SMALL)


def test_an_interrupt_leaves_whole_parts_only(inputs, tmp_path):
    calls = []

    def interrupt(done, total, graphs):
        calls.append((done, total, graphs))
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed_file(inputs / "a.smi", tmp_path / "out", SMALL, on_progress=interrupt)
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert "summary.json" not in files
    assert not any(name.startswith(".") for name in files)
    embed_file(inputs / "a.smi", tmp_path / "out", SMALL)
    embed_file(inputs / "a.smi", tmp_path / "other", SMALL)
    assert content(tmp_path / "out") == content(tmp_path / "other")
    assert calls[0] == (0, (inputs / "a.smi").stat().st_size, 0)


def gvoys(*arguments):
    """The command line in a process of its own, forked from one that has imported all: it is at work at once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["gvoys.cli.stream", "rdkit.Chem", "pyarrow.parquet"])
    run = context.Process(target=_main, args=[str(argument) for argument in arguments])
    run.start()
    return run


def _main(*arguments):
    sys.argv = ["gvoys", *arguments]
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    from gvoys.cli import main

    main()


def test_twenty_kills_lose_nothing_and_repeat_nothing(tmp_path):
    """kill -9 at random moments, with the same command again each time: the same bytes as an undisturbed run."""
    molecules = tmp_path / "many.smi"
    molecules.write_text("".join(f"{s.replace(' ', '')} m{k}\n" for k in range(60) for s in SMILES))
    command = ["embed", molecules, "--rows-per-part", "100", "--components", "8192", "-o"]  # large parts, slow to write
    for name in ("whole", "timed"):  # the second in caches, as the others will be
        begin = time.perf_counter()
        run = gvoys(*command, tmp_path / name)
        run.join()
        whole_time = time.perf_counter() - begin
        assert run.exitcode == 0
    chance, kills, killed = random.Random(0), 0, tmp_path / "killed"
    while kills < 20:
        run = gvoys(*command, killed)
        run.join(chance.uniform(0.1, 1.0) * whole_time)
        if run.is_alive():
            run.kill()
            run.join()
            kills += not (killed / "summary.json").exists()  # else it was on its way out already
        else:
            whole_time *= 0.95  # the machine may be less busy than it was
        if (killed / "summary.json").exists():  # done too early: take parts away, as if it had not been
            _undo(killed, chance)
    run = gvoys(*command, killed)
    run.join()
    assert run.exitcode == 0
    assert content(killed) == content(tmp_path / "whole") == content(tmp_path / "timed")


def _undo(folder, chance):
    (folder / "summary.json").unlink()
    (folder / "skipped.csv").unlink()
    for part in folder.glob("part-*"):
        if chance.random() < 0.8:
            part.unlink()


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
        ("a.smi.gz", "", "unpack it first"),
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
    with pytest.raises(GvoysError, match=message):
        embed_file(tmp_path / name, tmp_path / "out", SMALL)
    assert not (tmp_path / "out").exists()


def test_a_missing_input_and_parameters_out_of_range(inputs, tmp_path):
    with pytest.raises(DatasetError, match="there is no file or folder"):
        embed_file(tmp_path / "nowhere.smi", tmp_path / "out")
    for parameters in (
        Parameters(series="harmonic"),
        Parameters(lengths="long"),
        Parameters(rows_per_part=0),
        Parameters(decay=-1.0),
        Parameters(labels="colour"),
        Parameters(method="sequences"),
    ):
        with pytest.raises(GvoysError):
            embed_file(inputs / "a.smi", tmp_path / "out", parameters)


def test_graphs_in_memory_have_another_way(tmp_path):
    with pytest.raises(ParameterError, match="embed_file takes a file; for graphs in memory use RandomWalkFeatures"):
        embed_file(["CCO", "CC"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_line_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(lines_module, "_LONGEST", 1000)
    monkeypatch.setattr(lines_module, "_READ", 100)
    (tmp_path / "a.smi").write_text("CC\n" + "C" * 3000)
    with pytest.raises(DatasetError, match="a line of over"):
        embed_file(tmp_path / "a.smi", tmp_path / "out", SMALL)


def test_without_pyarrow_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(GvoysError, match=r"gvoys\[parquet\]"):
        embed_file(Path("a.smi"), tmp_path / "out")
