"""Gaussian processes on graphs: the same numbers as scikit-learn's, gradients, streams, intervals that cover."""

import networkx as nx
import numpy as np
import pytest
import spelling
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import DotProduct, WhiteKernel

import gvoys as gv
from gvoys.errors import GvoysError
from gvoys.kernels.blocks import WalkBlocks, walks_on
from gvoys.kernels.gaussian import BlockGrams, FeatureMoments

RNG = np.random.default_rng(0)
ONES = {"start": "ones", "stop": "ones"}
BATCH = gv.datasets.molecules(70, mean_nodes=10, random_state=6)


def problem(n=30, widths=(3, 2, 4)):
    X = RNG.normal(size=(n, sum(widths)))
    y = X @ RNG.normal(size=sum(widths)) + 0.3 * RNG.normal(size=n)
    return X, y, np.repeat(np.arange(len(widths)), widths)


def moments(X, y, blocks, n_pieces=1):
    found = FeatureMoments.empty(blocks)
    for rows in np.array_split(np.arange(len(y)), n_pieces):
        found.add(X[rows], y[rows])
    return found


def grams(X, y, blocks):
    parts = [X[:, blocks == b] for b in range(blocks.max() + 1)]
    return BlockGrams(np.array([part @ part.T for part in parts]), y)


@pytest.mark.parametrize("road", [moments, grams])
def test_gradients_are_those_of_the_likelihood(road):
    likelihood = road(*problem())
    point = RNG.normal(size=4)
    _, gradient = likelihood.evaluate(point[:-1], point[-1])
    for i in range(4):
        step = np.eye(4)[i] * 1e-6
        above, below = (likelihood.evaluate(p[:-1], p[-1])[0] for p in (point + step, point - step))
        assert gradient[i] == pytest.approx((above - below) / 2e-6, rel=1e-5, abs=1e-5)


def test_both_roads_and_any_pieces_agree():
    X, y, blocks = problem()
    log_mu = RNG.normal(size=3)
    value, gradient = grams(X, y, blocks).evaluate(log_mu, -1.0)
    for n_pieces in (1, 7):
        other, slope = moments(X, y, blocks, n_pieces).evaluate(log_mu, -1.0)
        assert other == pytest.approx(value, rel=1e-9)
        np.testing.assert_allclose(slope, gradient, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("exact", [True, False])
def test_the_same_numbers_as_scikit_learn(exact):
    """Mean, deviation, covariance and likelihood of GaussianProcessRegressor on the same kernel, to 1e-6."""
    y = BATCH.graph_sizes + RNG.normal(size=70)
    model = spelling.regressor(2, kernel="linear", max_exact=100 if exact else 10, n_components=90).fit(
        BATCH[:50], y[:50]
    )
    walks = model.walks_
    if exact:
        # features of the whole Gram matrix, for scikit-learn's own linear kernel
        values, vectors = np.linalg.eigh(np.tensordot(model.mu_, walks.grams(walks.profile(BATCH)), axes=1))
        X = vectors * np.sqrt(np.maximum(values, 0))
    else:
        X = walks.features(BATCH).astype(float) * np.sqrt(model.mu_)[walks.columns]
    kernel = DotProduct(0.0, "fixed") + WhiteKernel(model.noise_, "fixed")
    z = (y - model.mean_) / model.deviation_
    theirs = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X[:50], z[:50])
    mean, std = theirs.predict(X[50:], return_std=True)
    _, theirs_covariance = theirs.predict(X[50:], return_cov=True)
    ours, deviation = model.predict(BATCH[50:], return_std=True)
    np.testing.assert_allclose((ours - model.mean_) / model.deviation_, mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(deviation / model.deviation_, std, rtol=1e-6, atol=1e-6)
    assert model.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood_value_, rel=1e-6, abs=1e-5)
    _, covariance = model.predict(BATCH[50:], return_cov=True)
    np.testing.assert_allclose(covariance / model.deviation_**2, theirs_covariance, rtol=1e-6, atol=1e-6)


def test_learning_raises_the_likelihood_and_finds_what_counts():
    y = BATCH.graph_sizes.astype(float)
    model = spelling.regressor(3, kernel="linear", labels="node").fit(BATCH, y)
    assert model.curve_[-1] > model.curve_[0] + 10
    assert np.all(np.diff(model.curve_) > -1e-6)
    sizes = model.blocks_.index("node walk0")
    assert model.mu_[sizes] > 10 * model.mu_[[i for i, name in enumerate(model.blocks_) if "walk3" in name]].max()
    fixed = spelling.regressor(3, kernel="linear", max_iterations=0).fit(BATCH, y)
    assert len(set(fixed.mu_)) == 1
    assert len(fixed.curve_) == 1


def test_intervals_cover():
    inside = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        order = rng.permutation(70)
        y = np.sqrt(BATCH.graph_sizes) + 0.3 * rng.normal(size=70)
        model = spelling.regressor(2).fit(BATCH[order[:50]], y[order[:50]])
        mean, std = model.predict(BATCH[order[50:]], return_std=True)
        inside.append(np.abs(mean - y[order[50:]]) < 1.96 * std)
    assert 0.9 < np.mean(inside) < 0.99


