"""Methods that are evaluated: a learner, or a baseline on the same graphs and folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import average_precision_score, roc_auc_score

from gvoys.errors import InputWarning
from gvoys.estimators.regressor import TWO_SIDED
from gvoys.graphs.batch import GraphBatch


@dataclass(frozen=True)
class Prediction:
    """Predictions of a method for some graphs.

    Parameters
    ----------
    values : ndarray of shape (n_graphs,)
        Classes or numbers.
    scores : ndarray of shape (n_graphs, n_classes) or None, default=None
        Probability or confidence for each of all classes.
    deviation : ndarray of shape (n_graphs,) or None, default=None
        Standard deviation of each number.
    similarity : ndarray of shape (n_graphs,) or None, default=None
        Similarity to the nearest graph that was learned from.
    """

    values: NDArray[Any]
    scores: NDArray[np.float64] | None = None
    deviation: NDArray[np.float64] | None = None
    similarity: NDArray[np.float64] | None = None


Predict = Callable[[NDArray[np.int64]], Prediction]


class Method(Protocol):
    """Learns from some of the graphs it was made for, and predicts others of them."""

    def fit(self, train: NDArray[np.int64]) -> Predict:
        """Learn from the graphs at some places; the result predicts those at others."""


@contextmanager
def _at_ease() -> Iterator[None]:
    """Silence warnings about labels or classes that a fold happens to lack."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        yield


@dataclass
class LearnerMethod:
    """A learner of gvoys, such as `RandomWalkClassifier`.

    Parameters
    ----------
    model : estimator
        The learner, which is cloned.
    batch : GraphBatch
        All graphs.
    y : ndarray of shape (n_graphs,)
        Their targets.
    classes : ndarray of shape (n_classes,) or None
        All classes; None for numbers.
    keep : callable or None, default=None
        What to keep of every fitted model, which may be large; None keeps nothing.
    kept : list
        What was kept so far.
    """

    model: Any
    batch: GraphBatch
    y: NDArray[Any]
    classes: NDArray[Any] | None
    keep: Callable[[Any], Any] | None = None
    kept: list[Any] = field(default_factory=list)

    def fit(self, train: NDArray[np.int64]) -> Predict:
        """Fit a clone."""
        with _at_ease():
            fitted = clone(self.model).fit(self.batch[train], self.y[train])
        if self.keep is not None:
            self.kept.append(self.keep(fitted))
        return lambda test: self._predict(fitted, test)

    def _predict(self, fitted: Any, test: NDArray[np.int64]) -> Prediction:
        with _at_ease():
            table = fitted.predict_table(self.batch[test])
        similarity = table.get("similarity")
        if self.classes is None:
            return Prediction(table["prediction"], None, table["deviation"], similarity)
        known = [table.get(f"probability {name}") for name in self.classes.tolist()]
        if all(score is None for score in known):
            return Prediction(table["prediction"], similarity=similarity)
        nothing = np.zeros(len(test))  # of a class that no training graph had
        scores = np.column_stack([nothing if score is None else score for score in known])
        return Prediction(table["prediction"], scores, similarity=similarity)


def measure(truth: NDArray[Any], found: Prediction, classes: NDArray[Any] | None) -> dict[str, float]:
    """Measure the predictions of one fold; the first measure is the one that methods are compared by."""
    return _numbers(truth, found) if classes is None else _of_classes(truth, found, classes)


def _numbers(truth: NDArray[Any], found: Prediction) -> dict[str, float]:
    error = found.values - truth
    spread = float(((truth - truth.mean()) ** 2).mean())
    inside = np.nan if found.deviation is None else np.mean(np.abs(error) <= TWO_SIDED * found.deviation)
    return {
        "RMSE": float(np.sqrt(np.mean(error**2))),
        "MAE": float(np.abs(error).mean()),
        "R2": 1.0 - float(np.mean(error**2)) / spread if spread else np.nan,
        "coverage": float(inside),
    }


def _of_classes(truth: NDArray[Any], found: Prediction, classes: NDArray[Any]) -> dict[str, float]:
    recalls = [np.mean(found.values[truth == name] == name) for name in np.unique(truth)]
    return {
        "accuracy": float(np.mean(found.values == truth)),
        "balanced accuracy": float(np.mean(recalls)),
        "ROC-AUC": _by_class(roc_auc_score, truth, found.scores, classes),
        "PR-AUC": _by_class(average_precision_score, truth, found.scores, classes),
    }


def _by_class(score: Any, truth: NDArray[Any], scores: NDArray[Any] | None, classes: NDArray[Any]) -> float:
    """Score the second of two classes, or average over the classes that occur in this fold."""
    if scores is None:
        return np.nan
    codes = [1] if len(classes) == 2 else range(len(classes))
    sides = [(truth == classes[code], scores[:, code]) for code in codes]
    result = [score(is_it, values) for is_it, values in sides if is_it.any() and not is_it.all()]
    return float(np.mean(result)) if result else np.nan
