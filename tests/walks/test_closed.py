"""Numbers of closed walks."""

import sys

import networkx as nx
import numpy as np
import pytest
from pairs import KINDS, random_graph

import gvoys as gv
from gvoys.errors import GraphError, ParameterError
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
    monkeypatch.setattr(sys.modules["gvoys.walks.closed_walks"], "_MOST_ADDITIONS", 20_000)
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


def by_powers(A, max_length):
    """The definition."""
    degrees = A.sum(axis=1)
    P = A / np.where(degrees > 0, degrees, 1.0)[:, None]
    powers = [np.linalg.matrix_power(P, k).diagonal() for k in range(max_length + 1)]
    return np.column_stack(powers)


@pytest.mark.parametrize("max_length", [1, 2, 7, 16])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_definition(kind, max_length):
    rng = np.random.default_rng(3)
    graphs, dense = zip(*(random_graph(rng, n, kind) for n in (1, 2, 9, 25)), strict=True)
    expected = np.concatenate([by_powers(each.A, max_length) for each in dense])
    batch = gv.GraphBatch.concatenate(list(graphs))
    np.testing.assert_allclose(gv.return_probabilities(batch, max_length), expected, atol=1e-13)


def test_closed_forms():
    n, k = 6, np.arange(9)
    found = gv.return_probabilities(nx.complete_graph(n), 8)
    np.testing.assert_allclose(found, np.tile((1 + (n - 1) * (-1 / (n - 1)) ** k) / n, (n, 1)), atol=1e-15)
    tree = gv.return_probabilities(nx.balanced_tree(2, 4), 9)
    assert (tree[:, 1::2] == 0).all()
    assert (tree[:, 2::2] > 0).all()
    assert gv.return_probabilities(nx.empty_graph(2), 3).tolist() == [[1, 0, 0, 0]] * 2


def test_they_see_what_refinement_does_not():
    """Two triangles and a hexagon: all nodes have degree two."""
    triangles = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    found = gv.return_probabilities([triangles, nx.cycle_graph(6)], 3)
    assert found[0, 3] == 0.25
    assert found[6, 3] == 0


def test_the_same_bits_for_any_batches():
    batch = gv.datasets.molecules(50)
    together = gv.return_probabilities(batch, 12)
    apart = np.concatenate([gv.return_probabilities(batch[i], 12) for i in range(50)])
    np.testing.assert_array_equal(apart, together)
    assert 0 <= together.min() <= together.max() <= 1


def test_what_cannot_be_is_said():
    with pytest.raises(ParameterError, match="max_length must be"):
        gv.return_probabilities(nx.path_graph(3), 0)
    negative = gv.GraphBatch.from_arrays([[0, 1], [1, 2]], [3], edge_weights=[2.0, -1.0])
    with pytest.raises(GraphError, match="graph 0"):
        gv.return_probabilities(negative, 2)
