"""Labels of atoms and bonds: few different ones, told apart by integers, which is quicker than by tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys.graphs.labels import Labels
from gvoys.io.chemistry.options import Chemistry

_RINGS = range(3, 9)
_COUNTED = 1 << 20  # values up to which integers are told apart by counting instead of sorting

Integers = NDArray[np.int64]


class Fact(NamedTuple):
    """What an atom's label is made of, for all atoms so far."""

    read: Callable[[Any], int]  # from an atom to a number
    values: list[int]  # the numbers
    say: Callable[[int], tuple[Any, ...]]  # from a number to what it adds to the label: a tuple of one or none


class AtomFacts:
    """What labels of atoms are made of, gathered molecule by molecule."""

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
            self.columns.append(Fact(_ring_sizes, [], lambda sizes: (f"R{_listed(sizes)}",) if sizes else ()))

    def labels(self, aromatic: Integers, configurations: Configurations | None) -> Labels:
        """Labels of all atoms."""
        elements, *others = (np.array(fact.values, np.int64) for fact in self.columns)
        if self._usual:
            return self._usual_labels(elements, others[0], aromatic)
        columns = [elements, *([] if self._element_alone else [aromatic]), *others]
        say = [fact.say for fact in self.columns]
        if not self._element_alone:
            say.insert(1, lambda flag: (bool(flag),))
        if configurations is not None:
            columns.append(configurations.of_atoms(len(aromatic)))
            say.append(lambda code: (configurations.letters[code],) if code else ())
        codes, firsts = _told_apart(columns)
        rows = zip(*(column[firsts].tolist() for column in columns), strict=True)
        return Labels.from_table(codes, [_joined(say, row) for row in rows])

    def _usual_labels(self, elements: Integers, hydrogens: Integers, aromatic: Integers) -> Labels:
        kinds, codes = _distinct(elements << 9 | hydrogens << 1 | aromatic)
        values = [(self._symbol(k >> 9), bool(k & 1), (k >> 1) & 255) for k in kinds.tolist()]
        return Labels.from_table(codes, values)


def _ring_sizes(atom: Any) -> int:
    """Bit k: the atom is in a ring of k atoms, up to eight."""
    return sum(1 << size for size in _RINGS if atom.IsInRingSize(size)) if atom.IsInRing() else 0


def _listed(sizes: int) -> str:
    return ",".join(str(size) for size in _RINGS if sizes >> size & 1)


def _joined(say: list[Callable[[int], tuple[Any, ...]]], row: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(chain.from_iterable(each(value) for each, value in zip(say, row, strict=True)))


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

    def of_atoms(self, n_atoms: int) -> Integers:
        """Labels of atoms."""
        codes = np.zeros(n_atoms, np.int64)
        places, values = np.array(self._atoms, np.int64).reshape(-1, 2).T
        codes[places] = values
        return codes

    def of_bonds(self, rows: Integers, columns: Integers) -> Integers:
        """Labels of bonds."""
        codes = np.zeros(len(rows), np.int64)
        if self._bonds:
            u, v, values = np.array(self._bonds, np.int64).T
            width = int(rows[-1]) + 1
            codes[np.searchsorted(rows * width + columns, u * width + v)] = values
        return codes


def _labelled(things: Iterable[Any]) -> list[Any]:
    """Atoms or bonds that have a CIP label."""
    return [thing for thing in things if thing.HasProp("_CIPCode")]


def bond_labels(
    rows: Integers, columns: Integers, orders: NDArray[np.float64], configurations: Configurations | None
) -> Labels:
    """Labels of bonds: orders, or (order, CIP label) where a bond has one."""
    twice = (2.0 * orders).astype(np.int64)
    if configurations is None:
        halves, codes = _distinct(twice)
        return Labels.from_table(codes, (halves / 2.0).tolist())
    marks = configurations.of_bonds(rows, columns)
    codes, firsts = _told_apart([twice, marks])
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
    """np.unique with its inverse for small integers, by counting instead of sorting."""
    present = np.bincount(values) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[values]


def _told_apart(columns: list[Integers]) -> tuple[Integers, Integers]:
    """A number for each different row of some columns, and the first row of each number."""
    codes = np.zeros(len(columns[0]), np.int64)
    for values in columns:
        places = _places(values)
        codes = _places(codes * (int(places.max(initial=0)) + 1) + places)
    firsts = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    firsts[codes[::-1]] = np.arange(len(codes))[::-1]
    return codes, firsts


def _places(values: Integers) -> Integers:
    """The place of each value among the different ones."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low < _COUNTED:
        return _distinct(values - low)[1]
    return np.unique(values, return_inverse=True)[1]
