"""Attributes of edges: read, kept with their edge, and checked. test_sketch.py has the kernel that uses them."""

import networkx as nx
import numpy as np
import pytest

import gvoys as gv


def random_graph(seed):
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(int(rng.integers(2, 6)), 0.6, seed=seed)
    graph.add_edge(0, 1)
    nx.set_node_attributes(graph, {u: float(rng.normal()) for u in graph}, "a")
    nx.set_edge_attributes(graph, {edge: rng.normal(size=2).tolist() for edge in graph.edges}, "b")
    return graph


GRAPHS = [random_graph(seed) for seed in range(12)]


def read(graphs):
    return gv.as_batch(graphs, node_attributes="a", edge_attributes="b")


def test_edge_attributes_go_with_their_edge(tmp_path):
    batch = read(GRAPHS)
    assert batch.edge_attributes.shape == (batch.n_entries, 2)
    for part in (batch[3:7], batch[[3, 4, 5, 6]], gv.GraphBatch.concatenate([batch[3:5], batch[5:7]])):
        np.testing.assert_array_equal(part.edge_attributes, read(GRAPHS[3:7]).edge_attributes)
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
    batch = read(GRAPHS[:4])
    fewer = gv.GraphBatch.from_arrays([[0, 1]], [2], edge_attributes=[[1.0]])
    kernel = gv.RandomWalkKernel(gv.Geometric(0.1), gv.Walk(2, edge_attribute_bandwidth=bandwidth))
    with pytest.raises(gv.errors.GvoysError, match=message):
        kernel.fit(batch).transform(fewer)
    with pytest.raises(gv.errors.GraphError, match="no edge has the attribute 'length' that edge_attributes asks for"):
        gv.as_batch([nx.path_graph(3)], edge_attributes="length")
