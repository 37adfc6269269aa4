"""Folds of a cross-validation: random ones with their share of every class, and ones that keep groups together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import KFold, StratifiedKFold

from gvoys.errors import ParameterError
from gvoys.io import Graphs, canonical_smiles, scaffolds
from gvoys.io.sources.records import find_columns, is_missing

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
    """Split groups into folds of about equal size in each stratum: large groups first, into the emptiest."""
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


SPLITS = ("random", "scaffold", "group")


def same_molecules(graphs: Graphs, chemistry: Any = None) -> NDArray[np.int64]:
    """Number molecules so that those with the same canonical SMILES share a number; other graphs share none."""
    if graphs.smiles is None:
        return np.arange(len(graphs.batch))
    return np.unique(canonical_smiles(graphs.smiles, chemistry), return_inverse=True)[1].reshape(-1)


def check_split(split: str, column: str | None) -> None:
    """Check that there is such a split, and that a column is named where it needs one."""
    if split not in SPLITS:
        raise ParameterError(f"there is no split {split!r}; choose one of {', '.join(SPLITS)}")
    if (split == "group") != (column is not None):
        raise ParameterError("--split group needs --group COLUMN, and no other split takes it")


def groups_for(split: str, graphs: Graphs, same: NDArray[np.int64], column: str | None = None) -> NDArray[np.int64]:
    """Number the groups that a split keeps together."""
    check_split(split, column)
    if split == "scaffold":
        if graphs.smiles is None:
            raise ParameterError("--split scaffold needs molecules, and these graphs do not come from SMILES")
        return joined_groups(same, scaffolds(graphs.smiles))
    if column is None:
        return same
    values = graphs.columns[find_columns("the table", list(graphs.columns), [column], "group")[0]].tolist()
    return joined_groups(same, [(row, None) if is_missing(value) else value for row, value in enumerate(values)])


def joined_groups(*partitions: Any) -> NDArray[np.int64]:
    """Number groups such that graphs which are together in any of several partitions are together."""
    count = len(partitions[0])
    codes, first = [], count
    for values in partitions:
        known: dict[Any, int] = {}
        codes.append([first + known.setdefault(value, len(known)) for value in values])
        first += len(known)
    ends = np.array(codes, np.int64).reshape(-1)
    graph = coo_array((np.ones(len(ends)), (np.tile(np.arange(count), len(partitions)), ends)), shape=(first, first))
    return connected_components(graph, directed=False)[1][:count].astype(np.int64)


def describe_copies(y: NDArray[Any], same: NDArray[np.int64], classify: bool) -> str | None:
    """Return a sentence on structures whose copies, which share a number, have several values; None without any."""
    codes = np.unique(y, return_inverse=True)[1].reshape(-1) if classify else y
    order = np.argsort(same, kind="stable")
    starts = np.flatnonzero(np.diff(same[order], prepend=-1))
    spans = np.maximum.reduceat(codes[order], starts) - np.minimum.reduceat(codes[order], starts)
    count = int((spans > 0).sum())
    what = f"{count:,} structures" if count > 1 else "1 structure"
    if not count:
        return None
    if classify:
        return f"{what} {'have' if count > 1 else 'has'} copies of several classes."
    return f"The values of {what} differ between {'their' if count > 1 else 'its'} copies, by up to {spans.max():g}."


def merge_duplicates(
    y: NDArray[Any], same: NDArray[np.int64], classify: bool
) -> tuple[NDArray[np.int64], NDArray[Any], int]:
    """Keep one graph of each kind, with the mean of its numbers or its one class; return rows, targets, conflicts."""
    first, codes = np.unique(same, return_index=True, return_inverse=True)[1:]
    codes = codes.reshape(-1)
    if not classify:
        means = np.bincount(codes, y) / np.bincount(codes)
        order = np.argsort(first)
        return first[order], means[order], 0
    agreed = np.ones(len(first), bool)
    np.logical_and.at(agreed, codes, y == y[first][codes])
    rows = np.sort(first[agreed])
    return rows, y[rows], int((~agreed).sum())
