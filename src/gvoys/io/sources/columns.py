"""Columns of tables: finding them by name, and what their cells hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DatasetError, GraphError
from gvoys.io.nearest import did_you_mean

__all__ = ["as_values", "cell_text", "check_present", "find_columns", "line_text"]

_SHOWN = 20  # names of columns in a message
_NOTHING = {"", "nan", "<na>", "nat"}  # in small letters
_MISSING = {"NA", "N/A", "n/a", "#N/A", "NULL", "null"}  # as pandas takes them; Na is sodium


def find_columns(where: str, names: Sequence[str], wanted: Sequence[str], option: str) -> list[str]:
    """Columns by their names, whatever the case.

    Parameters
    ----------
    where : str
        Name of the table, for the message.
    names : sequence of str
        Names of all columns.
    wanted : sequence of str
        Names to find.
    option : str
        Parameter that chooses them, for the message.

    Returns
    -------
    list of str
        The columns, spelled as in the table.

    Raises
    ------
    DatasetError
        If there is no such column.
    """
    by_name = {name.strip().lower(): name for name in reversed(names)}  # of two alike, the first
    for name in wanted:
        if name.strip().lower() not in by_name:
            shown = ", ".join(map(repr, names[:_SHOWN])) or "none"
            near = did_you_mean(name, names)
            raise DatasetError(
                f"{where} has no column {name!r}{near}; it has {shown}; choose one with {option}=… or --{option}"
            )
    return [by_name[name.strip().lower()] for name in wanted]


def as_values(column: Sequence[Any]) -> NDArray[Any]:
    """Numbers where all values are, else strings; the same for a number and its text.

    Parameters
    ----------
    column : sequence
        Values of a column.

    Returns
    -------
    array
        Floats, nan where a value is missing, or strings, empty where one is; an array of numbers as it is.
    """
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return column
    texts = ["" if is_missing(value) else _decoded(value) for value in column]
    try:
        return np.array([float(text) if text else math.nan for text in texts], np.float64)
    except ValueError:
        return np.array(texts, np.str_)


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, blank, or what tables write instead, such as NA.

    Parameters
    ----------
    value : object
        The cell.

    Returns
    -------
    bool
        True if it is.
    """
    if value is None:
        return True
    text = _decoded(value).strip()
    return len(text) < 5 and (text.lower() in _NOTHING or text in _MISSING)


def check_present(value: Any, name: str) -> None:
    """Check that a cell is not empty.

    Parameters
    ----------
    value : object
        The cell.
    name : str
        Name of its column.

    Raises
    ------
    GraphError
        If it is.
    """
    if is_missing(value):
        raise GraphError(f"the column {name!r} is empty")


def cell_text(value: Any, name: str) -> str:
    """A cell as text on one line.

    Parameters
    ----------
    value : object
        The cell.
    name : str
        Name of its column.

    Returns
    -------
    str
        The text, without spaces around it.

    Raises
    ------
    GraphError
        If the cell is empty, is not UTF-8 or is not text on one line.
    """
    check_present(value, name)
    try:
        text = value.decode() if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError:
        raise GraphError(f"the column {name!r} is not UTF-8") from None
    return line_text(text, f"the column {name!r}")


def line_text(text: str, what: str) -> str:
    """Text that a list of one line each can hold, however its lines are told apart.

    Parameters
    ----------
    text : str
        The text.
    what : str
        What it is, for the message.

    Returns
    -------
    str
        The text, without spaces or line ends around it.

    Raises
    ------
    GraphError
        If it holds what Python's `str.splitlines` takes for a line end, or what UTF-8 cannot write.
    """
    text = text.strip()
    if len(text.splitlines()) > 1:
        raise GraphError(f"{what} holds a line break; it must be text on one line")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise GraphError(f"{what} holds half a character, which UTF-8 cannot write")
    return text


def _decoded(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
