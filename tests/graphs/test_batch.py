"""GraphBatch: building, selecting, joining, freezing."""

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import KINDS, random_graph

import gvoys as gv
from gvoys import GraphBatch
from gvoys.errors import GraphError
from gvoys.graphs.transform import reverse_entries


def collection(kind=KINDS[-1], sizes=(4, 0, 7, 1, 5), seed=0):
    rng = np.random.default_rng(seed)
    return [random_graph(rng, n, kind, density=0.4)[0] for n in sizes]


def facts(batch):
    """All that a batch says, in plain lists."""
    return (
        batch.graph_sizes.tolist(),
        batch.adjacency().toarray().tolist(),
        None if batch.node_labels is None else batch.node_labels.decode(),
        None if batch.edge_labels is None else batch.edge_labels.decode(),
        batch.directed,
        None if batch.node_attributes is None else batch.node_attributes.tolist(),
    )


def two_triangles(**more):
    edges = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]]
    return GraphBatch.from_arrays(edges, [3, 3], **more)


def test_an_undirected_edge_once_or_in_both_directions_is_the_same():
    edges = np.array([[0, 1], [1, 2], [3, 3]])
    once = GraphBatch.from_arrays(edges, [4], edge_labels=[5, 6, 7], edge_weights=[0.5, 2, 3])
    both = GraphBatch.from_arrays(
        np.vstack([edges, edges[:, ::-1], edges]), [4], edge_labels=[5, 6, 7] * 3, edge_weights=[0.5, 2, 3] * 3
    )
    assert facts(once) == facts(both)
    assert once.n_edges == 3
    np.testing.assert_array_equal(
        once.adjacency().toarray(), [[0, 0.5, 0, 0], [0.5, 0, 2, 0], [0, 2, 0, 0], [0, 0, 0, 3]]
    )


def test_directed_edges_stay_as_given():
    batch = GraphBatch.from_arrays([[1, 0], [1, 2], [1, 0]], [3], directed=True)
    np.testing.assert_array_equal(batch.adjacency().toarray(), [[0, 0, 0], [1, 0, 1], [0, 0, 0]])
    assert batch.n_edges == 2


def test_empty_collections():
    for batch in (GraphBatch.from_arrays([], []), gv.as_batch([]), GraphBatch.concatenate([])):
        assert len(batch) == batch.n_nodes == batch.n_entries == 0
    edgeless = GraphBatch.from_arrays([], [0, 3, 0])
    assert edgeless.graph_sizes.tolist() == [0, 3, 0]
    assert edgeless.n_edges == 0


