"""Walk, methods and Profiles: what they promise to everything that is built on them."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys.walks import Moments, SampledWalks, Sequences, Sketch, Walk
from gvoys.walks.dense import DenseProfiles, PairedProfiles
from gvoys.walks.growth import choose_exponents

BATCH = gv.datasets.molecules(12, mean_nodes=9)
PLAIN, NODE = Walk(4, None), Walk(4, "node", refine=1)
CASES = {
    "moments": (Moments(), PLAIN),
    "sequences": (Sequences(), NODE),
    "sketch": (Sketch(256), NODE),
    "voyagers": (SampledWalks(64), replace(NODE, refine=0)),
    "two replicates": (SampledWalks(64, replicates=(0, 1)), replace(NODE, refine=0)),
}
SERIES = gv.Exponential(0.2)
every = pytest.mark.parametrize("case", CASES)


def dense(array):
    return array.toarray() if hasattr(array, "toarray") else np.asarray(array)


def hub_and_path():
    """A hub of 10,000 leaves, whose walks multiply by 100 a step, beside a path of six nodes."""
    graphs = [nx.path_graph(6), nx.star_graph(10_000)]
    for graph in graphs:
        nx.set_node_attributes(graph, "a", "label")
    return gv.as_batch(graphs)


@pytest.mark.parametrize("method", ["sequences", "sketch"])
def test_a_hub_does_not_push_small_graphs_out_of_range(method):
    """One power of two for all graphs once took the path's walks of 22 steps into denormal numbers, 20 % off."""
    both, series = hub_and_path(), gv.Coefficients([0.0] * 22 + [1e-16])
    truth = gv.exact_kernel(both[0], both[0], series)
    kernel = gv.RandomWalkKernel(series, Walk(22), method, n_components=256)
    alone, beside = (kernel.fit_transform(some)[0, 0] for some in (both[:1], both))
    assert alone == pytest.approx(beside, rel=1e-12)
    assert alone == pytest.approx(truth, rel=1e-5)


@pytest.mark.parametrize("length", [20, 30])
def test_flat_coefficients_of_long_walks(length):
    """The hub adds up 10,000 equal numbers in float32 up to 15 times over, which leaves 4e-4 of its walks."""
    both, series = hub_and_path(), gv.Coefficients([1.0] * (length + 1))
    K = gv.RandomWalkKernel(series, gv.Walk(length), method="sketch", n_components=256).fit_transform(both)
    truth = gv.RandomWalkKernel(series, gv.Walk(length, labels=None), method="moments").fit_transform(both)
    assert K[0, 0] == pytest.approx(truth[0, 0], rel=1e-5)
    np.testing.assert_allclose(K, truth, rtol=1e-3)


@every
def test_alone_or_in_company(case):
    method, walk = CASES[case]
    together = method.profile(BATCH, walk)
    for graph in (0, 5, 11):
        alone = method.profile(BATCH[graph], walk)
        assert alone.exponents[0] == together.exponents[graph]
        for place in ((0, 0), (walk.refine, 4)):
            here = dense(alone.block(*place))[0]
            there = dense(together.block(*place))[graph]
            np.testing.assert_array_equal(np.sort(here[here != 0]), np.sort(there[there != 0]))


@every
def test_powers_of_two_change_no_other_bit(case, monkeypatch):
    method, walk = CASES[case]
    expected = method.profile(BATCH, walk)
    shift = "gvoys.walks.method.choose_exponents"
    monkeypatch.setattr(shift, lambda batch, length: choose_exponents(batch, length) + 3)
    shifted = method.profile(BATCH, walk)
    assert (shifted.exponents == expected.exponents + 3).all()
    np.testing.assert_array_equal(shifted.gram(SERIES), expected.gram(SERIES))
    np.testing.assert_array_equal(shifted.diagonal(SERIES), expected.diagonal(SERIES))
    np.testing.assert_array_equal(dense(shifted.features(SERIES)), dense(expected.features(SERIES)))


@every
def test_products_of_features_are_the_kernel(case):
    method, walk = CASES[case]
    if len(getattr(method, "replicates", ())) == 2:
        pytest.skip("two replicates have no common features")
    made = method.profile(BATCH, walk)
    X = dense(made.features(SERIES)).astype(float)
    np.testing.assert_allclose(X @ X.T, made.gram(SERIES), rtol=2e-6, atol=1e-12)
    blocks = [made.block(r, i) for r in range(walk.n_iterations) for i in range(walk.n_lengths)]
    mu = np.tile(SERIES.coefficients(4), walk.n_iterations)
    K = sum(weight * dense(block) @ dense(block).T for weight, block in zip(mu, blocks, strict=True))
    np.testing.assert_allclose(K, made.gram(SERIES), rtol=2e-6)
    np.testing.assert_allclose(made.diagonals().sum(axis=0).T @ SERIES.coefficients(4), K.diagonal(), rtol=2e-6)


@every
def test_parts_and_wholes(case):
    method, walk = CASES[case]
    whole = method.profile(BATCH, walk)
    K = whole.gram(SERIES)
    some, rest = whole.take(np.array([1, 4, 7])), whole.take(slice(8, 12))
    np.testing.assert_allclose(some.gram(SERIES, rest), K[[1, 4, 7], 8:], rtol=1e-12)
    np.testing.assert_allclose(some.joined([rest]).gram(SERIES)[:3, 3:], K[[1, 4, 7], 8:], rtol=1e-12)
    apart = method.profile(BATCH[:5], walk), method.profile(BATCH[5:], walk)
    np.testing.assert_allclose(apart[0].gram(SERIES, apart[1]), K[:5, 5:], rtol=1e-12)


@every
def test_a_series_and_its_coefficients_are_the_same(case):
    method, walk = CASES[case]
    made = method.profile(BATCH, walk)
    K = made.gram(SERIES)
    np.testing.assert_allclose(made.gram(SERIES.coefficients(4)), K, rtol=1e-6)
    by_iteration = np.tile(SERIES.coefficients(4), (walk.n_iterations, 1))
    np.testing.assert_allclose(made.gram(by_iteration), K, rtol=1e-6)
    assert not np.allclose(made.gram(2 * by_iteration), K)  # nothing kept from the mu before


def test_errors_of_exact_and_random_profiles():
    exact = Sequences().profile(BATCH, NODE)
    assert (exact.standard_error(SERIES) == 0).all()
    few = Sketch(128).profile(BATCH, NODE)
    assert np.isnan(few.standard_error(SERIES)).all()
    some = Sketch(1024).profile(BATCH, NODE)
    z = (some.gram(SERIES) - exact.gram(SERIES)) / some.standard_error(SERIES)
    assert (np.abs(z) < 6).all()
    cosines, errors = some.compare(SERIES, normalize=True)
    np.testing.assert_array_equal(cosines.diagonal(), 1.0)
    np.testing.assert_array_equal(errors.diagonal(), 0.0)


@every
def test_cost_is_what_profiles_take(case):
    method, walk = CASES[case]
    cost, made = method.cost(walk, BATCH), method.profile(BATCH, walk)
    twice = method.cost(walk, gv.GraphBatch.concatenate([BATCH, BATCH]))
    assert twice.operations == pytest.approx(2 * cost.operations)
    if isinstance(made, DenseProfiles):
        assert cost.bytes == made.values.nbytes
    elif isinstance(made, PairedProfiles):
        assert cost.bytes == made.first.values.nbytes + made.second.values.nbytes
    else:
        held = sum(counts.matrix.data.nbytes for lengths in made.blocks for counts in lengths)
        assert held / 10 < cost.bytes < 10 * held
