"""Attributes of edges, and of nodes beside them: against walks that are counted one by one."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys.reference import DenseGraph, kernel_by_product_graph

LENGTH, PER_CASE, WIDTH = 3, 38, 128 * 40
NODE_BANDWIDTH, EDGE_BANDWIDTH = 1.3, (0.8, 2.0)
# node labels, edge labels, node attributes, weights, directed, backtracking: any two of them in all four ways
CASES = [
    (0, 0, 0, 0, 0, 1),
    (1, 1, 1, 1, 1, 1),
    (0, 0, 1, 1, 1, 0),
    (0, 1, 0, 1, 0, 0),
    (0, 1, 1, 0, 1, 1),
    (1, 0, 0, 1, 1, 1),
    (1, 0, 1, 0, 0, 0),
    (1, 1, 0, 0, 1, 0),
]


def random_graphs(case, seed=0):
    """As networkx, with all that an option may need."""
    rng, graphs = np.random.default_rng(seed), []
    for _ in range(PER_CASE):
        kind = nx.DiGraph if case[4] else nx.Graph
        graph = kind(nx.gnp_random_graph(int(rng.integers(2, 6)), 0.6, seed=int(rng.integers(2**31)), directed=case[4]))
        for node in graph:
            graph.nodes[node].update(label=int(rng.integers(2)), a=float(rng.normal()))
        for _, _, fact in graph.edges(data=True):
            fact.update(label=int(rng.integers(2)), weight=float(rng.uniform(0.5, 1.5)), b=rng.normal(size=2).tolist())
        if graph.number_of_edges() == 0:
            graph.add_edge(0, 1, label=0, weight=1.0, b=[0.0, 0.0])
        graphs.append(graph)
    return graphs


def as_read(graphs, case):
    return gv.as_batch(
        graphs,
        node_label="label" if case[0] else None,
        edge_label="label" if case[1] else None,
        weight="weight" if case[3] else None,
        node_attributes="a",
        edge_attributes="b",
    )


def labels_of(case):
    return {(0, 0): None, (1, 0): "node", (0, 1): "edge", (1, 1): "both"}[case[:2]]


def walks_of(graph, case, length):
    """Every walk with its weight, 1 / n of either end included."""
    found = [((u,), 1.0 / len(graph)) for u in graph]
    for _ in range(length):
        found = [
            ((*walk, v), weight * (graph.edges[walk[-1], v]["weight"] if case[3] else 1.0))
            for walk, weight in found
            for v in graph[walk[-1]]
            if case[5] or len(walk) < 2 or walk[-2] != v
        ]
    return [(walk, weight / len(graph)) for walk, weight in found]


def match(g, walk, h, other, case):
    """How alike two walks of the same length are."""
    value = 1.0
    for u, s in zip(walk, other, strict=True):
        ours, theirs = g.nodes[u], h.nodes[s]
        value *= not case[0] or ours["label"] == theirs["label"]
        if case[2]:
            value *= np.exp(-((ours["a"] - theirs["a"]) ** 2) / (2 * NODE_BANDWIDTH**2))
    for ours, theirs in zip(pairwise(walk), pairwise(other), strict=True):
        a, b = g.edges[ours], h.edges[theirs]
        value *= not case[1] or a["label"] == b["label"]
        value *= np.exp(-np.sum(((np.array(a["b"]) - b["b"]) / EDGE_BANDWIDTH) ** 2) / 2)
    return value


def one_by_one(g, h, case):
    """K_0 … K_LENGTH."""
    return np.array(
        [
            sum(
                x * y * match(g, walk, h, other, case)
                for walk, x in walks_of(g, case, length)
                for other, y in walks_of(h, case, length)
            )
            for length in range(LENGTH + 1)
        ]
    )


def as_dense(graph, case):
    n, end = len(graph), np.full(len(graph), 1.0 / len(graph))
    b, labels = np.zeros((n, n, 2)), [[None] * n for _ in range(n)]
    for u in graph:
        for v in graph[u]:
            b[u, v], labels[u][v] = np.array(graph.edges[u, v]["b"]) / EDGE_BANDWIDTH, graph.edges[u, v]["label"]
    return DenseGraph(
        nx.to_numpy_array(graph, nodelist=range(n), weight="weight" if case[3] else None),
        end,
        end,
        [graph.nodes[u]["label"] for u in range(n)] if case[0] else None,
        labels if case[1] else None,
        np.array([[graph.nodes[u]["a"]] for u in range(n)]) / NODE_BANDWIDTH if case[2] else None,
        b,
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_sketch_is_unbiased_on_300_graphs(case):
    graphs = random_graphs(case)
    pairs = list(zip(graphs[0::2], graphs[1::2], strict=True))
    wanted = np.array([one_by_one(g, h, case) for g, h in pairs])
    if case[5]:
        dense = [[as_dense(graph, case) for graph in pair] for pair in pairs]
        np.testing.assert_allclose([kernel_by_product_graph(*pair, LENGTH) for pair in dense], wanted, rtol=1e-12)
    kernel = gv.RandomWalkKernel(
        gv.Coefficients([1.0]),
        gv.Walk(
            LENGTH,
            labels=labels_of(case),
            backtrack=bool(case[5]),
            attribute_bandwidth=NODE_BANDWIDTH if case[2] else None,
            edge_attribute_bandwidth=EDGE_BANDWIDTH,
        ),
        method="sketch",
        n_components=WIDTH,
    ).fit(as_read(graphs, case))
    for length in range(LENGTH + 1):
        K, error = kernel.profiles_.compare(gv.Coefficients(np.eye(LENGTH + 1)[length]))
        found, bars = K[0::2, 1::2].diagonal(), error[0::2, 1::2].diagonal()
        z = (found - wanted[:, length]) / np.maximum(bars, 1e-6 * np.abs(wanted[:, length]) + 1e-12)
        assert np.abs(z).max() < 5


def test_edge_attributes_go_with_their_edge(tmp_path):
    graphs = random_graphs(CASES[0])
    batch = as_read(graphs, CASES[0])
    assert batch.edge_attributes.shape == (batch.n_entries, 2)
    for part in (batch[3:7], batch[[3, 4, 5, 6]], gv.GraphBatch.concatenate([batch[3:5], batch[5:7]])):
        np.testing.assert_array_equal(part.edge_attributes, as_read(graphs[3:7], CASES[0]).edge_attributes)
    again = gv.as_batch(batch.to_networkx(edge_attributes="c"), edge_attributes="c", node_attributes="attributes")
    gv.write_store(batch, tmp_path / "store")
    for other in (again, gv.open_store(tmp_path / "store")):
        np.testing.assert_array_equal(other.edge_attributes, batch.edge_attributes)


def test_arrays_give_them_once_for_both_directions():
    given = [[5.0, 6.0], [1.0, 2.0], [3.0, 4.0]]
    batch = gv.GraphBatch.from_arrays([[0, 0], [0, 1], [1, 2]], [3], edge_attributes=given)
    assert batch.edge_attributes.tolist() == [[5, 6], [1, 2], [1, 2], [3, 4], [3, 4]]
    assert "2 edge attributes" in repr(batch)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"edge_attributes": [[1.0]]}, "edge_attributes has 1 values for 2 edges"),
        ({"edge_attributes": [[1.0], [np.nan]]}, r"graph 0: edge \(1, 2\) has an attribute that is not finite"),
        ({"edges": [[0, 1], [1, 0]], "edge_attributes": [[1.0], [2.0]]}, r"edge \(0, 1\) .*different attributes"),
    ],
)
def test_wrong_edge_attributes_are_named(given, message):
    with pytest.raises(gv.errors.GraphError, match=message):
        gv.GraphBatch.from_arrays(**{"edges": [[0, 1], [1, 2]], "graph_sizes": [3]} | given)


@pytest.mark.parametrize(
    ("bandwidth", "message"),
    [
        (-1.0, "edge_attribute_bandwidth must be None or a positive"),
        ([1.0], "has 1 numbers, and the graphs have 2 edge attributes"),
        (1.0, "had 2 edge attributes and these have 1"),  # new graphs
    ],
)
def test_what_cannot_be_done_is_said(bandwidth, message):
    batch = as_read(random_graphs(CASES[0])[:4], CASES[0])
    fewer = gv.GraphBatch.from_arrays([[0, 1]], [2], edge_attributes=[[1.0]])
    kernel = gv.RandomWalkKernel(gv.Geometric(0.1), gv.Walk(2, edge_attribute_bandwidth=bandwidth))
    with pytest.raises(gv.errors.GvoysError, match=message):
        kernel.fit(batch).transform(fewer)
    with pytest.raises(gv.errors.GraphError, match="no edge has the attribute 'length' that edge_attributes asks for"):
        gv.as_batch([nx.path_graph(3)], edge_attributes="length")
