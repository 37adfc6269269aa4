"""learn_series: every objective reaches its optimum, and the result is a series like any other."""

import numpy as np
import pytest
from sklearn.svm import SVC

import gvoys as gv
from gvoys.errors import GvoysError
from gvoys.estimators import learned_series as module
from gvoys.kernels.blocks import WalkBlocks, walks_on

BATCH = gv.datasets.molecules(80, mean_nodes=12, random_state=8)
Y = (BATCH.graph_sizes > np.median(BATCH.graph_sizes)).astype(int)
THREE = (BATCH.graph_sizes > 8).astype(int) + (BATCH.graph_sizes > 14)
OBJECTIVES = ("svm", "layer", "alignment", "likelihood")


def two_grams():
    blocks, held = WalkBlocks.fitted(BATCH, walks_on(BATCH, gv.Walk(1, None, start="ones", stop="ones"), 0))
    return blocks.grams(held)[:2] + 0.01 * np.eye(len(BATCH))


def one_hot(y):
    return np.eye(y.max() + 1)[y]


def dual_value(K, y, C):
    machine = SVC(kernel="precomputed", C=C, tol=1e-6).fit(K, y)
    a = machine.dual_coef_[0]
    return np.abs(a).sum() - 0.5 * a @ K[np.ix_(machine.support_, machine.support_)] @ a


def test_the_svm_reaches_the_minimum_over_the_simplex():
    grams = two_grams()
    weights, curve = module._by_svm(grams, one_hot(Y), 1.0, 200)
    assert np.all(np.diff(curve) < 0)
    best = min(dual_value(t * grams[0] + (1 - t) * grams[1], Y, 1.0) for t in np.linspace(0, 1, 201))
    assert curve[-1] <= best * (1 + 2e-3)
    assert weights.sum() == pytest.approx(1)


def test_the_alignment_is_the_best_of_all_weights():
    grams = two_grams()
    weights, (alignment,) = module._by_alignment(grams, one_hot(Y), 1.0, 1)
    target = module._centred(one_hot(Y) @ one_hot(Y).T)

    def aligned(w):
        K = module._centred(np.tensordot(w, grams, axes=1))
        return (K * target).sum() / np.linalg.norm(K) / np.linalg.norm(target)

    assert alignment == pytest.approx(aligned(weights), rel=1e-9)
    assert alignment >= max(aligned((t, 1 - t)) for t in np.linspace(0, 1, 101)) - 1e-6


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("labels", [None, "node"])
def test_every_objective_gives_a_series(objective, labels):
    y = BATCH.graph_sizes if objective == "likelihood" else Y
    series = gv.learn_series(BATCH, y, objective, walk=gv.Walk(4, labels), max_iterations=60)
    assert isinstance(series, gv.Coefficients)
    assert len(series.mu) == 5
    assert min(series.mu) >= 0
    assert sum(series.shares) == pytest.approx(1)
    assert series.objective == objective
    better = np.diff(series.curve)
    assert series.curve[-1] >= series.curve[0] if objective == "likelihood" else (better <= 0).all() or len(better) > 50
    K = gv.RandomWalkKernel(series, gv.Walk(4, labels=labels, start="ones", stop="ones")).fit_transform(BATCH)
    assert np.linalg.eigvalsh(K).min() > -1e-9 * K.trace()


def test_shares_are_those_of_the_trace():
    series = gv.learn_series(BATCH, Y, "layer", walk=gv.Walk(3, labels=None))
    assert len(series.curve) == 200
    assert series.curve[-1] < 0.6 * series.curve[0] == pytest.approx(0.6 * np.log(2))
    P = gv.profiles(BATCH, gv.Walk(3), method="moments")[:, :, 0]
    parts = np.array(series.mu) * (P**2).mean(axis=0)
    np.testing.assert_allclose(parts / parts.sum(), series.shares, rtol=1e-9)


@pytest.mark.parametrize(
    ("y", "objective", "message"),
    [
        (Y, "magic", "there is no objective 'magic'"),
        (Y[:5], "svm", "one target for each of the 80 graphs"),
        (np.zeros(80), "svm", "all graphs are of one class"),
        (np.full(80, np.inf), "likelihood", "finite real targets"),
    ],
)
def test_refusals(y, objective, message):
    with pytest.raises(GvoysError, match=message):
        gv.learn_series(BATCH, y, objective)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("method", ["sequences", "sketch"])
def test_every_round_of_refinement_has_coefficients_of_its_own(objective, method):
    y, walk = (
        BATCH.graph_sizes if objective == "likelihood" else Y,
        gv.Walk(2, "node", refine=1, start="ones", stop="ones"),
    )
    series = gv.learn_series(BATCH, y, objective, walk=walk, max_iterations=20)
    assert np.shape(series.rounds) == np.shape(series.shares) == (2, 3)
    assert series.mu == tuple(np.sum(series.rounds, axis=0))
    K = gv.RandomWalkKernel(series, walk, method, n_components=256).fit_transform(BATCH)
    # the rounds by kernels of their own: round 0, and both with mu = 1 less it
    parts = []
    for length in range(3):
        unit = gv.Coefficients(np.eye(3)[length])
        first, both = (
            gv.RandomWalkKernel(unit, walk.set_params(refine=refine), method, n_components=256).fit_transform(BATCH)
            for refine in (0, 1)
        )
        parts += [series.rounds[0][length] * first, series.rounds[1][length] * (both - first)]
    np.testing.assert_allclose(K, sum(parts), rtol=1e-4 if method == "sketch" else 1e-10, atol=1e-5 * K.max())


def test_a_series_by_round_belongs_with_its_rounds():
    series = gv.Coefficients([[1.0, 0.5], [0.25, 0.0]])
    features = gv.RandomWalkFeatures(series, gv.Walk(1, refine=1), n_components=128).fit_transform(BATCH)
    wide = gv.RandomWalkFeatures(gv.Coefficients([1, 1]), gv.Walk(1, refine=1), n_components=128).fit_transform(BATCH)
    ratios = np.repeat(np.sqrt([1.0, 0.25, 0.5, 0.0]), 128)  # by length, then by round
    np.testing.assert_allclose(features, wide * ratios, rtol=1e-6)
    for refused in (
        lambda: gv.RandomWalkKernel(series, gv.Walk(1)).fit(BATCH),
        lambda: gv.RandomWalkKernel(series, gv.Walk(1, refine=2)).fit(BATCH),
        lambda: gv.exact_kernel(BATCH[0], BATCH[1], series),
        lambda: gv.compute_gram(np.ones((2, 2, 1)), series),
    ):
        with pytest.raises(
            GvoysError, match=r"coefficients for Weisfeiler–Lehman iterations 0 to 1, .*; use it with refine=1"
        ):
            refused()
