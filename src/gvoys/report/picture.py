"""A graph as shapes, which SVG files and plots draw alike: bands and discs to colour, lines and texts in ink."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from gvoys.report.bonds import DISC, Line, Mark, Point, atom_marks, bond_lines, neighbours
from gvoys.report.layout import Layout

__all__ = ["BAND", "Picture", "picture_of"]

BAND = 0.34  # width of a bond's band
MARGIN = 0.75  # around the outermost nodes: a disc, and letters beside it
_LEAST = 0.1  # radius of a node among many
_VISIBLE = 0.006  # radius of a node, in widths of the whole drawing
_GAP = 0.42  # of a node's distance to the next one that its disc may fill
_FEW = 60  # nodes up to which long labels are written
_SOME = 150  # nodes up to which short ones are
_WIDER = 2.4  # length of a usual edge where labels are long
_CROWDED = 2.0  # and where nodes are near each other, at most
_INSIDE = 3  # letters that fit into a disc
_LONGEST = 14  # letters of a label beside its disc; all of them are in its title


@dataclass(frozen=True)
class Picture:
    """The shapes of one graph.

    Parameters
    ----------
    layout : Layout
        The graph on paper; its edges are longer where labels need the room.
    radius : float
        Radius of the discs.
    bands : list of Line or None
        The band of each edge; None for a loop, which is a circle over its node.
    lines : list of Line
        Bonds and edges in ink.
    arrows : list of ndarray of shape (3, 2)
        Corners of the heads of directed edges.
    marks : list of Mark
        Texts in ink.
    """

    layout: Layout
    radius: float
    bands: list[Line | None]
    lines: list[Line]
    arrows: list[Point]
    marks: list[Mark]

    def box(self) -> tuple[Point, Point]:
        """The corners of the paper.

        Returns
        -------
        low, high : ndarray of shape (2,)
            The least and the largest coordinates, with a margin.
        """
        xy = self.layout.xy
        return xy.min(axis=0) - MARGIN, xy.max(axis=0) + MARGIN


def picture_of(layout: Layout) -> Picture:
    """Make the shapes of a graph that is laid out.

    Parameters
    ----------
    layout : Layout
        The graph on paper, with one node at least.

    Returns
    -------
    Picture
        Its shapes.
    """
    if not layout.molecule:
        layout = replace(layout, xy=_spread(layout) * layout.xy)
    radius = DISC if layout.molecule else _radius(layout.xy)
    around = neighbours(layout)
    bands = _bands(layout)
    marks = atom_marks(layout, around) if layout.molecule else _labels(layout, radius)
    lines, arrows = [], []
    for number, band in enumerate(bands):
        if band is None:
            continue
        drawn = bond_lines(layout, number, around) if layout.molecule else [band.shortened(radius, radius)]
        lines += drawn
        if layout.directed:
            arrows.append(_head(drawn[0], min(radius, 0.25)))
    return Picture(layout, radius, bands, lines, arrows, marks)


def _radius(xy: Point) -> float:
    """What there is room for, but large enough to be seen where the whole drawing is."""
    least = max(_LEAST, _VISIBLE * float(np.ptp(xy, axis=0).max()))
    return float(np.clip(_room(xy), min(least, DISC), DISC))


def _room(xy: Point) -> float:
    """The radius that most nodes have room for."""
    if len(xy) < 2:
        return DISC
    distances = np.linalg.norm(xy[:, None] - xy[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    return float(_GAP * np.quantile(distances.min(axis=1), 0.1))


def _bands(layout: Layout) -> list[Line | None]:
    """From node to node; edges in both directions keep to their right."""
    known = Counter(map(tuple, layout.ends.tolist())) if layout.directed else Counter()
    found: list[Line | None] = []
    for a, b in layout.ends.tolist():
        line = Line(layout.xy[a], layout.xy[b])
        found.append(None if a == b else line.moved(0.1) if known[(b, a)] else line)
    return found


def _head(line: Line, size: float) -> Point:
    (x, y), _ = line.along()
    back, aside = line.end - size * np.array([x, y]), 0.45 * size * np.array([-y, x])
    return np.array([line.end, back + aside, back - aside])


def _spread(layout: Layout) -> float:
    """How much longer edges are drawn, for long labels and for nodes that crowd."""
    if len(layout.texts) <= _FEW and any(len(text) > _INSIDE for text in layout.texts):
        return _WIDER
    return float(np.clip(DISC / max(_room(layout.xy), 1e-9), 1.0, _CROWDED))


def _labels(layout: Layout, radius: float) -> list[Mark]:
    """Short labels inside their discs, and long ones below them where nodes are few."""
    found = []
    for node, text in enumerate(layout.texts):
        if 0 < len(text) <= _INSIDE and len(layout.texts) <= _SOME:
            found.append(Mark(text, layout.xy[node], radius * (1.1 if len(text) < _INSIDE else 0.8)))
        elif text and len(layout.texts) <= _FEW:
            short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
            found.append(Mark(short, layout.xy[node] + [0.0, radius + 0.2], 0.3))
    return found
