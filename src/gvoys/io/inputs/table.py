"""Tables of SMILES with a header: .csv and .tsv."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from gvoys.errors import DatasetError, GraphError
from gvoys.io.inputs.base import Records, smiles_builder
from gvoys.io.inputs.lines import LinesInput, decode_line

__all__ = ["TABLES", "TableInput", "find_column"]

TABLES = {".csv": ",", ".tsv": "\t", ".txt": "\t"}


class TableInput(LinesInput):
    """A table with a header, one row per line; a quoted field may hold delimiters but no line breaks.

    Parameters
    ----------
    path : Path
        The file.
    smiles_column : str
        Column that holds the SMILES.
    id_column : str or None
        Column that holds the ids; None numbers the rows.
    """

    first_line = 2

    def __init__(self, path: Path, smiles_column: str, id_column: str | None) -> None:
        super().__init__(path)
        with path.open("rb") as file:
            header = file.readline(1 << 20)
            self._begin = file.tell()
        if not header.strip():
            raise DatasetError(f"{path.name} begins with an empty line; a table begins with the names of its columns")
        try:
            names = self._split(decode_line(header.removeprefix(b"\xef\xbb\xbf")))
        except GraphError as error:
            raise DatasetError(f"{path.name}, line 1: {error}") from None
        self.smiles = find_column(path, names, smiles_column, "--smiles-column")
        self.id = None if id_column is None else find_column(path, names, id_column, "--id-column")

    def identity(self) -> dict[str, Any]:
        return super().identity() | {"columns": [self.smiles, self.id]}

    def _first_byte(self) -> int:
        return self._begin

    def _split(self, text: str) -> list[str]:
        if text.count('"') % 2:
            raise GraphError("a quoted field does not end on its line")
        try:
            return next(csv.reader([text], delimiter=TABLES[self.path.suffix.lower()]), [])
        except csv.Error as error:
            raise GraphError(f"the line is no row of a table ({error})") from None

    def _records(self, lines: list[tuple[int, bytes]]) -> Records:
        kept, ids, texts, skipped = [], [], [], []
        for number, line in lines:
            try:
                row = self._split(decode_line(line))
                if not any(field.strip() for field in row):
                    continue
                texts.append(_field(row, self.smiles, "SMILES"))
                ids.append(str(number) if self.id is None else _field(row, self.id, "id"))
                kept.append(number)
            except GraphError as error:
                del texts[len(kept) :]
                skipped.append((number, str(error)))
        return Records(kept, ids, smiles_builder(texts), skipped)


def _field(row: list[str], place: int, what: str) -> str:
    if place >= len(row) or not row[place].strip():
        raise GraphError(f"the row has no {what}")
    return row[place].strip()


def find_column(path: Path, names: list[Any], wanted: str, option: str) -> int:
    """The place of a column by its name, whatever the case.

    Parameters
    ----------
    path : Path
        The file, for the message.
    names : list
        Names of all columns.
    wanted : str
        Name of the column.
    option : str
        Option of the command line that chooses it, for the message.

    Returns
    -------
    int
        The place.

    Raises
    ------
    DatasetError
        If there is no such column.
    """
    found = [place for place, name in enumerate(names) if str(name).strip().lower() == wanted.lower()]
    if not found:
        shown = ", ".join(repr(name) for name in names[:20])
        raise DatasetError(f"{path.name} has no column {wanted!r}; it has {shown}; choose one with {option}")
    return found[0]
