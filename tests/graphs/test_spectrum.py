"""Spectral radii are bounded from above, tightly."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import KINDS, Kind, random_graph, true_radius

import gvoys as gv
from gvoys.graphs.spectrum import max_degree, spectral_radius, strong_components


@given(st.integers(0, 10**6), st.sampled_from([*KINDS, Kind(weighted=True, signed=True)]))
def test_never_below_the_truth_and_never_above_the_degree(seed, kind):
    rng = np.random.default_rng(seed)
    batch, dense = random_graph(rng, int(rng.integers(1, 25)), kind)
    (bound,) = spectral_radius(batch)
    truth = true_radius(dense)
    assert bound >= truth * (1 - 1e-12)
    assert bound <= truth * (1 + 1e-3) + 1e-9
    assert bound <= max_degree(batch) * (1 + 1e-15)


def test_closed_forms():
    graphs = [nx.complete_graph(7), nx.star_graph(16), nx.cycle_graph(9), nx.path_graph(30)]
    graphs += [nx.empty_graph(3), nx.empty_graph(0), nx.disjoint_union(nx.star_graph(16), nx.path_graph(40))]
    expected = [6, 4, 2, 2 * np.cos(np.pi / 31), 0, 0, 4]
    np.testing.assert_allclose(spectral_radius(gv.as_batch(graphs)), expected, rtol=2e-4)


def test_edges_on_no_cycle_do_not_count():
    layered = np.triu(np.full((20, 20), 5.0), 1)
    assert spectral_radius(gv.as_batch([layered], directed=True)) == [0.0]
    layered[3, 2] = 5.0  # one cycle of two edges
    np.testing.assert_allclose(spectral_radius(gv.as_batch([layered], directed=True)), [5.0])


@pytest.mark.parametrize("directed", [False, True])
def test_max_degree_counts_both_directions(directed):
    A = np.zeros((4, 4))
    A[1:, 0] = [-1.0, 2.0, 3.0]  # three edges into node 0
    A = A if directed else A + A.T
    assert max_degree(gv.as_batch([A], directed=directed)) == 6.0
    assert max_degree(gv.as_batch([np.zeros((2, 2))])) == 0.0


@pytest.mark.parametrize("unit", [1e-30, 1e-3, 1.0, 1e6, 1e150])
@pytest.mark.parametrize(
    "graph", [nx.path_graph(8), nx.star_graph(5), nx.lollipop_graph(4, 5)], ids=["path", "star", "lollipop"]
)
def test_the_unit_of_the_weights_does_not_matter(graph, unit):
    A = nx.to_numpy_array(graph)
    expected = unit * np.abs(np.linalg.eigvalsh(A)).max()
    np.testing.assert_allclose(spectral_radius(gv.as_batch([unit * A])), [expected], rtol=1e-6)


def test_scaled_on_both_sides():
    rng = np.random.default_rng(0)
    _, dense = random_graph(rng, 9, Kind(weighted=True, directed=True), density=0.4)
    left, right = rng.uniform(0.1, 3, 9), rng.uniform(0.1, 3, 9)
    expected = np.abs(np.linalg.eigvals(left[:, None] * np.abs(dense.A) * right)).max()
    batch = gv.as_batch([dense.A], directed=True)
    np.testing.assert_allclose(spectral_radius(batch, left=left, right=right), [expected], rtol=1e-6)


def multigraph(rng, n, n_edges):
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(n))
    for u, v in rng.integers(0, n, (n_edges, 2)).tolist():
        graph.add_edge(u, v, label=int(rng.integers(0, 3)), weight=float(rng.choice([-1, 1])))
    return graph


def test_parallel_edges_do_not_hang():
    graph = nx.MultiDiGraph([(0, 1, {"label": "a"}), (0, 1, {"label": "b"}), (1, 0, {"label": "a"})])
    np.testing.assert_allclose(spectral_radius(gv.as_batch([graph])), [np.sqrt(2)], rtol=1e-9)
    value = gv.exact_kernel(graph, graph, gv.Geometric(0.001), gv.Walk(None, labels=None, start="ones", stop="ones"))
    moments = gv.profiles([graph], gv.Walk(60, start="ones", stop="ones"), method="moments")
    assert value == pytest.approx(gv.compute_gram(moments, gv.Geometric(0.001))[0, 0], rel=1e-9)


@given(st.integers(0, 10**6))
def test_components_of_multigraphs(seed):
    """As networkx finds them: a component wrongly split would hide cycles, and the bound fall below the radius."""
    rng = np.random.default_rng(seed)
    graph = multigraph(rng, int(rng.integers(1, 12)), int(rng.integers(0, 40)))
    batch = gv.as_batch([graph])
    found = strong_components(batch)
    expected = {frozenset(part) for part in nx.strongly_connected_components(graph)}
    assert {frozenset(np.flatnonzero(found == c).tolist()) for c in np.unique(found)} == expected
    dense = np.zeros((len(graph), len(graph)))  # parallel edges stay apart, and so do their absolute weights
    np.add.at(dense, (batch.rows(), batch.columns()), np.abs(batch.weights()))
    assert spectral_radius(batch)[0] >= np.abs(np.linalg.eigvals(dense)).max() * (1 - 1e-12)


def test_opposite_parallel_edges_do_not_cancel_in_bounds():
    """Told apart by their labels, +1 and -1 both lead on: a bound on their sum, 0, would truncate every series."""
    graph = nx.MultiDiGraph()
    for u, v in ((0, 1), (1, 2), (2, 0)):
        graph.add_edge(u, v, label="a", weight=1.0)
        graph.add_edge(u, v, label="b", weight=-1.0)
    series, expected = gv.Geometric(0.02), 9 / (1 - 0.04)  # 9 * 2^i pairs of walks agree in their labels
    walk = gv.Walk(None, "edge", start="ones", stop="ones")
    assert gv.exact_kernel(graph, graph, series, walk) == pytest.approx(expected, rel=1e-9)
    kernel = gv.RandomWalkKernel(series, walk, "sequences")
    assert kernel.fit_transform([graph])[0, 0] == pytest.approx(expected, rel=1e-8)
