"""What is kept of scikit-learn's trained models: a few arrays, which a file can hold and any version can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

__all__ = ["Logistic", "SupportVectors"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SupportVectors:
    """A trained support vector machine: one decision for each pair of classes, and votes over several."""

    places: NDArray[np.int64]  # (n_vectors,), among the fitted graphs, class by class
    counts: NDArray[np.int64]  # (n_classes,), how many there are of each class
    weights: Array  # (n_classes - 1, n_vectors)
    intercepts: Array  # (n_pairs,)

    @classmethod
    def of(cls, svc: Any) -> SupportVectors:
        """Of scikit-learn's SVC with a precomputed kernel."""
        places, counts = svc.support_.astype(np.int64), svc.n_support_.astype(np.int64)
        return cls(places, counts, svc.dual_coef_.copy(), svc.intercept_.copy())

    def decide(self, K: Array) -> Array:
        """Confidence by kernel values with the fitted graphs: for the second class, or for each of several."""
        K = K[:, self.places]
        if len(self.counts) == 2:
            return np.asarray(K @ self.weights[0] + self.intercepts[0])
        return self._vote([K @ weights + shift for weights, shift in zip(self._pairs(), self.intercepts, strict=True)])

    def _pairs(self) -> list[Array]:
        """Weights of all vectors in the decision between classes i and j, for i < j."""
        of = np.repeat(np.arange(len(self.counts)), self.counts)
        first, second = np.triu_indices(len(self.counts), 1)
        return [
            np.where(of == i, self.weights[j - 1], 0.0) + np.where(of == j, self.weights[i], 0.0)
            for i, j in zip(first, second, strict=True)
        ]

    def _vote(self, decisions: list[Array]) -> Array:
        """One vote per pair of classes, and sums of decisions where votes are equal."""
        shape = (len(decisions[0]), len(self.counts))
        votes, sums = np.zeros(shape), np.zeros(shape)
        for i, j, decision in zip(*np.triu_indices(len(self.counts), 1), decisions, strict=True):
            sums[:, i] += decision
            sums[:, j] -= decision
            votes[:, i] += decision >= 0
            votes[:, j] += decision < 0
        return votes + sums / (3.0 * (np.abs(sums) + 1.0))  # a share below one half, which changes no vote


@dataclass(frozen=True)
class Logistic:
    """A trained logistic model: linear decisions, and the probabilities that they stand for."""

    weights: Array  # (1 or n_classes, n_features)
    intercepts: Array  # (1 or n_classes,)
    one_by_one: bool  # whether each class was trained against all others, so that their probabilities are normalised

    @classmethod
    def of(cls, model: Any, one_by_one: bool = False) -> Logistic:
        """Of scikit-learn's LogisticRegression, or its SGDClassifier with the same loss, which trains one by one."""
        return cls(model.coef_.astype(np.float64), model.intercept_.astype(np.float64), one_by_one)

    def decide(self, X: Array) -> Array:
        """For the second class, (n_graphs,), or for each of several, (n_graphs, n_classes)."""
        decisions = X @ self.weights.T + self.intercepts
        return np.asarray(decisions[:, 0] if len(self.weights) == 1 else decisions)

    def probabilities(self, X: Array) -> Array:
        """(n_graphs, n_classes)."""
        decisions = self.decide(X)
        if decisions.ndim == 1:
            return np.column_stack([expit(-decisions), expit(decisions)])
        if not self.one_by_one:
            return np.asarray(softmax(decisions, axis=1))
        shares = expit(decisions)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))
