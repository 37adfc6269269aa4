"""Sharing work among threads."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gvoys as gv
from gvoys._jit import _Parallel
from gvoys.errors import ParameterError
from gvoys.threads import balanced_chunks, n_threads, start_threads, threads


@given(st.lists(st.integers(0, 1000), max_size=60), st.integers(1, 20))
def test_chunks_cover_everything_once_and_are_balanced(work, n_chunks):
    cuts = balanced_chunks(np.array(work, np.int64), n_chunks)
    assert cuts[0] == 0
    assert cuts[-1] == len(work)
    assert (np.diff(cuts) > 0).all()
    sums = [sum(work[a:b]) for a, b in pairwise(cuts)]
    assert max(sums, default=0) <= sum(work) / n_chunks + 2 * max(work, default=0)


def test_the_number_of_threads_is_put_back():
    before = n_threads()
    with threads(1):
        assert numba.get_num_threads() == 1
    assert n_threads() == before
    with pytest.raises(ZeroDivisionError), threads(1):
        _ = 1 / 0
    assert n_threads() == before


def test_starting_threads_leaves_the_environment_alone(monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    start_threads.cache_clear()
    start_threads()
    assert "OMP_WAIT_POLICY" not in os.environ
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    start_threads.cache_clear()
    start_threads()
    assert os.environ["OMP_WAIT_POLICY"] == "active"


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, "two", 10**6])
def test_refusals(n_jobs):
    with pytest.raises(ParameterError, match="n_jobs must be None, -1 or an integer from 1 to"), threads(n_jobs):
        pass


LARGE = {
    "moments_cpu": {"LARGE_GRAPH_ENTRIES": 10},
    "matvec": {"BLOCK_ROWS": 16, "WINDOW_COLUMNS": 64, "REPACKED_ENTRIES": 8},
    "sketch_cpu": {"LARGE_GRAPH": 10, "BLOCK_ITEMS": 7, "PIECE_ENTRIES": 3},
}


def features_by_every_kernel(patch):
    """Of small graphs, and of the same as if they were large."""
    labelled, weighted = gv.datasets.molecules(12, mean_nodes=40), gv.datasets.erdos_renyi(2, 70, 0.8)
    weights = np.random.default_rng(0).uniform(0.1, 0.5, weighted.n_entries)
    weighted = replace(weighted, edge_weights=weights)
    for constants in ({}, LARGE):
        for module, values in constants.items():
            for name, value in values.items():
                patch.setattr(import_module(f"gvoys._compiled.cpu.{module}"), name, value)
        for graphs in (labelled, weighted):
            yield gv.profiles(graphs, gv.Walk(6), method="moments")
            yield gv.profiles(graphs, gv.Walk(4), method="sketch", n_components=128)
        for n_components in (40, 128):
            yield gv.profiles(
                labelled, gv.Walk(4, labels="both", backtrack=False), method="sketch", n_components=n_components
            )
    patch.setattr("gvoys.walks.sparse_products._LARGEST_DENSE", 0)  # no matrix is small enough for BLAS alone
    yield gv.RandomWalkKernel(gv.Geometric(0.05), gv.Walk(3), method="sequences").fit_transform(labelled)
    yield gv.return_probabilities(labelled, 5)
    yield gv.walks.structural_labels(labelled, ["closed", "rows", "ball1"], 4).hashed
    patch.setattr(sys.modules["gvoys.walks.closed_walks"], "_MOST_ADDITIONS", 0)
    yield gv.walks.closed_walk_totals(weighted, 5).values
    size = labelled.graph_sizes.astype(float)
    yield gv.RandomWalkRegressor(gv.Walk(1), layers=("given", "fine")).fit(labelled, size).predict(labelled)
    yield (
        gv.RandomWalkClassifier(gv.Walk(1, None, structure="core"))
        .fit(labelled, size > np.median(size))
        .decision_function(labelled)
    )
    counting = gv.RandomWalkClassifier(gv.Walk(2, refine=0, attribute_bandwidth=None), method="sequences")
    yield counting.fit(labelled, size > np.median(size)).explain(labelled)[0].nodes
    yield gv.Index().add(labelled).nearest(labelled, 3).similarities
    sketching = gv.RandomWalkClassifier(gv.Walk(2, refine=0), method="sketch", kernel="gaussian")
    yield sketching.fit(labelled, size > np.median(size)).explain(labelled)[0].nodes
    for estimator in (gv.GraphVoyagers, gv.OneSidedVoyagers):
        yield estimator(gv.Geometric(1e-4), n_components=4, random_state=0).fit_transform(labelled)
    yield gv.GraphRandomFeatures(gv.Geometric(1e-4), 10).fit_transform(weighted[0]).toarray()
    yield gv.node_kernel(weighted[0], gv.Exponential(0.1)).columns(range(21))  # sixteen, four and one
    for name, value in {"_LEAST": 0.0, "_STEP": 0.0}.items():  # no graph is too small for walks that are drawn
        patch.setattr(import_module("gvoys.estimators.estimate"), name, value)
    yield np.array(gv.estimate(weighted[0], weighted[1], gv.Geometric(1e-4), rtol=0.1).value)
    directed = gv.as_batch([graph.adjacency().toarray() * np.tri(graph.n_nodes) for graph in weighted], directed=True)
    yield gv.RandomWalkKernel(gv.Geometric(1e-3), gv.Walk(None)).fit_transform(directed)


def test_one_thread_after_a_fork_gives_the_same_bits(monkeypatch):
    """Forked processes run other machine code, compiled without threads."""
    with monkeypatch.context() as patch:
        expected = list(features_by_every_kernel(patch))
    monkeypatch.setattr("gvoys.threads._lost", True)
    found = list(features_by_every_kernel(monkeypatch))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    modules = [module for name, module in sys.modules.items() if name.startswith("gvoys.") and ".cuda" not in name]
    kernels = {each for module in modules for each in vars(module).values() if isinstance(each, _Parallel)}
    assert len(kernels) > 10
    assert [each.__name__ for each in kernels if not each.serial.signatures] == []


BATCH = gv.datasets.molecules(60, mean_nodes=20)
SIZE = BATCH.graph_sizes + np.random.default_rng(0).normal(size=60)
RESULTS = {
    "kernel": lambda n_jobs: gv.RandomWalkKernel(gv.Geometric(0.05), n_jobs=n_jobs).fit(BATCH).transform,
    "kernel of walks": lambda n_jobs: gv.RandomWalkKernel(method="voyagers", n_jobs=n_jobs).fit(BATCH).transform,
    "regressor": lambda n_jobs: gv.RandomWalkRegressor(n_jobs=n_jobs).fit(BATCH, SIZE).predict,
    "landmarks": lambda n_jobs: gv.RandomWalkRegressor(max_exact=9, n_jobs=n_jobs).fit(BATCH, SIZE).predict,
    "classifier": lambda n_jobs: gv.RandomWalkClassifier(n_jobs=n_jobs).fit(BATCH, SIZE > 20).decision_function,
    "index": lambda n_jobs: lambda batch: gv.Index(n_jobs=n_jobs).add(BATCH).nearest(batch, 3).similarities,
}


@pytest.mark.parametrize("name", RESULTS)
def test_threads_change_no_bit_and_the_split_of_a_call_the_last_ones(name):
    compute = RESULTS[name](None)
    expected = compute(BATCH)
    np.testing.assert_array_equal(RESULTS[name](1)(BATCH), expected)
    split = np.concatenate([compute(BATCH[:1]), compute(BATCH[1:20]), compute(BATCH[20:])])
    np.testing.assert_allclose(split, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def in_company(*ways, layer):
    """Run company.py; whatever hangs or is killed fails."""
    program = [sys.executable, str(Path(__file__).with_name("company.py")), *ways]
    environment = {**os.environ, "NUMBA_THREADING_LAYER": layer}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(program, env=environment, start_new_session=True, **pipes) as run:
        try:
            out, errors = run.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)  # and the processes that it waits for
            raise
    assert out.startswith("same bits"), errors
    return out.split()[-1]


FORKS = ("by_fork", "by_threads_of_a_fork", "by_fork_of_a_fork", "by_pool", "by_executor", "by_joblib")
COMPANY = {
    "threads": ("in_threads",),
    "forks after a parallel kernel": ("first", "by_a_fork_without_threads", *FORKS),
    "forks before any": ("by_a_fork_with_threads", "by_pool", "by_fork_of_a_fork"),
    "forks after kernels of another library": ("by_fork_beside_another_library",),
    "spawned processes": ("first", "by_spawn"),
}


@pytest.mark.parametrize("layer", ["default", "workqueue"])
@pytest.mark.parametrize("company", COMPANY)
def test_many_threads_or_processes_at_a_time(company, layer):
    if company.startswith("forks") and not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    used = in_company(*COMPANY[company], layer=layer)
    assert company != "threads" or used == "workqueue" or layer == "default"
