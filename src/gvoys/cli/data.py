"""What DATA means on the command line: a TU dataset by name, zip or folder, or a table of SMILES."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.datasets import load_smiles, load_tu
from gvoys.datasets.smiles import SUFFIXES
from gvoys.errors import DatasetError
from gvoys.graphs.batch import GraphBatch

__all__ = ["is_real", "load_data"]

_CLASSES = 20  # different whole numbers from which a target is taken as real


def load_data(data: str, root: Path | None, target: str | None, smiles: str) -> tuple[str, GraphBatch, NDArray[Any]]:
    """The name, the graphs and the targets."""
    path = Path(data)
    if path.suffix.lower() in SUFFIXES:
        if target is None:
            raise DatasetError(f"{path.name} is a table of molecules: name the column to predict with --target")
        batch, y = load_smiles(path, target, smiles)
        assert y is not None
        return path.stem, batch, y
    if path.suffix == ".zip" or path.is_dir():
        batch, y = load_tu(path.stem, path.parent)
    else:
        batch, y = load_tu(data, root)
    if y is None:
        raise DatasetError(f"{data} has no graph labels, so that there is nothing to learn")
    return path.stem, batch, y


def is_real(y: NDArray[Any]) -> bool:
    """Whether targets are real numbers rather than classes."""
    if y.dtype.kind != "f":
        return False
    return bool((y != np.round(y)).any()) or len(np.unique(y)) > _CLASSES
