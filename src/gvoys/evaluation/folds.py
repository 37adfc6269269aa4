"""Folds of a cross-validation: random ones with their share of every class, and ones that keep groups together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from gvoys.errors import ParameterError

Places = NDArray[np.int64]


class Fold(NamedTuple):
    """One fold of one split.

    Parameters
    ----------
    seed : int
        Seed of the split.
    number : int
        Number of the fold, from 1.
    train : ndarray of int
        Places of the graphs to learn from.
    test : ndarray of int
        Places of the graphs to predict.
    """

    seed: int
    number: int
    train: Places
    test: Places


def make_folds(
    y: NDArray[Any], classify: bool, n_folds: int, seeds: tuple[int, ...], groups: NDArray[Any] | None = None
) -> list[Fold]:
    """Split graphs into folds, once for every seed.

    Parameters
    ----------
    y : ndarray of shape (n_graphs,)
        The targets.
    classify : bool
        Whether they are classes, of which every fold gets its share.
    n_folds : int
        Number of folds.
    seeds : tuple of int
        Seeds of the splits.
    groups : ndarray of shape (n_graphs,) or None, default=None
        Group of each graph; a group is never on both sides of a fold.

    Returns
    -------
    list of Fold
        The folds of the first seed, then those of the next.

    Raises
    ------
    ParameterError
        If there are too few graphs, members of classes, or groups.
    """
    check_folds(y, classify, n_folds)
    alone = groups is None or len(np.unique(groups)) == len(y)
    folds = []
    for seed in seeds:
        if alone:
            splits = fold_splits(classify, y, n_folds, seed)
        else:
            splits = _grouped_splits(np.asarray(groups), y if classify else np.zeros(len(y)), n_folds, seed)
        folds += [Fold(seed, number, *split) for number, split in enumerate(splits, 1)]
    if classify and any(len(np.unique(y[fold.train])) < 2 for fold in folds):
        raise ParameterError("groups leave a fold with one class to learn from; take fewer --folds or another --split")
    return folds


def check_folds(y: NDArray[Any], classify: bool, n_folds: int) -> None:
    """Check that there are enough graphs for a number of folds."""
    sizes = np.sort(np.unique(y, return_counts=True)[1]) if classify else np.array([len(y)])
    if classify and (len(sizes) < 2 or sizes[-2] < 2):
        raise ParameterError("two classes of two graphs or more are needed to cross-validate")
    what = "the largest class has" if classify else "there are"
    if sizes[-1] < 2:
        raise ParameterError(f"two graphs or more are needed to cross-validate, and there is {sizes[-1]}")
    if not 2 <= n_folds <= sizes[-1]:
        raise ParameterError(
            f"folds must lie between 2 and {sizes[-1]}, since {what} {sizes[-1]} graphs; it is {n_folds}"
        )


def fold_splits(classify: bool, y: NDArray[Any], n_folds: int, seed: int) -> list[Any]:
    """Split graphs at random; each fold has its share of every class."""
    if not classify:
        return list(KFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y))))
    codes, sizes = np.unique(y, return_inverse=True, return_counts=True)[1:]
    if sizes.min() < n_folds:  # which scikit-learn would warn of in its own words
        return _grouped_splits(np.arange(len(y)), codes, n_folds, seed)
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))


def _grouped_splits(groups: NDArray[Any], strata: NDArray[Any], n_folds: int, seed: int) -> list[tuple[Places, Places]]:
    """Folds of about equal size in each stratum, whose groups stay together: large groups first, into the emptiest."""
    first, codes, sizes = np.unique(groups, return_index=True, return_inverse=True, return_counts=True)[1:]
    if len(sizes) < n_folds:
        raise ParameterError(f"{n_folds} folds need as many groups, and there are {len(sizes)}; take fewer --folds")
    order = np.random.default_rng(seed).permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    kinds = np.unique(strata, return_inverse=True)[1][first]  # a group counts for the class of its first graph
    counts = np.zeros((kinds.max() + 1, n_folds), np.int64)
    fold_of = np.empty(len(sizes), np.int64)
    for group in order:
        # by the graphs of its class, and where those are equal by all graphs
        fold = int(np.lexsort([counts.sum(axis=0), counts[kinds[group]]])[0])
        fold_of[group] = fold
        counts[kinds[group], fold] += sizes[group]
    of_graph = fold_of[codes.reshape(-1)]
    return [(np.flatnonzero(of_graph != fold), np.flatnonzero(of_graph == fold)) for fold in range(n_folds)]
