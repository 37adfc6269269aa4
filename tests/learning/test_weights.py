"""Weights of graphs: k is the graph k times where that is so by the mathematics, 1 changes no bit, 0 leaves it out."""

import numpy as np
import pytest
import sklearn
import spelling
from scipy.stats import multivariate_normal
from sklearn.model_selection import GridSearchCV, cross_val_score

import gvoys as gv
from gvoys.errors import ParameterError
from gvoys.kernels.gaussian import BlockGrams, FeatureMoments

BATCH = gv.datasets.molecules(60, mean_nodes=10, random_state=4)
NEW = gv.datasets.molecules(15, mean_nodes=10, random_state=5)
RNG = np.random.default_rng(1)
Y = np.where(BATCH.graph_sizes + RNG.normal(size=60) > np.median(BATCH.graph_sizes), "large", "small")
NUMBERS = BATCH.graph_sizes + RNG.normal(size=60)
TIMES = RNG.integers(1, 4, size=60)
REPEATED = np.repeat(np.arange(60), TIMES)


def classifier(**how):
    return spelling.classifier(**{"refine": 1, "C": 1.0, "kernel": "matern12"} | how)


def regressor(**how):
    return spelling.regressor(2, **{"kernel": "linear", "max_iterations": 0} | how)


LEARNERS = {
    "classifier": (classifier(), Y),
    "chosen": (classifier(C="auto", kernel="auto"), Y),
    "landmarks": (classifier(max_exact=10), Y),
    "regressor": (regressor(max_iterations=5), NUMBERS),
    "features": (regressor(max_iterations=5, max_exact=10, n_components=60), NUMBERS),
}
every = pytest.mark.parametrize(("model", "y"), LEARNERS.values(), ids=LEARNERS)


def answers(model, graphs=NEW):
    if isinstance(model, gv.RandomWalkRegressor):
        return np.column_stack(model.predict(graphs, return_std=True))
    return np.column_stack([model.decision_function(graphs), model.predict_proba(graphs)])


@every
def test_ones_change_no_bit_and_others_do(model, y):
    expected = answers(model.fit(BATCH, y))
    for ones in (np.ones(60), [1] * 60, np.ones(60, bool)):
        np.testing.assert_array_equal(answers(model.fit(BATCH, y, sample_weight=ones)), expected)
    for other in (TIMES, np.full(60, 2.0)):
        assert np.abs(answers(model.fit(BATCH, y, sample_weight=other)) - expected).max() > 1e-4


@every
def test_graphs_of_weight_zero_are_not_there(model, y):
    weights = (np.arange(60) % 3 > 0).astype(float)
    expected = model.fit(BATCH[weights > 0], y[weights > 0]).predict_table(NEW)
    found = model.fit(BATCH, y, sample_weight=weights).predict_table(NEW)
    assert found.keys() == expected.keys()
    for name in found:
        wanted = np.flatnonzero(weights)[expected[name]] if name == "nearest" else expected[name]
        np.testing.assert_array_equal(found[name], wanted)
    if "nearest" in found:  # numbers are those of the graphs that were given, also after an own graph is asked for
        np.testing.assert_array_equal(model.predict_table(BATCH[weights > 0])["nearest"][:1], [1])
    np.testing.assert_array_equal(
        model.fit(BATCH, y).predict_table(BATCH[:5]).get("nearest", np.arange(5)), np.arange(5)
    )


@pytest.mark.parametrize("max_exact", [100, 10], ids=["grams", "features"])
def test_a_process_with_weights_is_that_of_repeated_graphs(max_exact):
    """k measurements of noise s with mean y say as much as y once, of noise s / k."""
    model = regressor(max_exact=max_exact, n_components=60)
    found = answers(model.fit(BATCH, NUMBERS, sample_weight=TIMES))
    repeated = regressor(max_exact=max(max_exact, 200) if max_exact == 100 else 10, n_components=60)
    expected = answers(repeated.fit(BATCH[REPEATED], NUMBERS[REPEATED]))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert np.abs(found - answers(model.fit(BATCH, NUMBERS))).max() > 1e-2


def in_pieces(X, y, blocks, w):
    """The moments of two pieces, merged."""
    pieces = [FeatureMoments.empty(blocks) for _ in range(2)]
    for piece, rows in zip(pieces, (slice(0, 11), slice(11, 30)), strict=True):
        piece.add(X[rows], y[rows], w[rows])
    return pieces[0].merged(pieces[1])