def test_samples_have_the_posterior_mean_and_covariance():
    y = BATCH.graph_sizes + RNG.normal(size=70)
    model = spelling.regressor(2).fit(BATCH[:50], y[:50])
    draws = model.sample_y(BATCH[50:55], 20_000)
    mean, covariance = model.predict(BATCH[50:55], return_cov=True)
    assert draws.shape == (5, 20_000)
    error = np.sqrt(covariance.diagonal() / 20_000)
    assert (np.abs(draws.mean(axis=1) - mean) < 5 * error).all()
    np.testing.assert_allclose(np.cov(draws), covariance, atol=0.05 * covariance.max())


def test_choices_of_labels_have_blocks_of_their_own():
    walks, held = WalkBlocks.fitted(
        BATCH, walks_on(BATCH, [gv.Walk(1, labels, **ONES) for labels in ("node", "both")], 0), cosine=True
    )
    assert walks.names == [
        "node walk0", "node walk1", "both walk0", "both walk1",
        "node walk0 cosine", "node walk1 cosine", "both walk0 cosine", "both walk1 cosine", "constant",
    ]  # fmt: skip
    K = walks.grams(held)
    np.testing.assert_allclose(K.diagonal(axis1=1, axis2=2).mean(axis=1), 1, rtol=1e-9)
    np.testing.assert_allclose(K[4:8].diagonal(axis1=1, axis2=2)[:, BATCH.graph_sizes > 1][[0, 2]], 1)
    np.testing.assert_allclose(walks.diagonals(held), K.diagonal(axis1=1, axis2=2))


def test_features_approach_the_exact_blocks():
    walks = walks_on(BATCH, gv.Walk(2, "node", **ONES), 0)
    exact, held = WalkBlocks.fitted(BATCH, walks)
    wide, _ = WalkBlocks.fitted(BATCH, walks, n_components=3 * 4096)
    X = wide.features(BATCH).astype(float)
    for block, K in enumerate(exact.grams(held)):
        columns = X[:, wide.columns == block]
        size = np.sqrt(np.outer(K.diagonal(), K.diagonal()))
        assert np.abs((columns @ columns.T - K) / size).mean() < 0.02


@pytest.mark.parametrize(
    ("how", "y", "message"),
    [
        ({}, np.full(70, np.nan), "one finite number for each of the 70 graphs"),
        ({}, np.ones(3), "one finite number"),
        ({"labels": "colour"}, np.ones(70), "labels must be"),
        ({"max_length": -1}, np.ones(70), "max_length"),
        ({"max_iterations": -1}, np.ones(70), "max_iterations must be an integer of at least 0"),
    ],
)
def test_refusals(how, y, message):
    with pytest.raises(GvoysError, match=message):
        spelling.regressor(**how).fit(BATCH, y)


@pytest.mark.parametrize("max_exact", [100, 10])
def test_blocks_of_graphs_change_nothing(max_exact, monkeypatch):
    from gvoys.estimators import regressor

    y = BATCH.graph_sizes.astype(float)
    model = spelling.regressor(2, max_exact=max_exact, n_components=90, max_iterations=0)
    expected = model.fit(BATCH[:50], y[:50]).predict(BATCH[50:], return_std=True)
    monkeypatch.setattr(regressor, "_AT_ONCE", 7)
    if max_exact == 100:
        monkeypatch.setattr(regressor, "_BLOCK", 20)  # counts are exact, whatever came first
    found = model.fit(BATCH[:50], y[:50]).predict(BATCH[50:], return_std=True)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_features_that_repeat_do_not_break_it():
    """Columns that are alike and hardly any noise leave a matrix that is singular to rounding."""
    X = np.repeat(RNG.normal(size=(2000, 3)).astype(np.float32), 20, axis=1)
    y = X[:, 0] + 1e-9 * RNG.normal(size=2000)
    value, gradient = moments(X, y, np.zeros(60, int)).evaluate(np.array([7.0]), -14.0)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("max_exact", [100, 10], ids=["exact", "features"])
def test_predictions_do_not_depend_on_the_company(max_exact):
    y = BATCH.graph_sizes.astype(float)
    model = spelling.regressor(2, max_exact=max_exact, n_components=90, max_iterations=0).fit(BATCH[:50], y[:50])
    test = BATCH[50:70]
    expected = np.array(model.predict(test, return_std=True))
    alone = np.concatenate([model.predict(graph, return_std=True) for graph in test], axis=1)
    clique = nx.complete_graph(40)
    nx.set_node_attributes(clique, test.node_labels.values[0], "label")
    nx.set_edge_attributes(clique, test.edge_labels.values[0], "label")
    beside = np.array(model.predict(gv.GraphBatch.concatenate([gv.as_batch([clique]), test]), return_std=True))[:, 1:]
    for other in (alone, beside):
        np.testing.assert_allclose(other, expected, rtol=1e-10)
