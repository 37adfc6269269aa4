"""Moments: exact, the same bits however they are computed."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import Kind, random_graph
from spelling import with_walk

import gvoys as gv
from gvoys import reference
from gvoys._compiled.cpu import matvec
from gvoys._compiled.cpu import moments_cpu as module
from gvoys.errors import ParameterError

KINDS = [Kind(directed, weighted) for directed in (False, True) for weighted in (False, True)]


def collection(kind, sizes=(5, 0, 1, 12, 30, 2), seed=0):
    rng = np.random.default_rng(seed)
    graphs, dense = zip(*(random_graph(rng, n, kind) for n in sizes), strict=True)
    return gv.GraphBatch.concatenate(graphs), dense


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("max_length", [0, 1, 2, 7, 8])
def test_equal_the_reference(kind, max_length):
    batch, dense = collection(kind)
    profiles = gv.profiles(batch, gv.Walk(max_length), method="moments")
    assert profiles.shape == (len(batch), max_length + 1, 1)
    for profile, graph in zip(profiles, dense, strict=True):
        np.testing.assert_allclose(profile[:, 0], reference.moments(graph, max_length), rtol=1e-12, atol=1e-300)


def test_closed_forms():
    graphs = [nx.path_graph(3), nx.cycle_graph(5), nx.star_graph(4), nx.complete_graph(6), nx.empty_graph(2)]
    counts = gv.profiles(graphs, gv.Walk(4, start="ones", stop="ones"), method="moments")[:, :, 0]
    expected = [[3, 4, 6, 8, 12], [5, 10, 20, 40, 80], [5, 8, 20, 32, 80], [6, 30, 150, 750, 3750], [2, 0, 0, 0, 0]]
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_large_graphs_take_the_other_road_to_the_same_numbers(kind, monkeypatch):
    rng = np.random.default_rng(0)
    dense = [random_graph(rng, n, kind, density=0.9)[0] for n in (60, 300)]  # the larger has several windows
    batch = gv.GraphBatch.concatenate([*dense, random_graph(rng, 200, kind, density=0.05)[0]])
    for how in ({}, {"start": "ones"}):
        small = gv.profiles(batch, gv.Walk(7, **how), "moments")
        with monkeypatch.context() as patch:
            patch.setattr(module, "LARGE_GRAPH_ENTRIES", 10)
            patch.setattr(matvec, "BLOCK_ROWS", 16)
            patch.setattr(matvec, "WINDOW_COLUMNS", 64)
            large = gv.profiles(batch, gv.Walk(7, **how), "moments")
        np.testing.assert_allclose(large, small, rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("large", [10, 1 << 20])
def test_the_same_bits_for_any_threads_and_any_split(kind, large, monkeypatch):
    monkeypatch.setattr(module, "LARGE_GRAPH_ENTRIES", large)
    monkeypatch.setattr(matvec, "BLOCK_ROWS", 16)
    batch, _ = collection(kind, sizes=tuple(range(1, 60, 3)))
    expected = gv.profiles(batch, gv.Walk(9), method="moments", n_jobs=1)
    np.testing.assert_array_equal(gv.profiles(batch, gv.Walk(9), method="moments"), expected)
    one_by_one = [gv.profiles(batch[i], gv.Walk(9), method="moments")[0] for i in reversed(range(len(batch)))]
    np.testing.assert_array_equal(np.array(one_by_one)[::-1], expected)


def test_overflow_is_refused_by_graph_and_length():
    batch = gv.as_batch([np.ones((2, 2)), 1e100 * np.ones((3, 3))])
    with pytest.raises(ParameterError, match="graph 1: its walks of length 4 are too many for float64; pass scale=2"):
        gv.profiles(batch, gv.Walk(8), method="moments")
    assert np.isfinite(gv.profiles(batch, gv.Walk(8), method="moments", scale=2.0**340)).all()


@pytest.mark.parametrize(
    ("left", "how", "message"),
    [
        (np.ones((3, 3)), {}, r"profiles have the shape \(n_graphs, max_length \+ 1, width\)"),
        (np.ones((3, 3, 1)), {"right": np.ones((3, 2, 1))}, r"agree in the last two, not \(3, 3, 1\) and \(3, 2, 1\)"),
        (np.ones((3, 3, 1)), {"series": 0.1}, "series must be Geometric, Exponential or Coefficients"),
        (np.ones((3, 3, 1)), {"scale": "a"}, "scale must be a positive number"),
        (np.ones((3, 201, 1)), {"series": gv.Geometric(1e9)}, "the series exceeds the range of float64"),
    ],
)
def test_refusals_of_compute_gram(left, how, message):
    with pytest.raises(ParameterError, match=message), np.errstate(over="ignore", invalid="ignore"):
        gv.compute_gram(left, **({"series": gv.Geometric(0.1)} | how))


def test_scaled_finite_series_stay_finite():
    P = gv.profiles([np.ones((6, 6))], gv.Walk(119), scale=64)
    series = gv.Geometric(1e-5)
    np.testing.assert_allclose(
        gv.compute_gram(P, series.truncated(119), scale=64), gv.compute_gram(P, series, scale=64), rtol=1e-9
    )


@given(st.integers(0, 10**6), st.sampled_from(KINDS))
def test_renumbering_the_nodes_changes_nothing(seed, kind):
    rng = np.random.default_rng(seed)
    batch, dense = random_graph(rng, int(rng.integers(1, 15)), kind)
    order = rng.permutation(len(dense.A))
    renumbered = gv.as_batch([dense.A[np.ix_(order, order)]], directed=kind.directed)
    np.testing.assert_allclose(
        gv.profiles(renumbered, gv.Walk(6), method="moments"),
        gv.profiles(batch, gv.Walk(6), method="moments"),
        rtol=1e-12,
    )


@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.integers(1, 4))
def test_isolated_nodes_add_walks_of_length_zero_only(seed, kind, extra):
    rng = np.random.default_rng(seed)
    batch, dense = random_graph(rng, int(rng.integers(1, 10)), kind)
    larger = gv.as_batch([np.pad(dense.A, (0, extra))], directed=kind.directed)
    walk = gv.Walk(5, start="ones", stop="ones")
    difference = gv.profiles(larger, walk, "moments") - gv.profiles(batch, walk, "moments")
    np.testing.assert_allclose(difference[0, :, 0], [extra, 0, 0, 0, 0, 0], atol=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_gram_matrices_are_positive_semidefinite(seed, n_graphs):
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, int(rng.integers(0, 12)))[0] for _ in range(n_graphs)]
    K = gv.compute_gram(gv.profiles(graphs, gv.Walk(6), method="moments"), gv.Exponential(0.2))
    assert np.linalg.eigvalsh(K).min() >= -1e-12 * max(np.trace(K), 1e-300)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"method": "magic"}, "method must be 'auto' or one of 'moments'.* not 'magic'"),
        ({"max_length": -1}, "max_length must be an integer of at least 0 and below 65536, not -1"),
        ({"max_length": 2.5}, "max_length must be an integer of at least 0 and below 65536, not 2.5"),
        ({"scale": 0.0}, "scale must be a positive number"),
        ({"start": np.ones(3)}, r"start must be .* array of 4 numbers, one per node, not of shape \(3,\)"),
        ({"n_jobs": 0}, "n_jobs must be None, -1 or an integer from 1 to"),
        ({"n_jobs": 10**6}, "n_jobs must be None, -1 or an integer from 1 to"),
    ],
)
def test_refusals(how, message):
    with pytest.raises(ParameterError, match=message):
        gv.profiles([np.zeros((4, 4))], **with_walk(**how))