def test_likelihoods_with_weights():
    """Of the density of y with covariance K + noise / w, by both ways, and with gradients that fit."""
    X, y, blocks = RNG.normal(size=(30, 5)), RNG.normal(size=30), np.array([0, 0, 1, 1, 1])
    w, log_mu, log_noise = RNG.uniform(0.2, 5, size=30), np.array([0.3, -0.5]), -0.7
    parts = np.array([X[:, blocks == b] @ X[:, blocks == b].T for b in (0, 1)])
    moments = in_pieces(X, y, blocks, w)
    K = np.tensordot(np.exp(log_mu), parts, axes=1) + np.diag(np.exp(log_noise) / w)
    expected = multivariate_normal(np.zeros(30), K).logpdf(y)
    for way in (BlockGrams(parts, y, w), moments):
        value, gradient = way.evaluate(log_mu, log_noise)
        assert value == pytest.approx(expected, rel=1e-9)
        for i in range(3):
            step = 1e-6 * np.eye(3)[i]
            above, below = (way.evaluate(log_mu + s * step[:2], log_noise + s * step[2])[0] for s in (1, -1))
            assert gradient[i] == pytest.approx((above - below) / 2e-6, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("max_exact", [100, 10], ids=["svc", "logistic"])
def test_the_same_weight_for_all_scales_C(max_exact):
    how = {"max_exact": max_exact, "kernel": "linear"}
    found = classifier(C=1.0, **how).fit(BATCH, Y, sample_weight=np.full(60, 3.0)).decision_function(NEW)
    expected = classifier(C=3.0, **how).fit(BATCH, Y).decision_function(NEW)
    np.testing.assert_allclose(found, expected, atol=2e-3)
    assert np.abs(found - classifier(C=1.0, **how).fit(BATCH, Y).decision_function(NEW)).max() > 0.02


def test_pieces_have_weights():
    def fitted(weights):
        model = classifier(kernel="linear")
        for rows in (slice(0, 30), slice(30, 60)):
            own = None if weights is None else weights[rows]
            model.partial_fit(BATCH[rows], Y[rows], classes=["large", "small"], sample_weight=own)
        return model.decision_function(NEW)

    np.testing.assert_array_equal(fitted(np.ones(60)), fitted(None))
    towards = fitted(np.where(Y == "small", 10.0, 0.1))
    assert towards.mean() > fitted(None).mean() + 1
    model = classifier(kernel="linear")
    model.partial_fit(BATCH, Y, ["large", "small"], sample_weight=np.arange(60) % 2)
    alone = classifier(kernel="linear").partial_fit(BATCH[1::2], Y[1::2], ["large", "small"])
    np.testing.assert_array_equal(model.decision_function(NEW), alone.decision_function(NEW))


@every
@pytest.mark.parametrize(
    "weights",
    [np.ones(59), np.ones((60, 1)), -np.ones(60), np.full(60, np.nan), np.full(60, np.inf), ["much"] * 60, 2.0],
    ids=["few", "column", "negative", "nan", "inf", "words", "one"],
)
def test_refusals(model, y, weights):
    with pytest.raises(ParameterError, match="sample_weight must hold one finite number of at least 0 for each of the"):
        model.fit(BATCH, y, sample_weight=weights)


@pytest.mark.parametrize(
    ("name", "weights", "message"),
    [
        ("classifier", np.zeros(60), "sample_weight is 0 for every graph"),
        ("classifier", Y == "large", "all graphs of class 'small' have weight 0; leave them out"),
        ("regressor", np.arange(60) == 3, "two graphs or more are needed"),
    ],
)
def test_nothing_left(name, weights, message):
    model, y = LEARNERS[name]
    with pytest.raises(ParameterError, match=message):
        model.fit(BATCH, y, sample_weight=weights)


@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_scikit_learn_routes_them(name):
    model, y = LEARNERS[name]
    weights = (np.arange(60) % 3 > 0).astype(float)
    search = GridSearchCV(model, {"walk__max_length": [1, 2]}, cv=3).fit(BATCH, y, sample_weight=weights)
    np.testing.assert_array_equal(search.best_estimator_.kept_, np.flatnonzero(weights))
    with sklearn.config_context(enable_metadata_routing=True):
        asking = type(model)(**model.get_params(deep=False)).set_fit_request(sample_weight=True)
        asking.set_score_request(sample_weight=False)
        scores = cross_val_score(asking, BATCH, y, cv=3, params={"sample_weight": weights})
        assert np.isfinite(scores).all()
        plain = cross_val_score(asking, BATCH, y, cv=3, params={"sample_weight": np.ones(60)})
        assert not np.array_equal(scores, plain)
