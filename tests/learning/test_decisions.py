"""What is kept of scikit-learn's models decides as they do."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import SVC

from gvoys.estimators.learning.decisions import Logistic, SupportVectors


def points(n_classes, n=120):
    rng = np.random.default_rng(n_classes)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, 4)) + rng.normal(size=(n_classes, 4))[y], y


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_support_vectors(n_classes):
    X, y = points(n_classes)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 4)
    svc = SVC(kernel="precomputed", C=3.0).fit(K[:80, :80], y[:80])
    found = SupportVectors.of(svc).decide(K[80:, :80])
    np.testing.assert_allclose(found, svc.decision_function(K[80:, :80]), rtol=1e-10, atol=1e-12)
    chosen = found.argmax(axis=1) if n_classes > 2 else found > 0
    assert len(np.unique(chosen)) == n_classes


def test_classes_with_different_numbers_of_vectors():
    X, y = points(4)
    y[:60] = 0
    K = X @ X.T
    svc = SVC(kernel="precomputed", C=0.1).fit(K, y)
    assert len(set(svc.n_support_)) > 1
    np.testing.assert_allclose(SupportVectors.of(svc).decide(K), svc.decision_function(K), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("one_by_one", [False, True])
def test_logistic(n_classes, one_by_one):
    X, y = points(n_classes)
    model = SGDClassifier(loss="log_loss", random_state=0) if one_by_one else LogisticRegression()
    kept = Logistic.of(model.fit(X, y), one_by_one)
    np.testing.assert_allclose(kept.decide(X), model.decision_function(X), rtol=1e-12)
    np.testing.assert_allclose(kept.probabilities(X), model.predict_proba(X), rtol=1e-10, atol=1e-14)
