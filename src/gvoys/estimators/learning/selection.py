"""Which kernel and which C: a small grid, inner cross-validation, and a good default that must be beaten to be left."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedShuffleSplit

from gvoys.estimators.learning.engines import Training
from gvoys.estimators.learning.machines import ROUGH, train
from gvoys.estimators.learning.targets import Targets
from gvoys.threads import n_threads, threads

__all__ = ["DEFAULT", "Candidate", "Choice", "choose", "corrected_error", "is_better", "subsample"]

DEFAULT = "matern12"  # the base kernel that is taken unless another is better
_FEW = 500  # graphs below which folds are repeated, since one split says little
_REPEATS = 3
_ENOUGH = 1500  # graphs that are enough to choose by
_FIRST, _GO_ON = 2, 5  # folds after which one candidate in so many goes on

Array = NDArray[np.float64]
Split = tuple[NDArray[np.int64], NDArray[np.int64]]  # graphs to train on, and graphs to try


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
    grams: dict[tuple[int, str], Array], targets: Targets, Cs: tuple[float, ...], how: Training, n_jobs: int | None
) -> tuple[Choice, Array | None]:
    """The default (most iterations, Matérn 1/2, C nearest 10) unless another is better by over one standard error.

    Only the best fifth of the candidates goes on after two folds. Also returned are the decisions on every graph by a
    machine that had not seen it; None where nothing was to be chosen.
    """
    candidates = [Candidate(refine, kernel, C) for refine, kernel in grams for C in Cs]
    default = min(candidates, key=lambda c: (c.kernel != DEFAULT, -c.refine, abs(np.log10(c.C) - 1)))
    sizes = np.unique(targets.codes, return_counts=True)[1]
    # nothing to choose, or folds that would be left with a single class
    if len(candidates) == 1 or np.sort(sizes)[-2] < 2:
        return Choice(**vars(default), score=float("nan"), scores={}), None
    n_folds, splits = _splits(targets.codes, int(sizes.min()), how)
    judge = _Judge(grams, targets, how, n_jobs)
    decisions = judge.decide(candidates, splits[:_FIRST], "choosing")
    scores = judge.score(decisions, splits[:_FIRST])
    ahead = sorted(candidates, key=lambda c: -scores[c].mean())[: max(len(candidates) // _GO_ON, 1)]
    kept = [c for c in candidates if c in (default, *ahead)]
    if len(splits) > _FIRST:
        more = judge.decide(kept, splits[_FIRST:], "comparing")
        decisions |= {c: decisions[c] + more[c] for c in kept}
        scores |= judge.score({c: decisions[c] for c in kept}, splits)
    best = max(kept, key=lambda c: scores[c].mean())
    if not _gains(scores[best] - scores[default], splits[0]):
        best = default
    means = {c: float(scores[c].mean()) for c in candidates}
    choice = Choice(**vars(best), score=means[best], scores=means)
    return choice, _by_graph(decisions[best][:n_folds], splits[:n_folds], len(targets.codes))


def is_better(old: Array, new: Array, targets: Targets, C: float, how: Training, n_jobs: int | None) -> bool:
    """Whether machines on one Gram matrix are better than those on another, by over one standard error."""
    sizes = np.unique(targets.codes, return_counts=True)[1]
    if np.sort(sizes)[-2] < 2:
        return False
    _, splits = _splits(targets.codes, int(sizes.min()), how)
    candidates = [Candidate(place, DEFAULT, C) for place in range(2)]
    judge = _Judge({(0, DEFAULT): old, (1, DEFAULT): new}, targets, how, n_jobs)
    scores = judge.score(judge.decide(candidates, splits, "trying attributes"), splits)
    return _gains(scores[candidates[1]] - scores[candidates[0]], splits[0])


def _gains(differences: Array, split: Split) -> bool:
    """Whether a mean difference is above zero by over one standard error."""
    return bool(differences.mean() > corrected_error(differences, len(split[1]) / len(split[0])))


@dataclass(frozen=True)
class _Judge:
    """Trains machines of candidates on some graphs, and tries them on the others."""

    grams: dict[tuple[int, str], Array]
    targets: Targets
    how: Training
    n_jobs: int | None

    def decide(self, candidates: list[Candidate], splits: list[Split], step: str) -> dict[Candidate, list[Array]]:
        """Decisions of each candidate on the graphs that every split leaves out."""
        by_gram = [list(group) for _, group in groupby(candidates, lambda c: (c.refine, c.kernel))]
        tasks = list(product(by_gram, splits))
        with threads(self.n_jobs), ThreadPoolExecutor(n_threads()) as pool:
            made = pool.map(lambda task: self._decide_once(*task), tasks)
            found = list(self.how.progress.track(made, step, len(tasks)))
        out: dict[Candidate, list[Array]] = {candidate: [] for candidate in candidates}
        for (group, _), decisions in zip(tasks, found, strict=True):
            for candidate, each in zip(group, decisions, strict=True):
                out[candidate].append(each)
        return out

    def _decide_once(self, group: list[Candidate], split: Split) -> list[Array]:
        """By candidates that share a Gram matrix."""
        (known, test), K = split, self.grams[group[0].refine, group[0].kernel]
        machines = train(K, known, self.targets, [candidate.C for candidate in group], self.how.class_weight, ROUGH)
        return [machine.decide(K[test]) for machine in machines]

    def score(self, decisions: dict[Candidate, list[Array]], splits: list[Split]) -> dict[Candidate, Array]:
        """Share of the graphs that each candidate puts into their class, split by split."""
        return {
            candidate: np.array([self._score(*each) for each in zip(found, splits, strict=True)])
            for candidate, found in decisions.items()
        }

    def _score(self, decisions: Array, split: Split) -> float:
        unseen = self.targets.take(split[1])
        found = decisions.argmax(axis=1) if decisions.ndim == 2 else (decisions > 0).astype(np.int64)
        classes = np.unique(self.targets.codes[split[0]])  # those that the machine has seen
        return float(np.average(classes[found] == unseen.codes, weights=unseen.weights))


def _by_graph(decisions: list[Array], folds: list[Split], n_graphs: int) -> Array | None:
    """The decision on every graph by the machine that had not seen it; None if some machine has not seen a class."""
    widths = {each.shape[1:] for each in decisions}
    if len(widths) > 1:
        return None
    out = np.empty((n_graphs, *widths.pop()))
    for found, (_, test) in zip(decisions, folds, strict=True):
        out[test] = found
    return out


def corrected_error(differences: Array, ratio: float) -> float:
    """Standard error of a mean over folds whose training sets overlap: Nadeau and Bengio's correction.

    `ratio` is the number of test graphs by that of training graphs.
    """
    return float(differences.std(ddof=1) * np.sqrt(1.0 / len(differences) + ratio))


def _splits(y: NDArray[Any], smallest: int, how: Training) -> tuple[int, list[Split]]:
    """The number of folds, and the folds, several times where there are few graphs."""
    n_folds = max(min(how.n_folds, smallest), 2)
    n_repeats = _REPEATS if len(y) < _FEW else 1
    splits = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=how.seed)
    with warnings.catch_warnings():  # of a class with one graph the learner itself warns
        warnings.filterwarnings("ignore", "The least populated class")
        return n_folds, list(splits.split(y, y))
