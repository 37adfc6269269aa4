"""Random graphs: the right distribution, the same for the same seed, refusals."""

import numpy as np
import pytest
from raising import raises
from scipy.sparse.csgraph import connected_components

from gvoys.datasets import erdos_renyi, molecules, regular, stochastic_block
from gvoys.datasets.generators import _pair
from gvoys.errors import ParameterError


def is_simple(batch):
    A = batch.adjacency()
    return A.diagonal().sum() == 0 and batch.edge_weights is None and (A != A.T).nnz == 0


def test_pairs_of_large_graphs():
    index = np.arange(60 * 59 // 2)
    pairs = _pair(index)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len(np.unique(pairs @ [1, 1000])) == len(index)
    assert pairs.max() == 59
    huge = np.array([2**31 * (2**31 - 1) // 2 - 1, 2**31 * (2**31 - 1) // 2])  # where square roots round
    np.testing.assert_array_equal(_pair(huge), [[2**31 - 2, 2**31 - 1], [0, 2**31]])
    batch = erdos_renyi(1, 4096, 0.1)
    expected = 4096 * 4095 / 2 * 0.1
    assert abs(batch.n_edges - expected) < 5 * np.sqrt(expected * 0.9)


def test_erdos_renyi_has_the_right_number_of_edges_everywhere():
    """Each of the 190 pairs is an edge in 2000 graphs with probability 0.3; no z-score beyond 5."""
    batch = erdos_renyi(2000, 20, 0.3)
    assert is_simple(batch)
    counts = np.zeros((20, 20))
    local_rows = batch.rows() % 20
    np.add.at(counts, (local_rows, batch.indices), 1)
    upper = counts[np.triu_indices(20, 1)]
    z = (upper - 600) / np.sqrt(2000 * 0.3 * 0.7)
    assert np.abs(z).max() < 5
    assert abs(z.sum() / np.sqrt(len(z))) < 5
    assert 0.7 < z.std() < 1.3


@pytest.mark.parametrize(
    ("n", "p", "edges"), [(10, 0.0, 0), (10, 1.0, 45), *((1000, p, 0) for p in (1e-12, 1e-18, 1e-30, 5e-324))]
)
def test_erdos_renyi_at_the_ends(n, p, edges):
    assert erdos_renyi(1, n, p).n_edges == edges


@pytest.mark.parametrize("n_nodes", [0, 1, 2, 3, 40])
def test_connected_on_request(n_nodes):
    for graph in erdos_renyi(20, n_nodes, 0.1, connected=True):
        assert n_nodes == 0 or connected_components(graph.adjacency())[0] == 1


@pytest.mark.parametrize(("n", "degree"), [(10, 3), (11, 4), (8, 7), (9, 6), (6, 0), (1000, 8), (12, 6)])
def test_regular_graphs(n, degree):
    batch = regular(5, n, degree)
    assert is_simple(batch)
    assert set(batch.degrees().tolist()) <= {float(degree)}
    assert batch.n_edges == 5 * n * degree // 2


def test_regular_graphs_reach_every_pair():
    """On 8 nodes of degree 3 each pair is joined with probability 3/7."""
    batch = regular(4000, 8, 3)
    counts = np.zeros((8, 8))
    np.add.at(counts, (batch.rows() % 8, batch.indices), 1)
    z = (counts[np.triu_indices(8, 1)] - 4000 * 3 / 7) / np.sqrt(4000 * 3 / 7 * 4 / 7)
    assert np.abs(z).max() < 5


def test_stochastic_blocks():
    p = [[0.5, 0.05], [0.05, 0.2]]
    batch = stochastic_block(300, [10, 15], p)
    assert is_simple(batch)
    assert batch[0].node_labels.decode() == [0] * 10 + [1] * 15
    blocks = np.array(batch.node_labels.decode())
    ends = blocks[batch.rows()], blocks[batch.adjacency().indices]
    counts = np.zeros((2, 2))
    np.add.at(counts, ends, 1)
    expected = 300 * np.array([[90 * 0.5, 150 * 0.05], [150 * 0.05, 210 * 0.2]])
    trials = 300 * np.array([[45, 150], [150, 105]])
    found = counts * [[0.5, 1], [1, 0.5]]
    z = (found - expected * [[0.5, 1], [1, 0.5]]) / np.sqrt(trials * np.array(p) * (1 - np.array(p)))
    assert np.abs(z).max() < 5


def test_molecules_look_like_molecules():
    batch = molecules(2000)
    assert is_simple(batch)
    assert batch.degrees().max() <= 4
    assert connected_components(batch.adjacency())[0] == len(batch)
    assert 28 < batch.n_nodes / len(batch) < 32
    assert 1.0 < batch.n_edges / batch.n_nodes < 1.2  # a ring or more in most
    assert len(batch.node_labels.hashes) == 37
    assert set(batch.edge_labels.values) == {1, 2, 3}


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: erdos_renyi(3, 30, 0.2, random_state=seed),
        lambda seed: regular(3, 30, 4, random_state=seed),
        lambda seed: stochastic_block(3, [5, 5], [[0.5, 0.1], [0.1, 0.5]], random_state=seed),
        lambda seed: molecules(3, random_state=seed),
    ],
)
def test_the_seed_decides(make):
    np.testing.assert_array_equal(make(1).indices, make(1).indices)
    assert make(1).indices.tolist() != make(2).indices.tolist()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: erdos_renyi(1, 10, 1.5), "p must be a probability between 0 and 1, not 1.5"),
        (lambda: erdos_renyi(1, 10, "often"), "p must be a probability between 0 and 1, not 'often'"),
        (lambda: molecules(2, np.inf), "molecules have at least one node and one label"),
        (lambda: erdos_renyi(-1, 10, 0.5), "n_graphs must be an integer of at least 0, not -1"),
        (lambda: erdos_renyi(1, 2.5, 0.5), "n_nodes must be an integer of at least 0, not 2.5"),
        (lambda: erdos_renyi(1, 100, 0.001, connected=True), r"none was connected; raise p above ln\(n\)/n = 0.046"),
        (lambda: regular(1, 5, 3), "no simple graph of 5 nodes of degree 3: the degree must be below"),
        (lambda: regular(1, 4, 4), "no simple graph of 4 nodes of degree 4"),
        (lambda: stochastic_block(1, [2, 3], [[0.5]]), "p must be a symmetric matrix of 2 x 2 probabilities"),
        (lambda: stochastic_block(1, [2, 3], [[0.5, 2], [2, 0.5]]), "p must be a probability"),
        (lambda: molecules(5, mean_nodes=0), "molecules have at least one node and one label"),
    ],
)
def test_refusals(make, message):
    raises(ParameterError, message, make)
