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
from gvoys.estimators.learning.base_kernels import BaseKernel, Nystroem, Pairs

__all__ = ["Engine", "KernelMachine", "LinearMachine", "Training"]

Features = NDArray[np.float32]


class Engine(Protocol):
    """Decisions on graphs by their features, (n_graphs, n_features)."""

    def decide(self, features: Features) -> NDArray[np.float64]:
        """Confidence for the second class, (n_graphs,), or for each of several, (n_graphs, n_classes)."""

    def probabilities(self, features: Features) -> NDArray[np.float64]:
        """(n_graphs, n_classes)."""


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
    svc: SVC
    calibration: LogisticRegression | None  # None: a class has a single graph

    @classmethod
    def trained(
        cls, kernel: BaseKernel, features: Features, pairs: Pairs, codes: NDArray[np.int64], how: Training
    ) -> KernelMachine:
        """On the Gram matrix of the fitted graphs, `pairs` with themselves."""
        K = kernel.gram(pairs)
        svc = SVC(kernel="precomputed", C=how.C, class_weight=how.class_weight)
        return cls(kernel, features, svc.fit(K, codes), _calibrate(svc, K, codes, how))

    def decide(self, features: Features) -> NDArray[np.float64]:
        """By kernel values with the fitted graphs."""
        return np.asarray(self.svc.decision_function(self.kernel.gram(Pairs.between(features, self.fitted))))

    def probabilities(self, features: Features) -> NDArray[np.float64]:
        """Calibrated on graphs that a machine had not seen."""
        if self.calibration is None:
            raise ParameterError("a class has only one graph, so that probabilities cannot be calibrated; use predict")
        return np.asarray(self.calibration.predict_proba(self.decide(features).reshape(len(features), -1)))


def _calibrate(svc: SVC, K: NDArray[np.float64], codes: NDArray[np.int64], how: Training) -> LogisticRegression | None:
    """Probabilities from decision values of graphs that the machine had not seen."""
    smallest = int(np.bincount(codes).min())
    if smallest < 2:
        return None
    folds = StratifiedKFold(max(min(how.n_folds, smallest), 2), shuffle=True, random_state=how.seed)
    decisions = cross_val_predict(svc, K, codes, cv=folds, method="decision_function")
    return LogisticRegression(max_iter=1000).fit(decisions.reshape(len(codes), -1), codes)


@dataclass(frozen=True)
class LinearMachine:
    """Logistic regression on Nyström features: no Gram matrix of all graphs, and graphs may come in pieces."""

    nystroem: Nystroem
    model: LogisticRegression | SGDClassifier

    @classmethod
    def streaming(cls, nystroem: Nystroem, class_weight: Any) -> LinearMachine:
        """One that `learn` teaches, piece by piece."""
        return cls(nystroem, SGDClassifier(loss="log_loss", alpha=1e-5, class_weight=class_weight, random_state=0))

    @classmethod
    def trained(
        cls, nystroem: Nystroem, embedded: NDArray[np.float32], codes: NDArray[np.int64], how: Training
    ) -> LinearMachine:
        """On the Nyström features of all graphs at once."""
        model = LogisticRegression(C=10.0 * how.C, max_iter=1000, class_weight=how.class_weight)
        return cls(nystroem, model.fit(embedded, codes))

    @property
    def is_streaming(self) -> bool:
        """Whether it can learn from more graphs."""
        return isinstance(self.model, SGDClassifier)

    def learn(self, features: Features, codes: NDArray[np.int64], n_classes: int) -> None:
        """Take in some more graphs."""
        self.model.partial_fit(self.nystroem.embed(features), codes, np.arange(n_classes))

    def decide(self, features: Features) -> NDArray[np.float64]:
        """Linear in the Nyström features."""
        return np.asarray(self.model.decision_function(self.nystroem.embed(features)))

    def probabilities(self, features: Features) -> NDArray[np.float64]:
        """The model's own."""
        return np.asarray(self.model.predict_proba(self.nystroem.embed(features)))
