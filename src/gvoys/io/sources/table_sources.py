"""Tables of SMILES: text files with a header, and columns in memory."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gvoys.errors import DatasetError, GraphError
from gvoys.io.chemistry.parse import rdkit
from gvoys.io.copies import ARROW_ERRORS, pyarrow
from gvoys.io.sources.lines import BOM, LinesSource, read_line
from gvoys.io.sources.records import Chunk, Records, Skipped, cell_text, find_columns
from gvoys.io.sources.source import FileSource, MoleculeSource, row_chunks

_HEADER_BYTES = 1 << 20  # of the first line
_ROW_CHARACTERS = 1 << 24
_GROUP_ROWS = 4_000_000  # of a Parquet file of any size: equal values cost no bytes
DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}  # that are expected; a header may tell of another
_OTHERS = ",\t;|"


class TableSource(MoleculeSource):
    """Base class of tables: a column of SMILES, and other columns."""

    def _open(self, names: list[str], smiles: str, id: str | None, target: str | Sequence[str] | None) -> None:
        """Find the columns that are asked for."""
        self.column_names = names
        self._smiles = find_columns(str(self), names, [smiles], "smiles")[0]
        self._choose(id, target)

    @property
    def _needed(self) -> list[str]:
        return [self._smiles, *super()._needed]

    def _molecules(
        self, rows: Sequence[int], cells: Mapping[str, Sequence[Any]], skipped: list[Skipped], columns: bool
    ) -> Records:
        """Make records of the rows with a SMILES, an id and a target."""
        rdkit()  # where it is missing, no row is at fault
        texts, kept = [], []
        for position, cell in enumerate(cells[self._smiles]):
            try:
                texts.append(cell_text(cell, self._smiles))
                kept.append(position)
            except GraphError as error:
                skipped.append(Skipped.of(rows[position], cell, str(error)))
        others = {name: values for name, values in cells.items() if name and name != self._smiles}
        with_smiles = Records(list(rows), [], cells[self._smiles], skipped, others).take(kept, [])
        records = self._select(replace(with_smiles, items=texts))
        return records if columns else replace(records, columns={})


class TextTableSource(TableSource, LinesSource):
    """A table with a header, one row per line; a quoted field may hold delimiters but no line breaks."""

    first_row = 2
    _takes_any = True

    def __init__(self, path: Path, smiles: str, id: str | None, target: str | Sequence[str] | None) -> None:
        super().__init__(path)
        with path.open("rb") as file:
            header = read_line(file, _HEADER_BYTES)
            self._begin = file.tell()
        if not header.strip():
            raise DatasetError(f"{self} begins with an empty line; a table begins with the names of its columns")
        try:
            if len(header) == _HEADER_BYTES:
                raise GraphError("the first line has over 1 MiB; a table begins with the names of its columns")
            text = self._decode(header.removeprefix(BOM).rstrip(b"\r\n"))
            self._delimiter, names = _find_delimiter(text, DELIMITERS.get(path.suffix.lower(), ","), smiles)
        except GraphError as error:
            raise DatasetError(f"{self}, header: {error}") from None
        self.decimal_comma = self._delimiter == ";"  # since the comma is taken, as in most languages of Europe
        self._open(names, smiles, id, target)

    def _records(self, rows: list[int], texts: list[str], skipped: list[Skipped], columns: bool) -> Records:
        kept, fields = [], []
        for row, text in zip(rows, texts, strict=True):
            try:
                row_fields = _split(text, self._delimiter)
            except GraphError as error:
                skipped.append(Skipped.of(row, text, str(error)))
                continue
            if any(field.strip() for field in row_fields):  # else a line of delimiters, which is blank
                kept.append(row)
                fields.append(row_fields)
        wanted = self.column_names if columns else self._needed
        cells = {name: _column(fields, self.column_names.index(name)) for name in wanted}
        return self._molecules(kept, cells, skipped, columns)


def _column(rows: list[list[str]], index: int) -> list[str | None]:
    return [row[index] if index < len(row) else None for row in rows]


def _split(text: str, delimiter: str) -> list[str]:
    if len(text) > _ROW_CHARACTERS:
        raise GraphError(f"the line has over {_ROW_CHARACTERS >> 20} MiB")
    try:
        fields = next(csv.reader([f"{text}\n"], delimiter=delimiter), [])
    except csv.Error as error:
        raise GraphError(f"the line is no row of a table ({error})") from None
    if fields and fields[-1].endswith("\n"):  # which only an open quote takes in
        several_lines = "a quoted field spans several lines, and a row is one line"
        raise GraphError(f"{several_lines}; remove the line breaks, or write it as Parquet")
    return fields


def _find_delimiter(header: str, usual: str, smiles: str) -> tuple[str, list[str]]:
    """Return the delimiter that makes a column of SMILES of a header, or else most columns, and these."""
    columns = {usual: _split(header, usual)}
    for other in _OTHERS.replace(usual, ""):
        with suppress(GraphError):
            columns[other] = _split(header, other)

    def rank(delimiter: str) -> tuple[bool, bool, int]:
        names = [name.strip().lower() for name in columns[delimiter]]
        return smiles.strip().lower() in names, delimiter == usual and len(names) > 1, len(names)

    delimiter = max(columns, key=rank)
    return delimiter, columns[delimiter]


class ColumnsSource(TableSource):
    """Columns in memory: a DataFrame, or a list of SMILES."""

    def __init__(
        self,
        name: str,
        columns: Mapping[str, Sequence[Any]],
        smiles: str,
        id: str | None,
        target: str | Sequence[str] | None,
    ) -> None:
        super().__init__(name)
        self._columns = columns
        self._open(list(columns), smiles, id, target)

    @property
    def size(self) -> int:
        return len(self._columns[self._smiles])

    def chunks(self, n_rows: int) -> Iterator[Chunk]:
        return row_chunks(self.size, n_rows)

    def records(self, chunk: Chunk, columns: bool = False) -> Records:
        wanted = self.column_names if columns else self._needed
        cells = {name: list(self._columns[name][chunk.begin : chunk.end]) for name in wanted}
        return self._molecules(range(chunk.begin + 1, chunk.end + 1), cells, [], columns)


class ParquetSource(TableSource, FileSource):
    """A Parquet table of SMILES; chunks keep within row groups, so that one can be read without the others."""

    def __init__(self, path: Path, smiles: str, id: str | None, target: str | Sequence[str] | None) -> None:
        super().__init__(path)
        parquet, nested = pyarrow("parquet"), pyarrow().types.is_nested
        try:
            with parquet.ParquetFile(path) as file:
                names = [field.name for field in file.schema_arrow if not nested(field.type)]
                self._groups = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        except ARROW_ERRORS as error:
            raise DatasetError(f"{self} is not a readable Parquet file ({_first_line(error)})") from None
        largest, n_bytes = max(self._groups, default=0), self.path.stat().st_size
        if min(self._groups, default=0) < 0 or largest > _GROUP_ROWS + n_bytes:
            raise DatasetError(
                f"{self} has a row group of {largest:,} rows in a file of {n_bytes:,} bytes; write it with smaller ones"
            )
        self._open(names, smiles, id, target)

    @property
    def size(self) -> int:
        return sum(self._groups)

    def chunks(self, n_rows: int) -> Iterator[Chunk]:
        index = first = 0
        for group, count in enumerate(self._groups):
            for begin in range(0, count, n_rows):
                end = min(begin + n_rows, count)
                yield Chunk(index, first + begin, first + end, first + begin + 1, group)
                index += 1
            first += count

    def records(self, chunk: Chunk, columns: bool = False) -> Records:
        before = sum(self._groups[: chunk.group])
        rows = slice(chunk.begin - before, chunk.end - before)
        wanted = self.column_names if columns else self._needed
        try:
            cells = {name: self._column(chunk.group, name, rows) for name in wanted}
        except ARROW_ERRORS as error:
            where = f"rows {chunk.begin + 1} to {chunk.end}"
            raise DatasetError(f"{self}, {where}, cannot be read ({_first_line(error)})") from None
        return self._molecules(range(chunk.begin + 1, chunk.end + 1), cells, [], columns)

    def _column(self, group: int, name: str, rows: slice) -> list[Any]:
        stamp = self.path.stat().st_mtime_ns
        column = _group(self.path, stamp, group, name)[rows.start : rows.stop]
        if len(column) != rows.stop - rows.start:
            raise ValueError("there are fewer rows than the file says")
        arrow = pyarrow()
        if arrow.types.is_dictionary(column.type):
            return _shared(column)
        if arrow.types.is_temporal(column.type):
            column = column.cast(arrow.string())
        return list(column.to_pylist())


@lru_cache(maxsize=2)
def _group(path: Path, stamp: int, group: int, name: str) -> Any:
    """Read one column of a row group, and keep it for the chunks that follow."""
    with pyarrow("parquet").ParquetFile(path, read_dictionary=[name]) as file:  # texts that repeat, once
        return file.read_row_group(group, columns=[name]).column(name).combine_chunks()


def _shared(column: Any) -> list[Any]:
    """Return the cells of a column that refers to a table of values; equal ones are one object."""
    arrow = pyarrow()
    used, codes = np.unique(column.indices.fill_null(0).to_numpy(zero_copy_only=False), return_inverse=True)
    table = column.dictionary.take(arrow.array(used)) if len(column.dictionary) else column.dictionary
    if arrow.types.is_string(table.type) or arrow.types.is_large_string(table.type):
        table = table.cast(arrow.large_binary())  # decoded one by one, so that a bad one stands alone
    values = [_decoded(value) for value in table.to_pylist()] or [None]
    missing = column.is_null().to_numpy(zero_copy_only=False).tolist()
    return [None if gone else values[code] for code, gone in zip(codes.tolist(), missing, strict=True)]


def _decoded(value: Any) -> Any:
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return value


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
