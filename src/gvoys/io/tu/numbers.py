"""Numbers in lines of text, separated by commas: parsed whole, gone through line by line only to name a fault."""

from __future__ import annotations

import codecs
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DatasetError


def parse_table(text: bytes, name: str, *, integers: bool = False, columns: int | None = None) -> NDArray[Any]:
    """Parse lines of numbers between commas; raise DatasetError with the first line that does not fit."""
    text = _with_plain_ends(text).strip(b"\n \t")
    if not text:
        return np.empty((0, columns or 1), np.int64 if integers else np.float64)
    n_lines = text.count(b"\n") + 1
    width = text[: text.find(b"\n") if n_lines > 1 else len(text)].count(b",") + 1
    values = _parse_numbers(text, np.int64 if integers else np.float64)
    regular = values is not None and values.size == n_lines * width and _commas_are_regular(text, width)
    if not regular or (columns is not None and width != columns):
        _point_out(text, name, integers, columns or width)
    assert values is not None
    return values.reshape(n_lines, width)


def _with_plain_ends(text: bytes) -> bytes:
    """Without a byte order mark, and with LF where CR LF or CR ends a line."""
    text = text.removeprefix(codecs.BOM_UTF8)
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def _parse_numbers(text: bytes, kind: type) -> NDArray[Any] | None:
    """All numbers of the text, or None where something else stands in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy warns where it stops short of the end
        try:
            return np.fromstring(text.replace(b",", b" "), dtype=kind, sep=" ")
        except (ValueError, DeprecationWarning):
            return None


def _commas_are_regular(text: bytes, width: int) -> bool:
    raw = np.frombuffer(text + b"\n", np.uint8)
    ends = np.flatnonzero(raw == ord("\n"))
    commas = np.searchsorted(np.flatnonzero(raw == ord(",")), ends)
    return bool((np.diff(commas, prepend=0) == width - 1).all())


def _point_out(text: bytes, name: str, integers: bool, width: int) -> None:
    """Raise for the first line that is not `width` numbers."""
    kind: Any = int if integers else float
    for number, line in enumerate(text.split(b"\n"), start=1):
        cells = line.split(b",")
        shown = line[:60].decode("utf-8", "replace")
        if len(cells) != width:
            raise DatasetError(f"{name}, line {number}: {shown!r} has {len(cells)} columns, expected {width}")
        for cell in cells:
            try:
                kind(cell)
            except ValueError:
                wanted = "an integer" if integers else "a number"
                raise DatasetError(f"{name}, line {number}: {shown!r} is not {wanted} in every column") from None
    raise DatasetError(f"{name}: the file is not a table of numbers")
