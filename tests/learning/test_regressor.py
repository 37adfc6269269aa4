"""Gaussian processes on graphs: the same numbers as scikit-learn's, gradients, streams, intervals that cover."""

import networkx as nx
import numpy as np
import pytest
import spelling
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import DotProduct, WhiteKernel

import gvoys as gv
from gvoys.errors import GvoysError

RNG = np.random.default_rng(0)
BATCH = gv.datasets.molecules(70, mean_nodes=10, random_state=6)


@pytest.mark.parametrize("exact", [True, False])
def test_the_same_numbers_as_scikit_learn(exact):
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
