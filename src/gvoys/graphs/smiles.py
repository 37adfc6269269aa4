"""Molecules from SMILES: atoms and bonds with the labels that chemistry gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gvoys.errors import GraphError, MissingDependencyError
from gvoys.graphs.batch import GraphBatch

__all__ = ["from_smiles"]


def from_smiles(smiles: Iterable[str]) -> GraphBatch:
    """One graph per SMILES string, hydrogens left out.

    An atom's label is (symbol, aromatic, number of hydrogens), a bond's its order: 1.0, 2.0, 3.0 or 1.5 for aromatic.
    A string that RDKit cannot read is refused with its place.

    >>> from_smiles(["CCO", "c1ccccc1"])  # doctest: +SKIP
    GraphBatch(2 graphs, 9 nodes, 8 edges, 4 node labels, 2 edge labels)
    """
    chem = _rdkit()
    if isinstance(smiles, str):
        raise GraphError("from_smiles takes a list of SMILES strings and was given a single one; wrap it in a list")
    sizes: list[int] = []
    atoms: list[tuple[str, bool, int]] = []
    bonds: list[tuple[int, int]] = []
    orders: list[float] = []
    for index, text in enumerate(smiles):
        molecule = _parse(chem, text, index)
        first = len(atoms)
        atoms += [(a.GetSymbol(), a.GetIsAromatic(), a.GetTotalNumHs()) for a in molecule.GetAtoms()]
        bonds += [(first + b.GetBeginAtomIdx(), first + b.GetEndAtomIdx()) for b in molecule.GetBonds()]
        orders += [b.GetBondTypeAsDouble() for b in molecule.GetBonds()]
        sizes.append(molecule.GetNumAtoms())
    edges = np.array(bonds, np.int64).reshape(-1, 2)
    return GraphBatch.from_arrays(edges, sizes, node_labels=atoms, edge_labels=orders)


def _rdkit() -> Any:
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise MissingDependencyError('SMILES are read by RDKit; pip install "gvoys[chem]" brings it') from None
    rdBase.DisableLog("rdApp.*")  # what cannot be read is refused in a sentence of our own
    return Chem


def _parse(chem: Any, text: Any, index: int) -> Any:
    molecule = chem.MolFromSmiles(text) if isinstance(text, str) else None
    if molecule is None:
        raise GraphError(f"molecule {index}: RDKit cannot read the SMILES {text!r}; correct it or leave it out")
    return molecule
