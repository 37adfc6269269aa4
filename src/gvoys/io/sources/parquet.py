"""Parquet tables of SMILES."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gvoys.errors import DatasetError
from gvoys.io.arrow import ARROW_ERRORS, pyarrow
from gvoys.io.sources.base import FileSource
from gvoys.io.sources.records import Chunk, Records
from gvoys.io.sources.table import TableSource

_FREE = 4_000_000  # rows of a group in a file of any size: equal values cost no bytes


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
        self._check_groups()
        self._open(names, smiles, id, target)

    def _check_groups(self) -> None:
        largest, held = max(self._groups, default=0), self.path.stat().st_size
        if min(self._groups, default=0) < 0 or largest > _FREE + held:
            raise DatasetError(
                f"{self} has a row group of {largest:,} rows in a file of {held:,} bytes; write it with smaller ones"
            )

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
    """One column of a row group, kept for the chunks that follow."""
    with pyarrow("parquet").ParquetFile(path, read_dictionary=[name]) as file:  # texts that repeat, once
        return file.read_row_group(group, columns=[name]).column(name).combine_chunks()


def _shared(column: Any) -> list[Any]:
    """Cells of a column that refers to a table of values; those that are equal are one object."""
    arrow = pyarrow()
    used, places = np.unique(column.indices.fill_null(0).to_numpy(zero_copy_only=False), return_inverse=True)
    table = column.dictionary.take(arrow.array(used)) if len(column.dictionary) else column.dictionary
    if arrow.types.is_string(table.type) or arrow.types.is_large_string(table.type):
        table = table.cast(arrow.large_binary())  # decoded one by one, so that a bad one stands alone
    values = [_decoded(value) for value in table.to_pylist()] or [None]
    missing = column.is_null().to_numpy(zero_copy_only=False).tolist()
    return [None if gone else values[place] for place, gone in zip(places.tolist(), missing, strict=True)]


def _decoded(value: Any) -> Any:
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return value


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
