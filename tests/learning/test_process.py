"""Gaussian processes with kernels of distances: the definition, gradients, layers, surroundings, landmarks."""

from collections import Counter

import numpy as np
import pytest
import spelling
from scipy.stats import multivariate_normal

import gvoys as gv
from gvoys.errors import ConvergenceError, ParameterError
from gvoys.graphs.refine import refinement_rounds
from gvoys.kernels.covariance import ArrayCovariance, Covariance, Distances
from gvoys.kernels.gaussian import maximise_likelihood
from gvoys.kernels.kernel_sum import kinds_of
from gvoys.kernels.views import Surroundings, Walks, views_of
from gvoys.walks import Sequences

BATCH = gv.datasets.molecules(60, mean_nodes=10, random_state=6)
ONES = {"start": "ones", "stop": "ones"}
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


def by_definition(kind, weights, amplitude, parts):
    """The kernel in plain NumPy."""
    total = sum(w * ((X[:, None] - X[None]) ** 2).sum(axis=2) for w, X in zip(weights, parts, strict=True))
    r = np.sqrt(total)
    return {
        "linear": sum(w * X @ X.T for w, X in zip(weights, parts, strict=True)),
        "matern12": amplitude * np.exp(-r),
        "matern32": amplitude * (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r),
        "gaussian": amplitude * np.exp(-total / 2),
    }[kind]


