"""Cross-validation of several methods on the same folds, and whether they differ by more than noise."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.metrics import average_precision_score, roc_auc_score

from gvoys.apps.evaluation.folds import Fold
from gvoys.errors import InputWarning
from gvoys.estimators.regressor import TWO_SIDED
from gvoys.graphs.batch import GraphBatch
from gvoys.kernels.selection import corrected_error


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
        """Learn from some graphs.

        Parameters
        ----------
        train : ndarray of int
            Rows of the graphs to learn from.

        Returns
        -------
        callable
            Takes the rows of other graphs, and returns their `Prediction`.
        """


@contextmanager
def _ignore_input_warnings() -> Iterator[None]:
    """Silence warnings about labels or classes that a fold happens to lack."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        yield


@dataclass
class LearnerMethod(Method):
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
        with _ignore_input_warnings():
            fitted = clone(self.model).fit(self.batch[train], self.y[train])
        if self.keep is not None:
            self.kept.append(self.keep(fitted))
        return lambda test: self._predict(fitted, test)

    def _predict(self, fitted: Any, test: NDArray[np.int64]) -> Prediction:
        with _ignore_input_warnings():
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


def measure(truth: NDArray[Any], made: Prediction, classes: NDArray[Any] | None) -> dict[str, float]:
    """Measure the predictions of one fold; the first measure is the one that methods are compared by."""
    if classes is None:
        error = made.values - truth
        spread = float(((truth - truth.mean()) ** 2).mean())
        inside = np.nan if made.deviation is None else np.mean(np.abs(error) <= TWO_SIDED * made.deviation)
        return {
            "RMSE": float(np.sqrt(np.mean(error**2))),
            "MAE": float(np.abs(error).mean()),
            "R2": 1.0 - float(np.mean(error**2)) / spread if spread else np.nan,
            "coverage": float(inside),
        }
    recalls = [np.mean(made.values[truth == name] == name) for name in np.unique(truth)]
    return {
        "accuracy": float(np.mean(made.values == truth)),
        "balanced accuracy": float(np.mean(recalls)),
        "ROC-AUC": _average_score(roc_auc_score, truth, made.scores, classes),
        "PR-AUC": _average_score(average_precision_score, truth, made.scores, classes),
    }


def _average_score(score: Any, truth: NDArray[Any], scores: NDArray[Any] | None, classes: NDArray[Any]) -> float:
    """Score the second of two classes, or average over the classes that occur in this fold."""
    if scores is None:
        return np.nan
    codes = [1] if len(classes) == 2 else range(len(classes))
    sides = [(truth == classes[code], scores[:, code]) for code in codes]
    result = [score(is_it, values) for is_it, values in sides if is_it.any() and not is_it.all()]
    return float(np.mean(result)) if result else np.nan


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
            The measure; nan where it is not defined.
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
    y, classes, folds : object
        As in `Evaluation`; `make_folds` makes folds.
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
