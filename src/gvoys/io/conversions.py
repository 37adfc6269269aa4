"""Files that are read from a temporary copy in another form, in which they can be read from any row on."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gvoys.errors import DatasetError, GraphError, MissingDependencyError
from gvoys.io.copies import MOST_UNPACKED, TIMES_UNPACKED, TemporaryCopy
from gvoys.io.graphml import read_graphml

_MOST_BYTES = 1 << 28  # of a file that is read as a whole
_MOST_ROWS = 1 << 20  # of a sheet, as in Excel
_BLOCK = 1 << 20  # characters at a time
_MARKS = (b"\xff\xfe", b"\xfe\xff")  # at the beginning of UTF-16


def convert(path: Path, suffix: str) -> tuple[TemporaryCopy | None, str]:
    """Return a copy of a file in the form in which it is read, None where that is its own, and the suffix of that."""
    with path.open("rb") as raw:
        head = raw.read(2)
    kind, lines = _FORMS.get(suffix, (suffix, _read_utf16))
    if suffix not in _FORMS and head not in _MARKS and b"\0" not in head:
        return None, suffix
    copy = TemporaryCopy(path.name)
    with copy.path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        try:
            file.writelines(lines(path))
        except (GraphError, RecursionError) as error:
            raise DatasetError(f"{path.name}: {error}") from None
    return copy, kind


def _read_utf16(path: Path) -> Iterator[str]:
    with path.open("rb") as raw:
        head = raw.read(2)
    encoding = "utf-16" if head in _MARKS else "utf-16-le" if head[1:] == b"\0" else "utf-16-be"
    try:
        with path.open(encoding=encoding, newline="") as file:
            while block := file.read(_BLOCK):
                yield block
    except UnicodeError:
        raise DatasetError(f"{path.name} is not UTF-16, as its first bytes say; save it as UTF-8") from None


def _whole(path: Path) -> bytes:
    if path.stat().st_size > _MOST_BYTES:
        raise DatasetError(
            f"{path.name} has over {_MOST_BYTES >> 20} MiB; write one graph per line to a file NAME.jsonl"
        )
    return path.read_bytes()


def _lines_of_json(path: Path) -> Iterator[str]:
    try:
        found = json.loads(_whole(path))
    except (ValueError, RecursionError) as error:
        remedy = "graphs that stand one graph per line go to a file NAME.jsonl"
        raise GraphError(f"it is not JSON ({error}); {remedy}") from None
    return _lines(found if isinstance(found, list) else [found])


def _lines(graphs: list[Any]) -> Iterator[str]:
    return (f"{json.dumps(graph)}\n" for graph in graphs)


def _rows_of_workbook(path: Path) -> Iterator[str]:
    """Yield the rows of the first sheet as lines of CSV, each of which is one line whatever its cells hold."""
    try:
        import openpyxl
    except ImportError:
        remedy = 'save it as CSV, or install openpyxl with: pip install "gvoys[excel]"'
        raise MissingDependencyError(f"{path.name} is a workbook, which openpyxl reads; {remedy}") from None
    lines: list[str] = []
    try:
        _check_size(path)
        sheet = openpyxl.load_workbook(path, read_only=True, data_only=True).worksheets[0]
        sheet.reset_dimensions()  # which a file may claim to be anything
        writer = csv.writer(_Lines(lines), lineterminator="\n")
        for row in sheet.iter_rows(max_row=_MOST_ROWS, values_only=True):
            writer.writerow([" ".join(str(cell).splitlines()) if isinstance(cell, str) else cell for cell in row])
    except DatasetError:
        raise
    except Exception as error:  # whatever a damaged file makes openpyxl raise
        what = str(error).partition("\n")[0] or type(error).__name__
        raise DatasetError(f"{path.name} is not a readable workbook ({what}); save it as CSV") from None
    return iter(lines)


class _Lines:
    """A list of lines that csv can write to."""

    def __init__(self, lines: list[str]) -> None:
        self.write = lines.append


def _check_size(path: Path) -> None:
    most = MOST_UNPACKED + TIMES_UNPACKED * path.stat().st_size
    with zipfile.ZipFile(path) as file:
        if sum(info.file_size for info in file.infolist()) > most:
            raise DatasetError(f"{path.name} unpacks to over {most:,} bytes; save it as CSV")


_FORMS: dict[str, tuple[str, Callable[[Path], Iterator[str]]]] = {
    ".json": (".jsonl", _lines_of_json),
    ".graphml": (".jsonl", lambda path: _lines([*read_graphml(_whole(path))])),
    ".xlsx": (".csv", _rows_of_workbook),
}
CONVERTED = set(_FORMS)
