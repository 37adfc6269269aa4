"""A graph on paper: a molecule where its SMILES is known and RDKit is installed, else nodes, edges and labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gvoys.drawing.structures import BOND, Points, draw_structure, elements, node_texts, read_molecule, springs
from gvoys.errors import GraphError, MissingDependencyError

DISC = 0.36 * BOND  # radius of a node
BAND = 0.34 * BOND  # width of an edge
MARGIN = 0.6 * BOND  # around the outermost nodes
_LEAST = 0.1 * BOND  # radius of a node among many
_VISIBLE = 0.006  # radius of a node, in widths of the whole drawing
_GAP = 0.42  # of a node's distance to the next one that its disc may fill
_LONG_LABELS = 60  # nodes up to which long labels are written
_SHORT_LABELS = 150  # nodes up to which short ones are
_WIDER = 2.4  # length of a usual edge where labels are long
_CROWDED = 2.0  # and where nodes are near each other, at most
_INSIDE = 3  # letters that fit into a disc
_LONGEST = 14  # letters of a label beside its disc; all of them are in its title

Band = tuple[Points, Points]


@dataclass(frozen=True)
class Picture:
    """Nodes and edges to colour, and what is drawn over them; y points downwards, a usual edge is `BOND` long.

    A molecule has RDKit's ink; another graph has lines, heads of arrows, and letters with their place and size.
    """

    xy: Points
    box: tuple[Points, Points]
    bands: list[Band | None]  # None for loops
    names: list[str]
    radius: float = DISC
    molecule: Any = None
    ink: str = ""
    lines: list[Band] = field(default_factory=list)
    heads: list[Points] = field(default_factory=list)
    letters: list[tuple[str, Points, float]] = field(default_factory=list)


def picture_of(explanation: Any) -> Picture:
    """Draw the graph of an explanation."""
    graph, ends = explanation.graph, explanation.edges
    molecule = known_molecule(explanation.smiles, graph)
    if molecule is None:
        return _network(graph, ends)
    made = draw_structure(molecule)
    box = np.minimum(made.xy.min(axis=0) - MARGIN, 0.0), np.maximum(made.xy.max(axis=0) + MARGIN, made.size)
    return Picture(made.xy, box, _bands(made.xy, graph, ends), elements(molecule), molecule=molecule, ink=made.ink)


def known_molecule(smiles: str | None, graph: Any) -> Any | None:
    """Return RDKit's molecule of a SMILES that a graph was read from, where both are there."""
    try:
        return None if smiles is None else read_molecule(smiles, graph)
    except MissingDependencyError:
        return None


def check_smiles(smiles: Any, graph: Any, number: int) -> None:
    """Check that a graph was read from a SMILES, where RDKit is installed."""
    try:
        read = isinstance(smiles, str) and read_molecule(smiles, graph) is not None
    except MissingDependencyError:
        return
    if not read:
        raise GraphError(
            f"graph {number} was not read from the SMILES {smiles!r}: atoms or bonds differ; give the one it came from"
        )


def _network(graph: Any, ends: Any) -> Picture:
    """Lay out nodes and edges; edges are longer where labels need the room."""
    texts, xy = node_texts(graph), BOND * springs(graph.n_nodes, ends)
    xy = _spread(texts, xy) * xy
    radius, bands = _radius(xy), _bands(xy, graph, ends)
    lines = [_shortened(band, radius) for band in bands if band is not None]
    heads = [_head(line, min(radius, 0.25 * BOND)) for line in lines] if graph.directed else []
    box = xy.min(axis=0) - 1.25 * MARGIN, xy.max(axis=0) + 1.25 * MARGIN
    names = [text or "node" for text in texts]
    return Picture(xy, box, bands, names, radius, lines=lines, heads=heads, letters=_letters(texts, xy, radius))


def _spread(texts: list[str], xy: Points) -> float:
    """Return the factor by which edges are longer, for long labels and for nodes that crowd."""
    if len(texts) <= _LONG_LABELS and any(len(text) > _INSIDE for text in texts):
        return _WIDER
    return float(np.clip(DISC / max(_room(xy), 1e-9), 1.0, _CROWDED))


def _radius(xy: Points) -> float:
    """Return the radius that there is room for, but one that can be seen where the whole drawing is."""
    least = max(_LEAST, _VISIBLE * float(np.ptp(xy, axis=0).max()))
    return float(np.clip(_room(xy), min(least, DISC), DISC))


def _room(xy: Points) -> float:
    """Return the radius that most nodes have room for."""
    if len(xy) < 2:
        return DISC
    distances = np.linalg.norm(xy[:, None] - xy[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    return float(_GAP * np.quantile(distances.min(axis=1), 0.1))


def _bands(xy: Points, graph: Any, ends: Any) -> list[Band | None]:
    """Draw edges from node to node; those in both directions keep to their right."""
    known = Counter(map(tuple, ends.tolist())) if graph.directed else Counter()
    made: list[Band | None] = []
    for a, b in ends.tolist():
        aside = 0.1 * BOND * _normal((xy[a], xy[b])) if known[(b, a)] else 0.0
        made.append(None if a == b else (xy[a] + aside, xy[b] + aside))
    return made


def _normal(band: Band) -> Points:
    """Return a step of length 1 to the side of a line."""
    x, y = band[1] - band[0]
    return np.array([-y, x]) / (np.hypot(x, y) or 1.0)


def _shortened(band: Band, cut: float) -> Band:
    """Cut a line at both ends, up to a tenth of it."""
    step = band[1] - band[0]
    share = min(cut / (np.hypot(*step) or 1.0), 0.45)
    return band[0] + share * step, band[1] - share * step


def _head(line: Band, size: float) -> Points:
    """Return the corners of an arrow's head."""
    aside = _normal(line)
    along = np.array([aside[1], -aside[0]])
    back = line[1] - size * along
    return np.array([line[1], back + 0.45 * size * aside, back - 0.45 * size * aside])


def _letters(texts: list[str], xy: Points, radius: float) -> list[tuple[str, Points, float]]:
    """Write short labels inside their discs, and long ones below them where nodes are few."""
    made = []
    for text, index in zip(texts, xy, strict=True):
        if 0 < len(text) <= _INSIDE and len(texts) <= _SHORT_LABELS:
            made.append((text, index, radius * (1.1 if len(text) < _INSIDE else 0.8)))
        elif text and len(texts) <= _LONG_LABELS:
            short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
            made.append((short, index + np.array([0.0, radius + 0.2 * BOND]), 0.3 * BOND))
    return made
