"""Many processes: the same bits as one, also when a worker dies; sums along a fixed tree; models fitted in pieces."""

import errno
import os
import signal
import threading
import time
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import spelling
from processes import content

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")
pytest.importorskip("rdkit")

from raising import raises
from sklearn.linear_model import Ridge, SGDClassifier

import gvoys as gv
from gvoys.apps.scale import cluster as module
from gvoys.apps.scale import embed_file
from gvoys.apps.scale.cluster import (
    fit_classifier,
    fit_regressor,
    fit_ridge,
    open_cluster,
    profile_partitions,
    write_gram_of_partitions,
)
from gvoys.apps.scale.job import Parameters
from gvoys.errors import ClusterError, ParameterError

BATCH = gv.datasets.molecules(60, mean_nodes=10, random_state=4)
Y = BATCH.graph_sizes + 0.1 * np.random.default_rng(0).normal(size=60)
MODEL = gv.RandomWalkFeatures(walk=gv.Walk(2), n_components=32).fit(BATCH)


def load(path, begin, end):
    return gv.open_store(path)[begin:end]


def load_with_targets(path, begin, end):
    return load(path, begin, end), Y[begin:end]


@pytest.fixture(scope="module")
def two_workers():
    with open_cluster(workers=2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("stores") / "store"
    gv.write_store(BATCH, path)
    return path


def partitions(store, loader=load, n=7):
    cuts = np.linspace(0, 60, n + 1).astype(int)
    return [partial(loader, store, int(a), int(b)) for a, b in pairwise(cuts)]


@pytest.mark.parametrize("n", [1, 4, 7])
def test_features_are_the_same_bits_however_they_are_cut(store, two_workers, n):
    expected = MODEL.transform(BATCH)
    for cluster in (None, two_workers):
        found = np.concatenate(list(profile_partitions(partitions(store, n=n), MODEL, cluster)))
        np.testing.assert_array_equal(found, expected)


def test_the_gram_matrix_by_blocks(store, two_workers, tmp_path):
    X = MODEL.transform(BATCH).astype(float)
    for cluster, name in ((None, "here.npy"), (two_workers, "there.npy")):
        write_gram_of_partitions(partitions(store), MODEL, tmp_path / name, cluster)
        np.testing.assert_allclose(np.load(tmp_path / name), X @ X.T, rtol=1e-12)
    assert (tmp_path / "here.npy").read_bytes() == (tmp_path / "there.npy").read_bytes()


def test_a_matrix_that_fails_leaves_nothing(store, tmp_path, monkeypatch):
    def broken():
        assert not (tmp_path / "K.npy").exists()
        raise KeyboardInterrupt

    first = partitions(store)[0]
    monkeypatch.setattr(module, "_count_graphs", lambda partition: 8)
    with pytest.raises(KeyboardInterrupt):
        write_gram_of_partitions([first, broken], MODEL, tmp_path / "K.npy")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()

    def full(descriptor, offset, length):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / ".K.npy.12345.partial").write_text("of a run that was killed")
    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(OSError, match=r"^the matrix needs 28.8 kB and .* are free"):
        write_gram_of_partitions(partitions(store), MODEL, tmp_path / "K.npy")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("n", range(1, 12))
def test_sums_run_along_one_tree(two_workers, n):
    """Strings show the order of the additions."""
    items = [str(i) for i in range(n)]
    here = module._reduce(None, str, items, _bracket)
    assert module._reduce(two_workers, str, items, _bracket) == here
    assert [c for c in here if c.isdigit()] == list("".join(items))


def _bracket(left, right):
    return f"({left}{right})"


def test_ridge(store, two_workers):
    X = MODEL.transform(BATCH).astype(float)
    expected = Ridge(alpha=0.3).fit(X, Y)
    found = [fit_ridge(partitions(store, load_with_targets), MODEL, 0.3, cluster) for cluster in (None, two_workers)]
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][0], expected.coef_, rtol=1e-6, atol=1e-9)
    assert found[0][1] == pytest.approx(expected.intercept_)


@pytest.mark.parametrize(("kernel", "rel"), [("linear", 1e-9), ("matern32", 1e-6)])
def test_a_gaussian_process_in_pieces(store, two_workers, kernel, rel):
    regressor = spelling.regressor(2, kernel=kernel, max_exact=1, n_components=90)
    whole = regressor.fit(BATCH, Y)
    first = partial(load_with_targets, store, 0, 60)
    single = fit_regressor([first], spelling.regressor(2, kernel=kernel, n_components=90))
    np.testing.assert_allclose(single.predict(BATCH), whole.predict(BATCH), rtol=1e-6)
    assert single.log_marginal_likelihood_ == pytest.approx(whole.log_marginal_likelihood_, rel=rel)
    pieces = partitions(store, load_with_targets)
    here, there = (fit_regressor(pieces, regressor, cluster) for cluster in (None, two_workers))
    np.testing.assert_array_equal(here.mu_, there.mu_)
    assert np.abs(here.predict(BATCH) - Y).mean() < 0.5


