"""Molecules from SMILES: atoms and bonds with the labels that chemistry gives them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gvoys.errors import GraphError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.build import assemble
from gvoys.graphs.entries import Entries
from gvoys.io.chemistry.atom_labels import SMALL, AtomFacts, Bonds, Configurations, bond_labels
from gvoys.io.chemistry.canonical import as_smiles_list
from gvoys.io.chemistry.parse import (
    Chemistry,
    as_chemistry,
    has_marks,
    molecule_parser,
    no_garbage_collection,
    parse_text,
    rdkit,
)
from gvoys.io.named_graphs import GraphParts, Names, stack_attributes

_AROMATIC_ORDER = 1.5  # of a bond


def from_smiles(
    smiles: Iterable[str], chemistry: Chemistry | dict[str, Any] | None = None, *, atoms: str | None = None
) -> GraphBatch:
    """Read molecules from SMILES strings, one graph each, without hydrogens.

    An atom's label is (symbol, aromatic, number of hydrogens), a bond's its order: 1.0, 2.0, 3.0 or 1.5 for aromatic.

    Parameters
    ----------
    smiles : iterable of str
        SMILES strings.
    chemistry : Chemistry, dict or None, default=None
        What becomes part of the graphs: `gvoys.io.Chemistry`, or a dictionary of its options; None means the defaults.
    atoms : {"usual", "element", "fine"} or None, default=None
        What an atom's label says, in place of that option of `chemistry`; None leaves it as it is there.

    Returns
    -------
    GraphBatch
        One graph per string.

    Raises
    ------
    GraphError
        If RDKit cannot read a string; the message names its place.
    MissingDependencyError
        If RDKit is not installed.

    Examples
    --------
    >>> from_smiles(["CCO", "c1ccccc1"])
    GraphBatch(2 graphs, 9 nodes, 8 edges, 4 node labels, 2 edge labels)
    >>> from_smiles(["CCO", "c1ccccc1"], {"hydrogens": "atoms"})
    GraphBatch(2 graphs, 21 nodes, 20 edges, 4 node labels, 2 edge labels)
    >>> from_smiles(["C1CC1O"], atoms="fine").node_labels.decode()[2:]
    [('C', False, 1, 'D3', 'R3'), ('O', False, 1, 'D1')]
    """
    options = as_chemistry(chemistry)
    options = options if atoms is None else replace(options, atoms=atoms)
    batch, skipped = read_smiles(as_smiles_list(smiles, "from_smiles"), options)
    for index, reason in skipped:
        raise GraphError(f"molecule {index}: {reason}; correct it or remove it")
    return batch


def read_smiles(
    smiles: Sequence[Any], chemistry: Chemistry | dict[str, Any] | None = None
) -> tuple[GraphBatch, list[tuple[int, str]]]:
    """Read the molecules that can be read."""
    chem, options = rdkit(), as_chemistry(chemistry)
    parse, matrix_of = molecule_parser(options, chem), chem.GetAdjacencyMatrix
    facts, bonds = AtomFacts(options, chem), Bonds(parse)
    configurations = Configurations() if options.stereo else None
    sizes: list[int] = []
    asked: list[tuple[int, list[bool]]] = []
    skipped = []
    with no_garbage_collection():
        for index, text in enumerate(smiles):
            try:
                molecule = parse_text(text, parse)
            except GraphError as error:
                skipped.append((index, str(error)))
                continue
            size = molecule.GetNumAtoms()
            sizes.append(size)
            atoms = list(map(molecule.GetAtomWithIdx, range(size)))
            if configurations is not None and has_marks(text):
                configurations.add(molecule, atoms, len(facts.elements))
            for read, values, _ in facts.columns:
                values += map(read, atoms)
            if ":" in text:  # a bond of a ring that is not one, perhaps; see below
                asked.append((len(facts.elements), [atom.GetIsAromatic() for atom in atoms]))
            matrix = matrix_of(molecule, useBO=True) if size <= SMALL else None
            bonds.add(text, size, molecule.GetNumBonds(), matrix)
    rows, ends, orders = bonds.joined()
    entries = Entries(rows, ends, None, bond_labels(rows, ends, orders, configurations))
    aromatic = np.zeros(len(facts.elements), np.int64)
    aromatic[rows[orders == _AROMATIC_ORDER]] = 1  # RDKit marks atoms and bonds of a ring together
    for end, flags in asked:
        aromatic[end - len(flags) : end] = flags
    return assemble(entries, np.array(sizes, np.int64), False, facts.labels(aromatic, configurations), None), skipped


def is_molecule(graph: Any) -> bool:
    """Recognise a molecule without importing RDKit."""
    return hasattr(graph, "GetAtoms") and hasattr(graph, "GetBonds")


def read_molecule(graph: Any, names: Names) -> GraphParts:
    """Read one molecule as RDKit would read its SMILES: sanitised, with hydrogens as numbers, not as atoms."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():  # the error says it
        try:
            molecule = Chem.RemoveHs(graph)  # a sanitised copy
        except (ValueError, RuntimeError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise GraphError(f"RDKit cannot sanitise the molecule ({reason})") from None
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
