"""NodeClassifier: classes that a graph tells, calibrated probabilities, and bad input; search_nodes."""

import dense
import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys.errors import ParameterError


def blocks(n=300, n_blocks=3, inside=0.08, outside=0.005, seed=0):
    sizes = [n // n_blocks] * n_blocks
    chances = np.full((n_blocks, n_blocks), outside) + (inside - outside) * np.eye(n_blocks)
    graph = nx.stochastic_block_model(sizes, chances, seed=seed)
    return nx.convert_node_labels_to_integers(graph), np.repeat(list("xyz")[:n_blocks], n // n_blocks)


def test_communities_are_found(way):
    graph, y = blocks()
    seen = np.random.default_rng(0).choice(300, 30, replace=False)
    model = gv.NodeClassifier().fit(graph, seen, y[seen])
    assert model.classes_.tolist() == ["x", "y", "z"]
    found = model.predict_proba()
    assert found.shape == (300, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    rest = np.setdiff1d(np.arange(300), seen)
    assert np.mean(model.predict(rest) == y[rest]) > 0.95
    np.testing.assert_array_equal(model.predict([4, 2]), model.predict()[[4, 2]])


def test_probabilities_are_calibrated(way):
    """Classes drawn from a process: of nodes that get a probability p, a share of p has the class."""
    graph = dense.grid(20)
    A = nx.to_numpy_array(graph)
    said, true = [], []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        f, _ = dense.drawn(A, 8.0, rng)
        chances = 1 / (1 + np.exp(-2.5 * f))
        y = rng.random(400) < chances
        seen = rng.choice(400, 200, replace=False)
        rest = np.setdiff1d(np.arange(400), seen)
        said.append(gv.NodeClassifier().fit(graph, seen, y[seen]).predict_proba(rest)[:, 1])
        true.append(y[rest])
    said, true = np.concatenate(said), np.concatenate(true)
    bins = np.digitize(said, [0.2, 0.4, 0.6, 0.8])
    for k in range(5):
        inside = bins == k
        assert inside.sum() > 30
        assert abs(said[inside].mean() - true[inside].mean()) < 0.08
    assert np.mean((said > 0.5) == true) > 0.7


def test_a_node_far_from_all_known_ones_has_the_classes_shares(way):
    graph = nx.disjoint_union(blocks()[0], dense.grid(5))
    y = blocks()[1]
    seen = np.arange(0, 300, 5)
    found = gv.NodeClassifier().fit(graph, seen, y[seen]).predict_proba()
    assert np.abs(found[300:] - 1 / 3).max() < 0.12
    assert found[:300].max(axis=1).mean() > 0.8


def test_neighbours_that_differ():
    """Two sides of a bipartite graph."""
    graph = nx.convert_node_labels_to_integers(nx.bipartite.random_graph(60, 60, 0.1, seed=0))
    y = np.repeat([0, 1], 60)
    seen = np.random.default_rng(0).choice(120, 40, replace=False)
    rest = np.setdiff1d(np.arange(120), seen)
    assert np.mean(gv.NodeClassifier().fit(graph, seen, y[seen]).predict(rest) == y[rest]) > 0.9


@pytest.mark.parametrize(
    ("nodes", "y", "message"),
    [
        ([0, 1], ["a", "a"], "y holds one class, 'a'; there must be two or more"),
        ([0, 1], ["a"], "one class for each of the 2 nodes"),
        ([0, 1], [1.0, np.nan], r"y\[1\] is nan"),
        ([], [], "at least one node"),
        ([0, 4, 8], ["a", None, "b"], r"y\[1\] is None"),
        ([0, 4, 8], np.array(["a", np.nan, "b"], object), r"y\[1\] is nan"),
        ([0, 4, 8], np.array([1, "a", 2.5], object), "y mixes classes of types float, int, str"),
        ([0, 4, 8], [[1, 2], [3], [4]], "one class for each of the 3 nodes"),
    ],
)
def test_what_is_wrong_is_said(nodes, y, message):
    with pytest.raises(ParameterError, match=message):
        gv.NodeClassifier().fit(nx.path_graph(9), nodes, y)


def test_classes_of_several_types_are_strings_to_numpy():
    assert len(gv.NodeClassifier().fit(nx.path_graph(9), [0, 4, 8], [1, "a", 2.5]).classes_) == 3


# -- search_nodes


def test_the_top_of_a_hill_is_found_with_few_measurements():
    graph = dense.grid(30)
    place = np.array([divmod(u, 30) for u in graph])
    height = np.exp(-((place - [21, 8]) ** 2).sum(axis=1) / 60) + 0.3 * np.sin(place[:, 0] / 3)
    measured = []

    def measure(nodes):
        measured.extend(nodes.tolist())
        return height[nodes]

    rounds = []
    found = gv.search_nodes(graph, measure, on_progress=lambda number, best: rounds.append((number, best)))
    assert len(found.nodes) == len(measured) == len(set(measured)) == 120
    assert found.values.tolist() == height[found.nodes].tolist()
    assert found.best_value == height[found.best_node] == found.values.max() == rounds[-1][1]
    assert found.best_value > np.quantile(height, 0.99)
    assert [number for number, _ in rounds] == list(range(20))
    lowest = gv.search_nodes(graph, measure, maximize=False, n_rounds=10)
    assert lowest.best_value == lowest.values.min() < np.quantile(height, 0.03)


def test_a_small_graph_is_measured_whole():
    found = gv.search_nodes(nx.path_graph(7), lambda nodes: nodes.astype(float), n_initial=3)
    assert sorted(found.nodes) == list(range(7))
    assert found.best_node == 6


@pytest.mark.parametrize(
    ("measure", "n_initial", "message"),
    [
        (lambda nodes: nodes, 20, "n_initial must be at most the 7 nodes"),
        (lambda nodes: nodes[:1], 3, "measure must return a finite number for each of 3 nodes"),
        (None, 3, "measure must"),
        (lambda nodes: "much", 3, "measure must"),
        (lambda nodes: ["a"] * len(nodes), 3, "measure must"),
    ],
)
def test_searches_that_are_none(measure, n_initial, message):
    with pytest.raises(ParameterError, match=message):
        gv.search_nodes(nx.path_graph(7), measure, n_rounds=1, n_initial=n_initial)
