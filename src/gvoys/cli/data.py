"""What DATA means on the command line: a TU dataset by name, zip or folder, or a table of SMILES."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from gvoys.datasets.smiles import SUFFIXES, as_values, read_molecules
from gvoys.datasets.tu import locate
from gvoys.errors import DatasetError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.tu import dataset_name, read_tu

__all__ = ["is_real", "load_data", "say_skipped"]

_SHOWN = 3  # rows that are skipped, by name
_CLASSES = 20  # different whole numbers from which a target is taken as real


def load_data(
    console: Console, data: str, root: Path | None, target: str | None, smiles: str
) -> tuple[str, GraphBatch, NDArray[Any]]:
    """The name, the graphs and the targets; says which rows of a table are skipped."""
    path = Path(data)
    if path.suffix.lower() in SUFFIXES:
        if target is None:
            raise DatasetError(f"{path.name} is a table of molecules: name the column to predict with --target")
        table = read_molecules(path, smiles, target)
        say_skipped(console, table.left_out, len(table.rows))
        return path.stem, table.batch, as_values(table.column(target))
    found = locate(data, root)
    batch, y = read_tu(found)
    if y is None:
        raise DatasetError(f"{data} has no graph labels, so that there is nothing to learn")
    return dataset_name(found), batch, y


def say_skipped(console: Console, skipped: list[tuple[int, str]], n_kept: int) -> None:
    """Name the first rows that are missing from what follows."""
    if not skipped:
        return
    shown = "; ".join(f"row {row}: {reason}" for row, reason in skipped[:_SHOWN])
    more = f"; and {len(skipped) - _SHOWN} more" if len(skipped) > _SHOWN else ""
    console.print(
        f"{len(skipped)} of {len(skipped) + n_kept:,} rows are skipped: {shown}{more}.",
        style="yellow",
        highlight=False,
        markup=False,
    )


def is_real(y: NDArray[Any]) -> bool:
    """Whether targets are real numbers rather than classes."""
    if y.dtype.kind != "f":
        return False
    return bool((y != np.round(y)).any()) or len(np.unique(y)) > _CLASSES
