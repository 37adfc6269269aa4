"""Parquet tables of SMILES."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gvoys.errors import DatasetError
from gvoys.graphs.smiles import read_smiles
from gvoys.pipeline.arrow import ARROW_ERRORS, pyarrow
from gvoys.pipeline.inputs.base import Chunk, Input, Records
from gvoys.pipeline.inputs.table import find_column

__all__ = ["ParquetInput"]


class ParquetInput(Input):
    """Chunks keep within row groups, so that one can be read without the others."""

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

    def read(self, chunk: Chunk) -> Records:
        before = sum(self._groups[: chunk.where])
        wanted = [self.smiles] if self.id in (None, self.smiles) else [self.smiles, self.id]
        try:
            with self._open() as file:
                group = file.read_row_group(chunk.where, columns=wanted).slice(
                    chunk.begin - before, chunk.end - chunk.begin
                )
                smiles = group.column(self.smiles).to_pylist()
                ids = None if self.id is None else group.column(self.id).to_pylist()
        except ARROW_ERRORS as error:
            where = f"rows {chunk.begin + 1} to {chunk.end}"
            raise DatasetError(f"{self.path.name}, {where}, cannot be read ({_first_line(error)})") from None
        kept, names, texts, rejected = [], [], [], []
        for place, text in enumerate(smiles):
            row = chunk.line + place
            if not isinstance(text, str) or not text.strip():
                rejected.append((row, "the row has no SMILES"))
                continue
            kept.append(row)
            names.append(str(row) if ids is None else str(ids[place]))
            texts.append(text.strip())
        return Records(kept, names, lambda places: read_smiles([texts[place] for place in places]), rejected)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