@pytest.mark.parametrize(
    ("edges", "sizes", "more", "message"),
    [
        ([[0, 9]], [3, 3], {}, r"graph 0: edge 0 joins nodes 0 and 9, but the nodes are numbered 0 to 5"),
        ([[0, 1], [-1, 4]], [3, 3], {}, r"graph 1: edge 1 joins nodes -1 and 4"),
        (
            [[0, 1], [2, 3]],
            [3, 3],
            {},
            "edge 1 joins node 2 of graph 0 and node 3 of graph 1; an edge stays within",
        ),
        (
            [[0, 1], [3, 5]],
            [3, 3],
            {"edge_weights": [1, np.nan]},
            r"graph 1: edge \(0, 2\) has weight nan; weights",
        ),
        ([[0, 1]], [3], {"edge_weights": [np.inf]}, r"graph 0: edge \(0, 1\) has weight inf"),
        ([[0, 1]], [3], {"edge_weights": ["heavy"]}, "edge_weights must be real numbers"),
        ([[0, 1]], [3], {"edge_weights": [1, 2]}, "edge_weights has 2 values for 1 edges; give one for each"),
        ([[0, 1]], [3], {"edge_labels": []}, "edge_labels has 0 values for 1 edges"),
        ([[0, 1]], [3], {"node_labels": ["C"]}, "node_labels has 1 values for 3 nodes; give one for each"),
        ([[0, 1]], [3], {"node_attributes": [[1.0]]}, "node_attributes has 1 values for 3 nodes"),
        ([[1, 2]], [1, 2], {"node_attributes": [[1.0], [2.0], [np.nan]]}, "graph 1: a node attribute is not finite"),
        ([[0, 1], [1, 0]], [2], {"edge_weights": [1, 2]}, r"0: edge \(0, 1\) is given with the weights 1.0 and 2.0"),
        ([[2, 3], [3, 2]], [2, 2], {"edge_labels": [1, 2]}, r"1: edge \(0, 1\) is given with the labels 1 and 2"),
        ([[0, 1]], [2], {"edge_weights": [[1.0, 2.0]]}, "edge_weights must be one number each"),
        ([[0, 1]], [2], {"edge_weights": 2.0}, "edge_weights must be one number each"),
        ([[0, 1]], [2], {"edge_weights": [1j]}, "edge_weights must be real numbers"),
        ([[0, 1]], [2], {"node_labels": {0: "C", 1: "O"}}, "node_labels must be a list or an array of one value"),
        ([[0, 1]], [2], {"node_labels": {"C", "O"}}, "node_labels must be a list or an array of one value"),
        ([[0, 1]], [2], {"node_labels": 5}, "node_labels must be a list or an array of one value"),
        ([[0, 1], [1, 2, 3]], [4], {}, r"edges must be integers of shape"),
        ([[0.5, 1]], [3], {}, r"edges must be integers of shape \(n_edges, 2\), not float64"),
        ([0, 1], [3], {}, r"edges must be integers of shape \(n_edges, 2\), not int64 of shape \(2,\)"),
        ([[0, 1]], [[3]], {}, "graph_sizes must be a flat array of integers"),
        ([[0, 1]], [2.5], {}, "graph_sizes must be a flat array of integers, not float64"),
        ([[0, 1]], [3, -1], {}, "graph 1: its size is -1; a graph has zero nodes or more"),
    ],
)
def test_wrong_arrays_are_refused(edges, sizes, more, message):
    with pytest.raises(GraphError, match=message):
        GraphBatch.from_arrays(edges, sizes, **more)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_concatenation_then_selection_gives_back_the_parts(kind):
    graphs = collection(kind)
    batch = GraphBatch.concatenate(graphs)
    assert len(batch) == len(graphs)
    for i, graph in enumerate(graphs):
        assert facts(batch[i])[:2] == facts(graph)[:2]
        if graph.n_entries:
            assert facts(batch[i]) == facts(graph)
    assert [facts(g) for g in batch] == [facts(batch[i]) for i in range(len(batch))]


@given(st.lists(st.integers(0, 4), max_size=8))
def test_index_arrays_gather(chosen):
    graphs = collection()
    batch = GraphBatch.concatenate(graphs)
    expected = GraphBatch.concatenate([batch[i] for i in chosen])
    assert facts(batch[chosen])[:2] == facts(expected)[:2]
    assert batch[chosen].node_labels.decode() == [label for i in chosen for label in batch[i].node_labels.decode()]


def test_slices_masks_and_negative_indices():
    batch = GraphBatch.concatenate(collection())
    assert batch[1:4].graph_sizes.tolist() == [0, 7, 1]
    assert batch[::-2].graph_sizes.tolist() == [5, 7, 4]
    assert batch[4:2].graph_sizes.tolist() == []
    assert batch[-1].graph_sizes.tolist() == [5]
    assert batch[np.array([True, False, True, False, False])].graph_sizes.tolist() == [4, 7]
    assert batch[np.int64(2)].graph_sizes.tolist() == [7]
    with pytest.raises(IndexError, match="graph 5 of a batch of 5"):
        batch[5]
    with pytest.raises(GraphError, match="graphs are selected by"):
        batch[0.5]


def test_a_slice_is_a_view():
    batch = two_triangles(edge_weights=np.arange(6.0), node_labels=list("CCOCCN"))
    part = batch[1:]
    assert np.shares_memory(part.indices, batch.indices)
    assert np.shares_memory(part.edge_weights, batch.edge_weights)
    assert np.shares_memory(part.node_labels.codes, batch.node_labels.codes)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            {"node_labels": list("CCOCCN")},
            "batch 0 has no node labels and batch 1 has; give node labels to all",
        ),
        ({"directed": True}, "directed and undirected batches cannot be joined"),
        ({"node_attributes": np.ones((6, 2))}, r"different numbers of node attributes, \[1, 2\]"),
        (1, "part 1 is a 'int', not a GraphBatch"),
    ],
)
def test_joining_what_does_not_fit(other, message):
    with_attributes = isinstance(other, dict) and "node_attributes" in other
    one = two_triangles(node_attributes=np.ones((6, 1))) if with_attributes else two_triangles()
    with pytest.raises(GraphError, match=message):
        GraphBatch.concatenate([one, two_triangles(**other) if isinstance(other, dict) else other])


