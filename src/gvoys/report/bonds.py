"""Lines and letters of molecules: bonds of one to three lines, and atoms but carbon by their symbols."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gvoys.report.layout import Layout

__all__ = ["DISC", "Line", "Mark", "Point", "atom_marks", "bond_lines", "neighbours"]

DISC = 0.36  # radius of an atom; a usual edge has length 1
_SIZE = 0.42  # of an atom's letters
_LETTER = 0.36  # half the width of a letter, in sizes
_BESIDE = 0.16  # from a double bond's line to its other line
_TRIPLE = 0.14
_RING = 8  # bonds of the largest ring that is looked for
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

Point = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A line in ink.

    Parameters
    ----------
    begin, end : ndarray of shape (2,)
        Its ends.
    dashed : bool
        Whether it is dashed.
    """

    begin: Point
    end: Point
    dashed: bool = False

    def along(self) -> tuple[Point, float]:
        """Direction and length.

        Returns
        -------
        direction : ndarray of shape (2,)
            A step of length 1.
        length : float
            The length; 1 where both ends are at the same place.
        """
        step = self.end - self.begin
        length = float(np.hypot(*step)) or 1.0
        return step / length, length

    def moved(self, aside: float) -> Line:
        """The line beside this one.

        Parameters
        ----------
        aside : float
            How far; below 0 on the other side.

        Returns
        -------
        Line
            The line.
        """
        (x, y), _ = self.along()
        shift = aside * np.array([-y, x])
        return Line(self.begin + shift, self.end + shift, self.dashed)

    def shortened(self, at_begin: float, at_end: float) -> Line:
        """The line without its ends, a tenth of it at least.

        Parameters
        ----------
        at_begin, at_end : float
            How much is cut off.

        Returns
        -------
        Line
            The line.
        """
        step, length = self.along()
        room = min(1.0, 0.9 * length / max(at_begin + at_end, 1e-9))
        return Line(self.begin + room * at_begin * step, self.end - room * at_end * step, self.dashed)


@dataclass(frozen=True)
class Mark:
    """A text in ink.

    Parameters
    ----------
    text : str
        The text.
    place : ndarray of shape (2,)
        Where it stands.
    size : float
        Its size.
    anchor : {"start", "middle", "end"}
        What of it stands there.
    """

    text: str
    place: Point
    size: float
    anchor: str = "middle"


def neighbours(layout: Layout) -> list[list[int]]:
    """The neighbours of each node.

    Parameters
    ----------
    layout : Layout
        The graph on paper.

    Returns
    -------
    list of list of int
        Their numbers; loops are none.
    """
    around: list[list[int]] = [[] for _ in layout.texts]
    for a, b in layout.ends.tolist():
        if a != b:
            around[a].append(b)
            around[b].append(a)
    return around


def _is_written(layout: Layout, node: int, around: list[list[int]]) -> bool:
    return layout.texts[node] != "C" or not around[node]


def bond_lines(layout: Layout, number: int, around: list[list[int]]) -> list[Line]:
    """The lines of a bond, which end where letters begin.

    Parameters
    ----------
    layout : Layout
        The molecule on paper.
    number : int
        Which bond.
    around : list of list of int
        The neighbours of each atom.

    Returns
    -------
    list of Line
        One to three lines; of two the second is inside the ring, and dashed if the bond is aromatic.
    """
    a, b = layout.ends[number].tolist()
    cuts = [DISC if _is_written(layout, node, around) else 0.0 for node in (a, b)]
    line, order = Line(layout.xy[a], layout.xy[b]).shortened(*cuts), layout.orders[number]
    if order == 3:
        return [line, line.moved(_TRIPLE), line.moved(-_TRIPLE)]
    if order not in (1.5, 2):
        return [line]
    ring = _ring(a, b, around)
    if ring is None and min(len(around[a]), len(around[b])) == 1:
        return [line.moved(_BESIDE / 2), line.moved(-_BESIDE / 2)]
    side = _side(layout.xy, a, b, ring or [*around[a], *around[b]])
    inner = line.moved(side * _BESIDE)
    inner = inner.shortened(*(0.0 if cut else 0.12 for cut in cuts))
    return [line, Line(inner.begin, inner.end, bool(order == 1.5))]


def _side(xy: Point, a: int, b: int, near: list[int]) -> float:
    """On which side of a bond these atoms are."""
    (x, y), (u, v) = xy[b] - xy[a], xy[near].mean(axis=0) - xy[a]
    return 1.0 if x * v - y * u >= 0 else -1.0


def _ring(a: int, b: int, around: list[list[int]]) -> list[int] | None:
    """The atoms of the smallest ring through a bond, by breadth first search."""
    before, layer = {a: a}, [a]
    for _ in range(_RING):
        steps = [(v, u) for u in layer for v in around[u] if v not in before and (u, v) != (a, b)]
        before.update(steps)
        if b in before:
            return _path(before, b)
        layer = list(dict.fromkeys(v for v, _ in steps))
    return None


def _path(before: dict[int, int], node: int) -> list[int]:
    found = [node]
    while before[found[-1]] != found[-1]:
        found.append(before[found[-1]])
    return found


def atom_marks(layout: Layout, around: list[list[int]]) -> list[Mark]:
    """Letters of atoms but carbon: the element over the atom, and hydrogens away from its neighbours.

    Parameters
    ----------
    layout : Layout
        The molecule on paper.
    around : list of list of int
        The neighbours of each atom.

    Returns
    -------
    list of Mark
        The letters.
    """
    found = []
    for node, text in enumerate(layout.texts):
        if not _is_written(layout, node, around):
            continue
        symbol = (layout.symbols or [])[node]
        hydrogens = text.removeprefix(symbol).translate(_SUBSCRIPTS)
        half = _LETTER * _SIZE * len(symbol)
        towards = layout.xy[around[node], 0].mean() - layout.xy[node, 0] if around[node] else 0.0
        left = bool(hydrogens) and towards > 0.05
        place = layout.xy[node] + [half if left else -half, 0.0]
        mark = Mark(hydrogens + symbol if left else symbol + hydrogens, place, _SIZE, "end" if left else "start")
        found.append(mark if hydrogens else Mark(symbol, layout.xy[node], _SIZE))
    return found
