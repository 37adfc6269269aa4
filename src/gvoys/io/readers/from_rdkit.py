"""RDKit molecules: atoms and bonds with the labels that `from_smiles` gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gvoys.errors import GraphError
from gvoys.io.readers.parts import GraphParts, Names, stack_attributes


def matches(graph: Any) -> bool:
    """Recognise a molecule without importing RDKit."""
    return hasattr(graph, "GetAtoms") and hasattr(graph, "GetBonds")


def read(graph: Any, names: Names) -> GraphParts:
    """Read one molecule as RDKit would read its SMILES: sanitised, with hydrogens as numbers, not as atoms."""
    molecule = _as_from_smiles(graph)
    bonds = list(molecule.GetBonds())
    ends = np.array([(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds], np.int64).reshape(-1, 2)
    atoms = [(atom.GetSymbol(), atom.GetIsAromatic(), atom.GetTotalNumHs()) for atom in molecule.GetAtoms()]
    return GraphParts(
        n_nodes=len(atoms),
        rows=ends[:, 0],
        columns=ends[:, 1],
        directed=False,
        both_ways=False,
        edge_labels=[bond.GetBondTypeAsDouble() for bond in bonds] if names.edge_label == "label" else None,
        node_labels=atoms if names.node_label == "label" else None,
        node_attributes=stack_attributes(dict.fromkeys(names.node_attributes), len(atoms)),
        edge_attributes=stack_attributes(dict.fromkeys(names.edge_attributes), len(atoms), "edge"),
    )


def _as_from_smiles(molecule: Any) -> Any:
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():  # the error says it
        try:
            return Chem.RemoveHs(molecule)  # a sanitised copy
        except (ValueError, RuntimeError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise GraphError(f"RDKit cannot sanitise the molecule ({reason})") from None
