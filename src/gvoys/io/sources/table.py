"""Tables of SMILES: text files with a header, and columns in memory."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gvoys.errors import DatasetError, GraphError
from gvoys.io.smiles import check_rdkit
from gvoys.io.sources.base import row_chunks
from gvoys.io.sources.columns import cell_text, find_columns
from gvoys.io.sources.ends import BOM, read_line
from gvoys.io.sources.lines import LinesSource
from gvoys.io.sources.molecules import MoleculeSource
from gvoys.io.sources.records import Chunk, Records, Skipped

_HEADER = 1 << 20  # bytes of the first line
_ROW = 1 << 24  # characters of a row
_SEVERAL_LINES = (
    "a quoted field spans several lines, and a row is one line; remove the line breaks, or write it as Parquet"
)
DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}  # that are expected; a header may tell of another
_OTHERS = ",\t;|"


class TableSource(MoleculeSource):
    """What tables have in common: a column of SMILES, and others."""

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
        """Rows with a SMILES, an id and a target."""
        check_rdkit()  # where it is missing, no row is at fault
        texts, kept = [], []
        for place, row in enumerate(rows):
            cell = cells[self._smiles][place]
            try:
                texts.append(cell_text(cell, self._smiles))
                kept.append(place)
            except GraphError as error:
                skipped.append(Skipped.of(row, cell, str(error)))
        others = {
            name: [values[place] for place in kept] for name, values in cells.items() if name and name != self._smiles
        }
        found = self._select([rows[place] for place in kept], texts, others, skipped)
        return found if columns else Records(found.rows, found.ids, found.items, found.skipped)


class TextTableSource(TableSource, LinesSource):
    """A table with a header, one row per line; a quoted field may hold delimiters but no line breaks."""

    first_row = 2
    _takes_any = True

    def __init__(self, path: Path, smiles: str, id: str | None, target: str | Sequence[str] | None) -> None:
        super().__init__(path)
        with path.open("rb") as file:
            header = read_line(file, _HEADER)
            self._begin = file.tell()
        if not header.strip():
            raise DatasetError(f"{self} begins with an empty line; a table begins with the names of its columns")
        try:
            text, usual = self._decode(_header_line(header)), DELIMITERS.get(path.suffix.lower(), ",")
            self._delimiter, names = _find_delimiter(text, usual, smiles)
        except GraphError as error:
            raise DatasetError(f"{self}, header: {error}") from None
        self.decimal_comma = self._delimiter == ";"  # since the comma is taken, as in most languages of Europe
        self._open(names, smiles, id, target)

    def _records(self, rows: list[int], texts: list[str], skipped: list[Skipped], columns: bool) -> Records:
        kept, fields = [], []
        for row, text in zip(rows, texts, strict=True):
            try:
                found = _split(text, self._delimiter)
            except GraphError as error:
                skipped.append(Skipped.of(row, text, str(error)))
                continue
            if any(field.strip() for field in found):  # else a line of delimiters, which is blank
                kept.append(row)
                fields.append(found)
        wanted = self.column_names if columns else self._needed
        places = {name: self.column_names.index(name) for name in wanted}
        cells = {name: [each[k] if k < len(each) else None for each in fields] for name, k in places.items()}
        return self._molecules(kept, cells, skipped, columns)


def _split(text: str, delimiter: str) -> list[str]:
    if len(text) > _ROW:
        raise GraphError(f"the line has over {_ROW >> 20} MiB")
    try:
        fields = next(csv.reader([f"{text}\n"], delimiter=delimiter), [])
    except csv.Error as error:
        raise GraphError(f"the line is no row of a table ({error})") from None
    if fields and fields[-1].endswith("\n"):  # which only an open quote takes in
        raise GraphError(_SEVERAL_LINES)
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

    found = max(columns, key=rank)
    return found, columns[found]


def _header_line(line: bytes) -> bytes:
    if len(line) == _HEADER:
        raise GraphError("the first line has over 1 MiB; a table begins with the names of its columns")
    return line.removeprefix(BOM).rstrip(b"\r\n")


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
