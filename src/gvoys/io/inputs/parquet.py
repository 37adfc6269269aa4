"""Parquet tables of SMILES."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from gvoys.errors import DatasetError, GraphError
from gvoys.io.arrow import ARROW_ERRORS, pyarrow
from gvoys.io.inputs.base import Chunk, Input, Records, smiles_builder
from gvoys.io.inputs.table import find_column

__all__ = ["ParquetInput"]


class ParquetInput(Input):
    """A Parquet table of SMILES; chunks keep within row groups, so that one can be read without the others.

    Parameters
    ----------
    path : Path
        The file.
    smiles_column : str
        Column that holds the SMILES.
    id_column : str or None
        Column that holds the ids; None numbers the rows.
    """

    unit = "rows"

    def __init__(self, path: Path, smiles_column: str, id_column: str | None) -> None:
        super().__init__(path)
        with self._open() as file:
            names = list(file.schema_arrow.names)
            self._groups = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        self.smiles = names[find_column(path, names, smiles_column, "--smiles-column")]
        self.id = None if id_column is None else names[find_column(path, names, id_column, "--id-column")]

    def _open(self) -> Any:
        parquet = pyarrow("parquet")
        try:
            return parquet.ParquetFile(self.path)
        except ARROW_ERRORS as error:
            raise DatasetError(f"{self.path.name} is not a readable Parquet file ({_first_line(error)})") from None

    def identity(self) -> dict[str, Any]:
        return super().identity() | {"columns": [self.smiles, self.id]}

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

    def _column(self, group: int, name: str, rows: slice) -> list[Any]:
        stamp = self.path.stat().st_mtime_ns
        column = _group(self.path, stamp, group, name)[rows.start : rows.stop]
        arrow = pyarrow()
        if arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type):
            column = column.cast(arrow.large_binary())  # decoded one by one, so that a bad one stands alone
        return list(column.to_pylist())

    def read(self, chunk: Chunk) -> Records:
        before = sum(self._groups[: chunk.where])
        rows = slice(chunk.begin - before, chunk.end - before)
        try:
            smiles = self._column(chunk.where, self.smiles, rows)
            ids = None if self.id is None else self._column(chunk.where, self.id, rows)
        except ARROW_ERRORS as error:
            where = f"rows {chunk.begin + 1} to {chunk.end}"
            raise DatasetError(f"{self.path.name}, {where}, cannot be read ({_first_line(error)})") from None
        kept, names, texts, skipped = [], [], [], []
        for place, value in enumerate(smiles):
            row = chunk.line + place
            try:
                text = _text(value, "SMILES")
                names.append(str(row) if ids is None else _text(ids[place], "id"))
            except GraphError as error:
                skipped.append((row, str(error)))
                continue
            kept.append(row)
            texts.append(text)
        return Records(kept, names, smiles_builder(texts), skipped)


@lru_cache(maxsize=2)
def _group(path: Path, stamp: int, group: int, name: str) -> Any:
    """One column of a row group, kept for the chunks that follow."""
    with pyarrow("parquet").ParquetFile(path) as file:
        return file.read_row_group(group, columns=[name]).column(name).combine_chunks()


def _text(value: Any, what: str) -> str:
    """A cell as text on one line."""
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            raise GraphError(f"the {what} is not UTF-8") from None
    if value is None or (what == "SMILES" and not isinstance(value, str)) or not str(value).strip():
        raise GraphError(f"the row has no {what}")
    if len(str(value).splitlines()) > 1:
        raise GraphError(f"the {what} runs over several lines")
    return str(value).strip()


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
