"""Damaged inputs of every kind: a right answer or one sentence; never a traceback, a hang, a crash or a wrong batch."""

import importlib.util
import json
import os
import shutil
import signal
import traceback
from contextlib import contextmanager

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from input_files import write_inputs
from mutations import check_valid, mess_up, mutate, wrong
from wrong_calls import call_estimator, call_function

import gvoys as gv
from gvoys.apps.scale import embed_file
from gvoys.apps.scale.job import Parameters
from gvoys.apps.scale.parts import part_features, part_ids, part_path
from gvoys.errors import DatasetError, GvoysError
from gvoys.io import open_graphs
from gvoys.io.tu import read_names, read_tu

PARAMETERS = Parameters(walk=gv.Walk(2), n_components=16, rows_per_part=11)
LIMIT = 25  # seconds of one input
FILES = ("a.smi", "a.csv", "a.tsv", "a.parquet", "a.g6", "a.s6", "a.jsonl", "a.json", "a.graphml", "TINY.zip")
FILES += ("TINY", "store", *(["a.xlsx"] if importlib.util.find_spec("openpyxl") else []))
OPTIONS = {"a.csv": {"id": "name"}, "a.parquet": {"id": "name"}}


def use(batch, rng):
    """The batch is valid, and kernels read it without a crash."""
    check_valid(batch, mirrored=not batch.directed)
    repr(batch)
    if len(batch) and batch.n_nodes < 200_000:
        method = ("moments", "sketch", "auto")[rng.integers(3)]
        model = gv.RandomWalkFeatures(gv.Geometric("auto"), gv.Walk(3), method=method, n_components=16)
        assert np.isfinite(model.fit_transform(batch)).all()


# -- files
def file_case(name):
    def run(inputs, folder, rng):
        target = damage(inputs / name, folder / name, rng)
        how = OPTIONS.get(name, {}) if rng.random() < 0.5 else {}
        if rng.random() < 0.5:
            return check_embedding(target, folder / "out", how)
        graphs = open_graphs(target, **how).read()
        assert len(graphs.ids) == len(graphs.rows) == len(graphs.batch)
        assert "".join(f"{each}\n" for each in graphs.ids).splitlines() == graphs.ids
        assert all(each.reason and "\n" not in each.reason for each in graphs.skipped)
        return use(graphs.batch, rng)

    return run


def damage(source, target, rng):
    if source.is_dir():
        shutil.copytree(source, target)
        files = sorted(target.iterdir())
        file = files[rng.integers(len(files))]
        file.unlink() if rng.random() < 0.05 else file.write_bytes(mutate(file.read_bytes(), rng))
    else:
        target.write_bytes(mutate(source.read_bytes(), rng))
    return target


def check_embedding(path, out, how):
    try:
        summary = embed_file(path, out, PARAMETERS, **how)
    except GvoysError:
        assert not (out / "_summary.json").exists()
        raise
    assert json.loads((out / "_summary.json").read_text())["graphs"] == summary.n_graphs
    for index in range(summary.n_parts):
        features = part_features(part_path(out, index))
        assert np.isfinite(features).all()
        assert len(part_ids(part_path(out, index))) == len(features)


def tu_case(inputs, folder, rng):
    shutil.copytree(inputs / "TINY", folder / "TINY")
    for file in rng.choice(sorted((folder / "TINY").iterdir()), rng.choice([1, 1, 2]), replace=False):
        file.write_bytes(mutate(file.read_bytes(), rng))
    read_names(folder / "TINY")
    column = [None, None, None, 0, -1, wrong(rng)][rng.integers(6)]
    batch, y = read_tu(folder / "TINY", column)
    assert y is None or len(y) == len(batch)
    use(batch, rng)


# -- objects
def arrays_case(inputs, folder, rng):
    good = {
        "edges": [[0, 1], [1, 2], [3, 4]],
        "graph_sizes": [3, 2],
        "node_labels": list("CCOCO"),
        "edge_labels": ["a", "b", "a"],
        "edge_weights": [1.0, 2.0, 3.0],
        "node_attributes": np.ones((5, 2)),
        "directed": False,
    }
    given = {name: good[name] for name in good if name in ("edges", "graph_sizes") or rng.random() < 0.5}
    for name in rng.choice(list(good), rng.choice([1, 1, 2]), replace=False):
        given[name] = wrong(rng) if rng.random() < 0.6 else mess_up(good[name], rng, 0.03)
    batch = gv.GraphBatch.from_arrays(**given)
    use(batch, rng)
    use(batch[0:1], rng)


