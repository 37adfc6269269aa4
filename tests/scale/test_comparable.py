"""Features of any two files compare: a graph has the same bits whatever else its file holds."""

import csv
import json
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from spelling import with_walk

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from raising import raises

import gvoys as gv
from gvoys.apps.scale import embed_file
from gvoys.apps.scale.job import read_job
from gvoys.errors import DatasetError, ParameterError

SHARED = ["CCO", "c1ccccc1N", "[Na+].[Cl-]", "C[C@H](N)C(=O)O", "FS(F)(F)(F)(F)F", "O"]
SMALL = {"max_length": 3, "n_components": 32}
KINDS = {
    "defaults": {},
    "moments": {"method": "moments"},
    "sketch": {"method": "sketch"},
    "stacked": {"method": "sketch", "lengths": "stacked"},
    "sampled": {"method": "voyagers"},
    "no labels": {"labels": None},
    "sketch without labels": {"labels": None, "method": "sketch"},
    "edge labels": {"labels": "edge"},
    "both": {"labels": "both"},
    "non-backtracking": {"backtrack": False},
    "non-backtracking, no labels": {"backtrack": False, "labels": None},
    "refined": {"refine": 1},
    "refined, no labels": {"refine": 1, "labels": None},
    "exponential": {"series": "exponential", "decay": 0.3},
    "sequences": {"method": "sequences"},
    "few columns": {"method": "sequences", "n_columns": 16, "refine": 1, "backtrack": False},
}


def write_smi(path, rows):
    path.write_text("".join(f"{text} {text}\n" for text in rows))


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("n", "smiles", "name"), *((k, text, text) for k, text in enumerate(rows))])


def write_files(folder):
    """The shared molecules alone, and in company of other kinds that begin the file."""
    write_smi(folder / "alone.smi", SHARED)
    write_smi(folder / "no_bonds.smi", [*(["C", "[He]", "N", "[Na+].[Cl-]"] * 260), *SHARED])
    write_smi(folder / "elements.smi", [*(["[Se]=[Se]", "B1BB1", "II", "[U]"] * 260), *SHARED])
    write_smi(folder / "large.smi", ["C" * 300, "C1CC2(CC1)CCC2" + "N" * 90, *SHARED])
    write_csv(folder / "unreadable.csv", [*(["C1CC", "((", "X"] * 350), *SHARED])
    write_csv(folder / "table.csv", SHARED[::-1])
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("files"))


def features_of(path, out, **parameters):
    embed_file(path, out, with_walk(**SMALL | parameters), id="name" if path.suffix == ".csv" else None)
    ids, features = gv.read_features(out)
    found = features[[ids.index(text) for text in SHARED]]
    return found.toarray() if sp.issparse(found) else found


@pytest.mark.parametrize("kind", KINDS)
def test_a_molecule_has_the_same_bits_in_any_file(kind, files, tmp_path):
    rows = iter([4096, 300, 1, 401, 1000, 250])
    found = {
        path.name: features_of(path, tmp_path / path.stem, **KINDS[kind], rows_per_part=next(rows)) for path in files
    }
    assert len(found) == 6
    for features in found.values():
        assert features.any(axis=1).all()
        np.testing.assert_array_equal(features, found["alone.smi"])
    for path in files:
        gv.read_features(tmp_path / path.stem, like=tmp_path / "alone")  # nothing is said


@pytest.mark.parametrize("rows", [0, 1000])
def test_the_kind_of_labels_comes_from_graphs_with_nodes(tmp_path, rows):
    """Graphs without a node say nothing of labels, however many of them begin a file."""
    empty, graph = '{"nodes": [], "links": []}', {"nodes": [{"id": 0, "label": "a"}, {"id": 1, "label": "b"}]}
    lines = [empty] * rows + [json.dumps(graph | {"links": [{"source": 0, "target": 1}]})]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    embed_file(tmp_path / "a.jsonl", tmp_path / "out", with_walk(**SMALL))
    assert read_job(tmp_path / "out")["fitted"]["labels"] == "node"
    assert gv.read_features(tmp_path / "out")[1].shape == (rows + 1, 32)


@pytest.mark.parametrize(("name", "value"), [("decay", None), ("max_length", None), ("max_length", "auto")])
def test_what_would_come_from_the_graphs_raises(files, tmp_path, name, value):
    with pytest.raises(ParameterError, match=f"{name} must be a number, so that the features of any two files compare"):
        embed_file(files[0], tmp_path / "out", with_walk(**{name: value}))


# -- folders that do not compare
DIFFERENT = {"max_length": 2, "decay": 0.05, "refine": 1, "backtrack": False, "seed": 5, "n_components": 16}
DIFFERENT |= {"labels": "both", "lengths": "stacked", "series": "exponential"}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_is_said(name, files, tmp_path):
    alone = next(path for path in files if path.stem == "alone")
    embed_file(alone, tmp_path / "one", with_walk(**SMALL))
    embed_file(alone, tmp_path / "two", with_walk(**SMALL | {name: DIFFERENT[name]}))
    said = {"decay": "mu", "series": "mu", "max_length": "mu", "n_components": "width"}.get(name, name)
    with pytest.raises(ParameterError, match=rf"one and of .*two do not compare: they differ in {said}\b"):
        gv.read_features(tmp_path / "two", like=tmp_path / "one")


def test_what_is_no_run(files, tmp_path):
    alone = next(path for path in files if path.stem == "alone")  # features by moments depend on neither of these
    embed_file(alone, tmp_path / "one", {"method": "moments", "seed": 1, "n_components": 8})
    embed_file(alone, tmp_path / "two", {"method": "moments", "walk": gv.Walk(labels=None), "rows_per_part": 2})
    gv.read_features(tmp_path / "two", like=tmp_path / "one")
    (tmp_path / "a.g6").write_text("?\n?\n")
    assert embed_file(tmp_path / "a.g6", tmp_path / "empty", with_walk(**SMALL)).n_graphs == 2
    embed_file(files[0], tmp_path / "out", with_walk(**SMALL))
    with pytest.raises(DatasetError, match="there is no folder of features or model file"):
        gv.read_features(tmp_path / "out", like=tmp_path / "none")
    raises(DatasetError, "holds no run of gvoys embed", gv.read_features, tmp_path / "out", like=tmp_path)
    job = json.loads((tmp_path / "out" / "_job.json").read_text())
    for key in ("fitted", "parameters", "like"):
        (tmp_path / "out" / "_job.json").write_text(json.dumps(dict(islice(job.items(), 2)) | {key: job[key]}))
        raises(ParameterError, "is damaged", gv.read_features, tmp_path / "out", like=tmp_path / "out")
