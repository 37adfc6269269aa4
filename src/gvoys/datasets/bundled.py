"""The table of molecules that ships with the package."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.graphs.batch import GraphBatch
from gvoys.io.open import open_graphs
from gvoys.io.sources.records import Graphs

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
    found = read_freesolv()
    y: Any = found.y
    return found.batch, y


def read_freesolv() -> Graphs:
    """Read FreeSolv with the names and SMILES of the molecules and the columns of the table."""
    graphs = open_graphs(FREESOLV.with_suffix(".jsonl.gz"), target="expt", id="iupac").read()
    return replace(graphs, smiles=graphs.columns["smiles"].tolist())
