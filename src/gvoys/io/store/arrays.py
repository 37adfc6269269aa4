"""One array on disk that grows at its end: a .npy file whose header is filled in when its length is known."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADER = 128  # bytes; enough for any shape, and a multiple of 64 as the format asks for
_BLOCK = 1 << 21  # numbers


def npy_header(kind: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The first bytes of a .npy file, always as many."""
    header = repr({"descr": kind.str, "fortran_order": False, "shape": shape}).encode()
    padded = header.ljust(HEADER - 11) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded


class ArrayFile:
    """A .npy file to which rows are appended, of `width` numbers each or, with None, of one."""

    def __init__(self, path: Path, kind: Any, width: int | None = None) -> None:
        self.path, self.kind, self.width = path, np.dtype(kind), width
        self.length = self._checksum = 0
        self._file = path.open("wb")
        self._file.write(b" " * HEADER)

    def append(self, values: NDArray[Any]) -> None:
        """Append rows."""
        data = np.ascontiguousarray(values, self.kind)
        view = data.data.cast("B") if data.size else b""
        self._file.write(view)
        self._checksum = zlib.crc32(view, self._checksum)
        self.length += len(data)

    def fill(self, length: int, value: float) -> None:
        """Append rows of one value, for those that came before the array did."""
        for begin in range(0, length, _BLOCK):
            self.append(np.full(min(_BLOCK, length - begin), value, self.kind))

    def finish(self, kind: Any = None) -> dict[str, Any]:
        """Write the header, and the numbers anew if they are to have another type; says what the manifest will."""
        if kind not in (None, self.kind):
            return self._converted(kind)
        shape = (self.length,) if self.width is None else (self.length, self.width)
        self._file.seek(0)
        self._file.write(npy_header(self.kind, shape))
        self.close()
        return {"bytes": self.path.stat().st_size, "crc32": self._checksum, "dtype": self.kind.str, "shape": shape}

    def _converted(self, kind: Any) -> dict[str, Any]:
        self.close()
        numbers = np.memmap(self.path, self.kind, "r", HEADER, (self.length,))
        other = ArrayFile(self.path.with_suffix(".converted"), kind)
        try:
            for begin in range(0, self.length, _BLOCK):
                other.append(numbers[begin : begin + _BLOCK])
            about = other.finish()
        finally:
            del numbers  # a mapped file cannot be replaced on every system
            other.close()
        other.path.replace(self.path)
        return about

    def close(self) -> None:
        """Close the file."""
        self._file.close()
