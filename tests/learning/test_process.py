"""Gaussian processes with kernels of distances: the definition, gradients, layers, surroundings, landmarks."""

import warnings

import numpy as np
import pytest
import spelling
from scipy.stats import multivariate_normal

import gvoys as gv
from gvoys.errors import ParameterError
from gvoys.kernels.covariance import ArrayCovariance, Covariance, Distances

BATCH = gv.datasets.molecules(60, mean_nodes=10, random_state=6)
KINDS = ("linear", "matern12", "matern32", "gaussian")
RNG = np.random.default_rng(0)
FIRST = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def _same_numbers_for_each_test():
    """Whichever tests run before it."""
    RNG.bit_generator.state = FIRST


def features(n=25, widths=(3, 2)):
    return [RNG.normal(size=(n, width)) for width in widths]


def held(parts):
    return Distances.of((X @ X.T for X in parts), len(parts), len(parts[0]))


@pytest.mark.parametrize("prior", [0.0, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_the_likelihood(kind, prior):
    process = Covariance((kind, "linear"), (held(features()), held(features())), RNG.normal(size=25), prior=prior)
    point = RNG.normal(size=process.n_blocks + 1)
    _, gradient = process.evaluate(point[:-1], point[-1])
    for i in range(len(point)):
        # differences of fourth order: their steps are long, since distances are in float32
        steps = (point + times * 1e-2 * np.eye(len(point))[i] for times in (1, -1, 2, -2))
        a, b, c, d = (process.evaluate(each[:-1], each[-1])[0] for each in steps)
        assert gradient[i] == pytest.approx((8 * (a - b) - (c - d)) / 12e-2, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("weighty", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_any_device_give_the_same_numbers(kind, weighty):
    parts, y = (held(features()), held(features(widths=(4, 1)))), RNG.normal(size=25)
    weights = RNG.uniform(0.5, 2, size=25) if weighty else None
    given = (kind, "linear"), parts, y, weights
    point = RNG.normal(size=Covariance(*given).n_blocks)
    value, gradient = Covariance(*given).evaluate(point, -1.0)
    other, slope = ArrayCovariance(*given).evaluate(point, -1.0)
    assert other == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(slope, gradient, rtol=1e-4, atol=1e-4 * np.abs(gradient).max())


def noisy(seed=0, n=60):
    rng = np.random.default_rng(seed)
    return np.sqrt(BATCH.graph_sizes[:n]) + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("kernel", ["matern12", "matern32", "gaussian", "matern32 + linear", "auto"])
def test_predictions_are_those_of_the_learned_kernel(kernel):
    y = noisy()
    model = spelling.regressor(2, kernel=kernel, max_iterations=5).fit(BATCH[:45], y[:45])
    if kernel != "auto":
        assert model.kernel_ == kernel
    own, fitted = model.posterior_.kernel, model.posterior_.fitted
    new = own.profile(BATCH[45:])
    K = own.values(fitted) + own.constant + model.noise_ * np.eye(45)
    z = (y[:45] - model.mean_) / model.deviation_
    cross = own.values(new, fitted) + own.constant
    mean, std = model.predict(BATCH[45:], return_std=True)
    np.testing.assert_allclose(mean, model.mean_ + model.deviation_ * cross @ np.linalg.solve(K, z), rtol=1e-4)
    prior = own.values(new) + own.constant
    np.testing.assert_allclose(prior.diagonal(), own.diagonal(new) + own.constant, rtol=1e-8)
    variance = (prior - cross @ np.linalg.solve(K, cross.T)).diagonal() + model.noise_
    np.testing.assert_allclose(std, model.stretch_ * model.deviation_ * np.sqrt(variance), rtol=1e-3)
    _, covariance = model.predict(BATCH[45:], return_cov=True)
    np.testing.assert_allclose(np.sqrt(covariance.diagonal()), std, rtol=1e-6)
    assert model.log_marginal_likelihood_ == pytest.approx(multivariate_normal(cov=K).logpdf(z), rel=1e-4)
    assert len(model.blocks_) == len(model.mu_)
    assert model.curve_[-1] > model.curve_[0]


def test_a_curved_target_needs_distances():
    graphs = gv.datasets.molecules(200, mean_nodes=14, random_state=3)
    size = graphs.graph_sizes.astype(float)
    y = np.exp(-(((size - size.mean()) / 4.0) ** 2))
    models = [spelling.regressor(1, kernel=each).fit(graphs[:150], y[:150]) for each in ("auto", "linear")]
    curved, linear = (np.abs(model.predict(graphs[150:]) - y[150:]).mean() for model in models)
    assert curved < 0.6 * linear


@pytest.mark.parametrize("value", [40.0, 1e6])
def test_an_outlier_hardly_counts(value):
    y = noisy(2)
    y[7] = value
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = spelling.regressor(2).fit(BATCH, y)
    said = [str(each.message) for each in caught if issubclass(each.category, gv.errors.InputWarning)]
    assert len(said) == (value > 100)
    assert all("1 of 60 targets are over 100 deviations away" in each and " graph 7; they" in each for each in said)
    assert np.sqrt(np.mean((np.delete(model.predict(BATCH) - y, 7)) ** 2)) < 0.7 * noisy(2).std()


@pytest.mark.parametrize("kernel", ["matern32", "matern32 + linear"])
def test_with_all_graphs_as_landmarks_it_is_exact(kernel):
    y = noisy(3)
    how = {"kernel": kernel, "max_iterations": 0}
    exact = spelling.regressor(2, **how).fit(BATCH[:45], y[:45])
    induced = spelling.regressor(2, max_exact=10, n_components=45, **how).fit(BATCH[:45], y[:45])
    assert induced.blocks_ == ["kernel", "constant"]
    phi = induced.walks_.features(BATCH[:45])[:, :-1]
    K = exact.posterior_.kernel.values(exact.posterior_.fitted)
    np.testing.assert_allclose(phi @ phi.T, K, atol=1e-6)


def test_few_landmarks_come_close():
    graphs = gv.datasets.molecules(400, mean_nodes=12, random_state=4)
    y = np.log(graphs.graph_sizes) + 0.05 * np.random.default_rng(0).normal(size=400)
    exact = spelling.regressor(2, kernel="matern32").fit(graphs[:300], y[:300])
    induced = spelling.regressor(2, kernel="matern32", max_exact=50, n_components=200).fit(graphs[:300], y[:300])
    ours, theirs = (np.sqrt(np.mean((m.predict(graphs[300:]) - y[300:]) ** 2)) for m in (induced, exact))
    assert ours < 1.1 * theirs
    mean, std = induced.predict(graphs[300:], return_std=True)
    assert 0.88 < np.mean(np.abs(mean - y[300:]) < 1.96 * std) < 1.0
    assert induced.predict_table(graphs[:3]).keys() >= {"prediction", "lower", "upper"}


@pytest.mark.parametrize(
    ("how", "y", "message"),
    [
        *(({"kernel": kernel}, 1, "kernel must be") for kernel in ("cosine", "matern32 + matern32", "", 3, None)),
        *(({"layers": layers}, 1, "layers must be") for layers in ((), ("rough",), "fine")),
        *((how, 2, "fit one model for each column") for how in ({"kernel": "linear"}, {"max_exact": 10})),
        ({}, np.nan, "one finite number"),
    ],
)
def test_what_cannot_be_fitted(how, y, message):
    y = np.ones((60, 2)) if y == 2 else y * BATCH.graph_sizes
    with pytest.raises(ParameterError, match=message):
        spelling.regressor(**how).fit(BATCH, y)


def test_several_targets_share_a_kernel():
    y, how = noisy(2), {"kernel": "matern32", "max_iterations": 4}
    one, same = (spelling.regressor(2, **how).fit(BATCH, target) for target in (y, y[:, None]))
    np.testing.assert_array_equal(same.predict(BATCH), one.predict(BATCH))
    y = np.stack([noisy(0), 100 + 10 * noisy(1) ** 2], axis=1)
    model = spelling.regressor(2, kernel="matern32").fit(BATCH[:45], y[:45])
    mean, std = model.predict(BATCH[45:], return_std=True)
    assert mean.shape == std.shape == (15, 2)
    own, fitted = model.posterior_.kernel, model.posterior_.fitted
    K = own.values(fitted) + own.constant + model.noise_ * np.eye(45)
    z = (y[:45] - model.mean_) / model.deviation_
    cross = own.values(own.profile(BATCH[45:]), fitted) + own.constant
    np.testing.assert_allclose(mean, model.mean_ + model.deviation_ * (cross @ np.linalg.solve(K, z)), rtol=1e-4)
    both = sum(multivariate_normal(cov=K).logpdf(each) for each in z.T)
    assert model.log_marginal_likelihood_ == pytest.approx(both, rel=1e-4)
    _, covariance = model.predict(BATCH[45:], return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.einsum("iit->it", covariance)), std, rtol=1e-6)
    assert {"prediction 0", "upper 1", "nearest"} <= set(model.predict_table(BATCH[:2]))
    assert model.score(BATCH[:45], y[:45]) > 0.5
