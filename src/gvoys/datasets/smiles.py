"""Molecules from tables of SMILES."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from gvoys.errors import DatasetError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry import Chemistry
from gvoys.io.open import open_graphs


def load_smiles(
    path: Any,
    target: str | Sequence[str] | None = None,
    column: str = "smiles",
    chemistry: Chemistry | dict[str, Any] | None = None,
) -> tuple[GraphBatch, NDArray[Any] | None]:
    """Load the molecules of a table.

    Parameters
    ----------
    path : str, path-like or DataFrame
        A table with a header (.csv, .tsv, .txt with tabs, .parquet), a DataFrame, or a .smi file, which has no header:
        the SMILES comes first in every line, and there is no target.
    target : str, sequence of str or None, default=None
        Column or columns to return as targets.
    column : str, default="smiles"
        Column that holds the SMILES.
    chemistry : Chemistry, dict or None, default=None
        What of a molecule becomes part of its graph: `gvoys.io.Chemistry`, or a dictionary of its options; None means
        the defaults.

    Returns
    -------
    batch : GraphBatch
        One graph per row.
    y : array of shape (n_graphs,) or (n_graphs, n_targets), or None
        The target, or one column for each of several: numbers where all of it are, else strings.

    Raises
    ------
    DatasetError
        If the table or one of its rows cannot be read; the message names the row. `gvoys.io.open_graphs` skips rows
        that cannot be read.
    """
    source = open_graphs(path, smiles=column, target=target, chemistry=chemistry)
    if not source.has_smiles:
        raise DatasetError(f"{source} holds no SMILES; gvoys.io.open_graphs reads graphs of other kinds")
    graphs = source.read()
    for row, _, reason in graphs.skipped:
        raise DatasetError(f"{source}, row {row}: {reason}; correct it or remove it")
    return graphs.batch, graphs.y
