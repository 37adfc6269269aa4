"""Adjacency entries of all graphs at once: check, mirror, sort, merge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.errors import GraphError
from gvoys.graphs.labels import Labels

# Two weights of one undirected edge may differ by rounding (D^-1/2 A D^-1/2 does), by no more than this.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Entries:
    """Adjacency entries of all graphs, with their weights and labels."""

    rows: NDArray[Any]  # ends of each entry, numbered over all graphs
    columns: NDArray[Any]  # ends of each entry, numbered over all graphs
    weights: NDArray[np.float64] | None = None  # weight of each entry
    labels: Labels | None = None  # label of each entry
    attributes: NDArray[np.float64] | None = None  # real attributes of each entry

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Entries:
        optional = (self.weights, self.labels, self.attributes)
        return Entries(self.rows[index], self.columns[index], *(take(values, index) for values in optional))

    def mirrored(self, which: NDArray[Any]) -> Entries:
        """Add the reverse of some entries; a self-loop is its own reverse."""
        reverse = np.flatnonzero(which & (self.rows != self.columns))
        return Entries(
            np.concatenate([self.rows, self.columns[reverse]]),
            np.concatenate([self.columns, self.rows[reverse]]),
            None if self.weights is None else np.concatenate([self.weights, self.weights[reverse]]),
            None if self.labels is None else self.labels[np.concatenate([np.arange(len(self)), reverse])],
            None if self.attributes is None else np.concatenate([self.attributes, self.attributes[reverse]]),
        )

    def codes(self) -> list[NDArray[Any]]:
        """Columns that tell entries apart beside their weight: a number for each label and each row of attributes."""
        columns: list[NDArray[Any]] = [] if self.labels is None else [self.labels.codes]
        if self.attributes is not None and self.attributes.shape[1]:
            columns.append(np.unique(self.attributes, axis=0, return_inverse=True)[1].ravel())
        return columns


# -- checks that name the graph


def where(sizes: NDArray[np.int64], row: int, column: int) -> str:
    """Name an entry by its graph and its nodes within the graph."""
    ends = np.cumsum(sizes)
    graph = int(np.searchsorted(ends, row, side="right"))
    first = int(ends[graph] - sizes[graph])
    return f"graph {graph}: edge ({row - first}, {column - first})"


def check_entries(entries: Entries, sizes: NDArray[np.int64]) -> None:
    """Check that node ids are in range, edges stay within their graph, and weights are finite."""
    rows, columns, total = entries.rows, entries.columns, int(sizes.sum())
    if len(entries) == 0:
        return
    if min(rows.min(), columns.min()) < 0 or max(rows.max(), columns.max()) >= total:
        edge = int(np.argmax((rows < 0) | (rows >= total) | (columns < 0) | (columns >= total)))
        raise GraphError(
            f"{_other_end(sizes, rows[edge], columns[edge], total)}edge {edge} joins nodes {rows[edge]} and "
            f"{columns[edge]}, but the nodes are numbered 0 to {total - 1}"
        )
    if len(sizes) > 1:
        graphs = np.repeat(np.arange(len(sizes)), sizes)
        apart = graphs[rows] != graphs[columns]
        if apart.any():
            edge = int(np.argmax(apart))
            raise GraphError(
                f"edge {edge} joins node {rows[edge]} of graph {graphs[rows[edge]]} and node {columns[edge]} of graph "
                f"{graphs[columns[edge]]}; an edge stays within its graph"
            )
    _check_weights(entries, sizes)
    if entries.attributes is not None and not np.isfinite(entries.attributes).all():
        bad = int(np.argmax(~np.isfinite(entries.attributes).all(axis=1)))
        named = where(sizes, int(rows[bad]), int(columns[bad]))
        raise GraphError(f"{named} has an attribute that is not finite; attributes must be real numbers")


def _other_end(sizes: NDArray[np.int64], row: int, column: int, total: int) -> str:
    inside = next((node for node in (row, column) if 0 <= node < total), None)
    return "" if inside is None else f"graph {int(np.searchsorted(np.cumsum(sizes), inside, side='right'))}: "


def _check_weights(entries: Entries, sizes: NDArray[np.int64]) -> None:
    if entries.weights is None or np.isfinite(entries.weights).all():
        return
    bad = int(np.argmax(~np.isfinite(entries.weights)))
    edge = where(sizes, int(entries.rows[bad]), int(entries.columns[bad]))
    raise GraphError(f"{edge} has weight {entries.weights[bad]}; weights must be finite")


# -- sorting and merging


def _sorted(entries: Entries, keys: Sequence[NDArray[Any]]) -> tuple[Entries, NDArray[np.bool_]]:
    """Sort by `keys`, most significant first; also return which entries open a new group of equal keys."""
    order = stable_order(keys[-1])
    for key in keys[-2::-1]:
        order = order[stable_order(key[order])]
    changes = np.zeros(len(order), bool)
    changes[:1] = True
    for key in keys:
        changes[1:] |= np.diff(key[order]) != 0
    return entries[order], changes


def stable_order(keys: NDArray[Any]) -> NDArray[Any]:
    """Stable argsort of small integers in linear time: scipy's transposition is a counting sort."""
    small = index_type(max(len(keys), int(keys.max(initial=0))))
    ones, one_each = np.ones(len(keys), np.int8), np.arange(len(keys) + 1, dtype=small)
    shape = (len(keys), int(keys.max(initial=0)) + 1)
    return sp.csr_array((ones, keys.astype(small, copy=False), one_each), shape=shape).tocsc().indices


