"""Support vector machines decide as scikit-learn's do, and what is kept of its models as they do."""

import numpy as np
import pytest
from sklearn.svm import SVC

from gvoys.kernels.machines import train
from gvoys.kernels.targets import Targets

TIGHT = 1e-9


def points(n_classes, n=120):
    rng = np.random.default_rng(n_classes)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, 4)) + rng.normal(size=(n_classes, 4))[y], y


def gram(X, kind="gaussian"):
    """Rounded to float32, in which machines are trained."""
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K = {"gaussian": np.exp(-squares / 4), "matern": np.exp(-np.sqrt(squares)), "linear": X @ X.T}[kind]
    return K.astype(np.float32).astype(float)


@pytest.mark.parametrize("kind", ["gaussian", "matern", "linear"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_decisions_are_scikit_learns(n_classes, kind):
    X, y = points(n_classes)
    K, rows = gram(X, kind), np.random.default_rng(0).permutation(120)[:80]
    rest = np.setdiff1d(np.arange(120), rows)
    Cs = (0.1, 3.0, 50.0)
    for C, machine in zip(Cs, train(K, rows, Targets(y), Cs, tolerance=TIGHT), strict=True):
        svc = SVC(kernel="precomputed", C=C, tol=TIGHT).fit(K[np.ix_(rows, rows)], y[rows])
        found = machine.decide(K[rest])
        np.testing.assert_allclose(found, svc.decision_function(K[np.ix_(rest, rows)]), atol=2e-5)
        assert set(machine.places.tolist()) == set(rows[svc.support_].tolist())


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 4.0}])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_scikit_learns(class_weight, weighted):
    X, y = points(3)
    y = np.where(np.arange(120) < 60, 0, y)  # classes of different sizes
    K, rows = gram(X), np.arange(120)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, size=120) if weighted else None
    [machine] = train(K, rows, Targets(y, weights), (2.0,), class_weight, tolerance=TIGHT)
    of_classes, of_graphs = Targets(y, weights).balanced(class_weight)
    svc = SVC(kernel="precomputed", C=2.0, tol=TIGHT, class_weight=of_classes).fit(K, y, sample_weight=of_graphs)
    np.testing.assert_allclose(machine.decide(K), svc.decision_function(K), atol=2e-5)


def test_a_matrix_that_rounding_made_indefinite():
    X, y = points(2, 40)
    K = gram(np.concatenate([X, X]))
    K += 1e-7 * np.random.default_rng(3).normal(size=K.shape)
    [machine] = train((K + K.T) / 2, np.arange(80), Targets(np.concatenate([y, 1 - y])), (100.0,))
    assert np.isfinite(machine.decide(K)).all()
