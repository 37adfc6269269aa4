"""Drawings of explanations: nodes and edges in the colour of their shares, as an SVG or as a plot."""

from __future__ import annotations

from html import escape
from os import PathLike
from typing import Any

from gvoys.errors import ParameterError
from gvoys.io.files import appearing, as_path, check_output
from gvoys.report.bonds import Line
from gvoys.report.layout import LARGEST, Layout, lay_out
from gvoys.report.picture import BAND, Picture, picture_of
from gvoys.report.shares import largest_share, legible, share_colour, signed

__all__ = ["attribution_svg", "save_attribution"]

_PIXELS = 40.0  # of a usual edge
_INK, _EDGE = "#2a2e37", "#737b8c"  # of bonds and letters, and of edges that are no bonds


def attribution_svg(explanation: Any, scale: float | None = None, *, name: str = "") -> str:
    """Draw a graph whose nodes and edges have the colours of their shares.

    Every node is an element with the attributes data-node and data-share and a title that says both; edges likewise.

    Parameters
    ----------
    explanation : Explanation
        What `explain` returned for the graph.
    scale : float or None, default=None
        Share that has the full colour; None takes the largest of a node.
    name : str, default=""
        What the graph is called, for those who cannot see the drawing.

    Returns
    -------
    str
        The SVG; a sentence instead of the drawing if the graph has no nodes or more than 1000.
    """
    n_nodes = len(explanation.nodes)
    if not 0 < n_nodes <= LARGEST:
        return _sentence(f"{n_nodes:,} nodes are too many to draw" if n_nodes else "a graph without nodes")
    scale = largest_share(explanation) if scale is None else scale
    picture = picture_of(lay_out(explanation.graph, explanation.edges))
    low, high = picture.box()
    wide, tall = _PIXELS * (high - low)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{_kind(picture)}" role="img" aria-label="{_called(name)}" '
        f'viewBox="{_numbers(*(_PIXELS * low), wide, tall)}" width="{wide:.0f}" height="{tall:.0f}" '
        'font-family="system-ui, sans-serif" style="background: #fff">',
        *(_edge(picture, explanation, edge, scale) for edge in range(len(picture.bands))),
        *(_node(picture, explanation, node, scale) for node in range(n_nodes)),
        '<g class="ink" pointer-events="none">',
        *_ink(picture),
        "</g></svg>",
    ]
    return "".join(parts)


def save_attribution(explanation: Any, path: str | PathLike[str]) -> None:
    """Write the drawing of an explanation to a file, which appears when it is complete.

    Parameters
    ----------
    explanation : Explanation
        What `explain` returned for the graph.
    path : str or path-like
        The file: NAME.svg, or NAME.png by matplotlib, which has a bar for each walk length beside the drawing.

    Raises
    ------
    ParameterError
        If the name ends in something else, or the file cannot be written.
    MissingDependencyError
        If matplotlib is needed and is not installed.
    """
    path = as_path(path)
    suffix = path.suffix.lower()
    if suffix not in (".svg", ".png"):
        raise ParameterError(f"drawings are written as NAME.svg or NAME.png, and not as {path.name}")
    check_output(path)
    if suffix == ".png":
        from gvoys.report.attribution_plot import save_plot

        save_plot(explanation, path)
        return
    with appearing(path) as partial:
        partial.write_text(attribution_svg(explanation), encoding="utf-8")


def _named(layout: Layout, node: int) -> str:
    text = layout.texts[node] if layout.symbols is None else layout.symbols[node]
    return f"{text or 'node'} {node}"


def _node_title(layout: Layout, explanation: Any, node: int) -> str:
    error = float(explanation.node_errors[node])
    sure = f" (± {error:.2g})" if error > 0 else ""
    return f"{_named(layout, node)}: {signed(float(explanation.nodes[node]))}{sure}"


def _edge_title(layout: Layout, explanation: Any, edge: int) -> str:
    a, b = layout.ends[edge].tolist()
    joint = " → " if layout.directed else "–"
    return f"{_named(layout, a)}{joint}{_named(layout, b)}: {signed(float(explanation.edge_shares[edge]))}"


# -- SVG


def _text(text: str) -> str:
    return escape(legible(text))


def _numbers(*values: float) -> str:
    return " ".join(f"{value:.1f}" for value in values)


def _kind(picture: Picture) -> str:
    return "attribution molecule" if picture.layout.molecule else "attribution"


def _called(name: str) -> str:
    return f"drawing of {_text(name)}" if name else "drawing of a graph"


def _sentence(sentence: str) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="attribution" viewBox="0 0 300 40" width="300" height="40" '
        f'font-family="system-ui, sans-serif"><text x="4" y="25" font-size="16" fill="{_EDGE}">{sentence}</text></svg>'
    )


def _edge(picture: Picture, explanation: Any, edge: int, scale: float) -> str:
    share, band = float(explanation.edge_shares[edge]), picture.bands[edge]
    a, b = picture.layout.ends[edge].tolist()
    colour = f'class="band" stroke="{share_colour(share, scale)}"'
    if band is None:
        x, y = _PIXELS * (picture.layout.xy[a] - [0.0, picture.radius + 0.14])
        drawn = f'<circle {colour} fill="none" cx="{x:.1f}" cy="{y:.1f}" r="{0.2 * _PIXELS:.1f}" stroke-width="4"/>'
    else:
        width = _PIXELS * (BAND if picture.layout.molecule else min(BAND, picture.radius))
        drawn = f'<line {colour} {_ends(band)} stroke-width="{width:.1f}"/>'
    title = _text(_edge_title(picture.layout, explanation, edge))
    about = f'data-edge="{edge}" data-ends="{a} {b}" data-share="{share:.6g}"'
    return f'<g class="edge" {about}><title>{title}</title>{drawn}</g>'


def _node(picture: Picture, explanation: Any, node: int, scale: float) -> str:
    share, (x, y) = float(explanation.nodes[node]), _PIXELS * picture.layout.xy[node]
    rim = "" if picture.layout.molecule else f' stroke="{_EDGE}" stroke-width="1"'
    disc = (
        f'<circle class="disc" fill="{share_colour(share, scale)}"{rim} cx="{x:.1f}" cy="{y:.1f}" '
        f'r="{_PIXELS * picture.radius:.1f}"/>'
    )
    title = _text(_node_title(picture.layout, explanation, node))
    return f'<g class="node" data-node="{node}" data-share="{share:.6g}"><title>{title}</title>{disc}</g>'


def _ends(line: Line) -> str:
    (x, y), (u, v) = _PIXELS * line.begin, _PIXELS * line.end
    return f'x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}"'


def _ink(picture: Picture) -> list[str]:
    ink = _INK if picture.layout.molecule else _EDGE
    line = f'class="line" stroke="{ink}" stroke-width="{2 if picture.layout.molecule else 1.5}" stroke-linecap="round"'
    found = [f"<line {line} {_ends(each)}{_dashes(each)}/>" for each in picture.lines]
    for corners in picture.arrows:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in _PIXELS * corners)
        found.append(f'<polygon class="head" points="{points}" fill="{ink}"/>')
    for mark in picture.marks:
        (x, y), size = _PIXELS * mark.place, _PIXELS * mark.size
        found.append(
            f'<text x="{x:.1f}" y="{y + 0.35 * size:.1f}" font-size="{size:.1f}" text-anchor="{mark.anchor}" '
            f'fill="{_INK}">{_text(mark.text)}</text>'
        )
    return found


def _dashes(line: Line) -> str:
    return ' stroke-dasharray="5 4.5"' if line.dashed else ""
