"""Exact counts of short walks and a sketch of longer ones: what is counted is exact, the rest unbiased, errors true."""

from dataclasses import replace

import numpy as np
import pytest
from studies.coverage import ego_networks

import gvoys as gv
from gvoys.graphs.labels import Labels
from gvoys.walks import Combined, Sequences, Walk
from gvoys.walks.profiles import Profiles

SERIES = gv.Geometric(0.1)


def graphs(n=12, n_labels=3, directed=False):
    batch = gv.datasets.erdos_renyi(n, 14, 0.25, random_state=3)
    rng = np.random.default_rng(0)
    return replace(batch, node_labels=Labels.from_values(rng.integers(n_labels, size=batch.n_nodes)))


def walk_on(batch, refine=1, **how):
    return Walk(**{"max_length": 4, "labels": "node", "refine": refine, "start": "ones", "stop": "ones"} | how)


def made(batch, walk, exact, n_components=512, seed=0) -> Profiles:
    return Combined(n_components, seed, exact=exact).profile(batch, walk)


@pytest.mark.parametrize("backtrack", [True, False])
@pytest.mark.parametrize("exact", [(4, 4), (2, 1), (0, -1), (4, 0)])
def test_blocks_are_exact_or_those_of_the_sketch(exact, backtrack):
    batch = graphs()
    walk = walk_on(batch, backtrack=backtrack)
    profiles, counts = made(batch, walk, exact), Sequences().profile(batch, walk)
    sketch = gv.walks.Sketch(512).profile(batch, walk)
    grams = profiles.grams().reshape(2, 5, len(batch), len(batch))
    for r, i in np.ndindex(2, 5):
        expected = (counts if i <= exact[r] else sketch)._block_gram((r, i), counts if i <= exact[r] else sketch)
        np.testing.assert_allclose(grams[r, i], expected, rtol=1e-6)
        np.testing.assert_allclose(profiles.diagonals()[r, i], expected.diagonal(), rtol=1e-5)


def test_all_ways_to_the_same_kernel():
    batch = graphs()
    walk = walk_on(batch)
    profiles = made(batch, walk, (3, 1))
    K = profiles.gram(SERIES)
    features = profiles.features(SERIES)
    np.testing.assert_allclose((features @ features.T).toarray(), K, rtol=1e-6)
    np.testing.assert_allclose(profiles.diagonal(SERIES), K.diagonal(), rtol=1e-6)
    mu = SERIES.coefficients(4, 1.0)
    np.testing.assert_allclose(np.tensordot(np.tile(mu, 2), profiles.grams(), axes=1), K, rtol=1e-6)
    np.testing.assert_allclose(profiles.take([5, 2]).gram(SERIES, profiles), K[[5, 2]], rtol=1e-9)
    pieces = made(batch[:5], walk, (3, 1)).joined([made(batch[5:], walk, (3, 1))])
    np.testing.assert_allclose(pieces.gram(SERIES), K, rtol=1e-9)
    entries = np.diff(profiles.exact.features(SERIES).indptr)
    np.testing.assert_array_equal(profiles.exact.n_sequences, entries)
    np.testing.assert_array_equal(profiles.take([5, 2]).exact.n_sequences, entries[[5, 2]])
    first = profiles.iterations(1).gram(SERIES)
    np.testing.assert_allclose(first, made(batch, walk_on(batch, refine=0), (3,)).gram(SERIES), rtol=1e-9)
    assert profiles.take([]).gram(SERIES, profiles).shape == (0, len(batch))


@pytest.mark.parametrize("normalize", [False, True])
def test_unbiased_with_true_error_bars(normalize):
    """|z| of the mean over seeds below 5, and 93 to 97 % of the exact values within 1.96 standard errors."""
    batch = graphs(8)
    walk = walk_on(batch)
    K = Sequences().profile(batch, walk).compare(SERIES, normalize=normalize)[0]
    off = ~np.eye(len(batch), dtype=bool)
    values, within = [], []
    for seed in range(400):
        found, error = made(batch, walk, (2, 1), 256, seed).compare(SERIES, normalize=normalize)
        values.append(found)
        within.append(np.abs(found - K)[off] < 1.96 * error[off])
    values = np.array(values)
    if not normalize:  # a ratio of estimates has a bias of its own, of second order
        z = (values.mean(axis=0) - K) / (values.std(axis=0, ddof=1) / np.sqrt(len(values)))
        assert np.abs(z).max() < 5
    assert 0.93 < np.mean(within) < 0.97


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("decay", [3e-4, 3e-3, 3e-2])
def test_bars_cover_the_rounding_of_counts(decay, normalize):
    """A small decay leaves less of the sketch than of the counts' last digit; then bars bound the rounding."""
    batch = ego_networks(24)
    walk = Walk(6, "node")
    blocks = [Sequences().profile(batch, walk).block(0, i).toarray().astype(np.longdouble) for i in range(7)]
    K = sum(np.longdouble(decay) ** i * (block @ block.T) for i, block in enumerate(blocks))
    norms = np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    some = np.triu_indices(len(batch), 1 if normalize else 0)
    within, bars = [], []
    for seed in range(60):
        found, error = made(batch, walk, (5,), seed=seed).compare(gv.Geometric(decay), normalize=normalize)
        within.append((np.abs(found - (K / norms if normalize else K)) <= 1.96 * error)[some])
        bars.append(np.median((error if normalize else error / norms)[some]))
    only_rounding = decay == 3e-4
    assert 0.93 < np.mean(within) < (1 if only_rounding else 0.97)
    if only_rounding:
        assert np.max(bars) < 100 * np.finfo(float).eps


@pytest.mark.parametrize("n_components", [64, 512])
def test_no_error_where_all_is_counted(n_components):
    batch = graphs()
    K, error = made(batch, walk_on(batch), (4, 4), n_components).compare(SERIES)
    np.testing.assert_allclose(K, Sequences().profile(batch, walk_on(batch)).gram(SERIES), rtol=1e-12)
    assert not error.any()


def test_the_kernel_takes_it_where_sequences_are_too_many():
    dense = gv.datasets.erdos_renyi(30, 60, 0.5, random_state=1)
    dense = replace(dense, node_labels=Labels.from_values(np.arange(dense.n_nodes) % 60))
    kernel = gv.RandomWalkKernel(SERIES, gv.Walk(6)).fit(dense[:20])
    assert kernel.method_ == "combined"
    assert "lengths 0" in kernel.method_.reason
    K, error = kernel.transform(dense[20:], return_std=True)
    other = gv.RandomWalkKernel(SERIES, gv.Walk(6), method="sketch", n_components=8192).fit(dense[:20])
    expected, theirs = other.transform(dense[20:], return_std=True)
    assert np.mean(np.abs(K - expected) < 1.96 * np.hypot(error, theirs)) > 0.9
    assert np.abs(K - expected).max() > 0.1 * error.max()  # a bar that holds everything says nothing
