"""What decides by features: a support vector machine on the Gram matrix, or a linear model on Nyström features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from gvoys.errors import ParameterError
from gvoys.estimators.learning.base_kernels import BaseKernel, Nystroem, Pairs, nearest_by
from gvoys.estimators.learning.decisions import Logistic, SupportVectors

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


@dataclass(frozen=True)
class KernelMachine:
    """A support vector machine on kernel values between new and fitted graphs."""

    kernel: BaseKernel
    fitted: Features
    vectors: SupportVectors
    calibration: Logistic | None  # None: a class has a single graph

    @classmethod
    def trained(
        cls, kernel: BaseKernel, features: Features, pairs: Pairs, codes: NDArray[np.int64], how: Training
    ) -> KernelMachine:
        """On the Gram matrix of the fitted graphs, `pairs` with themselves."""
        K = kernel.gram(pairs)
        svc = SVC(kernel="precomputed", C=how.C, class_weight=how.class_weight)
        return cls(kernel, features, SupportVectors.of(svc.fit(K, codes)), _calibrate(svc, K, codes, how))

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


def _calibrate(svc: SVC, K: NDArray[np.float64], codes: NDArray[np.int64], how: Training) -> Logistic | None:
    """Probabilities from decision values of graphs that the machine had not seen."""
    smallest = int(np.bincount(codes).min())
    if smallest < 2:
        return None
    folds = StratifiedKFold(max(min(how.n_folds, smallest), 2), shuffle=True, random_state=how.seed)
    decisions = cross_val_predict(svc, K, codes, cv=folds, method="decision_function")
    return Logistic.of(LogisticRegression(max_iter=1000).fit(_as_rows(decisions), codes))


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
        cls, nystroem: Nystroem, embedded: NDArray[np.float32], codes: NDArray[np.int64], how: Training
    ) -> LinearMachine:
        """On the Nyström features of all graphs at once."""
        model = LogisticRegression(C=10.0 * how.C, max_iter=1000, class_weight=how.class_weight)
        return cls(nystroem, Logistic.of(model.fit(embedded, codes)))

    def learned(self, features: Features, codes: NDArray[np.int64], n_classes: int) -> LinearMachine:
        """The same after some more graphs."""
        assert self.learner is not None
        self.learner.partial_fit(self.nystroem.embed(features), codes, np.arange(n_classes))
        return LinearMachine(self.nystroem, Logistic.of(self.learner, one_by_one=True), self.learner)

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
