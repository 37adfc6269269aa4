"""NodeRegressor against dense Gaussian processes, on draws from its prior, and on bad input."""

import warnings

import dense
import networkx as nx
import numpy as np
import pytest

import gvoys as gv
from gvoys.errors import InputWarning, ParameterError
from gvoys.nodes import Diffusion, Matern, variances
from gvoys.nodes.matrices import NodeMatrix, matrix_of
from gvoys.nodes.recurrences import chebyshev_recurrence

GRAPHS = dict(dense.graphs())


def fitted(name, seed=0, n_seen=80, time=4.0, noise=0.3, **options):
    graph, rng = GRAPHS[name], np.random.default_rng(seed)
    A = nx.to_numpy_array(graph)
    f, y = dense.drawn(A, time, rng, noise)
    seen = np.sort(rng.choice(len(A), n_seen, replace=False))
    return gv.NodeRegressor(**options).fit(graph, seen, y[seen]), A, f, y, seen


# -- against dense algebra


@pytest.mark.parametrize("name", GRAPHS)
def test_means_and_deviations_are_those_of_the_process(name):
    model, A, _, y, seen = fitted(name, max_length=40)
    mean, covariance, constant = dense.posterior(dense.covariance(model, A), model.noise_, seen, y[seen])
    found, std = model.predict(return_std=True)
    np.testing.assert_allclose(found, mean, atol=2e-3)  # kernels are 1e-4 near their definition
    np.testing.assert_allclose(std, np.sqrt(covariance.diagonal() + model.noise_**2), rtol=2e-3)
    assert model.mean_ == pytest.approx(constant, abs=2e-3)
    np.testing.assert_array_equal(model.predict([5, 0, 5]), found[[5, 0, 5]])
    assert len(model.weights_) == len(model.terms_)
    assert sum(model.shares_.values()) == pytest.approx(1)


@pytest.mark.parametrize("name", GRAPHS)
def test_large_graphs_take_another_way_to_the_same_result(name, large):
    model, A, _, y, seen = fitted(name, n_seen=150, n_samples=400)
    mean, covariance, _ = dense.posterior(dense.covariance(model, A), model.noise_, seen, y[seen])
    found, std = model.predict(return_std=True)
    assert model._kind == np.float32
    assert len(model._prior.matrix.order) == len(A)
    np.testing.assert_allclose(found, mean, atol=0.01)
    wanted = np.sqrt(covariance.diagonal() + model.noise_**2)
    assert np.abs(std / wanted - 1).mean() < 0.04  # of 400 samples: 1 / sqrt(800) each
    assert np.abs(np.mean(std / wanted) - 1) < 0.02


def test_the_likelihood_is_dense_algebras():
    model, A, _, y, seen = fitted("random geometric")
    K = dense.covariance(model, A)[np.ix_(seen, seen)]
    C = K + model.noise_**2 * np.eye(len(seen))
    wanted = dense.log_likelihood(C, y[seen] - model.mean_)
    assert model.log_marginal_likelihood() == pytest.approx(wanted, rel=1e-4)
    theta = np.log(np.append(model.weights_, model.noise_**2)) + 0.3
    value, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    for k in range(len(theta)):
        step = np.zeros(len(theta))
        step[k] = 1e-4
        ends = [model.log_marginal_likelihood(theta + sign * step) for sign in (1, -1)]
        assert gradient[k] == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-4, abs=1e-5)
    assert value < model.log_marginal_likelihood() + 1.0  # what was learned is near the maximum


@pytest.mark.parametrize("name", ["grid", "scale-free"])
def test_the_likelihood_by_random_signs(name):
    """Unbiased, and so is its gradient; the more signs in all, the nearer: some thousandths here."""
    graph, rng = dict(dense.graphs(900))[name], np.random.default_rng(0)
    _, y = dense.drawn(nx.to_numpy_array(graph), 4.0, rng)
    seen = np.sort(rng.choice(len(graph), 500, replace=False))
    model = gv.NodeRegressor().fit(graph, seen, y[seen])
    theta = np.log(np.append(np.maximum(model.weights_, 1e-3), model.noise_**2))
    exact, by = model.log_marginal_likelihood(theta, eval_gradient=True, exact=True)
    found = []
    for seed in range(12):
        model.seed_ = seed
        found.append(model.log_marginal_likelihood(theta, eval_gradient=True, exact=False, n_signs=30))
    values, gradients = (np.array(each) for each in zip(*found, strict=True))
    assert abs(values.mean() - exact) < 4 * values.std() / np.sqrt(12)
    assert values.mean() == pytest.approx(exact, rel=5e-3)
    z = (gradients.mean(axis=0) - by) / (gradients.std(axis=0) / np.sqrt(12))
    assert np.abs(z).max() < 5
    np.testing.assert_allclose(gradients.mean(axis=0) / 250, by / 250, atol=2e-3)  # half of the values