def _is_sorted(entries: Entries) -> bool:
    """Whether entries are strictly increasing by (row, column), as those of a matrix in canonical form are."""
    rows, columns = entries.rows, entries.columns
    onward = (rows[1:] == rows[:-1]) & (columns[1:] > columns[:-1])
    return bool((onward | (rows[1:] > rows[:-1])).all())


def merge_equal(entries: Entries, sizes: NDArray[np.int64]) -> Entries:
    """Sort entries and keep one of each."""
    if _is_sorted(entries):
        return entries
    entries, first = _sorted(entries, (entries.rows, entries.columns))
    codes = None if entries.labels is None else entries.labels.codes
    if first.all() or (entries.weights is None and codes is None and entries.attributes is None):
        return entries[first]
    head = np.flatnonzero(first)[np.cumsum(first) - 1]  # the first entry of each entry's group
    for name, values in (("weights", entries.weights), ("labels", codes)):
        if values is None or not (bad := differ(values, values[head])).any():
            continue
        second = int(np.argmax(bad))
        pair = entries[[head[second], second]]
        shown = pair.weights.tolist() if name == "weights" else pair.labels.decode()  # type: ignore[union-attr]
        raise GraphError(
            f"{where(sizes, int(pair.rows[0]), int(pair.columns[0]))} is given with the {name} "
            f"{shown[0]!r} and {shown[1]!r}; give each edge one of them"
        )
    if entries.attributes is not None and (bad := (entries.attributes != entries.attributes[head]).any(axis=1)).any():
        edge = where(sizes, *(int(ends[np.argmax(bad)]) for ends in (entries.rows, entries.columns)))
        raise GraphError(f"{edge} is given with different attributes; give each edge one row of them")
    return entries[first]


def differ(values: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    """Where label codes differ, or weights differ by more than rounding."""
    if values.dtype.kind != "f":
        return values != others
    return np.abs(values - others) > ROUNDING * np.abs(values)


def merge_parallel(entries: Entries, sizes: NDArray[np.int64]) -> Entries:
    """Sort entries and add the weights of parallel edges; those with different labels or attributes stay apart."""
    if _is_sorted(entries):
        return entries
    entries, first = _sorted(entries, [entries.rows, entries.columns, *entries.codes()])
    if first.all():
        return entries
    weights = np.ones(len(entries)) if entries.weights is None else entries.weights
    with np.errstate(over="ignore"):
        merged = replace(entries[first], weights=np.add.reduceat(weights, np.flatnonzero(first)))
    _check_weights(merged, sizes)  # large ones may add up to more than float64 holds
    return merged


def check_symmetric(entries: Entries, sizes: NDArray[np.int64]) -> None:
    """Check that each entry of an undirected batch has its mirror, of equal weight, label and attributes."""
    total = int(sizes.sum())
    small = index_type(max(total, len(entries)))
    indptr = row_pointers(entries, total).astype(small)
    columns = entries.columns.astype(small, copy=False)
    given: list[NDArray[Any]] = [*([] if entries.weights is None else [entries.weights]), *entries.codes()]
    # scipy sorts the entries by (column, row) in linear time, and carries one array of values along
    for carried in given or [np.ones(len(entries), np.int32)]:
        mirror = sp.csr_array((carried, columns, indptr), shape=(total, total)).tocsc()
        if not (np.array_equal(mirror.indptr, indptr) and np.array_equal(mirror.indices, columns)):
            row, column = _unmatched(entries, total)
            fault = "has no edge back, so the matrix is not symmetric"
        elif (bad := differ(carried, mirror.data)).any():
            row, column = (int(ends[np.argmax(bad)]) for ends in (entries.rows, entries.columns))
            fault = "and the edge back differ in weight, label or attributes, so the matrix is not symmetric"
        else:
            continue
        raise GraphError(f"{where(sizes, row, column)} {fault}; pass directed=True if the graphs are directed")


def _unmatched(entries: Entries, total: int) -> tuple[int, int]:
    rows, columns = entries.rows.astype(np.int64), entries.columns.astype(np.int64)
    keys, back = rows * total + columns, columns * total + rows
    lonely = int(np.argmax(~np.isin(keys, back)))
    return int(entries.rows[lonely]), int(entries.columns[lonely])


def row_pointers(entries: Entries, total: int) -> NDArray[np.int64]:
    """Where each row of sorted entries begins."""
    return np.searchsorted(entries.rows, np.arange(total + 1))


def index_type(largest: int) -> type[np.signedinteger[Any]]:
    """The smallest type of indices: int32 where it can count to `largest`, else int64."""
    return np.int32 if largest < np.iinfo(np.int32).max else np.int64


def take(values: Any, index: Any) -> Any:
    """Select values[index]; None of None is None."""
    return None if values is None else values[index]
