"""Molecules as RDKit draws them, from the SMILES that their graphs were read from."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from io import BytesIO
from itertools import groupby, product
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from gvoys.drawing.page import legible
from gvoys.errors import GraphError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry import Chemistry
from gvoys.io.chemistry.atom_labels import label_text
from gvoys.io.chemistry.parse import molecule_parser, rdkit

LARGEST = 1000  # nodes of a graph that is still drawn
_SMALL_NODES = 150  # nodes up to which springs between all pairs are quick
_STEPS = 100  # of the quicker layouts
_APART = 1.5  # edges between components

Points = NDArray[np.float64]


def springs(n_nodes: int, edges: NDArray[np.int64]) -> Points:
    """Lay out a graph by forces, the same in every run, with usual edges of length 1 and components side by side."""
    matrix = csr_array((np.ones(len(edges)), edges.T.reshape(2, -1)), shape=(n_nodes, n_nodes))
    _, owners = connected_components(matrix, directed=False)
    parts = [np.flatnonzero(owners == k) for k in range(owners.max(initial=-1) + 1)]
    indices = []
    for part in parts:
        within = np.searchsorted(part, edges[owners[edges[:, 0]] == owners[part[0]]])
        xy = _forces(len(part), within)
        lengths = np.linalg.norm(xy[within[:, 0]] - xy[within[:, 1]], axis=1)
        usual = np.median(lengths[lengths > 0]) if (lengths > 0).any() else 1.0
        indices.append(np.asarray((xy - (xy.min(axis=0) + xy.max(axis=0)) / 2.0) / usual))
    return packed(n_nodes, parts, indices)


def _forces(n_nodes: int, edges: NDArray[np.int64]) -> Points:
    """Lay out a connected graph by igraph, or, where it is not installed, such that distances are those of paths."""
    try:
        import igraph
    except ImportError:
        return _stress(n_nodes, edges)
    igraph.set_random_number_generator(random.Random(0))
    try:
        graph = igraph.Graph(n_nodes, edges.tolist())
        small = n_nodes <= _SMALL_NODES
        made = graph.layout_kamada_kawai() if small else graph.layout_fruchterman_reingold(niter=_STEPS)
    finally:
        igraph.set_random_number_generator(random)
    return np.array(made.coords, np.float64).reshape(-1, 2)


def _stress(n_nodes: int, edges: NDArray[np.int64]) -> Points:
    """Move nodes from a circle to where their distances are near those along paths (majorisation of stress)."""
    matrix = csr_array((np.ones(len(edges)), edges.T.reshape(2, -1)), shape=(n_nodes, n_nodes))
    wanted = shortest_path(matrix, directed=False, unweighted=True)
    angles = 2.0 * np.pi * np.arange(n_nodes) / n_nodes
    xy = n_nodes / 6.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    for _ in range(_STEPS):
        apart = np.linalg.norm(xy[:, None] - xy[None], axis=2)
        ratio = np.divide(wanted, apart, out=np.zeros_like(apart), where=apart > 0)
        xy = (ratio.sum(axis=1)[:, None] * xy - ratio @ xy) / n_nodes
    return xy


def packed(n_nodes: int, parts: list[NDArray[np.int64]], places: list[Points]) -> Points:
    """Put components beside each other, in rows about as long as all rows are high; the highest come first."""
    out, sizes = np.zeros((n_nodes, 2)), [np.ptp(item, axis=0) + _APART for item in places]
    width = max([1.5 * float(np.sqrt(sum(w * h for w, h in sizes))), *(w for w, _ in sizes)], default=0.0)
    x, y, high = 0.0, 0.0, 0.0
    for k in sorted(range(len(parts)), key=lambda k: (-sizes[k][1], -sizes[k][0])):
        if x and x + sizes[k][0] > width:
            x, y, high = 0.0, y + high, 0.0
        out[parts[k]] = places[k] - places[k].min(axis=0) + [x, y]
        x, high = x + sizes[k][0], max(high, sizes[k][1])
    return out


def node_texts(graph: GraphBatch) -> list[str]:
    """Return what is written at each node: its label, which for an atom is its element with its hydrogens."""
    if graph.node_labels is None:
        return [""] * graph.n_nodes
    names = [label_text(value) for value in graph.node_labels.values]
    return [names[code] for code in graph.node_labels.codes.tolist()]


BOND = 60  # length of a usual bond, on the paper of all drawings
SHOWN = 0.7  # pixels of one unit of length
INK = (
    'class="ink" fill="none" stroke="currentColor" stroke-width="4" stroke-linecap="round" stroke-linejoin="round" '
    'font-family="Arial, sans-serif" font-size="23" pointer-events="none"'
)
_LENGTH = 1.5  # of a bond, in RDKit's units
_SCALE = BOND / _LENGTH
_USUAL = "23"  # size of letters, as in `INK`
_SVG = "{http://www.w3.org/2000/svg}"
_SIZE = re.compile(r"font-size:(\d+)")
_STEP = re.compile(r"([A-Z])([^A-Z]*)")


@dataclass(frozen=True)
class Structure:
    """A drawing of a molecule: its size, the place of each atom, and SVG elements for what goes into `INK`."""

    size: tuple[int, int]
    xy: NDArray[np.float64]
    ink: str


def read_molecule(smiles: str, graph: GraphBatch) -> Any | None:
    """Return RDKit's molecule whose atom i is node i of a graph, with its stereochemistry; None if there is none."""
    chem, ways = rdkit(), product(("count", "atoms"), ("keep", "largest"))
    for hydrogens, fragments in ways:
        options = Chemistry(hydrogens=hydrogens, fragments=fragments, stereo=True, isotopes=True)
        try:
            molecule = molecule_parser(options, chem, cip=False)(smiles)
        except (GraphError, RuntimeError):
            return None
        if molecule is None:
            return None
        if _fits(molecule, graph, chem):
            return molecule
    return None


