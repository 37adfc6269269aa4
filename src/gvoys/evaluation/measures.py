"""Measures of predictions, fold by fold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from gvoys.estimators.regressor import TWO_SIDED
from gvoys.evaluation.methods import Prediction


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
