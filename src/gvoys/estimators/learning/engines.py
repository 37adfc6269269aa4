"""What decides by features: a support vector machine on the Gram matrix, or a linear model on Nyström features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from gvoys.errors import ParameterError
from gvoys.estimators.learning.base_kernels import BaseKernel, Nystroem, Pairs, nearest_by
from gvoys.estimators.learning.decisions import Logistic, SupportVectors
from gvoys.estimators.learning.targets import Targets
from gvoys.estimators.progress import SILENT, Progress

__all__ = ["Engine", "Judgement", "KernelMachine", "LinearMachine", "Training"]

Features = NDArray[np.float32]


@dataclass(frozen=True)
class Judgement:
    """All that an engine says of some graphs."""

    decisions: NDArray[np.float64]  # as of `decide`
    probabilities: NDArray[np.float64] | None  # (n_graphs, n_classes)
    nearest: NDArray[np.int64] | None = None  # (n_graphs,), the fitted graph that each is most like
    similarity: NDArray[np.float64] | None = None  # (n_graphs,), the cosine with it


class Engine(Protocol):
    """Decisions on graphs by their features, (n_graphs, n_features)."""

    def decide(self, features: Features) -> NDArray[np.float64]:
        """Confidence for the second class, (n_graphs,), or for each of several, (n_graphs, n_classes)."""

    def probabilities(self, features: Features) -> NDArray[np.float64]:
        """(n_graphs, n_classes)."""

    def judge(self, features: Features) -> Judgement:
        """Both, and the nearest fitted graphs where they are known."""


@dataclass(frozen=True)
class Training:
    """How to train, whichever the engine."""

    C: float
    class_weight: Any
    n_folds: int
    seed: int
    progress: Progress = SILENT

    def machine(self, K: NDArray[np.float64], targets: Targets) -> SVC:
        """A support vector machine on a Gram matrix."""
        class_weight, weights = targets.balanced(self.class_weight)
        svc = SVC(kernel="precomputed", C=self.C, class_weight=class_weight)
        return svc.fit(K, targets.codes, sample_weight=weights)


@dataclass(frozen=True)
class KernelMachine:
    """A support vector machine on kernel values between new and fitted graphs."""

    kernel: BaseKernel
    fitted: Features
    vectors: SupportVectors
    calibration: Logistic | None  # None: a class has a single graph

    @classmethod
    def trained(
        cls, kernel: BaseKernel, features: Features, pairs: Pairs, targets: Targets, how: Training
    ) -> KernelMachine:
        """On the Gram matrix of the fitted graphs, `pairs` with themselves."""
        K = kernel.gram(pairs)
        with how.progress.running("training"):
            vectors = SupportVectors.of(how.machine(K, targets))
        return cls(kernel, features, vectors, _calibrate(K, targets, how))

    def decide(self, features: Features) -> NDArray[np.float64]:
        """By kernel values with the fitted graphs."""
        return self.vectors.decide(self.kernel.gram(Pairs.between(features, self.fitted)))

    def probabilities(self, features: Features) -> NDArray[np.float64]:
        """Calibrated on graphs that a machine had not seen."""
        if self.calibration is None:
            raise ParameterError("a class has only one graph, so that probabilities cannot be calibrated; use predict")
        return self.calibration.probabilities(_as_rows(self.decide(features)))

    def judge(self, features: Features) -> Judgement:
        """By one product with the fitted graphs."""
        pairs = Pairs.between(features, self.fitted)
        decisions = self.vectors.decide(self.kernel.gram(pairs))
        calibration = self.calibration
        known = None if calibration is None else calibration.probabilities(_as_rows(decisions))
        return Judgement(decisions, known, *nearest_by(pairs.cosines()))


def _as_rows(decisions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_graphs, 1) for two classes, (n_graphs, n_classes) for more."""
    return decisions[:, None] if decisions.ndim == 1 else decisions


def _calibrate(K: NDArray[np.float64], targets: Targets, how: Training) -> Logistic | None:
    """Probabilities from decision values of graphs that the machine had not seen."""
    sizes = np.bincount(targets.codes)
    if sizes.min() < 2:
        return None
    n_folds = max(min(how.n_folds, int(sizes.min())), 2)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=how.seed).split(K, targets.codes)
    decisions = np.empty((len(K), 1 if len(sizes) == 2 else len(sizes)))
    for train, test in how.progress.track(folds, "calibrating", n_folds):
        svc = how.machine(K[np.ix_(train, train)], targets.take(train))
        decisions[test] = _as_rows(svc.decision_function(K[np.ix_(test, train)]))
    model = LogisticRegression(max_iter=1000)
    return Logistic.of(model.fit(decisions, targets.codes, sample_weight=targets.weights))


@dataclass(frozen=True)
class LinearMachine:
    """Logistic regression on Nyström features: no Gram matrix of all graphs, and graphs may come in pieces."""

    nystroem: Nystroem
    model: Logistic | None  # None: it has learned from no graph yet
    learner: SGDClassifier | None = None  # what learns from more graphs; it is not kept in files

    @classmethod
    def streaming(cls, nystroem: Nystroem, class_weight: Any) -> LinearMachine:
        """One that `learned` teaches, piece by piece."""
        learner = SGDClassifier(loss="log_loss", alpha=1e-5, class_weight=class_weight, random_state=0)
        return cls(nystroem, None, learner)

    @classmethod
    def trained(
        cls, nystroem: Nystroem, embedded: NDArray[np.float32], targets: Targets, how: Training
    ) -> LinearMachine:
        """On the Nyström features of all graphs at once."""
        class_weight, weights = targets.balanced(how.class_weight)
        model = LogisticRegression(C=10.0 * how.C, max_iter=1000, class_weight=class_weight)
        with how.progress.running("training"):
            return cls(nystroem, Logistic.of(model.fit(embedded, targets.codes, sample_weight=weights)))

    def learned(self, features: Features, targets: Targets, n_classes: int) -> LinearMachine:
        """The same after some more graphs."""
        assert self.learner is not None
        embedded, classes = self.nystroem.embed(features), np.arange(n_classes)
        self.learner.partial_fit(embedded, targets.codes, classes, sample_weight=targets.weights)
        return replace(self, model=Logistic.of(self.learner, one_by_one=True))

    def decide(self, features: Features) -> NDArray[np.float64]:
        """Linear in the Nyström features."""
        return self._model().decide(self.nystroem.embed(features))

    def probabilities(self, features: Features) -> NDArray[np.float64]:
        """The model's own."""
        return self._model().probabilities(self.nystroem.embed(features))

    def judge(self, features: Features) -> Judgement:
        """The fitted graphs are not kept."""
        embedded, model = self.nystroem.embed(features), self._model()
        return Judgement(model.decide(embedded), model.probabilities(embedded))

    def _model(self) -> Logistic:
        assert self.model is not None
        return self.model
