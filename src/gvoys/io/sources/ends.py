"""Where lines end: at LF, CR LF or CR, and at no other character that some call a line end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

BOM = b"\xef\xbb\xbf"


def split_lines(data: bytes) -> list[bytes]:
    """Split lines from their ends; after the last end comes one more, which is empty."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.split(b"\n")


def line_ends(block: bytes) -> NDArray[np.int64]:
    """Return the places after the line ends of a block, of which a CR at the end is one."""
    raw = np.frombuffer(block, np.uint8)
    ends = raw == ord("\n")
    if b"\r" in block:
        alone = raw == ord("\r")
        alone[:-1] &= raw[1:] != ord("\n")
        ends |= alone
    return np.flatnonzero(ends) + 1


def blocks_of_lines(file: Any, n_bytes: int) -> Iterator[bytes]:
    """Yield the rest of a file in blocks of so many bytes, none of which ends between a CR and its LF."""
    held = b""
    while block := file.read(n_bytes):
        block, held = held + block, b""
        if block.endswith(b"\r"):  # an LF may follow
            block, held = block[:-1], b"\r"
        yield block
    if held:
        yield held


def read_line(file: Any, n_bytes: int) -> bytes:
    """Read one line with its end, or its first bytes; the file stands after them."""
    begin = file.tell()
    block = file.read(n_bytes)
    ends = line_ends(block)
    line = block[: int(ends[0])] if len(ends) else block
    file.seek(begin + len(line))
    return bytes(line)