def _fits(molecule: Any, graph: GraphBatch, chem: Any) -> bool:
    """Return whether nodes, edges and elements of a graph are the atoms and bonds of a molecule, in their order."""
    if molecule.GetNumAtoms() != graph.n_nodes or graph.n_entries != 2 * molecule.GetNumBonds():
        return False
    rows, columns = np.nonzero(chem.GetAdjacencyMatrix(molecule))
    if not (np.array_equal(rows, graph.rows()) and np.array_equal(columns, graph.indices)):
        return False
    labels = [] if graph.node_labels is None else graph.node_labels.decode()
    pairs = zip(labels, elements(molecule), strict=False)
    return all(not isinstance(label, tuple) or label[:1] == (symbol,) for label, symbol in pairs)


def elements(molecule: Any) -> list[str]:
    """Return the symbol of each atom, which is "*" for all that are none."""
    symbol = rdkit().GetPeriodicTable().GetElementSymbol
    return [symbol(atom.GetAtomicNum()) for atom in molecule.GetAtoms()]


def draw_structure(molecule: Any) -> Structure:
    """Draw a molecule by RDKit, in one colour; letters have their element as a class."""
    from rdkit.Chem.Draw import rdMolDraw2D

    canvas = rdMolDraw2D.MolDraw2DSVG(-1, -1, -1, -1, True)  # as large as it must be, with letters as text
    indices = _draw(canvas, molecule)
    lines: dict[str, list[str]] = {"lines": [], "thin": [], "filled": []}
    letters = []
    for element in ElementTree.fromstring(legible(canvas.GetDrawingText())):
        style = element.get("style", "")
        if element.tag == f"{_SVG}text":
            letters.append((element.get("class", ""), _SIZE.findall(style)[0], element.get("y", ""), element))
        elif element.tag == f"{_SVG}path" and "fill:none" not in style:
            lines["filled"].append(element.get("d", ""))
        elif element.tag == f"{_SVG}path" and element.get("class"):  # the others round the corners, as our ends do
            lines["lines" if "stroke-width:2.0px" in style else "thin"].append(element.get("d", ""))
    looks = {"lines": "", "thin": " stroke-width='2'", "filled": " fill='currentColor' stroke='none'"}
    ink = [f"<path{looks[kind]} d='{_joined(paths)}'/>" for kind, paths in lines.items() if paths]
    symbols = elements(molecule)
    texts = [_text(symbols, key, [item[3] for item in values]) for key, values in groupby(letters, key=lambda t: t[:3])]
    if texts:
        ink.append(f"<g fill='currentColor' stroke='none'>{''.join(texts)}</g>")
    return Structure((canvas.Width(), canvas.Height()), indices, "".join(ink))


