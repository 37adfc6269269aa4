"""The three statements of the definition agree with each other."""

import numpy as np
import pytest
from pairs import KINDS, random_graph

from gvoys import reference


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_product_graph_vec_trick_and_sequences_agree(kind):
    rng = np.random.default_rng(1)
    for _ in range(3):
        ends = [rng.uniform(0, 1, 4) for _ in range(4)]
        _, g = random_graph(rng, 4, kind, start=ends[0], stop=ends[1])
        _, h = random_graph(rng, 4, kind, start=ends[2], stop=ends[3])
        by_product = reference.kernel_by_product_graph(g, h, 4)
        np.testing.assert_allclose(reference.kernel_by_vec_trick(g, h, 4), by_product, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(reference.kernel_by_sequences(g, h, 4), by_product, rtol=1e-12, atol=1e-14)


def test_moments_are_the_profile_of_unlabelled_graphs():
    rng = np.random.default_rng(2)
    (_, g), (_, h) = (random_graph(rng, n) for n in (5, 7))
    products = reference.moments(g, 6) * reference.moments(h, 6)
    np.testing.assert_allclose(products, reference.kernel_by_vec_trick(g, h, 6), rtol=1e-12)


def test_two_walks_counted_by_hand():
    ones = np.ones
    g = reference.DenseGraph(np.array([[0, 1], [1, 0.0]]), ones(2), ones(2), ["C", "O"])
    h = reference.DenseGraph(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0.0]]), ones(3), ones(3), ["O", "C", "O"])
    # length 0: C with C, O with two Os; length 1: CO with two, OC with two
    np.testing.assert_array_equal(reference.kernel_by_product_graph(g, h, 1), [3.0, 4.0])
