"""Text files with one graph per line: SMILES, graph6 and sparse6, node-link JSON."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DatasetError, GraphError, GvoysError, InputWarning
from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry.parse import rdkit
from gvoys.io.convert import build_batch
from gvoys.io.graph_formats import claimed_nodes, read_graph6
from gvoys.io.sources.records import Chunk, Records, Skipped, line_text
from gvoys.io.sources.source import FileSource, MoleculeSource

BOM = b"\xef\xbb\xbf"
_READ_BYTES = 1 << 20  # bytes at a time, when lines are counted
_CHUNK_BYTES = 1 << 24  # bytes after which a chunk ends with the line
_LINE_BYTES = 1 << 26  # bytes of a line
_CHUNK_NODES = 8_000_000  # that lines of graph6 may have together besides one per character


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
    rest = b""
    while block := file.read(n_bytes):
        block, rest = rest + block, b""
        if block.endswith(b"\r"):  # an LF may follow
            block, rest = block[:-1], b"\r"
        yield block
    if rest:
        yield rest


def read_line(file: Any, n_bytes: int) -> bytes:
    """Read one line with its end, or its first bytes; the file stands after them."""
    begin = file.tell()
    block = file.read(n_bytes)
    ends = line_ends(block)
    line = block[: int(ends[0])] if len(ends) else block
    file.seek(begin + len(line))
    return bytes(line)


class LinesSource(FileSource):
    """A text file with one row per line, numbered as the lines are; blank lines are no rows."""

    _begin = 0  # the byte at which rows begin
    _takes_any = False  # whether lines may be no UTF-8, as the names of molecules in old files
    _heavy = _CHUNK_BYTES  # after which a chunk of this format ends with the line

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def chunks(self, n_rows: int) -> Iterator[Chunk]:
        begin, row = self._begin, self.first_row
        for index, (end, n_lines) in enumerate(_find_cuts(self.path, begin, n_rows, min(_CHUNK_BYTES, self._heavy))):
            yield Chunk(index, begin, end, row)
            begin, row = end, row + n_lines

    def records(self, chunk: Chunk, columns: bool = False) -> Records:
        rows, texts, skipped = [], [], []
        for row, line in enumerate(self._lines(chunk), chunk.row):
            try:
                text = self._decode(line)
            except GraphError as error:
                skipped.append(Skipped.of(row, line, str(error)))
                continue
            if text.strip():
                rows.append(row)
                texts.append(text)
        return self._records(rows, texts, skipped, columns)

    def _decode(self, line: bytes) -> str:
        with suppress(UnicodeDecodeError):
            return line.decode()
        if not self._takes_any:
            raise GraphError("the line is not UTF-8; save the file as UTF-8")
        warning = f"{self} is not UTF-8 and is read as Windows-1252; save it as UTF-8 if its names look wrong"
        warnings.warn(warning, InputWarning, stacklevel=4)
        with suppress(UnicodeDecodeError):
            return line.decode("cp1252")
        return line.decode("latin-1")  # which reads any byte

    def _lines(self, chunk: Chunk) -> list[bytes]:
        with self.path.open("rb") as file:
            file.seek(chunk.begin)
            lines = split_lines(file.read(chunk.end - chunk.begin))
        if chunk.begin == 0:
            lines[0] = lines[0].removeprefix(BOM)
        return lines

    @abstractmethod
    def _records(self, rows: list[int], texts: list[str], skipped: list[Skipped], columns: bool) -> Records:
        """Read records from lines."""


class SmilesSource(MoleculeSource, LinesSource):
    """A file without a header: a SMILES on every line, and after a space or tab its id."""

    _takes_any = True

    def _records(self, rows: list[int], texts: list[str], skipped: list[Skipped], columns: bool) -> Records:
        rdkit()  # where it is missing, no row is at fault
        kept, ids, items = [], [], []
        for row, text in zip(rows, texts, strict=True):
            smiles, *name = text.split(None, 1)
            if text.startswith("\t"):  # a cell without a SMILES, and its id
                skipped.append(Skipped.of(row, text, "the SMILES is empty"))
                continue
            try:
                ids.append(line_text(name[0], "the id") if name else str(row))
            except GraphError as error:
                skipped.append(Skipped.of(row, text, str(error)))
                continue
            kept.append(row)
            items.append(smiles)
        return Records(kept, ids, items, skipped)


class Graph6Source(LinesSource):
    """A file of graph6 or sparse6."""

    _heavy = 1 << 19  # a character holds up to six edges, of some hundred bytes of memory each

    def _records(self, rows: list[int], texts: list[str], skipped: list[Skipped], columns: bool) -> Records:
        return Records(rows, [str(row) for row in rows], [text.strip() for text in texts], skipped)

    def graphs_of(self, records: Records) -> tuple[GraphBatch, list[int], list[Skipped]]:
        try:
            _check_nodes(records.items)
        except GraphError as error:
            what = f"rows {records.rows[0]} to {records.rows[-1]}"
            raise DatasetError(f"{self}, {what}: {error}; read fewer rows at a time") from None
        return super().graphs_of(records)

    def build(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        _check_nodes(items)
        return build_each(items, read_graph6)


def _check_nodes(lines: Sequence[str]) -> None:
    """Lines each of which is read for itself may still be too many: nodes without edges cost no character."""
    total = sum(map(claimed_nodes, lines))
    if len(lines) > 1 and total > _CHUNK_NODES + sum(map(len, lines)):
        raise GraphError(f"{len(lines):,} graphs of {total:,} nodes together, most of which have no edges")


def _find_cuts(path: Any, begin: int, n_rows: int, n_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield where chunks end and how many lines they have, in memory that does not depend on the file."""
    first, position, n_lines = begin, begin, 0  # where this chunk begins, how far was read, lines so far
    latest = begin  # where the line begins that is being read
    with path.open("rb") as file:
        file.seek(begin)
        for block in blocks_of_lines(file, _READ_BYTES):
            ends = position + line_ends(block)
            used = 0
            while used < len(ends):
                heavy = int(np.searchsorted(ends, first + n_bytes))  # the line that passes the limit is the last
                last = min(used + n_rows - n_lines, heavy + 1)
                if last > len(ends):
                    n_lines += len(ends) - used
                    break
                yield int(ends[last - 1]), n_lines + last - used
                first, used, n_lines = int(ends[last - 1]), last, 0
            position, latest = position + len(block), int(ends[-1]) if len(ends) else latest
            if position - latest > _LINE_BYTES:
                raise DatasetError(f"{path.name} has a line of over {_LINE_BYTES / 2**20:g} MiB, at byte {latest}")
    if position > first:
        yield position, n_lines + 1


def build_each(items: Sequence[Any], read: Callable[[Any], Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
    """Build the graphs that can be read to GraphParts; the place and reason of the others."""
    parts, unread = [], []
    for position, item in enumerate(items):
        try:
            parts.append(read(item))
        except GvoysError as error:
            unread.append((position, str(error)))
    return build_batch(parts), unread
