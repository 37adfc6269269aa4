"""Columns of a part, as arrays and as Arrow has them.

Sparse features are two columns of lists: `columns`, the numbers of a graph's columns, sorted, and `values`.
"""

from __future__ import annotations

import io
import json
import os
import re
import zlib
from collections.abc import Mapping
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.errors import DatasetError, ParameterError
from gvoys.io.copies import ARROW_ERRORS, pyarrow
from gvoys.io.files import appearing
from gvoys.io.sources import Skipped
from gvoys.io.store.store_reader import checksum_file

# numbers of sorted columns differ by little, and few values are different: half the space, without a codec
SPARSE_ENCODING = {
    "column_encoding": {"columns.list.element": "DELTA_BINARY_PACKED"},
    "use_dictionary": ["values.list.element"],
}
_MOST_NUMBERS = 2**31 - 1  # in all lists of a column


def stack_rows(parts: list[Any]) -> Any:
    """Return the rows of several arrays, all of them dense or all sparse, as one array."""
    if sp.issparse(parts[0]):
        return sp.csr_array(sp.vstack(parts, format="csr"))
    return np.concatenate(parts)


def as_arrow(name: str, array: Any) -> dict[str, Any]:
    """Return the columns of Arrow that an array with a row per graph becomes: one, or `columns` and `values`."""
    arrow = pyarrow()
    if sp.issparse(array):
        return {"columns": _as_lists(array, array.indices.astype(np.int32)), "values": _as_lists(array, array.data)}
    if array.ndim == 1 and array.dtype.kind in "OU":
        return {name: arrow.array([*map(str, array)], arrow.string())}
    if array.ndim == 1:
        return {name: arrow.array(array)}
    flat = arrow.array(np.ascontiguousarray(array).ravel())
    kind = arrow.list_(arrow.field("item", flat.type, nullable=False), array.shape[1])
    return {name: arrow.FixedSizeListArray.from_arrays(flat, type=kind)}


def _as_lists(matrix: Any, values: NDArray[Any]) -> Any:
    """Make a list for each row of a sparse matrix."""
    if matrix.nnz > _MOST_NUMBERS:
        raise ParameterError(f"a part would have {matrix.nnz:,} numbers, too many for Parquet; lower rows_per_part")
    arrow = pyarrow()
    flat = arrow.array(values)
    kind = arrow.list_(arrow.field("item", flat.type, nullable=False))
    return arrow.ListArray.from_arrays(arrow.array(matrix.indptr.astype(np.int32)), flat, type=kind)


CHECKSUMS = "_checksums.txt"  # readers of Parquet ignore names that begin with an underscore
_ENTRY = re.compile(r"part-(\d{7,12})\.parquet ([0-9a-f]{8})")
_SKIPPED, _N_COLUMNS = b"gvoys.skipped", b"gvoys.n_columns"  # the latter of sparse features


def part_path(folder: Path, index: int) -> Path:
    """The file of a part; names sort as numbers do."""
    return folder / f"part-{index:07d}.parquet"


def skipped_beside(folder: Path) -> Path:
    """The table of skipped rows, FOLDER.skipped.csv: in the folder, readers of Parquet would take it for a part."""
    named = folder if folder.name not in ("", "..") else Path(os.path.abspath(folder))
    return named.parent / f"{named.name}.skipped.csv"


def write_part(path: Path, ids: list[str], columns: Mapping[str, Any], skipped: list[Skipped]) -> int:
    """Write a part: the same bytes for the same content; the file appears when it is complete."""
    arrow, parquet = pyarrow(), pyarrow("parquet")
    made, metadata = {"id": arrow.array(ids, arrow.string())}, {_SKIPPED: json.dumps(skipped).encode()}
    # random numbers do not shrink, and looking for repeats would take longer than writing
    how: dict[str, Any] = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    for name, array in columns.items():
        made |= as_arrow(name, array)
        if sp.issparse(array):
            metadata[_N_COLUMNS] = b"%d" % array.shape[1]
            how |= SPARSE_ENCODING
    fields = [arrow.field(name, array.type, nullable=False) for name, array in made.items()]
    table = arrow.Table.from_arrays(list(made.values()), schema=arrow.schema(fields, metadata=metadata))
    with appearing(path) as partial, _Summed(io.FileIO(partial, "w")) as file:
        parquet.write_table(table, file, **how)
    return file.checksum


class _Summed(io.BufferedWriter):
    """A file that adds up the CRC-32 of what is written to it: of what was meant, whatever the disk makes of it."""

    checksum = 0

    def write(self, data: Any) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        return super().write(data)


# -- checksums


def find_intact(folder: Path, n_parts: int) -> dict[int, int]:
    """Find the parts whose bytes are as they were written, about a second per gigabyte."""
    try:
        lines = (folder / CHECKSUMS).read_text("ascii", "replace").split("\n")
    except FileNotFoundError:
        return {}
    entries = {int(match[1]): int(match[2], 16) for match in map(_ENTRY.fullmatch, lines) if match}
    parts = {index: part_path(folder, index) for index in entries if index < n_parts}
    is_intact = (part.is_file() and checksum_file(part) == entries[index] for index, part in parts.items())
    return {index: entries[index] for index in compress(parts, is_intact)}


def write_checksums(folder: Path, checksums: Mapping[int, int]) -> None:
    """Write the file of checksums anew."""
    with appearing(folder / CHECKSUMS) as partial:
        partial.write_text("".join(_entry(index, checksums[index]) for index in sorted(checksums)), newline="\n")


def note_part(folder: Path, index: int, checksum: int) -> None:
    """Add a part to the file of checksums."""
    with (folder / CHECKSUMS).open("a", newline="\n") as file:
        file.write(_entry(index, checksum))


def _entry(index: int, checksum: int) -> str:
    return f"{part_path(Path(), index)} {checksum:08x}\n"


# -- reading


def read_summary(path: Path) -> tuple[int, list[Skipped]]:
    """Return the number of graphs in a part, and its skipped rows."""
    parquet = pyarrow("parquet")
    try:
        with parquet.ParquetFile(path) as file:
            skipped = json.loads(file.schema_arrow.metadata[_SKIPPED])
            return file.metadata.num_rows, [Skipped(int(row), str(text), str(reason)) for row, text, reason in skipped]
    except ARROW_ERRORS:
        raise DatasetError(f"{path} is damaged or no part of a run; remove it and give the command again") from None


def part_features(path: Path) -> Any:
    """Read the features of a part."""
    with pyarrow("parquet").ParquetFile(path) as file:
        n_columns = (file.schema_arrow.metadata or {}).get(_N_COLUMNS)
        if n_columns is None:
            column = file.read(columns=["features"]).column("features").combine_chunks()
            flat = column.flatten().to_numpy(zero_copy_only=False)
            return flat.reshape(len(column), -1) if len(column) else flat.reshape(0, column.type.list_size)
        table = file.read(columns=["columns", "values"])
    columns, values = (table.column(name).combine_chunks() for name in ("columns", "values"))
    pointers = np.concatenate([[0], np.cumsum(columns.value_lengths().to_numpy(zero_copy_only=False))])
    arrays = (array.flatten().to_numpy(zero_copy_only=False) for array in (values, columns))
    features = sp.csr_array((*arrays, pointers), shape=(len(columns), int(n_columns)))
    features.check_format(full_check=True)  # a column out of range, of a damaged file, is not to be followed
    return features


def part_ids(path: Path) -> list[str]:
    """Read the ids of a part."""
    return list(pyarrow("parquet").read_table(path, columns=["id"]).column("id").to_pylist())
