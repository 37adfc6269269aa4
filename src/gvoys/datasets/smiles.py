"""Molecules from tables of SMILES: .csv, .tsv with a header, or .smi."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DatasetError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.smiles import from_smiles

__all__ = ["SUFFIXES", "find_column", "load_smiles", "read_rows"]

SUFFIXES = {".csv": ",", ".tsv": "\t", ".txt": "\t", ".smi": None}


def load_smiles(path: Any, target: str | None = None, column: str = "smiles") -> tuple[GraphBatch, NDArray[Any] | None]:
    """Molecules of a table, and the column `target`: numbers where all of it are, else strings.

    A .smi file has no header: the SMILES comes first in every line, and there is no target.
    """
    file = Path(path)
    if file.suffix.lower() not in SUFFIXES:
        raise DatasetError(f"{file.name} is not one of {', '.join(SUFFIXES)}")
    if not file.is_file():
        raise DatasetError(f"there is no file {file}")
    if file.suffix.lower() == ".smi":
        if target is not None:
            raise DatasetError(f"{file.name} has no columns; a target needs a .csv or .tsv with a header")
        lines = [line.split()[0] for line in file.read_text().splitlines() if line.strip()]
        return from_smiles(lines), None
    rows = read_rows(file)
    return from_smiles(find_column(file, rows, column)), None if target is None else _values(
        find_column(file, rows, target)
    )


def read_rows(file: Path) -> list[dict[str, str]]:
    """The rows of a table as dictionaries."""
    with file.open(newline="", encoding="utf-8-sig") as lines:
        rows = list(csv.DictReader(lines, delimiter=SUFFIXES[file.suffix.lower()] or ","))
    if not rows:
        raise DatasetError(f"{file.name} holds no rows below its header")
    return rows


def find_column(file: Path, rows: list[dict[str, str]], name: str) -> list[str]:
    """A column by its name, whatever its case, without gaps."""
    found = next((key for key in rows[0] if key and key.lower() == name.lower()), None)
    if found is None:
        raise DatasetError(f"{file.name} has no column {name!r}; it has {', '.join(map(repr, rows[0]))}")
    missing = next((i for i, row in enumerate(rows) if not row[found]), None)
    if missing is not None:
        raise DatasetError(f"{file.name}, row {missing + 1}: the column {found!r} is empty")
    return [row[found] for row in rows]


def _values(column: list[str]) -> NDArray[Any]:
    try:
        return np.array(column, dtype=np.float64)
    except ValueError:
        return np.array(column)
