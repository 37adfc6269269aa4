"""Graphs that must stay on one side of a fold: duplicates, molecules of one scaffold, groups of a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gvoys.errors import ParameterError
from gvoys.io import Graphs, canonical_smiles, scaffolds
from gvoys.io.sources.columns import find_columns, is_missing

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
    """Groups that a split keeps together."""
    check_split(split, column)
    if split == "scaffold":
        if graphs.smiles is None:
            raise ParameterError("--split scaffold needs molecules, and these graphs do not come from SMILES")
        return joined_groups(same, scaffolds(graphs.smiles))
    return same if column is None else joined_groups(same, _column(graphs, column))


def _column(graphs: Graphs, name: str) -> Sequence[Any]:
    """The values of a column; rows without one are each for themselves."""
    column = find_columns("the table", list(graphs.columns), [name], "group")[0]
    values = graphs.columns[column].tolist()
    return [(row, None) if is_missing(value) else value for row, value in enumerate(values)]


def joined_groups(*partitions: Any) -> NDArray[np.int64]:
    """Groups such that graphs which are together in any of several partitions are together."""
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
    """One graph of each kind, with the mean of its numbers or its one class."""
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