@pytest.mark.parametrize("name", ["grid", "weighted, with isolated nodes"])
def test_samples_have_the_posteriors_mean_and_covariance(name):
    model, A, _, y, seen = fitted(name, n_seen=40)
    mean, covariance, _ = dense.posterior(dense.covariance(model, A), model.noise_, seen, y[seen])
    drawn = model.sample_y(n_samples=1000, random_state=1)
    assert drawn.shape == (len(A), 1000)
    z = (drawn.mean(axis=1) - mean) / np.sqrt(covariance.diagonal() / 1000)
    assert np.abs(z).max() < 5
    some = np.arange(0, len(A), 13)
    found, wanted = np.cov(drawn[some]), covariance[np.ix_(some, some)]
    size = np.sqrt(np.outer(wanted.diagonal(), wanted.diagonal()))
    assert (np.abs(found - wanted) / size).max() < 5 * np.sqrt(2 / 1000)
    np.testing.assert_array_equal(model.sample_y([3], 4, random_state=1), model.sample_y(None, 4, random_state=1)[[3]])


# -- statistics


@pytest.mark.parametrize("name", GRAPHS)
def test_intervals_cover(name, way):
    """93 to 97 % of new measurements, over draws from the prior, with weights and noise learned anew."""
    covered = []
    for seed in range(12):
        model, A, _, y, seen = fitted(name, seed, 150)
        new = np.setdiff1d(np.arange(len(A)), seen)
        mean, std = model.predict(new, return_std=True)
        covered.append(np.mean(np.abs(y[new] - mean) <= 1.96 * std))
    assert 0.93 < np.mean(covered) < 0.97


