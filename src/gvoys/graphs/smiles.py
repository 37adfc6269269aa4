"""Molecules from SMILES: atoms and bonds with the labels that chemistry gives them."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError, MissingDependencyError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.build import assemble
from gvoys.graphs.entries import Entries
from gvoys.graphs.labels import Labels

__all__ = ["from_smiles", "read_smiles"]

_HYDROGEN = re.compile(r"\[\d*H")
_SMALL = 150  # atoms up to which bonds are read as a matrix, which is quicker
_HELD = 1 << 21  # numbers in the matrices that are searched at once


def from_smiles(smiles: Iterable[str]) -> GraphBatch:
    """One graph per SMILES string, hydrogens left out.

    An atom's label is (symbol, aromatic, number of hydrogens), a bond's its order: 1.0, 2.0, 3.0 or 1.5 for aromatic.
    A string that RDKit cannot read is refused with its place.

    >>> from_smiles(["CCO", "c1ccccc1"])  # doctest: +SKIP
    GraphBatch(2 graphs, 9 nodes, 8 edges, 4 node labels, 2 edge labels)
    """
    if isinstance(smiles, str):
        raise GraphError("from_smiles takes a list of SMILES strings and was given a single one; wrap it in a list")
    batch, rejected = read_smiles(list(smiles))
    for index, reason in rejected:
        raise GraphError(f"molecule {index}: {reason}; correct it or leave it out")
    return batch


def read_smiles(smiles: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
    """The molecules that can be read, and for the others their place and the reason."""
    chem = _rdkit()
    parse = _parser(chem)
    facts = (chem.Atom.GetAtomicNum, chem.Atom.GetTotalNumHs, chem.Atom.GetIsAromatic)
    columns: tuple[list[int], list[int], list[int]] = ([], [], [])
    sizes: list[int] = []
    bonds = _Bonds()
    rejected = []
    with _no_garbage_collection():
        for index, text in enumerate(smiles):
            molecule = parse(text) if isinstance(text, str) else None
            if molecule is None:
                rejected.append((index, f"RDKit cannot read the SMILES {text!r}"))
                continue
            sizes.append(molecule.GetNumAtoms())
            atoms = list(map(molecule.GetAtomWithIdx, range(sizes[-1])))
            for column, fact in zip(columns, facts, strict=True):
                column += map(fact, atoms)
            bonds.add(chem, molecule)
    rows, ends, orders = bonds.joined()
    halves, codes = _distinct((2.0 * orders).astype(np.int64))  # orders are multiples of a half
    entries = Entries(rows, ends, None, Labels.from_table(codes, (halves / 2.0).tolist()))
    node_labels = _atom_labels(*columns, chem.GetPeriodicTable())
    return assemble(entries, np.array(sizes, np.int64), False, node_labels, None), rejected


def _parser(chem: Any) -> Callable[[str], Any]:
    """From a SMILES to the molecule of `MolFromSmiles`, or None, without the stereochemistry that no label tells of.

    That takes two thirds of the time. What remains is all that atoms, bonds, hydrogens and aromaticity depend on, and
    every check. Hydrogens that are written as atoms are left to RDKit, which knows which of them to remove.
    """
    flags = chem.SanitizeFlags
    needed = (
        flags.SANITIZE_CLEANUP
        | flags.SANITIZE_CLEANUP_ORGANOMETALLICS
        | flags.SANITIZE_PROPERTIES
        | flags.SANITIZE_SYMMRINGS
        | flags.SANITIZE_KEKULIZE
        | flags.SANITIZE_SETAROMATICITY
        | flags.SANITIZE_ADJUSTHS
    )

    def parse(text: str) -> Any:
        if _HYDROGEN.search(text):
            return chem.MolFromSmiles(text)
        molecule = chem.MolFromSmiles(text, sanitize=False)
        if molecule is None or chem.SanitizeMol(molecule, needed, catchErrors=True) != flags.SANITIZE_NONE:
            return None
        return molecule

    return parse


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Many atoms come and go without cycles; looking for some would take a tenth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _atom_labels(numbers: list[int], hydrogens: list[int], aromatic: list[int], elements: Any) -> Labels:
    """(symbol, aromatic, hydrogens), told apart by one integer each: quicker than by tuples."""
    keys = np.array(numbers, np.int64) << 9 | np.array(hydrogens, np.int64) << 1 | np.array(aromatic, np.int64)
    kinds, codes = _distinct(keys)
    values = [(elements.GetElementSymbol(k >> 9), bool(k & 1), (k >> 1) & 255) for k in kinds.tolist()]
    return Labels.from_table(codes, values)


def _distinct(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """np.unique with its inverse for small integers, by counting instead of sorting."""
    present = np.bincount(values) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[values]


class _Bonds:
    """Bonds of all molecules as entries sorted by row and column, an undirected one in both directions.

    Most molecules give theirs as a matrix of bond orders, and many matrices are searched at once.
    """

    def __init__(self) -> None:
        self.n_atoms = 0
        self.matrices: list[NDArray[np.float64]] = []
        self.held = 0
        self.parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []

    def add(self, chem: Any, molecule: Any) -> None:
        size = molecule.GetNumAtoms()
        matrix = chem.GetAdjacencyMatrix(molecule, useBO=True) if size <= _SMALL else np.empty(0)
        # a bond of order zero does not show in the matrix, and a dative one only in one direction
        if np.count_nonzero(matrix) == 2 * molecule.GetNumBonds() and size <= _SMALL:
            self.matrices.append(matrix)
            self.held += matrix.size
            if self.held > _HELD:
                self._search()
        else:
            self._search()
            self.parts.append(_listed_bonds(molecule, self.n_atoms))
            self.n_atoms += size

    def _search(self) -> None:
        sizes = np.array([len(matrix) for matrix in self.matrices], np.int64)
        flat = np.concatenate([np.empty(0), *(matrix.ravel() for matrix in self.matrices)])
        found = np.flatnonzero(flat)
        begins = np.cumsum(sizes**2) - sizes**2
        which = np.repeat(np.arange(len(sizes)), np.diff(np.searchsorted(found, [*begins, len(flat)])))
        first = self.n_atoms + np.cumsum(sizes)[which] - sizes[which]
        rows, columns = np.divmod(found - begins[which], sizes[which])
        self.parts.append((first + rows, first + columns, flat[found]))
        self.n_atoms += int(sizes.sum())
        self.matrices, self.held = [], 0

    def joined(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Rows, columns and orders of all entries."""
        self._search()
        rows, columns, orders = (np.concatenate(parts) for parts in zip(*self.parts, strict=True))
        return rows, columns, orders


def _listed_bonds(molecule: Any, first: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    found = list(map(molecule.GetBondWithIdx, range(molecule.GetNumBonds())))
    begins = np.array([b.GetBeginAtomIdx() for b in found], np.int64)
    ends = np.array([b.GetEndAtomIdx() for b in found], np.int64)
    orders = np.array([b.GetBondTypeAsDouble() for b in found])
    rows, columns = np.concatenate([begins, ends]) + first, np.concatenate([ends, begins]) + first
    order = np.lexsort([columns, rows])
    return rows[order], columns[order], np.concatenate([orders, orders])[order]


def _rdkit() -> Any:
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise MissingDependencyError('SMILES are read by RDKit; pip install "gvoys[chem]" brings it') from None
    rdBase.DisableLog("rdApp.*")  # what cannot be read is refused in a sentence of our own
    return Chem
