"""Labels of atoms and bonds: few different ones, told apart by integers, which is quicker than by tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys.graphs.labels import Labels
from gvoys.io.chemistry.parse import Chemistry

_RINGS = range(3, 9)
_COUNTED_VALUES = 1 << 20  # values up to which integers are told apart by counting instead of sorting

Integers = NDArray[np.int64]


class Fact(NamedTuple):
    """One property of atoms that is part of their labels, for all atoms so far."""

    read: Callable[[Any], int]  # from an atom to a number
    values: list[int]  # the numbers
    say: Callable[[int], tuple[Any, ...]]  # from a number to what it adds to the label: a tuple of one or none


class AtomFacts:
    """Properties of atoms that make up their labels, gathered molecule by molecule."""

    def __init__(self, chemistry: Chemistry, chem: Any) -> None:
        atom, self._symbol = chem.Atom, chem.GetPeriodicTable().GetElementSymbol
        self.elements: list[int] = []
        self.columns = [Fact(atom.GetAtomicNum, self.elements, lambda element: (self._symbol(element),))]
        self._usual = chemistry == replace(Chemistry(), fragments=chemistry.fragments)
        self._element_alone = chemistry.atoms == "element"
        if chemistry.hydrogens == "count" and not self._element_alone:
            self.columns.append(Fact(atom.GetTotalNumHs, [], lambda number: (number,)))
        if chemistry.charges or chemistry.atoms == "fine":
            self.columns.append(Fact(atom.GetFormalCharge, [], lambda charge: (f"{charge:+d}",) if charge else ()))
        if chemistry.isotopes:
            self.columns.append(Fact(atom.GetIsotope, [], lambda mass: (str(mass),) if mass else ()))
        if chemistry.atoms == "fine":
            self.columns.append(Fact(atom.GetDegree, [], lambda degree: (f"D{degree}",)))
            self.columns.append(Fact(_ring_sizes, [], _say_rings))

    def labels(self, aromatic: Integers, configurations: Configurations | None) -> Labels:
        """Return the labels of all atoms."""
        elements, *others = (np.array(fact.values, np.int64) for fact in self.columns)
        if self._usual:
            return self._usual_labels(elements, others[0], aromatic)
        columns = [elements, *([] if self._element_alone else [aromatic]), *others]
        say = [fact.say for fact in self.columns]
        if not self._element_alone:
            say.insert(1, lambda flag: (bool(flag),))
        if configurations is not None:
            columns.append(configurations.atom_codes(len(aromatic)))
            say.append(lambda code: (configurations.letters[code],) if code else ())
        codes, firsts = _number_rows(columns)
        rows = zip(*(column[firsts].tolist() for column in columns), strict=True)
        parts = ([part(value) for part, value in zip(say, row, strict=True)] for row in rows)
        return Labels.from_table(codes, [tuple(chain.from_iterable(label)) for label in parts])

    def _usual_labels(self, elements: Integers, hydrogens: Integers, aromatic: Integers) -> Labels:
        kinds, codes = _distinct(elements << 9 | hydrogens << 1 | aromatic)
        values = [(self._symbol(k >> 9), bool(k & 1), (k >> 1) & 255) for k in kinds.tolist()]
        return Labels.from_table(codes, values)


def _ring_sizes(atom: Any) -> int:
    """Return the sizes of an atom's rings, up to eight, as bits."""
    return sum(1 << size for size in _RINGS if atom.IsInRingSize(size)) if atom.IsInRing() else 0


def _say_rings(sizes: int) -> tuple[str, ...]:
    return (f"R{','.join(str(size) for size in _RINGS if sizes >> size & 1)}",) if sizes else ()


class Configurations:
    """CIP labels of atoms and bonds, gathered molecule by molecule: few have one."""

    def __init__(self) -> None:
        self.letters = [""]
        self._atoms: list[tuple[int, int]] = []
        self._bonds: list[tuple[int, int, int]] = []

    def add(self, molecule: Any, atoms: list[Any], first: int) -> None:
        """Take one molecule."""
        for atom in _labelled(atoms):
            self._atoms.append((first + atom.GetIdx(), self._code(atom)))
        for bond in _labelled(map(molecule.GetBondWithIdx, range(molecule.GetNumBonds()))):
            u, v, code = first + bond.GetBeginAtomIdx(), first + bond.GetEndAtomIdx(), self._code(bond)
            self._bonds += [(u, v, code), (v, u, code)]

    def _code(self, thing: Any) -> int:
        letter = thing.GetProp("_CIPCode")
        if letter not in self.letters:
            self.letters.append(letter)
        return self.letters.index(letter)

    def atom_codes(self, n_atoms: int) -> Integers:
        """Return the labels of atoms, as places in `letters`."""
        codes = np.zeros(n_atoms, np.int64)
        atoms, values = np.array(self._atoms, np.int64).reshape(-1, 2).T
        codes[atoms] = values
        return codes

    def bond_codes(self, rows: Integers, columns: Integers) -> Integers:
        """Return the labels of bonds, as places in `letters`."""
        codes = np.zeros(len(rows), np.int64)
        if self._bonds:
            u, v, values = np.array(self._bonds, np.int64).T
            width = int(rows[-1]) + 1
            codes[np.searchsorted(rows * width + columns, u * width + v)] = values
        return codes


def _labelled(things: Iterable[Any]) -> list[Any]:
    """Return the atoms or bonds that have a CIP label."""
    return [thing for thing in things if thing.HasProp("_CIPCode")]


