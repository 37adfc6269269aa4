"""What `gvoys embed` reads: one class per kind of file, all with the same interface."""

from __future__ import annotations

from pathlib import Path

from gvoys.errors import DatasetError
from gvoys.io.inputs.base import Chunk, Input, Records
from gvoys.io.inputs.lines import GRAPH6, JSON, SMILES, LinesInput
from gvoys.io.inputs.parquet import ParquetInput
from gvoys.io.inputs.table import TABLES, TableInput
from gvoys.io.inputs.whole import StoreInput, TuInput

__all__ = ["Chunk", "Input", "Records", "open_input"]

KINDS = ".smi, .csv, .tsv or .parquet (SMILES), .g6, .s6, .jsonl, a TU .zip or folder, or a store"


def open_input(path: Path, smiles_column: str = "smiles", id_column: str | None = None) -> Input:
    """Open a file or folder of graphs, by its name.

    Parameters
    ----------
    path : Path
        The file or folder.
    smiles_column : str, default="smiles"
        Column of a table that holds the SMILES.
    id_column : str or None, default=None
        Column of a table that holds the ids; None numbers the rows.

    Returns
    -------
    Input
        The input.

    Raises
    ------
    DatasetError
        If there is no such file, or it is of no kind that can be read.
    """
    suffix = path.suffix.lower()
    if not path.exists():
        raise DatasetError(f"there is no file or folder {path}")
    if path.is_dir():
        return StoreInput(path) if (path / "manifest.json").exists() else TuInput(path)
    if suffix in SMILES or suffix in GRAPH6 or suffix in JSON:
        return LinesInput(path)
    if suffix in TABLES:
        return TableInput(path, smiles_column, id_column)
    if suffix == ".parquet":
        return ParquetInput(path, smiles_column, id_column)
    if suffix == ".zip":
        return TuInput(path)
    if suffix == ".gz":
        raise DatasetError(f"{path.name} is compressed and cannot be read from the middle; unpack it first")
    raise DatasetError(f"{path.name} is not one of {KINDS}")
