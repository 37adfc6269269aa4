"""What decides on graphs: a support vector machine on the Gram matrix, or a linear model on Nyström features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import StratifiedKFold

from gvoys.errors import ParameterError
from gvoys.estimators.learning.base_kernels import BaseKernel, HasPairs, Nystroem, Pairs, nearest_by
from gvoys.estimators.learning.decisions import Logistic, SupportVectors
from gvoys.estimators.learning.machines import train
from gvoys.estimators.learning.targets import Targets
from gvoys.estimators.progress import SILENT, Progress

__all__ = ["Engine", "Judgement", "KernelMachine", "LinearMachine", "Training"]


@dataclass(frozen=True)
class Judgement:
    """All that an engine says of some graphs."""

    decisions: NDArray[np.float64]  # as of `decide`
    probabilities: NDArray[np.float64] | None  # (n_graphs, n_classes)
    nearest: NDArray[np.int64] | None = None  # (n_graphs,), the fitted graph that each is most like
    similarity: NDArray[np.float64] | None = None  # (n_graphs,), the cosine with it


class Engine(Protocol):
    """Decisions on graphs."""

    def decide(self, graphs: HasPairs) -> NDArray[np.float64]:
        """Confidence for the second class, (n_graphs,), or for each of several, (n_graphs, n_classes)."""

    def probabilities(self, graphs: HasPairs) -> NDArray[np.float64]:
        """(n_graphs, n_classes)."""

    def judge(self, graphs: HasPairs) -> Judgement:
        """Both, and the nearest fitted graphs where they are known."""


@dataclass(frozen=True)
class Training:
    """How to train, whichever the engine."""

    C: float
    class_weight: Any
    n_folds: int
    seed: int
    progress: Progress = SILENT

    def machine(self, K: NDArray[np.float64], rows: NDArray[np.int64], targets: Targets) -> SupportVectors:
        """A support vector machine on some graphs of a Gram matrix."""
        return train(K, rows, targets, (self.C,), self.class_weight)[0]


@dataclass(frozen=True)
class KernelMachine:
    """A support vector machine on kernel values between new and fitted graphs."""

    kernel: BaseKernel
    fitted: HasPairs
    vectors: SupportVectors
    calibration: Logistic | None  # None: a class has a single graph

    @classmethod
    def trained(
        cls,
        kernel: BaseKernel,
        fitted: HasPairs,
        pairs: Pairs,
        targets: Targets,
        how: Training,
        left_out: NDArray[np.float64] | None = None,
    ) -> KernelMachine:
        """On the Gram matrix of the fitted graphs, `pairs` with themselves.

        `left_out` are decisions on each by a machine that had not seen it, where they are known.
        """
        K = kernel.gram(pairs)
        with how.progress.running("training"):
            vectors = how.machine(K, np.arange(len(K)), targets)
        return cls(kernel, fitted, vectors, _calibrated(K, targets, how, left_out))

    def decide(self, graphs: HasPairs) -> NDArray[np.float64]:
        """By kernel values with the fitted graphs."""
        return self.vectors.decide(self.kernel.gram(graphs.pairs(self.fitted)))

    def probabilities(self, graphs: HasPairs) -> NDArray[np.float64]:
        """Calibrated on graphs that a machine had not seen."""
        if self.calibration is None:
            raise ParameterError("a class has only one graph, so that probabilities cannot be calibrated; use predict")
        return self.calibration.probabilities(_as_rows(self.decide(graphs)))

    def judge(self, graphs: HasPairs) -> Judgement:
        """By one product with the fitted graphs."""
        pairs = graphs.pairs(self.fitted)
        decisions = self.vectors.decide(self.kernel.gram(pairs))
        calibration = self.calibration
        known = None if calibration is None else calibration.probabilities(_as_rows(decisions))
        return Judgement(decisions, known, *nearest_by(pairs.cosines()))


def _as_rows(decisions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_graphs, 1) for two classes, (n_graphs, n_classes) for more."""
    return decisions[:, None] if decisions.ndim == 1 else decisions


def _calibrated(
    K: NDArray[np.float64], targets: Targets, how: Training, left_out: NDArray[np.float64] | None
) -> Logistic | None:
    """Probabilities from decision values of graphs that the machine had not seen."""
    if np.bincount(targets.codes).min() < 2:
        return None
    decisions = _as_rows(_leave_out(K, targets, how) if left_out is None else left_out)
    model = LogisticRegression(max_iter=1000)
    return Logistic.of(model.fit(decisions, targets.codes, sample_weight=targets.weights))


def _leave_out(K: NDArray[np.float64], targets: Targets, how: Training) -> NDArray[np.float64]:
    """Decisions on each graph by a machine that has not seen it."""
    sizes = np.bincount(targets.codes)
    n_folds = max(min(how.n_folds, int(sizes.min())), 2)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=how.seed).split(K, targets.codes)
    decisions = np.empty(len(K) if len(sizes) == 2 else (len(K), len(sizes)))
    for known, test in how.progress.track(folds, "calibrating", n_folds):
        decisions[test] = how.machine(K, known, targets).decide(K[test])
    return decisions


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

    def learned(self, graphs: HasPairs, targets: Targets, n_classes: int) -> LinearMachine:
        """The same after some more graphs."""
        assert self.learner is not None
        embedded, classes = self.nystroem.embed(graphs), np.arange(n_classes)
        self.learner.partial_fit(embedded, targets.codes, classes, sample_weight=targets.weights)
        return replace(self, model=Logistic.of(self.learner, one_by_one=True))

    def decide(self, graphs: HasPairs) -> NDArray[np.float64]:
        """Linear in the Nyström features."""
        return self._model().decide(self.nystroem.embed(graphs))

    def probabilities(self, graphs: HasPairs) -> NDArray[np.float64]:
        """The model's own."""
        return self._model().probabilities(self.nystroem.embed(graphs))

    def judge(self, graphs: HasPairs) -> Judgement:
        """The fitted graphs are not kept."""
        embedded, model = self.nystroem.embed(graphs), self._model()
        return Judgement(model.decide(embedded), model.probabilities(embedded))

    def _model(self) -> Logistic:
        assert self.model is not None
        return self.model