def test_joining_and_pickling():
    joined = GraphBatch.concatenate(iter([two_triangles(), two_triangles(edge_weights=np.full(6, 2.0))]))
    assert joined.weights().tolist() == [1.0] * 12 + [2.0] * 12
    batch = GraphBatch.concatenate(collection())
    copy = pickle.loads(pickle.dumps(batch))
    assert facts(copy) == facts(batch)
    for array in (copy.indptr, copy.indices, copy.node_offsets, copy.node_labels.codes):
        assert array.dtype == np.int32
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(AttributeError):
        copy.directed = True


def test_repr_and_nbytes():
    batch = two_triangles(node_labels=list("CCOCCN"), edge_weights=np.ones(6), node_attributes=np.ones((6, 2)))
    assert repr(batch) == "GraphBatch(2 graphs, 6 nodes, 6 edges, weighted, 3 node labels, 2 attributes)"
    # 3 + 7 + 12 indices and 6 codes of 4 bytes; 12 weights, 12 attributes and 3 hashes of 8
    assert batch.nbytes == 4 * (3 + 7 + 12 + 6) + 8 * (12 + 12 + 3)


def test_row_normalised_batches_hold_transition_probabilities():
    graph = GraphBatch.from_arrays([[0, 1], [1, 2]], [4], edge_weights=[1.0, 3.0])
    row = graph.normalized("row")
    np.testing.assert_allclose(row.adjacency().toarray()[:3, :3], [[0, 1, 0], [0.25, 0, 0.75], [0, 1, 0]])
    assert row.directed
    assert row.adjacency().toarray()[3].sum() == 0


def test_symmetric_normalisation():
    graph = gv.datasets.erdos_renyi(1, 20, 0.3)
    A = graph.adjacency().toarray()
    scale = 1 / np.sqrt(np.maximum(A.sum(1), 1))
    symmetric = graph.normalized("symmetric")
    np.testing.assert_allclose(symmetric.adjacency().toarray(), scale[:, None] * A * scale, rtol=1e-14)
    assert not symmetric.directed
    assert np.linalg.eigvalsh(symmetric.adjacency().toarray()).max() == pytest.approx(1.0)


def test_directed_symmetric_normalisation_uses_both_degrees():
    graph = GraphBatch.from_arrays([[0, 1], [0, 2], [1, 2]], [3], directed=True)
    expected = np.zeros((3, 3))
    expected[0, 1], expected[0, 2], expected[1, 2] = 2**-0.5, 1 / 2, 2**-0.5
    np.testing.assert_allclose(graph.normalized("symmetric").adjacency().toarray(), expected)


def test_refusals_of_normalized():
    with pytest.raises(GraphError, match="graph 1: node 0 has edges but a weighted degree of -2"):
        GraphBatch.from_arrays([[1, 2]], [1, 2], edge_weights=[-2.0]).normalized("row")
    with pytest.raises(gv.errors.ParameterError, match='"row" or "symmetric", not \'column\''):
        two_triangles().normalized("column")


def random_graphs(kind, n_graphs=40):
    rng = np.random.default_rng(0)
    for _ in range(n_graphs):
        n = int(rng.integers(1, 9))
        graph = nx.empty_graph(n, kind)
        graph.add_edges_from(rng.integers(0, n, (rng.integers(0, 20), 2)).tolist())
        yield graph


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph, nx.DiGraph, nx.MultiDiGraph])
def test_all_entries_back_are_found(kind):
    batch = gv.as_batch(list(random_graphs(kind)))
    rows, columns = batch.rows(), batch.columns()
    found = reverse_entries(batch)
    for e in range(batch.n_entries):
        expected = np.flatnonzero((rows == columns[e]) & (columns == rows[e]))
        np.testing.assert_array_equal(np.arange(*found[e]), expected)
