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

__all__ = ["check_rdkit", "from_smiles", "read_smiles"]

_HYDROGEN = re.compile(r"\[\d*(H|#0*1(?!\d))")
_AROMATIC = 1.5  # the order of an aromatic bond
_LONGEST = 100  # characters of a SMILES in a reason
_MOST = 10_000  # characters of a SMILES; RDKit's time grows with their square, and is below a second so far
_SMALL = 150  # atoms up to which bonds are read as a matrix, which is quicker
_HELD = 1 << 16  # numbers in the matrices that are searched at once, while they are in the cache


def from_smiles(smiles: Iterable[str]) -> GraphBatch:
    """Read molecules from SMILES strings, one graph each, without hydrogens.

    An atom's label is (symbol, aromatic, number of hydrogens), a bond's its order: 1.0, 2.0, 3.0 or 1.5 for aromatic.

    Parameters
    ----------
    smiles : iterable of str
        SMILES strings.

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
    """
    if isinstance(smiles, str):
        raise GraphError("from_smiles takes a list of SMILES strings and was given a single one; wrap it in a list")
    if not isinstance(smiles, Iterable) or getattr(smiles, "ndim", 1) == 0:
        raise GraphError(f"from_smiles takes a list of SMILES strings, not {type(smiles).__name__!r}")
    batch, skipped = read_smiles(list(smiles))
    for index, reason in skipped:
        raise GraphError(f"molecule {index}: {reason}; correct it or remove it")
    return batch