def bond_labels(
    rows: Integers, columns: Integers, orders: NDArray[np.float64], configurations: Configurations | None
) -> Labels:
    """Return labels of bonds: orders, or (order, CIP label) where a bond has one."""
    twice = (2.0 * orders).astype(np.int64)
    if configurations is None:
        halves, codes = _distinct(twice)
        return Labels.from_table(codes, (halves / 2.0).tolist())
    marks = configurations.bond_codes(rows, columns)
    codes, firsts = _number_rows([twice, marks])
    pairs = zip((twice[firsts] / 2.0).tolist(), marks[firsts].tolist(), strict=True)
    return Labels.from_table(codes, [(order, configurations.letters[m]) if m else order for order, m in pairs])


def label_text(label: Any) -> str:
    """Write an atom's element, small if aromatic, with its hydrogens and the rest; and any other label as it is."""
    if not isinstance(label, tuple) or not label or not isinstance(label[0], str):
        return str(label)
    element, rest = label[0], label[1:]
    if len(rest) >= 2 and isinstance(rest[0], bool) and isinstance(rest[1], int):
        (aromatic, hydrogens), rest = rest[:2], rest[2:]
        element = element.lower() if aromatic else element
        element += "" if not hydrogens else "H" if hydrogens == 1 else f"H{hydrogens}"
    return f"{element}({','.join(map(str, rest))})" if rest else element


def _distinct(values: Integers) -> tuple[Integers, Integers]:
    """Return np.unique with its inverse for small integers, by counting instead of sorting."""
    present = np.bincount(values) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[values]


def _number_rows(columns: list[Integers]) -> tuple[Integers, Integers]:
    """Number the different rows of a table; return the number of each row, and the first row of each number."""
    codes = np.zeros(len(columns[0]), np.int64)
    for values in columns:
        ranks = _rank(values)
        codes = _rank(codes * (int(ranks.max(initial=0)) + 1) + ranks)
    firsts = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    firsts[codes[::-1]] = np.arange(len(codes))[::-1]
    return codes, firsts


def _rank(values: Integers) -> Integers:
    """Return the rank of each value among the different ones."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low < _COUNTED_VALUES:
        return _distinct(values - low)[1]
    return np.unique(values, return_inverse=True)[1]


SMALL = 150  # atoms up to which bonds are read as a matrix, which is quicker
_SEARCHED_NUMBERS = 1 << 16  # in the matrices that are searched at once, while they are in the cache

Triples = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]  # rows, columns, orders


class Bonds:
    """Bonds of all molecules as entries sorted by row and column, an undirected one in both directions."""

    # Most molecules give theirs as a matrix of bond orders, and many matrices are searched at once. The others are
    # parsed again and list their bonds: large ones, and those with a bond of order zero, which does not show in the
    # matrix, or a dative one, which shows in one direction only.

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self.parse = parse
        self.n_atoms = 0
        self.waiting: list[tuple[str, int, int, Any]] = []
        self.n_numbers = 0
        self.parts: list[Triples] = []

    def add(self, text: str, size: int, n_bonds: int, matrix: Any) -> None:
        """Take one molecule."""
        self.waiting.append((text, size, n_bonds, matrix))
        self.n_numbers += 0 if matrix is None else size * size
        if self.n_numbers > _SEARCHED_NUMBERS:
            self._search()

    def _search(self) -> None:
        sizes = np.array([size for _, size, _, _ in self.waiting], np.int64)
        n_bonds = np.array([count for _, _, count, _ in self.waiting], np.int64)
        cells = np.array([0 if matrix is None else matrix.size for _, _, _, matrix in self.waiting], np.int64)
        flat = np.concatenate([np.empty(0), *(matrix.ravel() for *_, matrix in self.waiting if matrix is not None)])
        firsts = self.n_atoms + np.cumsum(sizes) - sizes
        entries = np.flatnonzero(flat)
        begins = np.cumsum(cells) - cells
        counts = np.diff(np.searchsorted(entries, [*begins, len(flat)]))
        listed = counts != 2 * n_bonds
        owners = np.repeat(np.arange(len(sizes)), counts)
        kept = ~listed[owners]
        entries, owners = entries[kept], owners[kept]
        rows, columns = np.divmod(entries - begins[owners], sizes[owners])
        part = (firsts[owners] + rows, firsts[owners] + columns, flat[entries])
        if listed.any():
            others = [_listed_bonds(self.parse(self.waiting[i][0]), firsts[i]) for i in np.flatnonzero(listed)]
            rows, columns, orders = _join([part, *others])
            order = np.lexsort([columns, rows])
            part = (rows[order], columns[order], orders[order])
        self.parts.append(part)
        self.n_atoms += int(sizes.sum())
        self.waiting, self.n_numbers = [], 0

    def joined(self) -> Triples:
        """Return all entries."""
        self._search()
        return _join(self.parts)


def _join(parts: list[Triples]) -> Triples:
    rows, columns, orders = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return rows, columns, orders


def _listed_bonds(molecule: Any, first: int) -> Triples:
    bonds = list(map(molecule.GetBondWithIdx, range(molecule.GetNumBonds())))
    begins = np.array([b.GetBeginAtomIdx() for b in bonds], np.int64) + first
    ends = np.array([b.GetEndAtomIdx() for b in bonds], np.int64) + first
    orders = np.array([b.GetBondTypeAsDouble() for b in bonds])
    return np.concatenate([begins, ends]), np.concatenate([ends, begins]), np.concatenate([orders, orders])
