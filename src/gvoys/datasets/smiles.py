"""Molecules from tables of SMILES: .csv, .tsv with a header, or .smi."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DatasetError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.smiles import read_smiles

__all__ = ["SUFFIXES", "MoleculeTable", "as_values", "load_smiles", "read_molecules"]

SUFFIXES = {".csv": ",", ".tsv": "\t", ".txt": "\t", ".smi": None}


@dataclass(frozen=True)
class MoleculeTable:
    """A table of molecules, without the rows that were skipped.

    Parameters
    ----------
    name : str
        Name of the file.
    batch : GraphBatch
        The molecules that can be read.
    rows : list of dict
        Their rows.
    smiles : list of str
        Their SMILES.
    smiles_column : str
        Column that holds the SMILES.
    left_out : list of (int, str)
        Number, from 1, and reason of each skipped row.
    """

    name: str
    batch: GraphBatch
    rows: list[dict[str, str]]
    smiles: list[str]
    smiles_column: str
    left_out: list[tuple[int, str]]

    def column(self, name: str) -> list[str]:
        """A column by its name, whatever its case.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        list of str
            One value per row.

        Raises
        ------
        DatasetError
            If there is no such column.
        """
        key = _find(self.name, self.rows, name)
        return [row[key] for row in self.rows]


def load_smiles(path: Any, target: str | None = None, column: str = "smiles") -> tuple[GraphBatch, NDArray[Any] | None]:
    """Load the molecules of a table.

    Parameters
    ----------
    path : str or path-like
        A .csv, .tsv or .txt file with a header, or a .smi file, which has none: the SMILES comes first in every line,
        and there is no target.
    target : str or None, default=None
        Column to return as targets.
    column : str, default="smiles"
        Column that holds the SMILES.

    Returns
    -------
    batch : GraphBatch
        One graph per row.
    y : array of shape (n_graphs,) or None
        The column `target`: numbers where all of it are, else strings.

    Raises
    ------
    DatasetError
        If the file or one of its rows cannot be read; the message names the row.
    """
    table = read_molecules(path, column, target)
    for row, reason in table.left_out:
        raise DatasetError(f"{table.name}, row {row}: {reason}; correct it or remove it")
    return table.batch, None if target is None else as_values(table.column(target))


def read_molecules(path: Any, column: str = "smiles", target: str | None = None) -> MoleculeTable:
    """Read a table of molecules; rows that cannot be read or have no target are skipped.

    Parameters
    ----------
    path : str or path-like
        As in `load_smiles`.
    column : str, default="smiles"
        Column that holds the SMILES.
    target : str or None, default=None
        Column that no row may leave empty.

    Returns
    -------
    MoleculeTable
        The rows that can be read, and the reasons why others cannot.

    Raises
    ------
    DatasetError
        If the file cannot be read, or none of its rows.
    """
    file = Path(path)
    if file.suffix.lower() not in SUFFIXES:
        raise DatasetError(f"{file.name} is not one of {', '.join(SUFFIXES)}")
    if not file.is_file():
        raise DatasetError(f"there is no file {file}")
    if file.suffix.lower() == ".smi":
        if target is not None:
            raise DatasetError(f"{file.name} has no columns; a target needs a .csv or .tsv with a header")
        column = "smiles"
    try:
        rows = _rows(file)
    except (UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(f"{file.name} is no table in UTF-8: {error}") from None
    if not rows:
        raise DatasetError(f"{file.name} holds no rows")
    return _readable(file.name, rows, column, target)


def as_values(column: list[str]) -> NDArray[Any]:
    """Numbers where all values are, else strings.

    Parameters
    ----------
    column : list of str
        The values.

    Returns
    -------
    array
        Floats or strings.
    """
    try:
        return np.array(column, dtype=np.float64)
    except ValueError:
        return np.array(column)


def _readable(name: str, rows: list[dict[str, str]], column: str, target: str | None) -> MoleculeTable:
    needed = [_find(name, rows, each) for each in (column, target) if each is not None]
    gaps = {i: key for key in reversed(needed) for i, row in enumerate(rows) if not (row[key] or "").strip()}
    full = [i for i in range(len(rows)) if i not in gaps]
    texts = [rows[i][needed[0]] for i in full]
    batch, skipped = read_smiles(texts)
    bad = {full[place]: reason for place, reason in skipped}
    reasons = {i: f"the column {key!r} is empty" for i, key in gaps.items()} | bad
    kept = [i for i in full if i not in bad]
    if not kept:
        raise DatasetError(f"{name} holds no row that can be read; row 1: {reasons[0]}")
    return MoleculeTable(
        name,
        batch,
        [rows[i] for i in kept],
        [rows[i][needed[0]] for i in kept],
        needed[0],
        [(i + 1, reasons[i]) for i in sorted(reasons)],
    )


def _line(text: str) -> dict[str, str]:
    smiles, *name = text.split(None, 1)
    return {"smiles": smiles, "name": "".join(name).strip()}


def _rows(file: Path) -> list[dict[str, str]]:
    delimiter = SUFFIXES[file.suffix.lower()]
    with file.open(newline="", encoding="utf-8-sig") as lines:
        if delimiter is None:
            return [_line(line) for line in lines if line.strip()]
        return list(csv.DictReader(lines, delimiter=delimiter))


def _find(table: str, rows: list[dict[str, str]], name: str) -> str:
    """The column of this name, whatever its case."""
    found = next((key for key in rows[0] if key and key.lower() == name.lower()), None)
    if found is None:
        raise DatasetError(f"{table} has no column {name!r}; it has {', '.join(map(repr, rows[0]))}")
    return found