def read_smiles(smiles: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
    """Read the molecules that can be read.

    Parameters
    ----------
    smiles : sequence
        SMILES strings.

    Returns
    -------
    batch : GraphBatch
        The molecules that RDKit reads.
    skipped : list of (int, str)
        Place and reason of the others.
    """
    chem = _rdkit()
    parse, matrix_of = _parser(chem), chem.GetAdjacencyMatrix
    atomic_number, hydrogens = chem.Atom.GetAtomicNum, chem.Atom.GetTotalNumHs
    elements: list[int] = []
    attached: list[int] = []
    sizes: list[int] = []
    asked: list[tuple[int, list[bool]]] = []
    bonds = _Bonds(parse)
    skipped = []
    with _no_garbage_collection():
        for index, text in enumerate(smiles):
            readable = isinstance(text, str) and len(text) <= _MOST
            molecule = parse(text) if readable else None
            if molecule is None:
                skipped.append((index, _unread(text)))
                continue
            size = molecule.GetNumAtoms()
            sizes.append(size)
            atoms = list(map(molecule.GetAtomWithIdx, range(size)))
            elements += map(atomic_number, atoms)
            attached += map(hydrogens, atoms)
            if ":" in text:  # a bond of a ring that is not one, perhaps; see below
                asked.append((len(elements), [atom.GetIsAromatic() for atom in atoms]))
            matrix = matrix_of(molecule, useBO=True) if size <= _SMALL else None
            bonds.add(text, size, molecule.GetNumBonds(), matrix)
    rows, ends, orders = bonds.joined()
    halves, codes = _distinct((2.0 * orders).astype(np.int64))  # orders are multiples of a half
    entries = Entries(rows, ends, None, Labels.from_table(codes, (halves / 2.0).tolist()))
    aromatic = np.zeros(len(elements), np.int64)
    aromatic[rows[orders == _AROMATIC]] = 1  # RDKit marks atoms and bonds of a ring together
    for end, flags in asked:
        aromatic[end - len(flags) : end] = flags
    node_labels = _atom_labels(np.array(elements, np.int64), np.array(attached, np.int64), aromatic, chem)
    return assemble(entries, np.array(sizes, np.int64), False, node_labels, None), skipped


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
        try:
            if _HYDROGEN.search(text):
                return chem.MolFromSmiles(text)
            molecule = chem.MolFromSmiles(text, sanitize=False)
        except UnicodeEncodeError:  # half a character, which cannot be passed on
            return None
        if molecule is None or chem.SanitizeMol(molecule, needed, catchErrors=True) != flags.SANITIZE_NONE:
            return None
        return molecule

    return parse


def _unread(text: Any) -> str:
    if isinstance(text, str) and len(text) > _MOST:
        return f"the SMILES has {len(text):,} characters, and at most {_MOST:,} are read"
    return f"RDKit cannot read the SMILES {_shown(text)}"


def _shown(text: Any) -> str:
    """A string as it was given, or its beginning."""
    shown = repr(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}… ({len(shown):,} characters)"


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


def _atom_labels(
    elements: NDArray[np.int64], hydrogens: NDArray[np.int64], aromatic: NDArray[np.int64], chem: Any
) -> Labels:
    """(symbol, aromatic, hydrogens), told apart by one integer each: quicker than by tuples."""
    kinds, codes = _distinct(elements << 9 | hydrogens << 1 | aromatic)
    symbol = chem.GetPeriodicTable().GetElementSymbol
    return Labels.from_table(codes, [(symbol(k >> 9), bool(k & 1), (k >> 1) & 255) for k in kinds.tolist()])


def _distinct(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """np.unique with its inverse for small integers, by counting instead of sorting."""
    present = np.bincount(values) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[values]


Triples = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]  # rows, columns, orders


class _Bonds:
    """Bonds of all molecules as entries sorted by row and column, an undirected one in both directions.

    Most molecules give theirs as a matrix of bond orders, and many matrices are searched at once. The others are parsed
    again and list their bonds: large ones, and those with a bond of order zero, which does not show in the matrix, or a
    dative one, which shows in one direction only.
    """

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self.parse = parse
        self.n_atoms = 0
        self.held: list[tuple[str, int, int, Any]] = []
        self.n_held = 0
        self.parts: list[Triples] = []

    def add(self, text: str, size: int, n_bonds: int, matrix: Any) -> None:
        """One molecule: its SMILES, its numbers of atoms and bonds, and the matrix, or None."""
        self.held.append((text, size, n_bonds, matrix))
        self.n_held += 0 if matrix is None else size * size
        if self.n_held > _HELD:
            self._search()

    def _search(self) -> None:
        sizes = np.array([size for _, size, _, _ in self.held], np.int64)
        n_bonds = np.array([count for _, _, count, _ in self.held], np.int64)
        cells = np.array([0 if matrix is None else matrix.size for _, _, _, matrix in self.held], np.int64)
        flat = np.concatenate([np.empty(0), *(matrix.ravel() for *_, matrix in self.held if matrix is not None)])
        firsts = self.n_atoms + np.cumsum(sizes) - sizes
        found = np.flatnonzero(flat)
        begins = np.cumsum(cells) - cells
        counts = np.diff(np.searchsorted(found, [*begins, len(flat)]))
        listed = counts != 2 * n_bonds
        which = np.repeat(np.arange(len(sizes)), counts)
        kept = ~listed[which]
        found, which = found[kept], which[kept]
        rows, columns = np.divmod(found - begins[which], sizes[which])
        part = (firsts[which] + rows, firsts[which] + columns, flat[found])
        if listed.any():
            others = [_listed_bonds(self.parse(self.held[i][0]), firsts[i]) for i in np.flatnonzero(listed)]
            part = _sorted(_joined([part, *others]))
        self.parts.append(part)
        self.n_atoms += int(sizes.sum())
        self.held, self.n_held = [], 0

    def joined(self) -> Triples:
        """Rows, columns and orders of all entries."""
        self._search()
        return _joined(self.parts)


def _joined(parts: list[Triples]) -> Triples:
    rows, columns, orders = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return rows, columns, orders


def _sorted(entries: Triples) -> Triples:
    rows, columns, orders = entries
    order = np.lexsort([columns, rows])
    return rows[order], columns[order], orders[order]


def _listed_bonds(molecule: Any, first: int) -> Triples:
    found = list(map(molecule.GetBondWithIdx, range(molecule.GetNumBonds())))
    begins = np.array([b.GetBeginAtomIdx() for b in found], np.int64) + first
    ends = np.array([b.GetEndAtomIdx() for b in found], np.int64) + first
    orders = np.array([b.GetBondTypeAsDouble() for b in found])
    return np.concatenate([begins, ends]), np.concatenate([ends, begins]), np.concatenate([orders, orders])


def check_rdkit() -> None:
    """Check that RDKit is installed.

    Raises
    ------
    MissingDependencyError
        If it is not.
    """
    _rdkit()


def _rdkit() -> Any:
    """RDKit's Chem, where it is installed."""
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise MissingDependencyError('SMILES need RDKit; install it with: pip install "gvoys[chem]"') from None
    rdBase.DisableLog("rdApp.*")  # the error or the reason of a skipped row says what RDKit cannot read
    return Chem
