"""Parts: numbered Parquet files of ids and features, each with the list of rows that were skipped in its chunk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DatasetError
from gvoys.io.arrow import ARROW_ERRORS, pyarrow
from gvoys.io.files import appearing
from gvoys.io.sources import Skipped

__all__ = ["part_path", "read_features", "read_ids", "read_summary", "write_part"]

_SKIPPED = b"gvoys.skipped"


def part_path(folder: Path, index: int) -> Path:
    """The file of a part; names sort as numbers do.

    Parameters
    ----------
    folder : Path
        Folder of the parts.
    index : int
        Number of the part.

    Returns
    -------
    Path
        The file.
    """
    return folder / f"part-{index:07d}.parquet"


def write_part(path: Path, ids: list[str], features: NDArray[Any], skipped: list[Skipped]) -> None:
    """Write a part: the same bytes for the same content; the file appears when it is complete.

    Parameters
    ----------
    path : Path
        The file.
    ids : list of str
        Id of each graph.
    features : array of shape (n_graphs, width)
        Features of each graph.
    skipped : list of Skipped
        Rows that were skipped.
    """
    arrow, parquet = pyarrow(), pyarrow("parquet")
    flat = arrow.array(np.ascontiguousarray(features).ravel())
    width = features.shape[1]
    kind = arrow.list_(arrow.field("item", flat.type, nullable=False), width)
    schema = arrow.schema(
        [arrow.field("id", arrow.string(), nullable=False), arrow.field("features", kind, nullable=False)],
        metadata={_SKIPPED: json.dumps(skipped).encode()},
    )
    columns = [arrow.array(ids, arrow.string()), arrow.FixedSizeListArray.from_arrays(flat, type=kind)]
    table = arrow.Table.from_arrays(columns, schema=schema)
    with appearing(path) as partial:
        # random numbers do not shrink, and looking for repeats would take longer than writing
        parquet.write_table(table, partial, compression="none", use_dictionary=False, write_statistics=False)


def read_summary(path: Path) -> tuple[int, list[Skipped]]:
    """How many graphs a part holds, and the rows that were skipped.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    n_graphs : int
        Number of graphs.
    skipped : list of Skipped
        Rows that were skipped.

    Raises
    ------
    DatasetError
        If the file is damaged or not a part of a run.
    """
    parquet = pyarrow("parquet")
    try:
        with parquet.ParquetFile(path) as file:
            skipped = json.loads(file.schema_arrow.metadata[_SKIPPED])
            return file.metadata.num_rows, [Skipped(int(row), str(text), str(reason)) for row, text, reason in skipped]
    except ARROW_ERRORS:
        raise DatasetError(f"{path} is damaged or no part of a run; remove it and give the command again") from None


def read_features(path: Path) -> NDArray[Any]:
    """The features of a part.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    array of shape (n_graphs, width)
        The features.
    """
    column = pyarrow("parquet").read_table(path, columns=["features"]).column("features").combine_chunks()
    flat = column.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(len(column), -1) if len(column) else flat.reshape(0, column.type.list_size)


def read_ids(path: Path) -> list[str]:
    """The ids of a part.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    list of str
        One id per graph.
    """
    return list(pyarrow("parquet").read_table(path, columns=["id"]).column("id").to_pylist())