def test_what_is_learned_is_near_the_truth(way):
    """A slow function and its noise are told apart, and a function whose neighbours differ is noticed."""
    model, _, f, *_ = fitted("grid", 1, 300, time=16.0)
    assert model.noise_ == pytest.approx(0.3, rel=0.25)
    mean = model.predict()
    assert np.corrcoef(mean, f)[0, 1] > 0.9
    grid = GRAPHS["grid"]
    alternating = np.array([(u // 20 + u % 20) % 2 for u in grid]) * 2.0 - 1.0
    seen = np.random.default_rng(0).choice(400, 200, replace=False)
    model = gv.NodeRegressor().fit(grid, seen, alternating[seen])
    assert model.shares_["unlike neighbours"] > 0.5
    assert np.mean(np.sign(model.predict()) == alternating) > 0.95


def test_noise_that_is_known_is_kept(large):
    _, y = dense.drawn(nx.to_numpy_array(GRAPHS["grid"]), 4.0, np.random.default_rng(0), 0.5)
    model = gv.NodeRegressor(noise=0.5).fit(GRAPHS["grid"], np.arange(0, 400, 2), y[::2])
    assert model.noise_ == pytest.approx(0.5)


def test_variances_borrow_from_nodes_alike():
    """Eight samples of 20,000 nodes of three kinds: the trend tells the variance far better than the samples alone."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 20_000)
    truth = np.array([0.1, 1.0, 4.0])[kind]
    squares = truth * rng.chisquare(8, 20_000) / 8
    found = variances.moderate(squares, 8, kind[:, None].astype(float))
    assert found.freedom > 200
    np.testing.assert_allclose(found.values, truth, rtol=0.1)
    spread = truth * np.exp(0.5 * rng.normal(size=20_000))  # of nodes alike, too
    squares = spread * rng.chisquare(8, 20_000) / 8
    found = variances.moderate(squares, 8, kind[:, None].astype(float))
    assert 8 < found.freedom < 40
    errors = [np.mean(np.log(values / spread) ** 2) for values in (found.values, squares)]
    assert errors[0] < 0.6 * errors[1]
    new = rng.normal(size=20_000) * np.sqrt(spread)
    assert np.mean(np.abs(new) <= 1.96 * np.sqrt(found.widened)) == pytest.approx(0.95, abs=0.01)


# -- kernels of a given form, directions, labels


@pytest.mark.parametrize("kernel", [Diffusion(3.0), Matern(1.5, 3.0), gv.Exponential(0.5)], ids=str)
def test_kernels_of_a_given_form(kernel):
    graph, rng = GRAPHS["grid"], np.random.default_rng(0)
    K = gv.node_kernel(graph, kernel).columns(np.arange(400))
    f = np.linalg.cholesky(K / K.diagonal().mean() + 1e-9 * np.eye(400)) @ rng.normal(size=400)
    seen = np.arange(0, 400, 3)
    y = f[seen] + 0.2 * rng.normal(size=len(seen))
    model = gv.NodeRegressor(kernel, tol=1e-8).fit(graph, seen, y)
    mean, covariance, _ = dense.posterior(model.weights_[0] * K, model.noise_, seen, y)
    found, std = model.predict(return_std=True)
    np.testing.assert_allclose(found, mean, atol=1e-4)
    np.testing.assert_allclose(std, np.sqrt(covariance.diagonal() + model.noise_**2), rtol=1e-3)
    drawn = model.sample_y(n_samples=1000)
    z = (drawn.mean(axis=1) - mean) / np.sqrt(covariance.diagonal() / 1000)
    assert np.abs(z).max() < 5


def test_directed_graphs():
    """By both directions, or by a series in its factored form."""
    directed = nx.gnp_random_graph(200, 0.02, seed=0, directed=True)
    A, rng = nx.to_numpy_array(directed), np.random.default_rng(0)
    seen, y = np.arange(0, 200, 2), rng.normal(size=100)
    both = gv.NodeRegressor().fit(directed, seen, y)
    np.testing.assert_allclose(both.predict(), gv.NodeRegressor().fit(gv.as_batch([A + A.T]), seen, y).predict())
    series = gv.Exponential(0.2)
    model = gv.NodeRegressor(series, tol=1e-8).fit(directed, seen, y)
    K = gv.node_kernel(directed, series, form="factored").columns(np.arange(200))
    mean, *_ = dense.posterior(model.weights_[0] * K, model.noise_, seen, y)
    np.testing.assert_allclose(model.predict(), mean, atol=1e-4)


def test_a_store_that_is_mapped(tmp_path):
    gv.write_store(gv.as_batch([GRAPHS["grid"]]), tmp_path / "store")
    model, *_, y, seen = fitted("grid")
    found = gv.NodeRegressor().fit(gv.open_store(tmp_path / "store"), seen, y[seen])
    np.testing.assert_array_equal(found.predict(), model.predict())


def test_the_same_bits_for_any_number_of_threads(way):
    found = [fitted("random geometric", n_jobs=n)[0].predict(return_std=True) for n in (1, 2)]
    np.testing.assert_array_equal(*found)


def test_vectors_one_by_one_or_many_at_a_time_have_the_same_bits(monkeypatch):
    recurrence = chebyshev_recurrence(np.array([0.5, 1.0, -0.3, 0.2, 0.1]), (-1, 1))
    for name in ("grid", "weighted, with isolated nodes"):
        matrix = matrix_of(gv.as_batch([GRAPHS[name]]), "symmetric")
        for kind in (np.float32, np.float64):
            X = np.random.default_rng(0).normal(size=(matrix.n_nodes, 21)).astype(kind)
            found = []
            for fast in (1, 4, 16):
                monkeypatch.setattr(NodeMatrix, "_times", {1: 1e9, 4: 1e9, 16: 1e9} | {fast: 1.0})
                found.append(matrix.run(recurrence, X))
            for other in found[1:]:
                np.testing.assert_array_equal(found[0], other)


# -- what is hardly a problem


def test_parts_without_values_have_the_mean_and_the_priors_deviation():
    graph = nx.disjoint_union(dense.grid(8), dense.grid(8))
    graph.add_node(128)
    y = 5.0 + np.sin(np.arange(64) / 8.0)
    model = gv.NodeRegressor().fit(graph, np.arange(64), y)
    mean, std = model.predict(return_std=True)
    np.testing.assert_allclose(mean[64:], model.mean_, atol=1e-6)
    assert std[64:].min() > 1.5 * std[:64].max()
    assert np.isfinite(std).all()


@pytest.mark.parametrize("y", [[3.0], [3.0, 3.0, 3.0]])
def test_one_value_or_equal_ones(y):
    with pytest.warns(InputWarning, match="predictions are that value everywhere"):
        model = gv.NodeRegressor().fit(dense.grid(4), np.arange(len(y)), y)
    mean, std = model.predict(return_std=True)
    np.testing.assert_array_equal(mean, 3.0)
    np.testing.assert_array_equal(std, 0.0)
    assert model.sample_y(n_samples=2).shape == (16, 2)
    with pytest.raises(ParameterError, match="the likelihood has no value"):
        model.log_marginal_likelihood()


@pytest.mark.parametrize("n_seen", [2, 3, 5])
def test_a_few_values(n_seen):
    seen = np.arange(n_seen)
    mean, std = gv.NodeRegressor().fit(dense.grid(6), seen * 7, seen).predict(return_std=True)
    assert -2 < mean.min() < mean.max() < n_seen + 1
    assert (std > 0).all()
    assert std.max() < 5 * n_seen


def test_graphs_that_hardly_are():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for graph in (nx.empty_graph(3), nx.path_graph(2), nx.complete_graph(5)):
            mean, std = gv.NodeRegressor().fit(graph, [0, 1], [1.0, 2.0]).predict(return_std=True)
            assert np.isfinite(mean).all()
            assert (std > 0).all()


EIGHT = np.arange(8)


@pytest.mark.parametrize(
    ("options", "nodes", "y", "message"),
    [
        ({}, [0, 99], [1.0, 2.0], "there is no node 99; the graph has nodes 0 to 15"),
        ({}, [0, 0], [1.0, 2.0], "node 0 comes more than once"),
        ({}, [0.5, 1], [1.0, 2.0], "nodes must be a flat list of node numbers"),
        ({}, [0, 1], [1.0], "y must have one number for each of the 2 nodes"),
        ({}, [0, 1], [1.0, np.nan], r"y\[1\] is nan; leave out nodes without a value"),
        ({}, [0, 1], ["a", "b"], "for classes use NodeClassifier"),
        ({}, [], [], "at least one node with a value"),
        ({}, EIGHT, EIGHT * 1e300, "the largest value is 7e\\+300, whose square is no number"),
        ({}, EIGHT, EIGHT * 1e-300, "the largest value is 7e-300"),
        ({}, EIGHT, EIGHT * 1j, "y must be numbers"),
        ({"noise": -1.0}, EIGHT, EIGHT, 'noise must be "auto" or a positive number'),
        ({"noise": "much"}, EIGHT, np.ones(8), "noise must be"),
        ({"max_length": 1}, EIGHT, EIGHT, "max_length must be an integer of at least 4"),
        ({"max_length": 4}, EIGHT, EIGHT, "max_length=4 leaves no diffusion kernel; the shortest needs 5"),
        ({"kernel": "rbf"}, EIGHT, EIGHT, "series must be"),
        ({"matrix": "row"}, EIGHT, EIGHT, "matrix='row' needs a kernel"),
    ],
)
def test_what_is_wrong_is_said(options, nodes, y, message):
    with pytest.raises(ParameterError, match=message):
        gv.NodeRegressor(**options).fit(dense.grid(4), nodes, y)


def test_nodes_may_be_a_mask():
    found = [gv.NodeRegressor().fit(dense.grid(4), nodes, EIGHT).predict() for nodes in (np.arange(16) < 8, EIGHT)]
    np.testing.assert_array_equal(*found)


def test_a_series_that_is_no_covariance():
    grid, seen = dense.grid(8), np.arange(0, 64, 5)
    with pytest.raises(ParameterError, match="is no covariance on this graph"):
        gv.NodeRegressor(gv.Coefficients([0.0, 1.0])).fit(grid, seen, np.sin(seen))
    mean = gv.NodeRegressor(gv.Coefficients([5.0, 1.0])).fit(grid, seen, np.sin(seen)).predict()
    assert np.abs(mean).max() < 2


def test_noise_of_equal_values_is_used_as_given():
    with pytest.warns(InputWarning, match="deviations are the noise, 0.5"):
        model = gv.NodeRegressor(noise=0.5).fit(dense.grid(4), EIGHT, np.ones(8))
    assert model.noise_ == 0.5
    np.testing.assert_array_equal(model.predict(return_std=True)[1], 0.5)


@pytest.mark.parametrize("theta", [[0.0], "a", [np.nan] * 9, [1000.0] * 9, [np.inf] * 9])
def test_weights_that_are_none(theta):
    model = gv.NodeRegressor().fit(dense.grid(4), EIGHT, EIGHT)
    with pytest.raises(ParameterError, match="theta must hold 9 numbers of at most 230"):
        model.log_marginal_likelihood(theta)


def test_labels_are_not_read(recwarn):
    """Nor is there a warning of data that might be labels."""
    karate = nx.karate_club_graph()
    clubs = [club for _, club in karate.nodes(data="club")]
    gv.NodeClassifier().fit(karate, np.arange(0, 34, 2), clubs[::2])
    gv.node_kernel(karate, gv.nodes.Diffusion(1.0))
    assert not [each for each in recwarn if issubclass(each.category, InputWarning)]
