"""Columns of tables: finding them by name, and what their cells hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DatasetError, GraphError
from gvoys.io.nearest import did_you_mean

_SHOWN = 20  # names of columns in a message
_NOTHING = {"", "nan", "<na>", "nat"}  # in small letters
_MISSING = {"NA", "N/A", "n/a", "#N/A", "NULL", "null"}  # as pandas takes them; Na is sodium


def find_columns(where: str, names: Sequence[str], wanted: Sequence[str], option: str) -> list[str]:
    """Return columns by their names, whatever the case, as the table spells them; `option` chose them."""
    by_name = {name.strip().lower(): name for name in reversed(names)}  # of two alike, the first
    for name in wanted:
        if name.strip().lower() not in by_name:
            shown = ", ".join(map(repr, names[:_SHOWN])) or "none"
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
    return len(text) < 5 and (text.lower() in _NOTHING or text in _MISSING)


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
