"""Temporary copies of what cannot be read from the middle: standard input and compressed files."""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
import weakref
import zlib
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from gvoys.errors import DatasetError

__all__ = ["TemporaryCopy", "copy_stdin", "unpack"]

_BLOCK = 1 << 20  # bytes at a time
_MAGIC = b"\x1f\x8b"  # at the beginning of what gzip wrote
MOST_UNPACKED, TIMES_UNPACKED = 1 << 26, 100  # bytes that any file may unpack to, and times its own size


class TemporaryCopy:
    """A file in a temporary folder, which is removed with this object, or when the process ends.

    Only the process that made the copy removes it: a pickled one is the path and nothing else.

    Parameters
    ----------
    name : str
        Name of the file.
    """

    def __init__(self, name: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="gvoys-")) / name
        weakref.finalize(self, _remove, self.path.parent, os.getpid())

    def __reduce__(self) -> Any:
        return Path, (str(self.path),)

    def rename(self, name: str) -> None:
        """Give the file another name.

        Parameters
        ----------
        name : str
            The name.
        """
        self.path = self.path.rename(self.path.with_name(name))


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # else a fork of it
        shutil.rmtree(folder, ignore_errors=True)


def copy_stdin() -> TemporaryCopy:
    """A copy of standard input, unpacked if it is compressed.

    Returns
    -------
    TemporaryCopy
        The copy.

    Raises
    ------
    DatasetError
        If there is nothing in standard input, or it cannot be copied.
    """
    copy = _written("stdin", _stdin(), None)
    with copy.path.open("rb") as file:
        head = file.read(len(_MAGIC))
    if not head:
        raise DatasetError("standard input is empty; a file is read from there with - < FILE")
    return unpack(copy.path, "stdin") if head == _MAGIC else copy


def _stdin() -> IO[bytes]:
    if sys.stdin is None:
        return BytesIO()
    return sys.stdin.buffer if hasattr(sys.stdin, "buffer") else BytesIO(sys.stdin.read().encode())


def unpack(path: Path, name: str) -> TemporaryCopy:
    """A copy of what gzip compressed.

    Parameters
    ----------
    path : Path
        The compressed file.
    name : str
        Name of the copy.

    Returns
    -------
    TemporaryCopy
        The copy.

    Raises
    ------
    DatasetError
        If it is damaged, far larger than the compressed file, or cannot be written.
    """
    with gzip.open(path, "rb") as stream:
        return _written(name, stream, MOST_UNPACKED + TIMES_UNPACKED * path.stat().st_size)


def _written(name: str, stream: Any, most: int | None) -> TemporaryCopy:
    copy, n_bytes = TemporaryCopy(name), 0
    try:
        with copy.path.open("wb") as file:
            while block := stream.read(_BLOCK):
                n_bytes += file.write(block)
                if most is not None and n_bytes > most:
                    raise DatasetError(f"{name} unpacks to over {most:,} bytes; unpack it first, and pass the file")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DatasetError(f"{name} cannot be unpacked: it is damaged, or was not written by gzip") from None
    except OSError as error:
        where = f"{name} cannot be copied to {copy.path.parent.parent} ({error.strerror or error})"
        raise DatasetError(f"{where}; name a folder with more space in TMPDIR") from None
    return copy
