"""Cross-validation of several methods on the same folds, and whether they differ by more than noise."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from gvoys.apps.evaluation.folds import Fold
from gvoys.apps.evaluation.measures import Method, Prediction, measure
from gvoys.kernels.selection import corrected_error

Progress = Callable[[list[tuple[Fold, str]]], Iterable[tuple[Fold, str]]]


@dataclass
class Result:
    """Results of one method.

    Parameters
    ----------
    predictions : list of Prediction
        Of the test graphs of every fold.
    measures : list of dict
        The measures of every fold, by name.
    fit_seconds, predict_seconds : float
        Over all folds.
    """

    predictions: list[Prediction] = field(default_factory=list)
    measures: list[dict[str, float]] = field(default_factory=list)
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0

    def values(self, name: str) -> NDArray[np.float64]:
        """One measure of every fold.

        Parameters
        ----------
        name : str
            Name of the measure.

        Returns
        -------
        ndarray of shape (n_folds,)
            nan where it is not defined.
        """
        return np.array([measures[name] for measures in self.measures])


@dataclass(frozen=True)
class Difference:
    """Difference between two methods.

    Parameters
    ----------
    mean : float
        Over all folds; positive where the first is better.
    error : float
        Its standard error, corrected for training sets that overlap.
    p : float
        Probability of a difference as large as this between two methods that are equally good.
    """

    mean: float
    error: float
    p: float

    @property
    def is_noise(self) -> bool:
        """Whether the difference may well be noise: p is not below 5 %."""
        return not self.p < 0.05


@dataclass
class Evaluation:
    """Results of all methods on all folds.

    Parameters
    ----------
    y : ndarray of shape (n_graphs,)
        The targets.
    classes : ndarray of shape (n_classes,) or None
        All classes; None for numbers.
    folds : list of Fold
        The folds.
    results : dict of str to Result
        By name of the method; the first is the one that others are compared with.
    """

    y: NDArray[Any]
    classes: NDArray[Any] | None
    folds: list[Fold]
    results: dict[str, Result]

    @property
    def score(self) -> str:
        """The measure that methods are compared by."""
        return "RMSE" if self.classes is None else "accuracy"

    def scores(self, method: str | None = None) -> NDArray[np.float64]:
        """Scores of the first or another method, fold by fold.

        Parameters
        ----------
        method : str or None, default=None
            Name of the method.

        Returns
        -------
        ndarray of shape (n_seeds, n_folds)
            By split and fold.
        """
        result = self.results[method or next(iter(self.results))]
        return result.values(self.score).reshape(len({fold.seed for fold in self.folds}), -1)

    @property
    def mean(self) -> float:
        """Mean score of the first method."""
        return float(self.scores().mean())

    @property
    def deviation(self) -> float:
        """Deviation of the first method's scores over folds, averaged over seeds."""
        return float(self.scores().std(axis=1).mean())

    def difference(self, method: str) -> Difference:
        """Compare the first method with another by a paired t-test over folds.

        Training sets overlap, so that folds are not independent: the variance is Nadeau and Bengio's (2003).

        Parameters
        ----------
        method : str
            Name of the other.

        Returns
        -------
        Difference
            Mean, standard error and p-value.
        """
        ahead = (self.scores() - self.scores(method)).ravel() * (-1.0 if self.classes is None else 1.0)
        ratio = float(np.mean([len(fold.test) / len(fold.train) for fold in self.folds]))
        error = corrected_error(ahead, ratio)
        mean = float(ahead.mean())
        if error == 0.0:
            return Difference(mean, error, 0.0 if mean else 1.0)
        return Difference(mean, error, float(2.0 * stats.t.sf(abs(mean) / error, len(ahead) - 1)))


def evaluate(
    methods: Mapping[str, Method],
    y: NDArray[Any],
    classes: NDArray[Any] | None,
    folds: list[Fold],
    progress: Progress = iter,
) -> Evaluation:
    """Fit every method on the training graphs of every fold, and predict its test graphs.

    Parameters
    ----------
    methods : mapping of str to Method
        The methods by name.
    y : ndarray of shape (n_graphs,)
        The targets.
    classes : ndarray of shape (n_classes,) or None
        All classes; None for numbers.
    folds : list of Fold
        What `make_folds` returned.
    progress : callable, default=iter
        Goes through the list of all fits, and may show how far it is.

    Returns
    -------
    Evaluation
        Predictions and measures.
    """
    results = {name: Result() for name in methods}
    for fold, name in progress([(fold, name) for fold in folds for name in methods]):
        result = results[name]
        begin = time.perf_counter()
        predict = methods[name].fit(fold.train)
        middle = time.perf_counter()
        evaluation = predict(fold.test)
        result.fit_seconds += middle - begin
        result.predict_seconds += time.perf_counter() - middle
        result.predictions.append(evaluation)
        result.measures.append(measure(y[fold.test], evaluation, classes))
    return Evaluation(y, classes, folds, results)