@pytest.mark.parametrize("weighty", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_likelihood_is_that_of_the_definition(kind, weighty):
    parts, other = features(), features(widths=(4,))
    y, weights = RNG.normal(size=25), RNG.uniform(0.5, 2, size=25) if weighty else None
    one, two = held(parts), held(other)
    process = Covariance((kind, "matern32"), (one, two), y, weights, prior=0.0)
    log_mu = RNG.normal(size=process.n_blocks)
    (first, second), constant = process.terms(log_mu)
    K = by_definition(kind, first.weights / one.units, first.amplitude, parts) + constant
    K += by_definition("matern32", second.weights / two.units, second.amplitude, other)
    K += np.exp(-1.0) * np.diag(1 / (np.ones(25) if weights is None else weights))
    assert process.evaluate(log_mu, -1.0)[0] == pytest.approx(multivariate_normal(cov=K).logpdf(y), rel=1e-5)
    residuals, variances = process.conditioned(log_mu, -1.0).leave_one_out()
    rest = np.arange(1, 25)
    gain = np.linalg.solve(K[np.ix_(rest, rest)], K[rest, 0])
    assert residuals[0] == pytest.approx(y[0] - gain @ y[rest], rel=1e-4)
    assert variances[0] == pytest.approx(K[0, 0] - gain @ K[rest, 0], rel=1e-4)


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
    """What a GPU computes with CuPy, here with NumPy."""
    parts, y = (held(features()), held(features(widths=(4, 1)))), RNG.normal(size=25)
    weights = RNG.uniform(0.5, 2, size=25) if weighty else None
    given = (kind, "linear"), parts, y, weights
    point = RNG.normal(size=Covariance(*given).n_blocks)
    value, gradient = Covariance(*given).evaluate(point, -1.0)
    other, slope = ArrayCovariance(*given).evaluate(point, -1.0)
    assert other == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(slope, gradient, rtol=1e-4, atol=1e-4 * np.abs(gradient).max())


def test_equal_graphs_are_at_no_distance():
    X = np.repeat(RNG.normal(size=(5, 3)), 2, axis=0) * 1e6
    squares = held([X]).squares[0]
    assert squares[0] == 0  # of the first two
    assert (np.delete(squares, [0, 5, 14, 27, 44]) > 0).all()


# -- views


@pytest.mark.parametrize("layer", ["coarse", "given", "fine"])
def test_surroundings_are_multisets_of_refined_labels(layer):
    from gvoys.walks.structure import in_layer

    view = views_of(BATCH, (gv.Walk(2, "both", **ONES),), (layer,))[1]
    assert isinstance(view, Surroundings)
    bags = [Counter() for _ in range(len(BATCH))]
    for r, graphs in enumerate(refinement_rounds(in_layer(BATCH, layer), 4, True, True)):
        for graph, label in zip(BATCH.node_graphs(), graphs.node_labels.hashed, strict=True):
            bags[graph][r, label] += 1
    found = view.weighed(np.ones(1), view.profile(BATCH[:9]), view.profile(BATCH[9:20]))
    wanted = [[(a & b).total() / (a | b).total() for b in bags[9:20]] for a in bags[:9]]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_walks_weigh_their_blocks():
    view = views_of(BATCH, (gv.Walk(3, "both", refine=1, **ONES),), ("given",))[0]
    assert isinstance(view, Walks)
    assert view.names[0] == "both round0 walk0"
    made = view.profile(BATCH)
    weights = RNG.uniform(size=8)
    whole = view.weighed(weights, made, made)
    np.testing.assert_allclose(whole, np.tensordot(weights, np.array(list(view.grams(made))), axes=1), rtol=1e-10)
    np.testing.assert_allclose(view.sizes(weights, made), whole.diagonal(), rtol=1e-10)
    parts = view.weighed(weights, view.profile(BATCH[:9]), view.profile(BATCH[9:]))
    np.testing.assert_allclose(parts, whole[:9, 9:], rtol=1e-10)


@pytest.mark.parametrize(
    ("layers", "message"), [((), "layers must be"), (("rough",), "layers must be"), ("fine", "layers must be")]
)
def test_wrong_layers(layers, message):
    with pytest.raises(ParameterError, match=message):
        spelling.regressor(layers=layers).fit(BATCH, BATCH.graph_sizes)


def test_graphs_without_labels_have_one_layer():
    plain = gv.GraphBatch.from_arrays([[0, 1], [1, 2], [3, 4]], [3, 2])
    assert [view.title for view in views_of(plain, (gv.Walk(2, None),), "auto")] == ["plain", "plain"]


# -- the regressor


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
    """What a linear kernel cannot say: whether graphs are of middle size."""
    graphs = gv.datasets.molecules(200, mean_nodes=14, random_state=3)
    size = graphs.graph_sizes.astype(float)
    y = np.exp(-(((size - size.mean()) / 4.0) ** 2))
    models = [spelling.regressor(1, kernel=each).fit(graphs[:150], y[:150]) for each in ("auto", "linear")]
    curved, linear = (np.abs(model.predict(graphs[150:]) - y[150:]).mean() for model in models)
    assert curved < 0.6 * linear


def test_intervals_cover():
    inside = []
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(60)
        y = noisy(seed)
        model = spelling.regressor(2).fit(BATCH[order[:45]], y[order[:45]])
        mean, std = model.predict(BATCH[order[45:]], return_std=True)
        inside.append(np.abs(mean - y[order[45:]]) < 1.96 * std)
    assert 0.9 < np.mean(inside) < 0.995


def test_copies_with_other_targets_are_averaged():
    rows = np.repeat(np.arange(20), 3)
    y = noisy(1)[rows] + np.tile([-0.3, 0.0, 0.3], 20)
    model = spelling.regressor(2).fit(BATCH[rows], y)
    np.testing.assert_allclose(model.predict(BATCH[:20]), noisy(1)[:20], atol=0.25)
    assert model.noise_ * model.deviation_**2 > 0.02


def test_an_outlier_does_not_break_the_others():
    y = noisy(2)
    with_one = np.append(y, 40.0)
    model = spelling.regressor(2).fit(gv.GraphBatch.concatenate([BATCH, BATCH[:1]]), with_one)
    assert np.sqrt(np.mean((model.predict(BATCH[1:]) - y[1:]) ** 2)) < 0.7 * y.std()


def test_an_absurd_target_is_named_and_hardly_counts():
    y = noisy(2)
    y[7] = 1e6
    with pytest.warns(gv.errors.InputWarning, match=r"1 of 60 targets are over 100 deviations away .* graph 7; they"):
        model = spelling.regressor(2).fit(BATCH, y)
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


def test_weights_are_repeated_measurements():
    """A graph of weight two is as two copies of it with the same target."""
    y = noisy(4)[:40]
    twice = np.append(np.arange(40), np.arange(10))
    weights = np.where(np.arange(40) < 10, 2.0, 1.0)
    how = {"kernel": "matern32", "max_iterations": 0}
    ours = spelling.regressor(2, **how).fit(BATCH[:40], y, sample_weight=weights)
    theirs = spelling.regressor(2, **how).fit(BATCH[twice], y[twice])
    kernel, fitted = ours.posterior_.kernel, ours.posterior_.fitted
    K, z = kernel.values(fitted) + kernel.constant, (y - ours.mean_) / ours.deviation_
    mean = K @ np.linalg.solve(K + ours.noise_ * np.diag(1 / weights), z)
    np.testing.assert_allclose((ours.predict(BATCH[:40]) - ours.mean_) / ours.deviation_, mean, atol=1e-4)
    assert ours.mean_ == pytest.approx(theirs.mean_)


@pytest.mark.parametrize("how", [{}, {"max_exact": 10, "n_components": 20}])
def test_files_and_single_graphs_predict_the_same(how, tmp_path):
    y = noisy(5)
    model = spelling.regressor(2, max_iterations=3, **how).fit(BATCH[:45], y[:45])
    model.save(tmp_path / "m.gvoys")
    loaded = gv.load_model(tmp_path / "m.gvoys")
    mean, std = model.predict(BATCH[45:], return_std=True)
    again, width = loaded.predict(BATCH[45:], return_std=True)
    np.testing.assert_allclose(again, mean, rtol=1e-12)
    np.testing.assert_allclose(width, std, rtol=1e-12)
    alone = np.concatenate([model.predict(BATCH[i : i + 1]) for i in range(45, 60)])
    np.testing.assert_allclose(alone, mean, atol=1e-9 * y.std())


@pytest.mark.parametrize("kernel", ["cosine", "matern32 + matern32", "", 3, None])
def test_wrong_kernels(kernel):
    with pytest.raises(ParameterError, match="kernel must be"):
        spelling.regressor(kernel=kernel).fit(BATCH, BATCH.graph_sizes)


def test_names_of_sums():
    assert kinds_of("matern32+linear") == ("matern32", "linear")


def test_fine_counts_are_those_of_a_profile_of_finer_labels():
    view = views_of(BATCH, (gv.Walk(2, "node", **ONES),), ("coarse",))[0]
    first = [value[0] if isinstance(value, tuple) else value for value in BATCH.node_labels.decode()]
    from dataclasses import replace

    from gvoys.graphs.labels import Labels

    coarse = replace(BATCH, node_labels=Labels.from_values(first))
    wanted = Sequences().profile(coarse, view.walk).gram(np.ones(3))
    np.testing.assert_allclose(view.weighed(np.ones(3), *[view.profile(BATCH)] * 2), wanted)


# -- several targets


def test_several_targets_share_a_kernel():
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


def test_a_column_is_one_target_and_equal_columns_are_one():
    y = noisy(2)
    one = spelling.regressor(2, kernel="matern32", max_iterations=4).fit(BATCH, y)
    column = spelling.regressor(2, kernel="matern32", max_iterations=4).fit(BATCH, y[:, None])
    np.testing.assert_array_equal(column.predict(BATCH), one.predict(BATCH))


@pytest.mark.parametrize("how", [{"kernel": "linear"}, {"max_exact": 10}])
def test_several_targets_are_not_for_all(how):
    with pytest.raises(ParameterError, match="fit one model for each column"):
        spelling.regressor(**how).fit(BATCH, np.ones((60, 2)))
    with pytest.raises(ParameterError, match="one finite number"):
        gv.RandomWalkRegressor().fit(BATCH, np.full((60, 2), np.nan))


def test_steps_beyond_what_can_be_factored_are_taken_back():
    """A likelihood that cannot be computed everywhere: its maximum is found all the same."""

    class Cliff:
        noise_bounds = (-7.0, 3.0)
        n_failed = 0

        def evaluate(self, log_mu, log_noise):
            if log_mu[0] > 1.0:
                self.n_failed += 1
                raise ConvergenceError("not positive definite")
            distance = np.append(log_mu - 0.9, log_noise + 1.0)
            return -50.0 * float(distance @ distance) - 1.0, -100.0 * distance

    cliff = Cliff()
    log_mu, log_noise, curve = maximise_likelihood(cliff, np.array([-3.0, 0.0]), 0.0, 100)
    np.testing.assert_allclose(np.append(log_mu, log_noise), [0.9, 0.9, -1.0], atol=1e-3)
    assert cliff.n_failed > 0
    assert curve[-1] == pytest.approx(-1.0)
    with pytest.raises(ConvergenceError):
        maximise_likelihood(cliff, np.array([2.0, 0.0]), 0.0, 100)
