"""One array on disk that grows at its end: a .npy file whose header is filled in when its length is known."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["HEADER", "Column", "npy_header"]

HEADER = 128  # bytes; enough for any shape, and a multiple of 64 as the format asks for
_BLOCK = 1 << 21  # numbers


def npy_header(kind: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The first bytes of a .npy file.

    Parameters
    ----------
    kind : dtype
        Type of the numbers.
    shape : tuple of int
        Shape of the array.

    Returns
    -------
    bytes
        The header, always of the same length.
    """
    header = repr({"descr": kind.str, "fortran_order": False, "shape": shape}).encode()
    padded = header.ljust(HEADER - 11) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded


class Column:
    """A file of rows that are appended.

    Parameters
    ----------
    folder : Path
        Folder of the file.
    name : str
        Name of the array; the file is NAME.npy.
    kind : dtype
        Type of the numbers.
    width : int or None, default=None
        Numbers per row; None makes a flat array.
    """

    def __init__(self, folder: Path, name: str, kind: Any, width: int | None = None) -> None:
        self.name, self.kind, self.width = name, np.dtype(kind), width
        self.length = 0
        self.path = folder / f"{name}.npy"
        self._file: IO[bytes] = self.path.open("wb")
        self._file.write(b" " * HEADER)
        self._checksum = 0

    def append(self, values: NDArray[Any]) -> None:
        """Append rows.

        Parameters
        ----------
        values : array
            The rows.
        """
        data = np.ascontiguousarray(values, self.kind)
        self.length += len(data)
        view = data.data.cast("B") if data.size else b""
        self._file.write(view)
        self._checksum = zlib.crc32(view, self._checksum)

    def fill(self, length: int, value: float) -> None:
        """Append rows of one value, for those that came before the column did.

        Parameters
        ----------
        length : int
            Number of rows.
        value : float
            The value.
        """
        for begin in range(0, length, _BLOCK):
            self.append(np.full(min(_BLOCK, length - begin), value, self.kind))

    def narrowed(self, folder: Path, kind: Any) -> Column:
        """The same numbers in a narrower type, in place of this column.

        Parameters
        ----------
        folder : Path
            Folder of the file.
        kind : dtype
            The narrower type.

        Returns
        -------
        Column
            The new column.
        """
        self.finish()
        moved = Column(folder, f"{self.name}.narrow", kind)
        numbers = np.load(self.path, mmap_mode="r") if self.length else np.empty(0, kind)
        for begin in range(0, self.length, _BLOCK):
            moved.append(numbers[begin : begin + _BLOCK])
        del numbers
        moved._file.close()
        moved.path.replace(self.path)
        moved.name, moved.path = self.name, self.path
        moved._file = self.path.open("r+b")
        return moved

    def finish(self) -> dict[str, Any]:
        """Write the header and close the file.

        Returns
        -------
        dict
            What the manifest says about the array; the checksum is that of the numbers.
        """
        shape = (self.length,) if self.width is None else (self.length, self.width)
        self._file.seek(0)
        self._file.write(npy_header(self.kind, shape))
        self._file.close()
        return {"bytes": self.path.stat().st_size, "crc32": self._checksum, "dtype": self.kind.str, "shape": shape}

    def close(self) -> None:
        """Close the file, as after a failure."""
        self._file.close()