def test_a_streamed_classifier(store, two_workers):
    def labelled(path, begin, end):
        return load(path, begin, end), (Y[begin:end] > 10).astype(int)

    pieces = partitions(store, labelled)
    found = [
        fit_classifier(pieces, MODEL, SGDClassifier(random_state=0), [0, 1], 3, cluster)
        for cluster in (None, two_workers)
    ]
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)


def test_a_worker_that_dies_changes_no_bit(tmp_path):
    """Two workers, one killed in mid-run, against one process."""
    molecules = tmp_path / "many.smi"
    molecules.write_text("".join(f"{'C' * (k % 30 + 1)}O m{k}\n" for k in range(12_000)))
    parameters = Parameters(walk=gv.Walk(3), n_components=64, rows_per_part=200)
    embed_file(molecules, tmp_path / "serial", parameters)
    with open_cluster(workers=2) as cluster:
        pids = list(cluster._client.run(os.getpid).values())
        killed = threading.Event()

        def kill(done, total, graphs):
            if graphs > 3000 and not killed.is_set():
                killed.set()
                os.kill(pids[0], signal.SIGKILL)

        embed_file(molecules, tmp_path / "parallel", parameters, worker=cluster.run, on_progress=kill)
        deadline = time.monotonic() + 300  # it ends as soon as the worker is missed
        while pids[0] in cluster._client.run(os.getpid).values() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert pids[0] not in cluster._client.run(os.getpid).values()
    assert killed.is_set()
    assert content(tmp_path / "parallel") == content(tmp_path / "serial")


def _embed(cluster, end, folder):
    (folder / "a.smi").write_text("CCO\n" * 50)
    parameters = Parameters(walk=gv.Walk(1), rows_per_part=1)
    embed_file(folder / "a.smi", folder / "out", parameters, worker=cluster.run, on_progress=lambda n, *_: n and end())


def _sleep(cluster, end, folder):
    for _ in module._map(cluster, time.sleep, [0.05] * 50):
        end()


@pytest.mark.parametrize("work", [_embed, _sleep])
def test_a_cluster_without_workers_is_given_up(work, tmp_path, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(module, "_PATIENCE", 0.5)
    options = {"processes": False, "dashboard_address": ":0", "silence_logs": 50}
    words = r"no worker has been left for \d+ s; what is done is kept, start again when there are workers"
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, **options) as local,
        open_cluster(scheduler=local.scheduler_address) as cluster,
        pytest.raises(ClusterError, match=words),
    ):
        work(cluster, lambda: local.scale(0), tmp_path)
    assert work is _sleep or 0 < len(list((tmp_path / "out").glob("*.parquet"))) < 50


def test_refusals():
    for arguments in ({}, {"workers": 2, "scheduler": "tcp://x:1"}, {"workers": 0}):
        with pytest.raises(ParameterError), open_cluster(**arguments):
            pass
    with pytest.raises(ParameterError, match="no scheduler answers"), open_cluster(scheduler="nonsense"):
        pass
    for call in (
        lambda: fit_ridge([], MODEL),
        lambda: write_gram_of_partitions([], MODEL, "K.npy"),
        lambda: fit_regressor([], gv.RandomWalkRegressor()),
    ):
        raises(ParameterError, "one partition or more", call)
    for y in (Y[:5], np.full(60, np.nan), ["a"] * 60):
        with pytest.raises(ParameterError, match="one finite number for each of the 60 graphs"):
            fit_ridge([lambda y=y: (BATCH, y)], MODEL)
    raises(ParameterError, "alpha", fit_ridge, [lambda: (BATCH, Y)], MODEL, np.inf)
    with pytest.raises(ParameterError, match="partitions hold no graph"):
        fit_regressor([lambda: (BATCH[:0], Y[:0])], gv.RandomWalkRegressor())


@pytest.mark.parametrize("graphs", [load, lambda *cut: load(*cut).to_networkx()], ids=["batches", "networkx"])
def test_loads_that_return_targets_too_work_everywhere(store, two_workers, tmp_path, graphs):
    def with_targets(*cut):
        return graphs(*cut), Y[cut[1] : cut[2]]

    bare, both = partitions(store, graphs), partitions(store, with_targets)
    for cluster in (None, two_workers):
        found = [np.concatenate(list(profile_partitions(each, MODEL, cluster))) for each in (bare, both)]
        np.testing.assert_array_equal(*found)
        for name, each in (("bare", bare), ("both", both)):
            write_gram_of_partitions(each, MODEL, tmp_path / f"{name}.npy", cluster)
    assert (tmp_path / "bare.npy").read_bytes() == (tmp_path / "both.npy").read_bytes()
    fit_ridge(both, MODEL)
    fit_classifier([lambda: (graphs(store, 0, 60), Y > 10)], MODEL, SGDClassifier(), [False, True])
    regressor = gv.RandomWalkRegressor(gv.Walk(2), kernel="linear", n_components=30, max_iterations=0)
    for fit in (lambda: fit_ridge(bare, MODEL), lambda: fit_regressor(bare, regressor)):
        raises(ParameterError, "a partition loads a list of graphs and no targets; return both", fit)
    fit_regressor(both, regressor)
