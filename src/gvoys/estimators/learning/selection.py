"""Which kernel and which C: a small grid, inner cross-validation, and a good default that must be beaten to be left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedShuffleSplit
from sklearn.svm import SVC

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
    y: NDArray[Any],
    Cs: tuple[float, ...],
    n_folds: int,
    class_weight: Any,
    seed: int,
    n_jobs: int | None,
) -> Choice:
    """The default (most iterations, Matérn 1/2, C nearest 10) unless another is better by over one standard error."""
    candidates = [Candidate(refine, kernel, C) for refine, kernel in grams for C in Cs]
    default = min(
        range(len(candidates)),
        key=lambda i: (candidates[i].kernel != DEFAULT, -candidates[i].refine, abs(np.log10(candidates[i].C) - 1)),
    )
    sizes = np.unique(y, return_counts=True)[1]
    # nothing to choose, or folds that would be left with a single class
    if len(candidates) == 1 or np.sort(sizes)[-2] < 2:
        return Choice(**vars(candidates[default]), score=float("nan"), scores={})
    folds = RepeatedStratifiedKFold(
        n_splits=max(min(n_folds, int(sizes.min())), 2), n_repeats=_REPEATS if len(y) < _FEW else 1, random_state=seed
    )
    splits = list(folds.split(y, y))
    jobs = [
        delayed(_score)(grams[c.refine, c.kernel], y, split, c.C, class_weight) for c in candidates for split in splits
    ]
    scores = np.array(Parallel(n_jobs=n_jobs, prefer="threads")(jobs)).reshape(len(candidates), len(splits))
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


def _score(K: NDArray[np.float64], y: NDArray[Any], split: Any, C: float, class_weight: Any) -> float:
    train, test = split
    model = SVC(kernel="precomputed", C=C, class_weight=class_weight).fit(K[np.ix_(train, train)], y[train])
    return float(model.score(K[np.ix_(test, train)], y[test]))
