"""Numbers of closed walks."""

import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys.walks import closed_walk_totals, closed_walks
from gvoys.walks.closed_walks import LargeGraph, _work

LENGTH = 9


def graphs_of_all_kinds():
    rng = np.random.default_rng(0)
    weighted = nx.gnp_random_graph(40, 0.2, seed=1)
    nx.set_edge_attributes(weighted, {edge: float(rng.uniform(0.2, 2.0)) for edge in weighted.edges}, "weight")
    looped = nx.MultiGraph(nx.gnp_random_graph(30, 0.2, seed=2))
    looped.add_edges_from([(0, 0), (0, 1), (0, 1), (2, 2), (5, 5)])
    signed = nx.gnp_random_graph(30, 0.3, seed=4)
    nx.set_edge_attributes(signed, {edge: float(rng.normal()) for edge in signed.edges}, "weight")
    return {
        "plain": nx.gnp_random_graph(60, 0.1, seed=0),
        "weighted": weighted,
        "loops and parallel edges": looped,
        "signed": signed,
        "directed": nx.gnp_random_graph(40, 0.1, seed=3, directed=True),
        "star": nx.star_graph(30),
        "small": nx.complete_graph(3),
        "no edges": nx.empty_graph(12),
    }


def dense(graph):
    return nx.to_numpy_array(graph, weight="weight", multigraph_weight=sum)


def powers(A, length):
    return np.array([np.linalg.matrix_power(A, k) for k in range(length + 1)])


@pytest.mark.parametrize("kind", graphs_of_all_kinds())
def test_numbers_of_every_node_are_those_of_powers(kind):
    graph = graphs_of_all_kinds()[kind]
    expected = np.einsum("kuu->uk", powers(dense(graph), LENGTH))
    np.testing.assert_allclose(closed_walks(graph, LENGTH), expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


def test_totals_of_small_graphs_are_exact():
    graphs = [graph for graph in graphs_of_all_kinds().values() if not graph.is_directed()]
    graphs.insert(2, nx.empty_graph(0))
    found = closed_walk_totals(graphs, LENGTH)
    expected = [np.einsum("kuu->k", powers(dense(graph), LENGTH)) if len(graph) else np.zeros(10) for graph in graphs]
    np.testing.assert_allclose(found.values, expected, rtol=1e-11, atol=1e-9)
    assert not found.standard_errors.any()
    assert not found.n_vectors.any()


@pytest.mark.parametrize("kind", graphs_of_all_kinds())
def test_short_walks_of_large_graphs_are_exact(kind):
    graph = graphs_of_all_kinds()[kind]
    values, errors, _ = LargeGraph.from_graph(gv.as_batch([graph])).totals(LENGTH, 0.5, np.random.default_rng(0))
    exact = 3 if graph.is_directed() else 4
    expected = np.einsum("kuu->k", powers(dense(graph), 3))
    np.testing.assert_allclose(values[:exact], expected[:exact], rtol=1e-12, atol=1e-12)
    assert not errors[:exact].any()


@pytest.mark.parametrize("kind", ["plain", "weighted", "loops and parallel edges", "signed", "directed"])
def test_sampled_totals_are_unbiased_with_true_error_bars(kind):
    graph = graphs_of_all_kinds()[kind]
    expected = np.einsum("kuu->k", powers(dense(graph), LENGTH))
    large, seeds = LargeGraph.from_graph(gv.as_batch([graph])), 400
    found = [large.totals(LENGTH, 0.5, np.random.default_rng(seed)) for seed in range(seeds)]
    values, errors = (np.array(each) for each in list(zip(*found, strict=True))[:2])
    sampled = slice(4, None)
    z = (values.mean(axis=0) - expected)[sampled] / (values.std(axis=0)[sampled] / np.sqrt(seeds))
    assert np.abs(z).max() < 4.5
    covered = np.mean(np.abs(values - expected)[:, sampled] <= 1.96 * errors[:, sampled])
    assert 0.92 < covered < 0.98


def test_wanted_errors_are_met():
    """A graph of two kinds of hubs, where few random vectors would do for none."""
    graph = nx.barabasi_albert_graph(400, 4, seed=0)
    large = LargeGraph.from_graph(gv.as_batch([graph]))
    expected = np.einsum("kuu->k", powers(dense(graph), LENGTH))
    even = slice(4, None, 2)
    for rtol in (0.2, 0.02):
        runs = [large.totals(LENGTH, rtol, np.random.default_rng(seed)) for seed in range(20)]
        off = np.array([np.abs(values[even] / expected[even] - 1.0) for values, _, _ in runs])
        assert np.mean(off <= rtol) >= 0.9
    assert runs[0][2] > 2 * 8  # vectors: more than at first


def test_a_large_graph_among_small_ones(monkeypatch):
    monkeypatch.setattr("gvoys.walks.closed_walks._MOST_ADDITIONS", 20_000)
    graphs = [nx.cycle_graph(5), nx.gnp_random_graph(80, 0.2, seed=0), nx.path_graph(4)]
    found = closed_walk_totals(graphs, 6, rtol=0.05)
    assert [count > 0 for count in found.n_vectors] == [False, True, False]
    expected = np.array([np.einsum("kuu->k", powers(dense(graph), 6)) for graph in graphs])
    np.testing.assert_allclose(found.values, expected, rtol=0.1, atol=1e-9)
    np.testing.assert_array_equal(found.values[[0, 2]], expected[[0, 2]])


def test_work_of_a_large_graph_does_not_overflow():
    nodes = np.arange(70_000)
    ring = gv.GraphBatch.from_arrays(np.column_stack([nodes, (nodes + 1) % 70_000]), [70_000])
    assert _work(ring, 10).tolist() == [70_000 * 140_000 * 5]


@pytest.mark.parametrize(("options", "message"), [({"rtol": 0}, "rtol"), ({"random_state": -1}, "random_state")])
def test_bad_values_are_refused(options, message):
    with pytest.raises(gv.errors.ParameterError, match=message):
        closed_walk_totals([nx.path_graph(3)], 4, **options)
