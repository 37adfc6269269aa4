"""What cannot be read says so in one line, whatever was given: no error of Python, NumPy or the system escapes."""

import json
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from raising import raises

import gvoys as gv
from gvoys.errors import DatasetError, GraphError, GvoysError
from gvoys.io.tu import parse_names

EDGES = [[0, 1], [1, 2], [3, 4]]
NODE_LINK = {"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}


def arrays(**how):
    return lambda: gv.GraphBatch.from_arrays(EDGES, [3, 2], **how)


def nested(depth):
    label = "x"
    for _ in range(depth):
        label = (label,)
    return label


CASES = {
    "direction of several": (arrays(directed=np.array([True, False])), "directed must be True or False"),
    "direction in words": (arrays(directed="yes"), "directed must be True or False, not 'yes'"),
    "direction of a list": (lambda: gv.as_batch([np.ones((2, 2))], directed=np.array([1, 2])), "directed must be"),
    "one label": (arrays(node_labels=np.array(3)), "node_labels must be a list or an array of one value for each"),
    "one edge label": (arrays(edge_labels=np.array("a")), "edge_labels must be a list or an array"),
    "deep label": (arrays(node_labels=[nested(400)] * 5), "a label is nested too deeply"),
    "too many nodes": (lambda: gv.GraphBatch.from_arrays([], [2**31 - 1] * 2000), "4,294,967,294,000 nodes"),
    "store 3": (lambda: gv.open_store(3), "a path is text or path-like, and 3 is not"),
    "store None": (lambda: gv.open_store(None), "a path is text or path-like, and None is not"),
    "store with a long name": (lambda: gv.open_store("a" * 5000), "aaa cannot be read: File name too long"),
    "store to 3": (lambda: gv.write_store([np.ones((2, 2))], 3), "a path is text or path-like, and 3 is not"),
    "store to a long name": (lambda: gv.write_store([np.ones((2, 2))], "a" * 5000), "cannot be written: File name"),
    "store to a null byte": (lambda: gv.write_store([np.ones((2, 2))], "a\0b"), "holds no null byte"),
    "file with a long name": (lambda: gv.io.open_graphs("a" * 5000 + ".csv"), "cannot be read: File name too long"),
    "file with two lines": (lambda: gv.io.open_graphs("a\nb.csv"), r"there is no file or folder a\\nb.csv"),
    "smiles=3": (lambda: gv.io.open_graphs(["C"], smiles=3), "smiles must be the name of a column, not 3"),
    "id=3": (lambda: gv.io.open_graphs(["C"], id=3), "id must be the name of a column, not 3"),
    "target=3": (lambda: gv.io.open_graphs(["C"], target=3), "target must be the name or names of columns, not 3"),
    "target=[3]": (lambda: gv.io.open_graphs(["C"], target=[3]), r"target must be the name or names of columns, not"),
    "no list": (lambda: gv.as_batch(np.array(3)), "as_batch takes a list of"),
    "no list of SMILES": (lambda: gv.from_smiles(None), "from_smiles takes a list of SMILES strings, not 'NoneType'"),
    "half a character": (lambda: gv.from_smiles(["C\ud800"]), r"molecule 0: RDKit cannot read the SMILES 'C\\ud800'"),
    "no list of batches": (lambda: gv.GraphBatch.concatenate(3), "concatenate takes a list of GraphBatches, not 'int'"),
    "node ids": (lambda: gv.as_batch([NODE_LINK | {"nodes": [{"id": {1}}]}]), "cannot be read"),
    "a direction of links": (lambda: gv.as_batch([NODE_LINK | {"directed": np.array([1, 2])}]), "cannot be read"),
    "a long label": (arrays(edge_labels=["a" * 5000, "b", "c"], directed=np.array([1, 1])), "directed must be"),
}


@pytest.mark.parametrize("name", CASES)
def test_one_sentence(name):
    call, message = CASES[name]
    assert len(raises(GvoysError, message, call)) < 600


def test_sentences_of_any_length():
    assert str(GvoysError("a\nb\r\n c")) == r"a\nb\r\n c"
    said = str(GraphError("x" * 5000 + "; remove it"))
    assert len(said) < 600
    assert said.endswith("; remove it")
    assert str(GvoysError()) == ""
    assert parse_names("Node labels:\n 1 C\n " + "9" * 5000 + " N\n").nodes == {1: "C"}


@pytest.mark.parametrize("name", ["a.csv", "a.smi", "a.g6", "a.jsonl", "a.parquet", "a.zip"])
def test_folders_and_files_that_cannot_be_read(tmp_path, name):
    (tmp_path / name).mkdir()
    raises(DatasetError, "is neither a store nor a dataset", gv.io.open_graphs, tmp_path / name)
    if hasattr(os, "geteuid") and os.geteuid() != 0:  # root may read every file
        (tmp_path / "b.smi").write_text("C\n")
        (tmp_path / "b.smi").chmod(0)
        raises(DatasetError, r"b.smi cannot be read: Permission denied", gv.io.open_graphs, tmp_path / "b.smi")


@pytest.mark.parametrize("weights", [[1e200, 1e200], [5e-324, 1.0], [5e-324, 5e-324], [1e200, 5e-324], [1e308, 1e308]])
@pytest.mark.parametrize("method", ["moments", "sketch"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_weights_at_the_ends_of_float64(weights, method):
    batch = gv.GraphBatch.from_arrays([[0, 1], [1, 2]], [3], edge_weights=weights)
    model = gv.RandomWalkFeatures(gv.Geometric("auto"), gv.Walk(3), method=method, n_components=8)
    with suppress(GvoysError):
        assert np.isfinite(model.fit_transform(batch)).all()


def test_a_store_whose_files_say_nothing(tmp_path):
    gv.write_store(gv.GraphBatch.from_arrays(EDGES, [3, 2], node_labels=list("CCOCO")), tmp_path / "store")
    files = sorted(Path(tmp_path / "store").iterdir())
    for file in files:
        kept = file.read_bytes()
        for content in (b"", b"\xff", b"{}", b"[]", b"null", json.dumps({"format": "gvoys store"}).encode()):
            file.write_bytes(content)
            raises(GvoysError, r"store|manifest", gv.open_store, tmp_path / "store")
        file.write_bytes(kept)
    assert len(gv.open_store(tmp_path / "store")) == 2
