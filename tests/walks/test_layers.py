"""Layers of labels: the first part of tuples, and rings beside networkx."""

import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys._compiled.cpu.node_loops import ring_sizes
from gvoys.errors import UnsupportedError
from gvoys.walks.structure import in_layer, layers_of


def sizes_of(graphs, longest=8):
    batch = gv.as_batch(graphs)
    found = np.zeros(batch.n_nodes, np.uint64)
    ring_sizes(batch.node_offsets, batch.indptr, batch.columns(), longest, found)
    return found


def smallest_cycles(graph, longest=8):
    """Bit k: the smallest cycle through some edge of the node is k long."""
    found = dict.fromkeys(graph, 0)
    for u, v in [edge for edge in graph.edges if edge[0] != edge[1]]:
        rest = graph.copy()
        rest.remove_edge(u, v)
        if nx.has_path(rest, u, v) and (length := nx.shortest_path_length(rest, u, v) + 1) <= longest:
            found[u] |= 1 << length
            found[v] |= 1 << length
    return [found[node] for node in graph]


@pytest.mark.parametrize("longest", [5, 6, 8])
def test_rings_are_smallest_cycles(longest):
    sizes = [(6, 7), (9, 11), (12, 13), (14, 30), (20, 22), (30, 33)]
    graphs = [nx.gnm_random_graph(n, m, seed=n * m) for n, m in sizes]
    graphs += [nx.cycle_graph(n) for n in range(3, 11)] + [nx.path_graph(4), nx.Graph([(0, 0), (0, 1)])]
    graphs += [nx.petersen_graph(), nx.hypercube_graph(3), nx.ladder_graph(5)]
    graphs = [nx.convert_node_labels_to_integers(graph) for graph in graphs]
    wanted = [size for graph in graphs for size in smallest_cycles(graph, longest)]
    assert sizes_of(graphs, longest).tolist() == wanted


def test_layers_of_molecules():
    rdkit = pytest.importorskip("rdkit")
    assert rdkit
    batch = gv.from_smiles(["CCO", "c1ccccc1C", "C1CCCC1"])
    assert layers_of(batch) == ("coarse", "given", "fine")
    assert set(in_layer(batch, "coarse").node_labels.values) == {"C", "O"}
    assert in_layer(batch, "given") is batch
    fine = in_layer(batch, "fine").node_labels.hashed
    assert len(np.unique(fine[:3])) == 3
    assert len(np.unique(fine[3:10])) == 3  # the ring's carbons, the one that is substituted, the methyl group
    assert fine[9] == fine[0]  # CH3 of degree one, in no ring
    np.testing.assert_array_equal(in_layer(batch[1:], "fine").node_labels.hashed, fine[3:])


def test_other_labels_have_one_layer():
    batch = gv.GraphBatch.from_arrays([[0, 1]], [2], node_labels=["a", "b"])
    assert layers_of(batch) == ("given",)
    assert in_layer(batch, "coarse").node_labels.decode() == ["a", "b"]
    directed = gv.GraphBatch.from_arrays([[0, 1]], [2], node_labels=[("a",), ("b",)], directed=True)
    assert layers_of(directed) == ("given",)
    with pytest.raises(UnsupportedError, match="directed graphs do not have"):
        in_layer(directed, "fine")