def objects_case(inputs, folder, rng):
    lines = (inputs / "a.jsonl").read_text().splitlines()
    node_link = json.loads(lines[rng.integers(len(lines))])
    item = (
        lambda: mess_up(node_link, rng, 0.02),
        lambda: mess_up(node_link, rng),
        lambda: mess_up(({0: [1], 1: [0]}, {0: "a", 1: "b"}, {(0, 1): 1, (1, 0): 1}), rng),
        lambda: mess_up(({(0, 1): 1.0, (1, 0): 1.0}, {0: "a", 1: "b"}), rng),
        lambda: mess_up([[(0, 1), (1, 0)], {0: "a", 1: "b"}], rng),
        lambda: np.array([[0, 1], [1, 0]], rng.choice(["i1", "u1", "f4", "f8", "c16", "?", "O", "U1"])),
        lambda: damaged_matrix(rng),
        lambda: damaged_networkx(rng),
        lambda: wrong(rng),
    )[rng.integers(9)]()
    given = ([item], [item, item], item, (item,), [node_link, item])[rng.integers(5)]
    name = ["node_label", "edge_label", "weight", "node_attributes", "directed"][rng.integers(5)]
    how = {name: wrong(rng)} if rng.random() < 0.3 else {}
    if not how and rng.random() < 0.3:
        use(open_graphs(given).read().batch, rng)
    else:
        use(gv.as_batch(given, **how), rng)


def damaged_matrix(rng):
    """SciPy checks little once the object exists."""
    matrix = sp.csr_array(np.array([[0, 1.0, 0], [1, 0, 1], [0, 1, 0]])).asformat(rng.choice(["csr", "csc", "coo"]))
    names = ["row", "col", "data"] if matrix.format == "coo" else ["indices", "indptr", "data"]
    name = names[rng.integers(3)]
    numbers = getattr(matrix, name).copy()
    numbers[rng.integers(len(numbers))] = [-1, 5, 10**6, 2**31 - 1, -(2**31)][rng.integers(5)]
    if name in ("row", "col"):
        matrix.coords = tuple(numbers if each == name else getattr(matrix, each) for each in ("row", "col"))
    else:
        setattr(matrix, name, numbers)
    return matrix


def damaged_networkx(rng):
    graph = [nx.Graph, nx.DiGraph, nx.MultiGraph][rng.integers(3)]([(0, 1), (1, 2)])
    for facts in (*graph.nodes.values(), *graph.edges.values()):
        facts[("label", "weight")[rng.integers(2)]] = wrong(rng) if rng.random() < 0.3 else 1
    return graph


KINDS = {name: file_case(name) for name in FILES} | {
    "TU texts": tu_case,
    "arrays": arrays_case,
    "objects": objects_case,
    "parameters": lambda inputs, folder, rng: call_estimator(rng),
    "functions": lambda inputs, folder, rng: call_function(folder, rng),
}


# -- what came of them
@contextmanager
def limited(seconds):
    """A TimeoutError after some seconds, on systems that can."""

    def stop(*_):
        raise TimeoutError(f"over {seconds} seconds")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(run, inputs, folder, rng):
    """\"answer\", \"sentence\", or what went wrong."""
    folder.mkdir()
    try:
        with limited(LIMIT):
            run(inputs, folder, rng)
    except GvoysError as error:
        said = str(error)
        return "sentence" if said and "\n" not in said and len(said) < 600 else f"no sentence: {said[:900]!r}"
    except Exception as error:
        places = [f"{at.filename.rpartition('/')[2]}:{at.lineno}" for at in traceback.extract_tb(error.__traceback__)]
        return f"{type(error).__name__}: {str(error)[:200]!r} at {' '.join(places[-5:])}"
    finally:
        shutil.rmtree(folder)
    return "answer"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged") / "inputs"
    write_inputs(folder)
    shutil.make_archive(str(folder / "TINY"), "zip", folder, "TINY")
    return folder


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def download(name):
        raise DatasetError(f"{name} could not be downloaded")

    monkeypatch.setattr("gvoys.io.fetch._download", download)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_damaged_inputs_give_an_answer_or_a_sentence(tmp_path, inputs, kind):
    count = int(os.environ.get("GVOYS_MUTATIONS", "450")) // len(KINDS)  # make fuzz tries 10,000
    first = int(os.environ.get("GVOYS_MUTATIONS_SEED", "0"))
    found = {}
    for seed in range(first, first + count):
        rng = np.random.default_rng([list(KINDS).index(kind), seed])
        found.setdefault(outcome(KINDS[kind], inputs, tmp_path / "work", rng), []).append(seed)
    answers, sentences = (len(found.pop(name, [])) for name in ("answer", "sentence"))
    print(f"{kind}: {count} damaged inputs, {answers} right answers, {sentences} refused in one sentence")
    assert not found, "\n".join(f"{kind} {seeds[:3]} ({len(seeds)}): {what}" for what, seeds in found.items())
    assert count < 200 or min(answers, sentences) > 0  # else the mutators are too strong, or too weak
