"""Which kernel and which C: a small grid, inner cross-validation, and a good default that must be beaten to be left."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedShuffleSplit

from gvoys.estimators.learning.engines import Training
from gvoys.estimators.learning.targets import Targets
from gvoys.estimators.progress import SILENT

__all__ = ["DEFAULT", "Candidate", "Choice", "choose", "corrected_error", "subsample"]

DEFAULT = "matern12"  # the base kernel that is taken unless another is better
_FEW = 500  # graphs below which folds are repeated, since one split says little
_REPEATS = 3
_ENOUGH = 1500  # graphs that are enough to choose by


@dataclass(frozen=True)
class Candidate:
    """A point of the grid."""

    refine: int
    kernel: str
    C: float


@dataclass(frozen=True)
class Choice:
    """What was chosen, its score in the inner cross-validation, and those of the others."""

    refine: int
    kernel: str
    C: float
    score: float
    scores: dict[Candidate, float]


def subsample(y: NDArray[Any], seed: int) -> NDArray[np.int64]:
    """Graphs to choose by: all, or a stratified sample of many."""
    if len(y) <= 2 * _ENOUGH:
        return np.arange(len(y))
    kept, _ = next(StratifiedShuffleSplit(1, train_size=_ENOUGH, random_state=seed).split(y, y))
    return np.sort(kept)


def choose(
    grams: dict[tuple[int, str], NDArray[np.float64]],
    targets: Targets,
    Cs: tuple[float, ...],
    how: Training,
    n_jobs: int | None,
) -> Choice:
    """The default (most iterations, Matérn 1/2, C nearest 10) unless another is better by over one standard error."""
    candidates = [Candidate(refine, kernel, C) for refine, kernel in grams for C in Cs]
    default = min(
        range(len(candidates)),
        key=lambda i: (candidates[i].kernel != DEFAULT, -candidates[i].refine, abs(np.log10(candidates[i].C) - 1)),
    )
    sizes = np.unique(targets.codes, return_counts=True)[1]
    # nothing to choose, or folds that would be left with a single class
    if len(candidates) == 1 or np.sort(sizes)[-2] < 2:
        return Choice(**vars(candidates[default]), score=float("nan"), scores={})
    splits = _splits(targets.codes, int(sizes.min()), how)
    rows = []
    with Parallel(n_jobs=n_jobs, prefer="threads") as run:
        for c in how.progress.track(candidates, "choosing", len(candidates)):
            K, training = grams[c.refine, c.kernel], replace(how, C=c.C, progress=SILENT)
            rows.append(run(delayed(_score)(K, targets, split, training) for split in splits))
    scores = np.array(rows)
    means = scores.mean(axis=1)
    best = int(means.argmax())
    ahead = scores[best] - scores[default]
    if ahead.mean() <= corrected_error(ahead, len(splits[0][1]) / len(splits[0][0])):
        best = default
    return Choice(
        **vars(candidates[best]),
        score=float(means[best]),
        scores={candidate: float(mean) for candidate, mean in zip(candidates, means, strict=True)},
    )


def corrected_error(differences: NDArray[np.float64], ratio: float) -> float:
    """Standard error of a mean over folds whose training sets overlap: Nadeau and Bengio's correction.

    `ratio` is the number of test graphs by that of training graphs.
    """
    return float(differences.std(ddof=1) * np.sqrt(1.0 / len(differences) + ratio))


def _splits(y: NDArray[Any], smallest: int, how: Training) -> list[Any]:
    folds = RepeatedStratifiedKFold(
        n_splits=max(min(how.n_folds, smallest), 2),
        n_repeats=_REPEATS if len(y) < _FEW else 1,
        random_state=how.seed,
    )
    with warnings.catch_warnings():  # of a class with one graph the learner itself warns
        warnings.filterwarnings("ignore", "The least populated class")
        return list(folds.split(y, y))


def _score(K: NDArray[np.float64], targets: Targets, split: Any, how: Training) -> float:
    train, test = split
    unseen = targets.take(test)
    model = how.machine(K[np.ix_(train, train)], targets.take(train))
    right = model.predict(K[np.ix_(test, train)]) == unseen.codes
    return float(np.average(right, weights=unseen.weights))  # as model.score does, without its checks
