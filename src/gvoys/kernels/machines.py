"""Training of support vector machines on a Gram matrix.

Why not scikit-learn's: it takes 1.2 ms for 135 graphs, of which 0.8 ms are checks and copies, and Python's lock for as
long; this takes 0.1 ms, goes on from one C to the next, and leaves the lock to other threads. Tests hold its decisions
to scikit-learn's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from gvoys._compiled.cpu.support_vectors import train_machines
from gvoys.kernels.targets import Targets

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SupportVectors:
    """A trained support vector machine: one decision for each pair of classes, and votes over several."""

    places: NDArray[np.int64]  # (n_vectors,), among the fitted graphs
    weights: Array  # (n_pairs, n_vectors), for classes i and j, i < j
    intercepts: Array  # (n_pairs,)
    n_classes: int

    def decide(self, K: Array) -> Array:
        """Confidence by kernel values with the fitted graphs: for the second class, or for each of several."""
        decisions = K[:, self.places] @ self.weights.T + self.intercepts
        return -decisions[:, 0] if self.n_classes == 2 else self._vote(decisions)

    def by_class(self, n_fitted: int) -> tuple[Array, Array]:
        """Weights of the fitted graphs, (n_classes, n_fitted), and intercepts: decisions against all other classes."""
        signs = np.zeros((self.n_classes, len(self.weights)))
        for pair, (i, j) in enumerate(zip(*np.triu_indices(self.n_classes, 1), strict=True)):
            signs[i, pair], signs[j, pair] = 1.0, -1.0
        weights = np.zeros((self.n_classes, n_fitted))
        weights[:, self.places] = signs @ self.weights
        return weights, signs @ self.intercepts

    def _vote(self, decisions: Array) -> Array:
        """One vote per pair of classes, and sums of decisions where votes are equal."""
        votes, sums = np.zeros((2, len(decisions), self.n_classes))
        for i, j, decision in zip(*np.triu_indices(self.n_classes, 1), decisions.T, strict=True):
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
        """Convert scikit-learn's LogisticRegression, or its SGDClassifier with the same loss."""
        return cls(model.coef_.astype(np.float64), model.intercept_.astype(np.float64), one_by_one)

    def by_class(self) -> tuple[Array, Array]:
        """Weights of the features, (n_classes, n_features), and intercepts."""
        if len(self.weights) > 1:
            return self.weights, self.intercepts
        return np.concatenate([-self.weights, self.weights]), np.concatenate([-self.intercepts, self.intercepts])

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


EXACT, ROUGH = 1e-3, 1e-2  # tolerances of the conditions of optimality: libsvm's, and for comparisons


def train(
    K: Array,
    rows: NDArray[np.int64],
    targets: Targets,
    Cs: Sequence[float],
    class_weight: Any = None,
    tolerance: float = EXACT,
) -> list[SupportVectors]:
    """Train one machine for each C on some graphs."""
    known = targets.take(rows)
    classes, codes = np.unique(known.codes, return_inverse=True)
    bounds = np.outer(np.asarray(Cs, np.float64), known.graph_weights(class_weight))
    pairs = combinations(range(len(classes)), 2)
    result = [_train_pair(K, rows, codes, pair, bounds, tolerance) for pair in pairs]
    of_each = ([(weights[c], intercepts[c]) for weights, intercepts in result] for c in range(len(Cs)))
    return [_collected(rows, summary, len(classes)) for summary in of_each]


def _train_pair(
    K: Array, rows: NDArray[np.int64], codes: NDArray[Any], pair: tuple[int, int], bounds: Array, tolerance: float
) -> tuple[Array, Array]:
    """Weights of all `rows`, zero for other classes, and intercepts, for each C."""
    subset = np.flatnonzero((codes == pair[0]) | (codes == pair[1]))
    signs = np.where(codes[subset] == pair[0], 1.0, -1.0)
    result, intercepts = train_machines(K, rows[subset], signs, np.ascontiguousarray(bounds[:, subset]), tolerance)
    weights = np.zeros(bounds.shape)
    weights[:, subset] = result
    return weights, intercepts


def _collected(rows: NDArray[np.int64], pairs: list[tuple[Array, Any]], n_classes: int) -> SupportVectors:
    weights = np.array([weights for weights, _ in pairs])
    used = weights.any(axis=0)
    return SupportVectors(rows[used], weights[:, used], np.array([intercept for _, intercept in pairs]), n_classes)
