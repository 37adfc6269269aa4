"""Labels from structure."""

import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys._kernels.cpu.cores import core_numbers
from gvoys.walks.structure import structural_labels, usual_structure


def cores_of(batch):
    out = np.zeros(batch.n_nodes, np.int64)
    core_numbers(batch.node_offsets, batch.indptr, batch.columns(), out)
    return out


@pytest.mark.parametrize("p", [0.02, 0.1, 0.3, 0.9])
def test_core_numbers_are_those_of_networkx(p):
    graphs = [nx.gnp_random_graph(n, p, seed=n) for n in (0, 1, 2, 17, 40, 60)]
    expected = [value for graph in graphs for _, value in sorted(nx.core_number(graph).items())]
    np.testing.assert_array_equal(cores_of(gv.as_batch(graphs)), expected)


def test_loops_are_no_neighbours():
    looped = gv.GraphBatch.from_arrays([[0, 0], [0, 1]], [2])
    assert cores_of(looped).tolist() == [1, 1]


def test_labels_tell_cycles_from_trees_that_degrees_do_not():
    """Nodes of a hexagon and inner nodes of a path have degree two; their core numbers are 2 and 1."""
    ring, path = nx.cycle_graph(6), nx.path_graph(8)
    batch = gv.as_batch([ring, path])
    degrees, cores = (structural_labels(batch, name) for name in ("degree", "core"))
    assert degrees.hashed[0] == degrees.hashed[7]
    assert cores.hashed[0] != cores.hashed[7]


def test_a_label_is_a_function_of_its_graph_alone():
    batch = gv.datasets.molecules(30)
    for name in ("degree", "core"):
        together = structural_labels(batch, name).hashed
        apart = np.concatenate([structural_labels(batch[i], name).hashed for i in range(30)])
        np.testing.assert_array_equal(together, apart)


def test_directed_graphs_have_degrees():
    directed = gv.GraphBatch.from_arrays([[0, 1], [1, 2]], [3], directed=True)
    assert usual_structure(directed) == "degree"
    assert usual_structure(gv.datasets.molecules(1)) == "core"