def _draw(canvas: Any, molecule: Any) -> NDArray[np.float64]:
    """Draw on a canvas of RDKit, and return the place of each atom of the molecule."""
    from rdkit.Chem import rdDepictor
    from rdkit.Chem.Draw import rdMolDraw2D

    options = canvas.drawOptions()
    options.useBWAtomPalette()
    options.scalingFactor, options.padding = _SCALE, 0.02
    options.setBackgroundColour((1.0, 1.0, 1.0, 0.0))
    options.clearBackground = options.prepareMolsBeforeDrawing = False
    rdkit().FastFindRings(molecule)  # which a part of a molecule does not know
    rdDepictor.Compute2DCoords(molecule)
    _move_apart(molecule)
    canvas.DrawMolecule(rdMolDraw2D.PrepareMolForDrawing(molecule))
    canvas.FinishDrawing()
    indices = (canvas.GetDrawCoords(k) for k in range(molecule.GetNumAtoms()))
    return np.array([(position.x, position.y) for position in indices]).reshape(-1, 2)


def _move_apart(molecule: Any) -> None:
    """Put the parts of a molecule side by side, since RDKit lets a counterion touch another part."""
    parts = [np.array(part) for part in rdkit().GetMolFrags(molecule)]
    if len(parts) > 1:
        conformer = molecule.GetConformer()
        xy = conformer.GetPositions()[:, :2] / _LENGTH
        indices = _LENGTH * packed(len(xy), parts, [xy[part] for part in parts])
        for atom, (x, y) in enumerate(indices.tolist()):
            conformer.SetAtomPosition(atom, (x, y, 0.0))


def _joined(paths: Iterable[str]) -> str:
    """Join paths into one of whole numbers, each step from the point before it."""
    parts: list[str] = []
    here = begin = (0, 0)
    for path in paths:
        for command, numbers in _STEP.findall(path):
            values = [round(float(value)) for value in numbers.replace(",", " ").split()]
            points = list(zip(values[::2], values[1::2], strict=True))
            if points and (command != "M" or points[0] != here):
                steps = [f"{x - here[0]} {y - here[1]}" for x, y in points]
                parts.append(command.lower() + " ".join(steps))
            elif command == "Z":
                parts.append("z")
            here = points[-1] if points else begin
            begin = here if command == "M" else begin
    return "".join(parts).replace(" -", "-")


def _text(symbols: list[str], key: tuple[str, str, str], letters: list[Any]) -> str:
    """Write letters of one size at one atom."""
    name, size, y = key
    atom = re.fullmatch(r"atom-(\d+)", name)  # or what RDKit adds: hydrogens at stereocentres, notes
    kind = symbols[int(atom[1])] if atom and int(atom[1]) < len(symbols) else ""
    kind = f" class='{kind}'" if kind.isalpha() and kind != "C" else ""
    height = "" if size == _USUAL else f" font-size='{size}'"
    xs = " ".join(f"{float(item.get('x')):.0f}" for item in letters)
    text = "".join(item.text or " " for item in letters).replace("-", "−")
    return f"<text{kind}{height} x='{xs}' y='{float(y):.0f}'>{escape(text)}</text>"


def structure_svg(smiles: str, name: str) -> str:
    """Draw the molecule of a SMILES as an SVG of its own."""
    made = draw_structure(rdkit().MolFromSmiles(smiles))
    (wide, high), shown = made.size, [round(SHOWN * side) for side in made.size]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="drawing of {escape(name)}" '
        f'viewBox="0 0 {wide} {high}" width="{shown[0]}" height="{shown[1]}"><g {INK}>{made.ink}</g></svg>'
    )


def structure_image(molecule: Any) -> tuple[Any, NDArray[np.float64]]:
    """Draw a molecule as pixels, (height, width, 4), transparent but for the ink, and return the atoms' places too."""
    from matplotlib.image import imread
    from rdkit.Chem.Draw import rdMolDraw2D

    canvas = rdMolDraw2D.MolDraw2DCairo(-1, -1)
    indices = _draw(canvas, molecule)
    return imread(BytesIO(canvas.GetDrawingText())), indices
