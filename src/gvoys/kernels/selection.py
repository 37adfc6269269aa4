"""Choice of kernel and C: a small grid, inner cross-validation, and a default that another must beat."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedShuffleSplit

from gvoys.errors import ParameterError
from gvoys.kernels.base_kernels import KERNELS
from gvoys.kernels.engines import Training
from gvoys.kernels.machines import ROUGH, train
from gvoys.kernels.targets import Targets
from gvoys.threads import n_threads, threads
from gvoys.walks.checks import is_auto

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
    """The chosen candidate, its score in the inner cross-validation, and the others' scores."""

    refine: int
    kernel: str
    C: float
    score: float
    scores: dict[Candidate, float]


def subsample(columns: Sequence[Targets], seed: int) -> NDArray[np.int64]:
    """Graphs to choose by: all, or a sample of many, stratified where there is one column of classes."""
    y = columns[0].codes
    if len(y) <= 2 * _ENOUGH:
        return np.arange(len(y))
    if len(columns) > 1:
        return np.sort(np.random.default_rng(seed).permutation(len(y))[:_ENOUGH])
    kept, _ = next(StratifiedShuffleSplit(1, train_size=_ENOUGH, random_state=seed).split(y, y))
    return np.sort(kept)


def choose(
    grams: dict[tuple[int, str], Array],
    columns: Sequence[Targets],
    Cs: tuple[float, ...],
    how: Training,
    n_jobs: int | None,
) -> tuple[Choice, list[Array | None]]:
    """The default (most iterations, Matérn 1/2, C nearest 10) unless another is better by over one standard error.

    Only the best fifth of the candidates goes on after two folds. Several columns of classes share the choice. Also
    returned are the decisions on every graph by a machine that had not seen it, column by column; None where nothing
    was to be chosen.
    """
    candidates = [Candidate(refine, kernel, C) for refine, kernel in grams for C in Cs]
    default = min(candidates, key=lambda c: (c.kernel != DEFAULT, -c.refine, abs(np.log10(c.C) - 1)))
    judges = [_Judge.of(grams, targets, how, n_jobs) for targets in columns]
    able = [judge for judge in judges if judge.splits]
    if len(candidates) == 1 or not able:
        return Choice(**vars(default), score=float("nan"), scores={}), [None] * len(columns)
    for judge in able:
        judge.decide(candidates, _FIRST, "choosing")
    scores = _scores(able, candidates)
    ahead = sorted(candidates, key=lambda c: -scores[c].mean())[: max(len(candidates) // _GO_ON, 1)]
    kept = [c for c in candidates if c in (default, *ahead)]
    for judge in able:
        judge.decide(kept, None, "comparing")
    scores |= _scores(able, kept)
    best = max(kept, key=lambda c: scores[c].mean())
    if not _gains(scores[best] - scores[default], able[0].splits[0]):
        best = default
    means = {c: float(scores[c].mean()) for c in candidates}
    choice = Choice(**vars(best), score=means[best], scores=means)
    return choice, [judge.left_out(best) for judge in judges]


def is_better(old: Array, new: Array, columns: Sequence[Targets], C: float, how: Training, n_jobs: int | None) -> bool:
    """Whether machines on one Gram matrix are better than those on another, by over one standard error."""
    candidates = [Candidate(index, DEFAULT, C) for index in range(2)]
    grams = {(0, DEFAULT): old, (1, DEFAULT): new}
    judges = [judge for judge in (_Judge.of(grams, item, how, n_jobs) for item in columns) if judge.splits]
    for judge in judges:
        judge.decide(candidates, None, "trying attributes")
    scores = _scores(judges, candidates)
    return bool(judges) and _gains(scores[candidates[1]] - scores[candidates[0]], judges[0].splits[0])


def _scores(judges: list[_Judge], candidates: list[Candidate]) -> dict[Candidate, Array]:
    """Score each candidate, split by split of one column after the other."""
    return {c: np.array([score for judge in judges for score in judge.scores(c)]) for c in candidates}


def _gains(differences: Array, split: Split) -> bool:
    """Whether a mean difference is above zero by over one standard error."""
    return bool(differences.mean() > corrected_error(differences, len(split[1]) / len(split[0])))


@dataclass(frozen=True)
class _Judge:
    """Trains machines of candidates on some graphs, and tries them on the others, for one column of classes."""

    grams: dict[tuple[int, str], Array]
    targets: Targets
    how: Training
    n_jobs: int | None
    n_folds: int
    splits: list[Split]  # none where folds would be left with a single class
    decisions: dict[Candidate, list[Array]] = field(default_factory=dict)  # on the graphs that each split leaves out

    @classmethod
    def of(cls, grams: dict[tuple[int, str], Array], targets: Targets, how: Training, n_jobs: int | None) -> _Judge:
        """Make a judge by folds of the classes."""
        sizes = np.unique(targets.codes, return_counts=True)[1]
        possible = np.sort(sizes)[-2:][0] >= 2 and len(sizes) > 1
        n_folds, splits = _splits(targets.codes, int(sizes.min()), how) if possible else (0, [])
        return cls(grams, targets, how, n_jobs, n_folds, splits)

    def decide(self, candidates: list[Candidate], count: int | None, step: str) -> None:
        """Go on with these candidates up to so many splits, or to the last."""
        done = len(self.decisions.get(candidates[0], ()))
        by_gram = [list(group) for _, group in groupby(candidates, lambda c: (c.refine, c.kernel))]
        tasks = list(product(by_gram, self.splits[done:count]))
        with threads(self.n_jobs), ThreadPoolExecutor(n_threads()) as pool:
            made = pool.map(lambda task: self._decide_once(*task), tasks)
            result = list(self.how.progress.track(made, step, len(tasks)))
        for (group, _), decisions in zip(tasks, result, strict=True):
            for candidate, item in zip(group, decisions, strict=True):
                self.decisions.setdefault(candidate, []).append(item)

    def _decide_once(self, group: list[Candidate], split: Split) -> list[Array]:
        """Decide for candidates that share a Gram matrix."""
        (known, test), K = split, self.grams[group[0].refine, group[0].kernel]
        machines = train(K, known, self.targets, [candidate.C for candidate in group], self.how.class_weight, ROUGH)
        return [machine.decide(K[test]) for machine in machines]

    def scores(self, candidate: Candidate) -> list[float]:
        """Share of the graphs that a candidate puts into their class, split by split as far as it went."""
        return [self._score(*item) for item in zip(self.decisions[candidate], self.splits, strict=False)]

    def _score(self, decisions: Array, split: Split) -> float:
        unseen = self.targets.take(split[1])
        result = decisions.argmax(axis=1) if decisions.ndim == 2 else (decisions > 0).astype(np.int64)
        classes = np.unique(self.targets.codes[split[0]])  # those that the machine has seen
        return float(np.average(classes[result] == unseen.codes, weights=unseen.weights))

    def left_out(self, candidate: Candidate) -> Array | None:
        """Decisions on every graph by a machine that had not seen it."""
        if not self.splits:
            return None
        folds = slice(self.n_folds)
        return _by_graph(self.decisions[candidate][folds], self.splits[folds], len(self.targets.codes))


def _by_graph(decisions: list[Array], folds: list[Split], n_graphs: int) -> Array | None:
    """The decision on every graph by the machine that had not seen it; None if some machine has not seen a class."""
    widths = {item.shape[1:] for item in decisions}
    if len(widths) > 1:
        return None
    out = np.empty((n_graphs, *widths.pop()))
    for result, (_, test) in zip(decisions, folds, strict=True):
        out[test] = result
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


# larger grids hurt small datasets
GRID: dict[str, tuple[Any, ...]] = {
    "refine": (0, 1, 3),
    "kernel": ("linear", "matern12", "gaussian"),
    "C": (1.0, 10.0, 100.0),
}


def values_of(name: str, value: Any) -> tuple[Any, ...]:
    """The values to choose from: the one given, or several for "auto"."""
    if is_auto(value):
        return GRID[name]
    _CHECKS[name](value)
    return (value,)


def nearest_ten(values: tuple[float, ...]) -> float:
    """The C that is nearest to the default."""
    return min(values, key=lambda C: abs(np.log10(C) - 1))


def is_positive(value: Any) -> bool:
    """Whether it is a positive finite number."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and bool(0 < value < np.inf)


def _check_refine(value: Any) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        raise ParameterError(f'refine must be "auto" or an integer of at least 0, not {value!r}')


def _check_kernel(value: Any) -> None:
    if not isinstance(value, str) or value not in KERNELS:
        raise ParameterError(f'kernel must be "auto" or one of {", ".join(map(repr, KERNELS))}, not {value!r}')


def _check_C(value: Any) -> None:
    if not is_positive(value):
        raise ParameterError(f'C must be "auto" or a positive number, not {value!r}')


_CHECKS = {"refine": _check_refine, "kernel": _check_kernel, "C": _check_C}
