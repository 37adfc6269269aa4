"""Rows of a source, before and after they are graphs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DatasetError, GraphError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.files import did_you_mean

_SHOWN_CHARACTERS = 100  # of a row that was skipped
_SHOWN_COLUMNS = 20  # names in a message
_BLANKS = {"", "nan", "<na>", "nat"}  # in small letters
_MISSING = {"NA", "N/A", "n/a", "#N/A", "NULL", "null"}  # as pandas takes them; Na is sodium


class Skipped(NamedTuple):
    """A row that gave no graph.

    Parameters
    ----------
    row : int
        Number of the row, from 1; of a text file, the number of its line.
    text : str
        The SMILES or line, or its beginning; empty where the row is no text.
    reason : str
        Why it gave no graph.
    """

    row: int
    text: str
    reason: str

    @classmethod
    def of(cls, row: int, item: Any, reason: str) -> Skipped:
        """A skipped row, with what stood in it cut to a readable length.

        Parameters
        ----------
        row : int
            Number of the row, from 1.
        item : object
            What stood in the row.
        reason : str
            Why it gave no graph.

        Returns
        -------
        Skipped
            The row.
        """
        text = item.decode(errors="replace") if isinstance(item, bytes) else item if isinstance(item, str) else ""
        text = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
        return cls(row, text if text.isascii() else text.encode(errors="replace").decode(), reason)


@dataclass(frozen=True)
class Graphs:
    """Graphs with what their source says about them.

    Attributes
    ----------
    batch : GraphBatch
        The graphs.
    ids : list of str
        Id of each graph: as the source gives it, or the number of its row.
    columns : dict of str to array
        One value per graph by name of the column: numbers (nan where missing) if all values are, else strings.
    rows : list of int
        Row of each graph, from 1; of a text file, its line.
    skipped : list of Skipped
        Rows that gave no graph, in their order.
    y : array of shape (n_graphs,) or (n_graphs, n_targets), or None
        The target; of a TU dataset its classes unless you named another. None where there is no target.
    smiles : list of str or None
        SMILES of each graph; None if the graphs do not come from SMILES.
    """

    batch: GraphBatch
    ids: list[str]
    columns: dict[str, NDArray[Any]]
    rows: list[int]
    skipped: list[Skipped]
    y: NDArray[Any] | None = None
    smiles: list[str] | None = None

    def take(self, places: NDArray[Any]) -> Graphs:
        """Some of the graphs.

        Parameters
        ----------
        places : ndarray of int
            Their places.

        Returns
        -------
        Graphs
            These graphs in this order, and the same skipped rows.
        """
        return Graphs(
            self.batch[places],
            _take(self.ids, places),
            {name: values[places] for name, values in self.columns.items()},
            _take(self.rows, places),
            self.skipped,
            None if self.y is None else self.y[places],
            None if self.smiles is None else _take(self.smiles, places),
        )


@dataclass(frozen=True)
class Chunk:
    """A range of rows of a source."""

    index: int
    begin: int  # in bytes or rows
    end: int
    row: int = 1  # at which it begins
    group: int = 0  # of rows in a Parquet file


@dataclass(frozen=True)
class Records:
    """Rows that are not graphs yet, with a number, an id and what `GraphSource.build` makes a graph of."""

    rows: list[int]
    ids: list[str]
    items: Sequence[Any]
    skipped: list[Skipped] = field(default_factory=list)  # already
    columns: Mapping[str, Any] = field(default_factory=dict)

    def skip(self, position: int, reason: str) -> Skipped:
        """Return a row as skipped."""
        return Skipped.of(self.rows[position], self.items[position], reason)

    def take(self, kept: Sequence[int], ids: list[str] | None = None) -> Records:
        """Return the rows of some positions, with their ids or those that are given."""
        columns = {name: _take(values, kept) for name, values in self.columns.items()}
        ids = _take(self.ids, kept) if ids is None else ids
        return Records(_take(self.rows, kept), ids, _take(self.items, kept), self.skipped, columns)

    @classmethod
    def joined(cls, parts: Sequence[Records]) -> Records:
        """Return the rows of all parts; a single part as it is, so that a range of graphs stays one."""
        if len(parts) == 1:
            return parts[0]
        names = parts[0].columns if parts else {}
        rows, ids, items, skipped = (
            list(chain.from_iterable(getattr(part, name) for part in parts))
            for name in ("rows", "ids", "items", "skipped")
        )
        return cls(rows, ids, items, skipped, {n: [v for part in parts for v in part.columns[n]] for n in names})


def _take(values: Any, positions: Any) -> Any:
    return values[positions] if isinstance(values, np.ndarray) else [values[position] for position in positions]


def find_columns(where: str, names: Sequence[str], wanted: Sequence[str], option: str) -> list[str]:
    """Return columns by their names, whatever the case, as the table spells them; `option` chose them."""
    by_name = {name.strip().lower(): name for name in reversed(names)}  # of two alike, the first
    for name in wanted:
        if name.strip().lower() not in by_name:
            shown = ", ".join(map(repr, names[:_SHOWN_COLUMNS])) or "none"
            near = did_you_mean(name, names)
            raise DatasetError(
                f"{where} has no column {name!r}{near}; it has {shown}; choose one with {option}=… or --{option}"
            )
    return [by_name[name.strip().lower()] for name in wanted]


def as_values(column: Sequence[Any], decimal_comma: bool = False) -> NDArray[Any]:
    """Return floats, nan where one is missing, if all values are numbers or texts of numbers; else strings."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return column
    texts = ["" if is_missing(value) else _decoded(value) for value in column]
    for spelled in (texts, [text.replace(",", ".") for text in texts]) if decimal_comma else (texts,):
        with suppress(ValueError):
            return np.array([float(text) if text else math.nan for text in spelled], np.float64)
    return np.array(texts, np.str_)


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, blank, or what tables write instead, such as NA."""
    if value is None:
        return True
    text = _decoded(value).strip()
    return len(text) < 5 and (text.lower() in _BLANKS or text in _MISSING)


def check_present(value: Any, name: str) -> None:
    """Check that a cell of a column is not empty."""
    if is_missing(value):
        raise GraphError(f"the column {name!r} is empty")


def cell_text(value: Any, name: str) -> str:
    """Return a cell of a column as text on one line, without spaces around it."""
    check_present(value, name)
    try:
        text = value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError:
        raise GraphError(f"the column {name!r} is not UTF-8") from None
    return line_text(text, f"the column {name!r}")


def line_text(text: str, what: str) -> str:
    """Return text that `str.splitlines` leaves whole and UTF-8 can write; `what` it is stands in the message."""
    text = text.strip()
    if len(text.splitlines()) > 1:
        raise GraphError(f"{what} holds a line break; it must be text on one line")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise GraphError(f"{what} holds half a character, which UTF-8 cannot write")
    return text


def _decoded(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
