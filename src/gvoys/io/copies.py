"""Temporary copies of what cannot be read from the middle: standard input and compressed files."""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
import time
import weakref
import zlib
from collections.abc import Iterable
from functools import partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import IO, Any

from gvoys.errors import DatasetError

_BLOCK = 1 << 20  # bytes at a time
_PATIENCE = 5.0  # seconds that somebody has to open a pipe for writing
_MAGIC = b"\x1f\x8b"  # at the beginning of what gzip wrote
MOST_UNPACKED, TIMES_UNPACKED = 1 << 26, 100  # bytes that any file may unpack to, and times its own size


class TemporaryCopy:
    """A file in a temporary folder, which is removed with this object, or when the process ends.

    Only the process that made the copy removes it: a pickled one is the path and nothing else.
    """

    def __init__(self, name: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="gvoys-")) / name
        weakref.finalize(self, _remove, self.path.parent, os.getpid())

    def __reduce__(self) -> Any:
        return Path, (str(self.path),)

    def rename(self, name: str) -> None:
        """Give the file another name."""
        self.path = self.path.rename(self.path.with_name(name))


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # else a fork of it
        shutil.rmtree(folder, ignore_errors=True)


def copy_stdin() -> TemporaryCopy:
    """A copy of standard input, unpacked if it is compressed."""
    copy = _unpacked("stdin", _blocks(_stdin()))
    if not copy.path.stat().st_size:
        raise DatasetError("standard input is empty; a file is read from there with - < FILE")
    return copy


def copy_pipe(path: Path) -> TemporaryCopy:
    """A copy of what comes through a named pipe, unpacked if it is compressed."""
    end = time.monotonic() + _PATIENCE
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
    copy = _written(name, blocks, None)
    with copy.path.open("rb") as file:
        return unpack(copy.path, name) if file.read(len(_MAGIC)) == _MAGIC else copy


def _blocks(stream: Any) -> Iterable[bytes]:
    return iter(partial(stream.read, _BLOCK), b"")


def _stdin() -> IO[bytes]:
    if sys.stdin is None:
        return BytesIO()
    return sys.stdin.buffer if hasattr(sys.stdin, "buffer") else BytesIO(sys.stdin.read().encode())


def unpack(path: Path, name: str) -> TemporaryCopy:
    """A copy of what gzip compressed, unless it is damaged or far larger than the compressed file."""
    with gzip.open(path, "rb") as stream:
        return _written(name, _blocks(stream), MOST_UNPACKED + TIMES_UNPACKED * path.stat().st_size)


def _written(name: str, blocks: Iterable[bytes], most: int | None) -> TemporaryCopy:
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
