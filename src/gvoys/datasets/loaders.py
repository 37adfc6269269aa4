"""Molecules from tables of SMILES."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DatasetError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry import Chemistry
from gvoys.io.fetch import find_dataset
from gvoys.io.open import open_graphs
from gvoys.io.sources.records import Graphs
from gvoys.io.tu import read_tu


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
        What a molecule's graph contains: `gvoys.io.Chemistry`, or a dictionary of its options; None means
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


def load_tu(
    name: str, root: str | PathLike[str] | None = None, *, weight_column: int | None = None
) -> tuple[GraphBatch, NDArray[Any] | None]:
    """Load a dataset of the TU collection, such as "MUTAG", "NCI1" or "PROTEINS".

    Parameters
    ----------
    name : str
        Name of the dataset.
    root : str, path-like or None, default=None
        A folder that holds NAME.zip or NAME/. None looks into the folder tu/ of GVOYS_DATA, or of the system's
        cache folder where that is not set, then into installed packages (grakel carries MUTAG and Cuneiform), then
        downloads from the collection's site into tu/.
    weight_column : int or None, default=None
        Column of the edge attributes to use as edge weights; None leaves all weights one.

    Returns
    -------
    batch : GraphBatch
        The graphs. Several label columns become tuples; labels keep the numbers of the file.
    y : array of shape (n_graphs,) or (n_graphs, n_targets), or None
        Class labels as in the file, or real targets.

    Raises
    ------
    DatasetError
        If the dataset cannot be found, or a file does not fit the format; the message names the file and the line.
    """
    try:
        return read_tu(find_dataset(name, root), weight_column)
    except OSError as error:
        raise DatasetError(f"{name} cannot be read: {error.strerror or error}") from None


FREESOLV = Path(__file__).parent / "assets" / "FreeSolv.csv"  # the same molecules as graphs lie beside it


def freesolv() -> tuple[GraphBatch, NDArray[np.float64]]:
    """Load FreeSolv: the hydration free energies of 642 small molecules, measured, in kcal/mol.

    The molecules ship with the package, as the graphs that `from_smiles` makes of them, and need neither RDKit nor a
    network. The data is licensed under CC BY 4.0.

    Returns
    -------
    batch : GraphBatch
        The molecules.
    y : ndarray of shape (642,)
        Their hydration free energies.

    References
    ----------
    D. L. Mobley, J. P. Guthrie: FreeSolv: a database of experimental and calculated hydration free energies, with
    input files. J. Comput. Aided Mol. Des. 28, 711-720 (2014).

    Examples
    --------
    >>> batch, y = freesolv()
    >>> batch
    GraphBatch(642 graphs, 5600 nodes, 5385 edges, 24 node labels, 4 edge labels)
    >>> float(y[:3].min())
    -11.01
    """
    table = read_freesolv()
    y: Any = table.y
    return table.batch, y


def read_freesolv() -> Graphs:
    """Read FreeSolv with the names and SMILES of the molecules and the columns of the table."""
    graphs = open_graphs(FREESOLV.with_suffix(".jsonl.gz"), target="expt", id="iupac").read()
    return replace(graphs, smiles=graphs.columns["smiles"].tolist())
