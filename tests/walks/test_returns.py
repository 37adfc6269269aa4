"""Return probabilities against powers of the transition matrix, and closed forms."""

import networkx as nx
import numpy as np
import pytest
from pairs import KINDS, random_graph

import gvoys as gv
from gvoys.errors import GraphError, ParameterError


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
