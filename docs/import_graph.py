"""Draw which parts of gvoys import which: python docs/import_graph.py writes docs/pictures/imports.svg.

Rows are the layers of pyproject.toml, which import-linter checks. Imports that follow from others are left out: if A
imports B and B imports C, an arrow from A to C would tell nothing new.
"""

import tomllib
from html import escape
from pathlib import Path

import grimp
import networkx as nx

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "imports.svg"
BOX, ROW, MARGIN, WIDTH = (118, 30), 66, 20, 640


def layers() -> list[list[str]]:
    """The parts of each layer, the top first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return [[part.strip() for part in row.split("|")] for row in contracts[0]["layers"]]


def imports() -> list[tuple[str, str]]:
    """Pairs (importer, imported) of parts, without those that follow from others."""
    graph = grimp.build_graph("gvoys")
    parts = [part for row in layers() for part in row]
    found = nx.DiGraph()
    found.add_nodes_from(parts)
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            a, b = (name.split(".")[1] if "." in name else "" for name in (module, other))
            if a != b and {a, b} <= set(parts):
                found.add_edge(a, b)
    return sorted(nx.transitive_reduction(found).edges)


def draw() -> str:
    """The picture."""
    rows = layers()
    places = {}
    for number, row in enumerate(rows):
        gap = (WIDTH - 2 * MARGIN) / len(row)
        for k, part in enumerate(row):
            places[part] = (round(MARGIN + gap * (k + 0.5)), MARGIN + BOX[1] // 2 + ROW * number)
    height = 2 * MARGIN + BOX[1] + ROW * (len(rows) - 1)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
        '<path d="M0,0 L7,3 L0,6 z" fill="#7a8694"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for a, b in imports():
        (x, y), (u, v) = places[a], places[b]
        start, end, bend = y + BOX[1] // 2, v - BOX[1] // 2, ROW // 2
        curve = f"M{x},{start} C{x},{start + bend} {u},{end - bend} {u},{end}"
        lines.append(f'<path d="{curve}" fill="none" stroke="#7a8694" marker-end="url(#tip)"/>')
    for part, (x, y) in places.items():
        left, top = x - BOX[0] // 2, y - BOX[1] // 2
        shape = (
            f'<rect x="{left}" y="{top}" width="{BOX[0]}" height="{BOX[1]}" rx="6" fill="#eaf1fb" stroke="#3b6fb6"/>'
        )
        lines.append(
            f'{shape}<text x="{x}" y="{y + 5}" font-size="14" text-anchor="middle" fill="#16324f">{escape(part)}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(draw())
