"""RandomWalkClassifier: graphs in, classes out, one fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import ParameterError
from gvoys.estimators.base import as_seed
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.convert import as_batch
from gvoys.learning.alignment import block_alignments
from gvoys.learning.profiler import Profiler, Profiles
from gvoys.learning.selection import Choice, choose, subsample
from gvoys.learning.tops import TOPS, Balance, Landmarks, Pairs, Top
from gvoys.series import Coefficients
from gvoys.walks.settings import check_count, check_length

__all__ = ["RandomWalkClassifier"]

_BLOCK = 4096  # graphs that are in the making at once on the explicit road
_SAMPLE = 3000  # graphs by which the kernel is chosen there


class RandomWalkClassifier(ClassifierMixin, BaseEstimator):
    """Classify graphs by the walks they share, with refined labels and a support vector machine.

    `fit` profiles the graphs (walks of length 0 … max_length, labels refined 0 … max(rounds) times), weighs the lengths
    to equal trace, half-normalises, and puts a linear, Laplacian or Gaussian kernel on top. Which one, how many rounds
    and which C are chosen by inner cross-validation; the default (most rounds, Laplacian, C = 10) is left only for
    something better by over one standard error. All constants come from the graphs of `fit`.

    Parameters
    ----------
    max_length : the longest walk.
    rounds, tops, C : the grid. Keep it small: large ones hurt small datasets.
    n_components : width of a block of the sketch; "auto": 512, and 1024 for graphs of over 100 nodes on average.
    labels : "node", "edge", "both", "degree", or "auto": node labels where there are any, else degrees.
    backtrack : False leaves out walks that go straight back; "auto" does so where the mean degree is at most 3, as in
        molecules.
    attribute_bandwidth : None ignores node attributes; "auto" or a number (in standard deviations) lets nodes match by
        them as well, in walks of length 0 and 1 that count as much as the labels do.
    class_weight : as in scikit-learn's SVC.
    cv : folds of the inner cross-validation.
    max_exact : past this many graphs the Gram matrix is not written down: Nystroem features of `n_landmarks` graphs and
        logistic regression take its place. `partial_fit` always goes that way, with the default kernel.
    random_state, n_jobs : as elsewhere; the result does not depend on n_jobs.

    Attributes
    ----------
    classes_, chosen_ : the classes; rounds, top and C that were chosen, with all scores.
    series_ : mu, one coefficient per length.
    contributions_ : alignment of each block with the classes, (n_rounds, max_length + 1); 1 would be perfect.

    >>> import gvoys as gv
    >>> molecules = gv.datasets.molecules(120)
    >>> large = molecules.graph_sizes > 25
    >>> model = RandomWalkClassifier().fit(molecules[:80], large[:80])
    >>> model.score(molecules[80:], large[80:]) > 0.7
    True
    """

    def __init__(
        self,
        max_length: int = 6,
        *,
        rounds: tuple[int, ...] = (0, 1, 3),
        tops: tuple[str, ...] = TOPS,
        C: tuple[float, ...] = (1.0, 10.0, 100.0),
        n_components: int | str = "auto",
        labels: str = "auto",
        backtrack: bool | str = "auto",
        attribute_bandwidth: float | str | None = None,
        class_weight: Any = None,
        cv: int = 5,
        max_exact: int = 20_000,
        n_landmarks: int = 1000,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.max_length = max_length
        self.rounds = rounds
        self.tops = tops
        self.C = C
        self.n_components = n_components
        self.labels = labels
        self.backtrack = backtrack
        self.attribute_bandwidth = attribute_bandwidth
        self.class_weight = class_weight
        self.cv = cv
        self.max_exact = max_exact
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- fitting

    def fit(self, X: Any, y: Any) -> RandomWalkClassifier:
        """Profile the graphs, choose a kernel, train the machine."""
        batch = as_batch(X)
        codes = self._read_targets(batch, y)
        for name in ("linear_", "machine_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if len(batch) > check_count(self.max_exact, "max_exact"):
            return self._fit_explicit(batch, codes)
        self._fit_profiler(batch)
        profiles = self.profiler_.profile(batch, self.n_jobs)
        self.chosen_ = self._choose(profiles, codes)
        self._fit_machine(profiles, codes)
        self.contributions_ = block_alignments(profiles.labels, codes)
        return self

    def _read_targets(self, batch: GraphBatch, y: Any) -> NDArray[np.int64]:
        targets = np.asarray(y)
        if targets.shape != (len(batch),):
            raise ParameterError(
                f"y must hold one class for each of the {len(batch)} graphs, not shape {targets.shape}"
            )
        check_classification_targets(targets)
        self.classes_, codes = np.unique(targets, return_inverse=True)
        if len(self.classes_) < 2:
            raise ParameterError(f"all {len(batch)} graphs are of one class, {self.classes_.tolist()}; two are needed")
        return codes.astype(np.int64)

    def _fit_profiler(self, batch: GraphBatch) -> None:
        self.seed_ = as_seed(self.random_state)
        self.profiler_ = Profiler.fitted(
            batch,
            labels=self.labels,
            max_length=check_length(self.max_length),
            n_rounds=_check_grid(self.rounds, self.tops, self.C) + 1,
            n_components=self.n_components,
            backtrack=self.backtrack,
            attribute_bandwidth=self.attribute_bandwidth,
            seed=self.seed_,
        )

    def _choose(self, profiles: Profiles, codes: NDArray[np.int64]) -> Choice:
        some = subsample(codes, self.seed_)
        grams: dict[tuple[int, str], NDArray[np.float64]] = {}
        for rounds in self.rounds:
            features = Balance.fitted(profiles, rounds + 1).features(profiles[some])
            pairs = Pairs.between(features, features)
            grams |= {(rounds, name): Top.fitted(name, pairs).gram(pairs) for name in self.tops}
        folds = check_count(self.cv, "cv")
        return choose(grams, codes[some], tuple(self.C), folds, self.class_weight, self.seed_, self.n_jobs)

    def _fit_machine(self, profiles: Profiles, codes: NDArray[np.int64]) -> None:
        self.balance_ = Balance.fitted(profiles, self.chosen_.rounds + 1)
        features = self.balance_.features(profiles)
        pairs = Pairs.between(features, features)
        self.top_ = Top.fitted(self.chosen_.top, pairs)
        K = self.top_.gram(pairs)
        machine = SVC(kernel="precomputed", C=self.chosen_.C, class_weight=self.class_weight)
        self.calibration_ = self._calibrate(machine, K, codes)
        self.machine_ = machine.fit(K, codes)
        self.fitted_ = features
        self._keep_series()

    def _calibrate(self, machine: SVC, K: NDArray[np.float64], codes: NDArray[np.int64]) -> LogisticRegression | None:
        """Probabilities from decision values of graphs that the machine had not seen."""
        smallest = int(np.bincount(codes).min())
        if smallest < 2:
            return None
        folds = StratifiedKFold(max(min(self.cv, smallest), 2), shuffle=True, random_state=self.seed_)
        decisions = cross_val_predict(machine, K, codes, cv=folds, method="decision_function")
        return LogisticRegression(max_iter=1000).fit(decisions.reshape(len(codes), -1), codes)

    def _keep_series(self) -> None:
        scale = self.profiler_.settings.scale ** (2.0 * np.arange(len(self.balance_.lengths)))
        self.series_ = Coefficients(self.balance_.lengths / scale)

    # -- the explicit road

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> RandomWalkClassifier:
        """Learn from some more graphs; the first ones give the constants and landmarks, with the default kernel."""
        batch = as_batch(X)
        if not hasattr(self, "linear_"):
            if classes is None:
                raise ParameterError("the first partial_fit needs all classes: partial_fit(X, y, classes=[…])")
            self.classes_ = np.unique(np.asarray(classes))
            self._fit_landmarks(batch, None)
            self.linear_ = SGDClassifier(loss="log_loss", alpha=1e-5, class_weight=self.class_weight, random_state=0)
        codes = np.searchsorted(self.classes_, np.asarray(y))
        if (
            len(codes) != len(batch)
            or (self.classes_[np.minimum(codes, len(self.classes_) - 1)] != np.asarray(y)).any()
        ):
            raise ParameterError("y must hold one of `classes` for each graph")
        self.linear_.partial_fit(self._embedded(batch), codes, np.arange(len(self.classes_)))
        return self

    def _fit_explicit(self, batch: GraphBatch, codes: NDArray[np.int64]) -> RandomWalkClassifier:
        self._fit_landmarks(batch, codes)
        # all graphs at once: in single precision, which halves the memory
        embedded = np.concatenate([self._embedded(batch[block]).astype(np.float32) for block in _blocks(len(batch))])
        self.linear_ = LogisticRegression(C=10.0 * self.chosen_.C, max_iter=1000, class_weight=self.class_weight)
        self.linear_.fit(embedded, codes)
        return self

    def _fit_landmarks(self, batch: GraphBatch, codes: NDArray[np.int64] | None) -> None:
        """Landmarks from a sample of the graphs, by which the kernel is chosen too where classes are given."""
        self._fit_profiler(batch)
        order = np.random.default_rng(self.seed_).permutation(len(batch))
        some = np.sort(order[: max(check_count(self.n_landmarks, "n_landmarks"), 0 if codes is None else _SAMPLE)])
        profiles = self.profiler_.profile(batch[some], self.n_jobs)
        if codes is None:
            top = "laplacian" if "laplacian" in self.tops else self.tops[0]
            self.chosen_ = Choice(max(self.rounds), top, float("nan"), float("nan"), {})
        else:
            self.chosen_ = self._choose(profiles, codes[some])
        self.balance_ = Balance.fitted(profiles, self.chosen_.rounds + 1)
        features = self.balance_.features(profiles)
        self.top_ = Top.fitted(self.chosen_.top, Pairs.between(features, features))
        self.landmarks_ = Landmarks.fitted(self.top_, features[: self.n_landmarks])
        self._keep_series()

    def _embedded(self, batch: GraphBatch) -> NDArray[np.float64]:
        features = self.balance_.features(self.profiler_.profile(batch, self.n_jobs))
        return self.landmarks_.embed(features)

    # -- predicting

    def plot_contributions(self, path: Any) -> None:
        """Draw `contributions_` into a file, .png or .svg."""
        from gvoys.report import plots

        check_is_fitted(self, "contributions_")
        plots.save_contributions(Path(path), self.contributions_)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Confidence for the second class, (n_graphs,), or for each of several, (n_graphs, n_classes)."""
        check_is_fitted(self, "balance_")
        batch = as_batch(X)
        parts = [self._decide(batch[block]) for block in _blocks(len(batch))]
        empty = np.empty((0,) if len(self.classes_) == 2 else (0, len(self.classes_)))
        return np.concatenate(parts) if parts else empty

    def _decide(self, batch: GraphBatch) -> NDArray[np.float64]:
        if hasattr(self, "linear_"):
            return self.linear_.decision_function(self._embedded(batch))
        features = self.balance_.features(self.profiler_.profile(batch, self.n_jobs))
        return self.machine_.decision_function(self.top_.gram(Pairs.between(features, self.fitted_)))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each graph."""
        decisions = self.decision_function(X)
        codes = decisions.argmax(axis=1) if decisions.ndim == 2 else (decisions > 0).astype(int)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, (n_graphs, n_classes), calibrated by cross-validation inside `fit`."""
        check_is_fitted(self, "balance_")
        if hasattr(self, "linear_"):
            batch = as_batch(X)
            parts = [self.linear_.predict_proba(self._embedded(batch[block])) for block in _blocks(len(batch))]
            return np.concatenate(parts) if parts else np.empty((0, len(self.classes_)))
        if self.calibration_ is None:
            raise ParameterError("a class has only one graph, so that probabilities cannot be calibrated; use predict")
        decisions = self.decision_function(X)
        return self.calibration_.predict_proba(decisions.reshape(len(decisions), -1))


def _check_grid(rounds: Any, tops: Any, Cs: Any) -> int:
    """The most rounds of the grid."""
    if not len(tuple(rounds)) or not len(tuple(tops)) or not len(tuple(Cs)):
        raise ParameterError("rounds, tops and C must each hold something to choose from")
    for value in rounds:
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
            raise ParameterError(f"rounds must be integers of at least 0, not {value!r}")
    for value in Cs:
        if not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
            raise ParameterError(f"C must be positive numbers, not {value!r}")
    return int(max(rounds))


def _blocks(n: int) -> list[slice]:
    return [slice(begin, min(begin + _BLOCK, n)) for begin in range(0, n, _BLOCK)]
