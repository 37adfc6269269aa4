"""gvoys embed --method sequences: sparse features in Parquet, whose columns are the same in every run."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

import pyarrow.parquet as pq
from input_files import SMILES
from processes import content, finish, gvoys
from raising import raises

import gvoys as gv
from gvoys.apps.scale import embed_file, write_gram
from gvoys.apps.scale.job import Parameters, read_job
from gvoys.apps.scale.parts import part_features, part_path, write_part
from gvoys.errors import DatasetError, ParameterError
from gvoys.walks import Sequences

READABLE = [text for text in SMILES if text not in ("C1CC", "not a molecule")]
COUNTS = {"method": "sequences", "walk": gv.Walk(3)}
SMALL = COUNTS | {"rows_per_part": 4}


def estimator(n_columns=2**20, **how):
    return gv.RandomWalkFeatures(gv.Geometric(1 / 16), **COUNTS | {"n_columns": n_columns} | how)


# -- what comes out
@pytest.mark.parametrize("n_columns", [None, 50])
def test_features_are_those_of_the_estimator(inputs, tmp_path, n_columns):
    summary = embed_file(inputs / "a.smi", tmp_path / "out", SMALL | {"n_columns": n_columns})
    assert (summary.n_graphs, summary.n_parts) == (24, 8)
    ids, X = gv.read_features(tmp_path / "out")
    assert len(ids) == 24
    assert isinstance(X, sp.csr_array)
    assert X.dtype == np.float32
    batch = gv.from_smiles(READABLE)
    expected = estimator(n_columns or 2**20).fit_transform(batch)
    assert X.shape == expected.shape
    np.testing.assert_array_equal((X - expected.astype(np.float32)).data, 0)
    if n_columns is None:
        K = gv.RandomWalkKernel(gv.Geometric(1 / 16), **COUNTS).fit_transform(batch)
        np.testing.assert_allclose((X @ X.T).toarray(), K, rtol=1e-5, atol=1e-9)


def test_readers_of_parquet_read_the_folder(inputs, tmp_path):
    pandas = pytest.importorskip("pandas")
    embed_file(inputs / "a.smi", tmp_path / "out", SMALL)
    ids, X = gv.read_features(tmp_path / "out")
    frame = pandas.read_parquet(tmp_path / "out")
    assert list(frame.columns) == ["id", "columns", "values"]
    assert frame["id"].tolist() == ids
    pointers = np.concatenate([[0], np.cumsum(frame["columns"].map(len))])
    entries = np.concatenate(frame["values"].tolist()), np.concatenate(frame["columns"].tolist()), pointers
    np.testing.assert_array_equal((sp.csr_array(entries, shape=X.shape) - X).data, 0)
    schema = pq.read_schema(part_path(tmp_path / "out", 0))
    kinds = [schema.field(name).type for name in ("columns", "values")]
    assert [(type(kind).__name__, str(kind.value_type)) for kind in kinds] == [
        ("ListType", "int32"),
        ("ListType", "float"),
    ]


@pytest.mark.parametrize("rows", [1, 5, 1000])
def test_any_partitioning_gives_the_same_bits(inputs, tmp_path, rows):
    for name, count in (("whole", 30), ("pieces", rows)):
        embed_file(inputs / "a.smi", tmp_path / name, SMALL | {"rows_per_part": count, "n_columns": 40})
    (ids, X), (other_ids, Y) = (gv.read_features(tmp_path / name) for name in ("whole", "pieces"))
    assert ids == other_ids
    np.testing.assert_array_equal(X.toarray(), Y.toarray())


def test_threads_and_workers_give_the_same_bytes(inputs, tmp_path):
    pytest.importorskip("distributed")
    for name, how in (("all", ()), ("one", ("--n-jobs", 1)), ("workers", ("--workers", 2))):
        small = ("--method", "sequences", "--columns", 4096, "--rows-per-part", 10)
        assert finish(gvoys("embed", inputs / "a.smi", "-o", tmp_path / name, *small, *how)) == 0
    assert content(tmp_path / "all") == content(tmp_path / "one") == content(tmp_path / "workers")
    assert gv.read_features(tmp_path / "all")[1].shape == (24, 4096)


def test_graphs_without_labels_and_without_nodes(inputs, tmp_path):
    embed_file(inputs / "a.g6", tmp_path / "out", SMALL)
    other = SMALL | {"n_columns": 64}
    raises(ParameterError, "holds a run with other parameters", embed_file, inputs / "a.g6", tmp_path / "out", other)
    assert read_job(tmp_path / "out")["fitted"]["labels"] is None
    assert gv.read_features(tmp_path / "out")[1].shape[1] == 2**20
    (tmp_path / "empty.g6").write_text("?\n?\n")
    embed_file(tmp_path / "empty.g6", tmp_path / "empty", SMALL)
    assert gv.read_features(tmp_path / "empty")[1].nnz == 0


def test_graphs_that_cannot_be_counted_are_skipped_alone(tmp_path, monkeypatch):
    graph = {"nodes": [{"id": 0, "label": "a"}, {"id": 1, "label": "a"}]}
    lines = [graph | {"links": [{"source": 0, "target": 1, "weight": weight}]} for weight in (1.0, 1e60, 2.0)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    summary = embed_file(tmp_path / "a.jsonl", tmp_path / "out", SMALL | {"walk": gv.Walk(1)})
    assert (summary.n_graphs, summary.n_skipped) == (2, 1)
    assert "range of floating point" in (tmp_path / "out.skipped.csv").read_text()
    (tmp_path / "a.smi").write_text("CCO a\nCC(C)(C)CC(CC)CC(C)C(C)C b\nc1ccccc1 c\nC1CC d\n")
    embed_file(tmp_path / "a.smi", tmp_path / "all", SMALL)
    monkeypatch.setattr("gvoys.walks.methods.Sequences", lambda device: Sequences(device, budget=60))
    summary = embed_file(tmp_path / "a.smi", tmp_path / "few", SMALL)
    assert (summary.n_graphs, summary.n_skipped) == (2, 2)
    skipped = (tmp_path / "few.skipped.csv").read_text()
    assert '2,CC(C)(C)CC(CC)CC(C)C(C)C,"it has too many label sequences to count; use' in skipped
    ids, X = gv.read_features(tmp_path / "few")
    assert ids == ["a", "c"]
    np.testing.assert_array_equal((X - gv.read_features(tmp_path / "all")[1][[0, 2]]).data, 0)


# -- runs that go on, and folders that are damaged
def test_a_run_that_was_stopped_goes_on(inputs, tmp_path):
    embed_file(inputs / "a.smi", tmp_path / "whole", SMALL)
    calls = []

    def stop(*_):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed_file(inputs / "a.smi", tmp_path / "out", SMALL, on_progress=stop)
    raises(DatasetError, "holds no finished run", gv.read_features, tmp_path / "out")
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("part-*")}
    assert 2 < len(kept) < 8
    embed_file(inputs / "a.smi", tmp_path / "out", SMALL)
    assert content(tmp_path / "out") == content(tmp_path / "whole")
    assert all((tmp_path / "out" / name).stat().st_mtime_ns == time for name, time in kept.items())


def test_parts_that_cannot_be(tmp_path, monkeypatch):
    X = sp.csr_array(np.eye(3, 10, dtype=np.float32))
    write_part(tmp_path / "good", ["a", "b", "c"], {"features": X}, [])
    np.testing.assert_array_equal(part_features(tmp_path / "good").toarray(), X.toarray())
    for column in (10, -1, 2**31 - 1):
        X.indices[1] = column
        write_part(tmp_path / "bad", ["a", "b", "c"], {"features": X}, [])
        raises(ValueError, "ind", part_features, tmp_path / "bad")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "_summary.json").write_text('{"parts": 1}')
    (tmp_path / "bad").rename(part_path(tmp_path / "out", 0))
    raises(DatasetError, "is damaged or missing", gv.read_features, tmp_path / "out")
    monkeypatch.setattr("gvoys.apps.scale.parts._MOST_NUMBERS", 2)
    with pytest.raises(ParameterError, match="a part would have 3 numbers, too many for Parquet; lower rows_per_part"):
        write_part(tmp_path / "a", ["a", "b", "c"], {"features": sp.csr_array(np.eye(3))}, [])


@pytest.mark.parametrize("method", ["auto", "sketch", "moments"])
def test_columns_of_other_methods_raise(inputs, tmp_path, method):
    with pytest.raises(ParameterError, match=f"n_columns is for method='sequences' alone, not '{method}'"):
        embed_file(inputs / "a.smi", tmp_path / "out", {"method": method, "n_columns": 64})
    assert not (tmp_path / "out").exists()


# -- the Gram matrix
@pytest.mark.parametrize("normalize", [False, True])
def test_the_matrix_of_sparse_features(inputs, tmp_path, normalize):
    refined = {"walk": gv.Walk(3, refine=1)}
    parameters = Parameters(**SMALL | refined, decay=1 / 16)
    write_gram(inputs / "a.smi", tmp_path / "K.npy", parameters, normalize=normalize)
    batch = gv.from_smiles(READABLE)
    kernel = gv.RandomWalkKernel(gv.Geometric(1 / 16), **COUNTS | refined, normalize=normalize)
    K = np.load(tmp_path / "K.npy")
    np.testing.assert_allclose(K, kernel.fit_transform(batch), rtol=1e-5, atol=1e-9)
    np.testing.assert_array_equal(K, K.T)


def test_the_matrix_of_partitions(tmp_path):
    from gvoys.apps.scale.cluster import profile_partitions, write_gram_of_partitions

    batch = gv.datasets.molecules(30)
    parts = [lambda: batch[:12], lambda: batch[12:]]
    model = estimator(64).fit(batch)
    X = model.transform(batch)
    write_gram_of_partitions(parts, model, tmp_path / "K.npy")
    np.testing.assert_allclose(np.load(tmp_path / "K.npy"), (X @ X.T).toarray(), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(sp.vstack(list(profile_partitions(parts, model))).toarray(), X.toarray())
