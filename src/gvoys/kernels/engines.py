"""Decisions on graphs: support vector machines on the Gram matrix, or linear models on Nyström features.

An engine has one machine for each column of the targets; all of them look at a graph once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import StratifiedKFold

from gvoys.errors import ParameterError
from gvoys.kernels.base_kernels import BaseKernel, HasPairs, Nystroem, Pairs, nearest_by
from gvoys.kernels.machines import Logistic, SupportVectors, train
from gvoys.kernels.progress import SILENT, Progress
from gvoys.kernels.targets import Targets

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Judgement:
    """All that an engine says of some graphs."""

    decisions: list[Array]  # as of `decide`
    probabilities: list[Array | None]  # (n_graphs, n_classes)
    nearest: NDArray[np.int64] | None = None  # (n_graphs,), the fitted graph that each is most like
    similarity: Array | None = None  # (n_graphs,), the cosine with it


class Engine(Protocol):
    """Decisions on graphs, column by column of the targets."""

    def decide(self, graphs: HasPairs) -> list[Array]:
        """Confidence for the second class, (n_graphs,), or for each of several, (n_graphs, n_classes)."""

    def probabilities(self, graphs: HasPairs) -> list[Array]:
        """(n_graphs, n_classes)."""

    def judge(self, graphs: HasPairs) -> Judgement:
        """Both, and the nearest fitted graphs where they are known."""

    def by_class(self, column: int) -> tuple[HasPairs, Array, Array]:
        """Fitted graphs or landmarks, weights of their kernel values, (n_classes, n_fitted), and intercepts."""


@dataclass(frozen=True)
class Training:
    """Training options, for any engine."""

    C: float
    class_weight: Any
    n_folds: int
    seed: int
    progress: Progress = SILENT

    def machine(self, K: Array, rows: NDArray[np.int64], targets: Targets) -> SupportVectors:
        """A support vector machine on some graphs of a Gram matrix."""
        return train(K, rows, targets, (self.C,), self.class_weight)[0]


@dataclass(frozen=True)
class Calibrated:
    """A support vector machine, and the probabilities that its decisions stand for."""

    vectors: SupportVectors
    calibration: Logistic | None  # None: a class has a single graph

    @classmethod
    def trained(cls, K: Array, targets: Targets, how: Training, left_out: Array | None = None) -> Calibrated:
        """On a Gram matrix; `left_out` are decisions on each graph by a machine that had not seen it, where known."""
        with how.progress.running("training"):
            vectors = how.machine(K, np.arange(len(K)), targets)
        return cls(vectors, _calibrated(K, targets, how, left_out))

    def probabilities(self, decisions: Array) -> Array | None:
        """(n_graphs, n_classes), calibrated on graphs that a machine had not seen."""
        return None if self.calibration is None else self.calibration.probabilities(_as_rows(decisions))


@dataclass(frozen=True)
class KernelMachine:
    """Support vector machines on kernel values between new and fitted graphs."""

    kernel: BaseKernel
    fitted: HasPairs
    machines: tuple[Calibrated, ...]

    @classmethod
    def trained(
        cls,
        kernel: BaseKernel,
        fitted: HasPairs,
        pairs: Pairs,
        columns: Sequence[Targets],
        how: Training,
        left_out: Sequence[Array | None] | None = None,
    ) -> KernelMachine:
        """On the Gram matrix of the fitted graphs, `pairs` with themselves.

        `left_out` are decisions on each by machines that had not seen it, where they are known.
        """
        K, known = kernel.gram(pairs), left_out or [None] * len(columns)
        machines = [Calibrated.trained(K, item, how, values) for item, values in zip(columns, known, strict=True)]
        return cls(kernel, fitted, tuple(machines))

    def decide(self, graphs: HasPairs) -> list[Array]:
        """Decide by kernel values with the fitted graphs."""
        K = self.kernel.gram(graphs.pairs(self.fitted))
        return [item.vectors.decide(K) for item in self.machines]

    def probabilities(self, graphs: HasPairs) -> list[Array]:
        """Calibrated on graphs that a machine had not seen."""
        if any(item.calibration is None for item in self.machines):
            raise ParameterError("a class has only one graph, so that probabilities cannot be calibrated; use predict")
        result = zip(self.machines, self.decide(graphs), strict=True)
        return [np.asarray(item.probabilities(decisions)) for item, decisions in result]

    def judge(self, graphs: HasPairs) -> Judgement:
        """Decide with one product with the fitted graphs."""
        pairs = graphs.pairs(self.fitted)
        K = self.kernel.gram(pairs)
        decisions = [item.vectors.decide(K) for item in self.machines]
        known = [item.probabilities(values) for item, values in zip(self.machines, decisions, strict=True)]
        return Judgement(decisions, known, *nearest_by(pairs.cosines()))

    def by_class(self, column: int) -> tuple[HasPairs, Array, Array]:
        """Return the support vectors by class."""
        return self.fitted, *self.machines[column].vectors.by_class(len(self.fitted))


def _as_rows(decisions: Array) -> Array:
    """(n_graphs, 1) for two classes, (n_graphs, n_classes) for more."""
    return decisions[:, None] if decisions.ndim == 1 else decisions


def _calibrated(K: Array, targets: Targets, how: Training, left_out: Array | None) -> Logistic | None:
    """Probabilities from decision values of graphs that the machine had not seen."""
    if np.bincount(targets.codes).min() < 2:
        return None
    decisions = _as_rows(_leave_out(K, targets, how) if left_out is None else left_out)
    model = LogisticRegression(max_iter=1000)
    return Logistic.of(model.fit(decisions, targets.codes, sample_weight=targets.weights))


def _leave_out(K: Array, targets: Targets, how: Training) -> Array:
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
    models: tuple[Logistic, ...]  # empty: it has learned from no graph yet
    learner: SGDClassifier | None = None  # what learns from more graphs; it is not kept in files

    @classmethod
    def streaming(cls, nystroem: Nystroem, class_weight: Any) -> LinearMachine:
        """One that `learned` teaches, piece by piece."""
        learner = SGDClassifier(loss="log_loss", alpha=1e-5, class_weight=class_weight, random_state=0)
        return cls(nystroem, (), learner)

    @classmethod
    def trained(
        cls, nystroem: Nystroem, embedded: NDArray[np.float32], columns: Sequence[Targets], how: Training
    ) -> LinearMachine:
        """On the Nyström features of all graphs at once."""
        models = []
        for targets in how.progress.track(columns, "training", len(columns)):
            class_weight, weights = targets.balanced(how.class_weight)
            model = LogisticRegression(C=10.0 * how.C, max_iter=1000, class_weight=class_weight)
            models.append(Logistic.of(model.fit(embedded, targets.codes, sample_weight=weights)))
        return cls(nystroem, tuple(models))

    def learned(self, graphs: HasPairs, targets: Targets, n_classes: int) -> LinearMachine:
        """The same after some more graphs."""
        assert self.learner is not None
        embedded, classes = self.nystroem.embed(graphs), np.arange(n_classes)
        self.learner.partial_fit(embedded, targets.codes, classes, sample_weight=targets.weights)
        return replace(self, models=(Logistic.of(self.learner, one_by_one=True),))

    def decide(self, graphs: HasPairs) -> list[Array]:
        """Linear in the Nyström features."""
        embedded = self.nystroem.embed(graphs)
        return [model.decide(embedded) for model in self.models]

    def probabilities(self, graphs: HasPairs) -> list[Array]:
        """The models' own."""
        embedded = self.nystroem.embed(graphs)
        return [model.probabilities(embedded) for model in self.models]

    def judge(self, graphs: HasPairs) -> Judgement:
        """The fitted graphs are not kept."""
        embedded = self.nystroem.embed(graphs)
        decisions = [model.decide(embedded) for model in self.models]
        return Judgement(decisions, [model.probabilities(embedded) for model in self.models])

    def by_class(self, column: int) -> tuple[HasPairs, Array, Array]:
        """The features are linear in kernel values with the landmarks."""
        weights, intercepts = self.models[column].by_class()
        return self.nystroem.landmarks, weights @ self.nystroem.root.T, intercepts
