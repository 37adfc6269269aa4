"""The gain of a learned series over the geometric one, in nested cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from gvoys.apps.evaluation.folds import fold_splits
from gvoys.apps.evaluation.support_machine import EFFORT, GRID, search_machine
from gvoys.estimators import RandomWalkFeatures, RandomWalkKernel
from gvoys.estimators.learned_series import learn_series
from gvoys.graphs.batch import GraphBatch
from gvoys.kernels.gaussian import BlockGrams, maximise_likelihood
from gvoys.series import Geometric, Series
from gvoys.walks.walk import Walk

_MANY = 1000  # graphs
_PAPERS = Walk(7, labels=None, start="ones", stop="ones")  # of its experiment with linear layers
_STEPS = 100  # of an optimiser with three parameters

Progress = Callable[[list[Any]], Iterable[Any]]


@dataclass
class Comparison:
    """Accuracies fold by fold, or errors where targets are numbers."""

    geometric: list[float] = field(default_factory=list)
    learned: list[float] = field(default_factory=list)
    learned_on_test: list[float] = field(default_factory=list)  # C chosen on the test fold, biased by selection


def compare_machines(
    batch: GraphBatch,
    y: NDArray[Any],
    objective: str = "svm",
    n_folds: int = 10,
    seeds: tuple[int, ...] = (0,),
    progress: Progress = iter,
    walk: Walk = Walk(),  # noqa: B008 (immutable)
) -> Comparison:
    """Support vector machines on both kernels, mu and C from the training folds."""
    comparison = Comparison()
    for train, test in progress(_splits(y, n_folds, seeds)):
        learned = learn_series(batch[train], y[train], objective, walk=walk)
        K, new = _kernels(Geometric("auto"), batch, train, test, walk)
        comparison.geometric.append(nested_score(K, new, y[train], y[test]))
        K, new = _kernels(learned, batch, train, test, walk)
        comparison.learned.append(nested_score(K, new, y[train], y[test]))
        comparison.learned_on_test.append(max(_score(C, K, new, y[train], y[test]) for C in GRID["C"]))
    return comparison


def compare_processes(
    batch: GraphBatch,
    y: NDArray[np.float64],
    n_folds: int = 10,
    seeds: tuple[int, ...] = (0,),
    progress: Progress = iter,
    walk: Walk = Walk(),  # noqa: B008 (immutable)
) -> Comparison:
    """Errors (RMSE) of Gaussian processes on both kernels; mu, amplitudes and noise from the training folds."""
    comparison = Comparison()
    for train, test in progress(_splits(y, n_folds, seeds, classify=False)):
        learned = learn_series(batch[train], y[train], "likelihood", walk=walk)
        for series, errors in ((Geometric("auto"), comparison.geometric), (learned, comparison.learned)):
            K, new = _kernels(series, batch, train, test, walk)
            errors.append(_process_error(K, new, y[train], y[test]))
    return comparison


def compare_layers(
    batch: GraphBatch, y: NDArray[Any], n_folds: int = 10, seeds: tuple[int, ...] = (0,), progress: Progress = iter
) -> Comparison:
    """A linear layer on eight walk lengths without labels, 200 steps, as in the paper's experiment on ENZYMES."""
    comparison = Comparison()
    for train, test in progress(_splits(y, n_folds, seeds)):
        learned = learn_series(batch[train], y[train], "layer", walk=_PAPERS)
        for series, scores in ((Geometric("auto"), comparison.geometric), (learned, comparison.learned)):
            scores.append(_score_layer(series, batch, y, train, test))
    return comparison


def nested_score(
    K: NDArray[np.float64], new: NDArray[np.float64], y: NDArray[Any], truth: NDArray[Any], effort: int = EFFORT
) -> float:
    """The accuracy on new graphs of a support vector machine whose C is chosen by inner cross-validation."""
    n_jobs = -1 if len(y) > _MANY else None  # processes take a second to start
    return float(search_machine(K, y, 5, n_jobs, effort).score(new, truth))


def _splits(y: NDArray[Any], n_folds: int, seeds: tuple[int, ...], classify: bool = True) -> list[Any]:
    return [split for seed in seeds for split in fold_splits(classify, y, n_folds, seed)]


def _kernels(series: Series, batch: GraphBatch, train: Any, test: Any, walk: Walk) -> tuple[Any, Any]:
    """Between training graphs, and of test graphs with them, in a size that the grid of C suits."""
    kernel = RandomWalkKernel(series, walk)
    K = kernel.fit_transform(batch[train])
    size = float(K.diagonal().mean()) or 1.0
    return K / size, kernel.transform(batch[test]) / size


def _score(C: float, K: Any, new: Any, y: NDArray[Any], truth: NDArray[Any]) -> float:
    return float(SVC(kernel="precomputed", C=C, max_iter=EFFORT).fit(K, y).score(new, truth))


def _process_error(K: NDArray[np.float64], new: NDArray[np.float64], y: Any, truth: Any) -> float:
    """With an amplitude, a constant and noise by marginal likelihood."""
    centre, size = float(np.mean(y)), float(np.std(y)) or 1.0
    process = BlockGrams(np.array([K, np.ones(K.shape)]), (y - centre) / size)
    log_mu, log_noise, _ = maximise_likelihood(process, np.zeros(2), float(np.log(0.1)), _STEPS)
    weights = process.posterior(log_mu, log_noise)[1]
    mean = centre + size * ((np.exp(log_mu[0]) * new + np.exp(log_mu[1])) @ weights)
    return float(np.sqrt(np.mean((mean - truth) ** 2)))


def _score_layer(series: Series, batch: GraphBatch, y: NDArray[Any], train: Any, test: Any) -> float:
    features = RandomWalkFeatures(series, _PAPERS).fit(batch[train])
    X, new = features.transform(batch[train]), features.transform(batch[test])
    size = np.sqrt((X**2).sum(axis=1).mean())
    return float(LogisticRegression(max_iter=200).fit(X / size, y[train]).score(new / size, y[test]))
