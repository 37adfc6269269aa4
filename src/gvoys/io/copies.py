"""Temporary copies of what cannot be read from the middle: standard input, compressed files, and other forms."""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
import sys
import tempfile
import time
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from io import BytesIO
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

from gvoys.errors import DatasetError, GraphError, MissingDependencyError
from gvoys.io.graph_formats import read_graphml

_BLOCK = 1 << 20  # bytes or characters that are read at once
_WHOLE_FILE_BYTES = 1 << 28  # of a file that is read as a whole
_SHEET_ROWS = 1 << 20  # of a sheet, as in Excel
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")  # at the beginning of UTF-16
_GZIP_MARK = b"\x1f\x8b"  # at the beginning of what gzip wrote
_WRITER_SECONDS = 5.0  # that somebody has to open a pipe for writing
MOST_UNPACKED, TIMES_UNPACKED = 1 << 26, 100  # bytes that any file may unpack to, and times its own size
# what a damaged file makes PyArrow raise: its own errors are kinds of these
ARROW_ERRORS = (ValueError, OSError, KeyError, TypeError, NotImplementedError, MemoryError, IndexError, RuntimeError)


class TemporaryCopy:
    """A file in a temporary folder, which is removed with this object, or when the process ends."""

    def __init__(self, name: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="gvoys-")) / name
        weakref.finalize(self, _remove, self.path.parent, os.getpid())

    def __reduce__(self) -> Any:  # only the process that made the copy removes it
        return Path, (str(self.path),)

    def rename(self, name: str) -> None:
        """Give the file another name."""
        self.path = self.path.rename(self.path.with_name(name))


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # else a fork of it
        shutil.rmtree(folder, ignore_errors=True)


def copy_stdin() -> TemporaryCopy:
    """Copy standard input, unpacked if it is compressed."""
    copy = _unpacked("stdin", _blocks(_stdin()))
    if not copy.path.stat().st_size:
        raise DatasetError("standard input is empty; a file is read from there with - < FILE")
    return copy


def copy_pipe(path: Path) -> TemporaryCopy:
    """Copy what comes through a named pipe, unpacked if it is compressed."""
    end = time.monotonic() + _WRITER_SECONDS
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as pipe:
        while (first := pipe.read(1)) == b"":  # None where somebody has opened it and has written nothing yet
            if time.monotonic() > end:
                raise DatasetError(
                    f"nobody writes to {path.name}, which is a named pipe; start what writes to it first"
                )
            time.sleep(0.01)
        os.set_blocking(pipe.fileno(), True)
        return _unpacked(path.name, chain([first or b""], _blocks(pipe)))


def _unpacked(name: str, blocks: Iterable[bytes]) -> TemporaryCopy:
    copy = _write_copy(name, blocks, None)
    with copy.path.open("rb") as file:
        return unpack(copy.path, name) if file.read(len(_GZIP_MARK)) == _GZIP_MARK else copy


def _blocks(stream: Any) -> Iterable[bytes]:
    return iter(partial(stream.read, _BLOCK), b"")


def _stdin() -> IO[bytes]:
    if sys.stdin is None:
        return BytesIO()
    return sys.stdin.buffer if hasattr(sys.stdin, "buffer") else BytesIO(sys.stdin.read().encode())


def unpack(path: Path, name: str) -> TemporaryCopy:
    """Copy what gzip compressed, unless it is damaged or far larger than the compressed file."""
    with gzip.open(path, "rb") as stream:
        return _write_copy(name, _blocks(stream), MOST_UNPACKED + TIMES_UNPACKED * path.stat().st_size)


def _write_copy(name: str, blocks: Iterable[bytes], most: int | None) -> TemporaryCopy:
    copy, n_bytes = TemporaryCopy(name), 0
    try:
        with copy.path.open("wb") as file:
            for block in blocks:
                n_bytes += file.write(block)
                if most is not None and n_bytes > most:
                    raise DatasetError(f"{name} unpacks to over {most:,} bytes; unpack it first, and pass the file")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DatasetError(f"{name} cannot be unpacked: it is damaged, or was not written by gzip") from None
    except OSError as error:
        where = f"{name} cannot be copied to {copy.path.parent.parent} ({error.strerror or error})"
        raise DatasetError(f"{where}; name a folder with more space in TMPDIR") from None
    return copy


def pyarrow(module: str = "") -> Any:
    """Import PyArrow, or one of its modules."""
    try:
        return import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError:
        raise MissingDependencyError('Parquet needs PyArrow; install it with: pip install "gvoys[parquet]"') from None


def convert(path: Path, suffix: str) -> tuple[TemporaryCopy | None, str]:
    """Return a copy of a file in the form in which it is read, None where that is its own, and the suffix of that."""
    with path.open("rb") as raw:
        head = raw.read(2)
    kind, lines = _FORMS.get(suffix, (suffix, _read_utf16))
    if suffix not in _FORMS and head not in _UTF16_MARKS and b"\0" not in head:
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
    encoding = "utf-16" if head in _UTF16_MARKS else "utf-16-le" if head[1:] == b"\0" else "utf-16-be"
    try:
        with path.open(encoding=encoding, newline="") as file:
            while block := file.read(_BLOCK):
                yield block
    except UnicodeError:
        raise DatasetError(f"{path.name} is not UTF-16, as its first bytes say; save it as UTF-8") from None


def _read_whole(path: Path) -> bytes:
    if path.stat().st_size > _WHOLE_FILE_BYTES:
        raise DatasetError(
            f"{path.name} has over {_WHOLE_FILE_BYTES >> 20} MiB; write one graph per line to a file NAME.jsonl"
        )
    return path.read_bytes()


def _convert_json(path: Path) -> Iterator[str]:
    try:
        items = json.loads(_read_whole(path))
    except (ValueError, RecursionError) as error:
        remedy = "graphs that stand one graph per line go to a file NAME.jsonl"
        raise GraphError(f"it is not JSON ({error}); {remedy}") from None
    return _lines(items if isinstance(items, list) else [items])


def _lines(graphs: list[Any]) -> Iterator[str]:
    return (f"{json.dumps(graph)}\n" for graph in graphs)


def _convert_workbook(path: Path) -> Iterator[str]:
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
        writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\n")
        for row in sheet.iter_rows(max_row=_SHEET_ROWS, values_only=True):
            writer.writerow([" ".join(str(cell).splitlines()) if isinstance(cell, str) else cell for cell in row])
    except DatasetError:
        raise
    except Exception as error:  # whatever a damaged file makes openpyxl raise
        what = str(error).partition("\n")[0] or type(error).__name__
        raise DatasetError(f"{path.name} is not a readable workbook ({what}); save it as CSV") from None
    return iter(lines)


def _check_size(path: Path) -> None:
    most = MOST_UNPACKED + TIMES_UNPACKED * path.stat().st_size
    with zipfile.ZipFile(path) as file:
        if sum(info.file_size for info in file.infolist()) > most:
            raise DatasetError(f"{path.name} unpacks to over {most:,} bytes; save it as CSV")


_FORMS: dict[str, tuple[str, Callable[[Path], Iterator[str]]]] = {
    ".json": (".jsonl", _convert_json),
    ".graphml": (".jsonl", lambda path: _lines([*read_graphml(_read_whole(path))])),
    ".xlsx": (".csv", _convert_workbook),
}
CONVERTED = set(_FORMS)
