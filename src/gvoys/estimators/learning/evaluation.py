"""Nested cross-validation of learners on graphs: scores, times and predictions, fold by fold."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold

from gvoys.errors import InputWarning, ParameterError
from gvoys.graphs.batch import GraphBatch

__all__ = ["Evaluation", "evaluate_folds", "fold_splits"]


@dataclass
class Evaluation:
    """What came out of all folds and seeds; scores are accuracies, or root mean square errors for real targets."""

    classify: bool
    scores: list[list[float]] = field(default_factory=list)  # by seed and fold
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    truth: list[Any] = field(default_factory=list)
    predicted: list[Any] = field(default_factory=list)
    models: list[Any] = field(default_factory=list)  # of the first seed

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def deviation(self) -> float:
        """Over folds, averaged over seeds."""
        return float(np.mean(np.std(self.scores, axis=1)))


def evaluate_folds(
    model: Any,
    batch: GraphBatch,
    y: NDArray[Any],
    n_folds: int = 10,
    seeds: tuple[int, ...] = (0,),
    progress: Callable[[Iterator[Any], int], Any] | None = None,
) -> Evaluation:
    """Fit a clone of `model` on all folds but one, score it on that one; for every seed of the split."""
    classify = is_classifier(model)
    result = Evaluation(classify)
    smallest = int(np.unique(y, return_counts=True)[1].min()) if classify else len(y)
    if not 2 <= n_folds <= smallest:
        what = f"the smallest class has {smallest} graphs" if classify else f"there are {smallest} graphs"
        raise ParameterError(f"folds must lie between 2 and {max(smallest, 2)}, since {what}, not {n_folds}")
    splits = [(seed, split) for seed in seeds for split in fold_splits(classify, y, n_folds, seed)]
    for index, (seed, (train, test)) in enumerate(progress(iter(splits), len(splits)) if progress else splits):
        if index % n_folds == 0:
            result.scores.append([])
        fitted, predicted = _one_fold(clone(model), batch, y, train, test, result)
        good = np.mean(predicted == y[test]) if classify else np.sqrt(np.mean((predicted - y[test]) ** 2))
        result.scores[-1].append(float(good))
        result.truth += y[test].tolist()
        result.predicted += predicted.tolist()
        if seed == seeds[0]:
            result.models.append(fitted)
    return result


def _one_fold(model: Any, batch: GraphBatch, y: NDArray[Any], train: Any, test: Any, result: Evaluation) -> Any:
    begin = time.perf_counter()
    with warnings.catch_warnings():  # that a fold lacks the rare labels of another is no mistake of the user
        warnings.simplefilter("ignore", InputWarning)
        model.fit(batch[train], y[train])
        middle = time.perf_counter()
        predicted = model.predict(batch[test])
    result.fit_seconds += middle - begin
    result.predict_seconds += time.perf_counter() - middle
    return model, predicted


def fold_splits(classify: bool, y: NDArray[Any], n_folds: int, seed: int) -> list[Any]:
    """(train, test) of every fold; each has its share of every class."""
    folds = StratifiedKFold if classify else KFold
    return list(folds(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))
