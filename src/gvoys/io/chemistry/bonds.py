"""Bonds of many molecules as the entries of their adjacency matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALL = 150  # atoms up to which bonds are read as a matrix, which is quicker
_HELD = 1 << 16  # numbers in the matrices that are searched at once, while they are in the cache

Triples = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]  # rows, columns, orders


class Bonds:
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
        """Take one molecule."""
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
        """All entries."""
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
