"""Drawings of explanations: nodes and edges in the colour of their shares, as an SVG or as a plot."""

from __future__ import annotations

from hashlib import blake2b
from html import escape
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np

from gvoys.drawing.page import PALETTES, class_name, largest_share, legible, number, share_colour, signed
from gvoys.drawing.picture import BAND, Picture, picture_of
from gvoys.drawing.plots import check, save_figure
from gvoys.drawing.structures import BOND, INK, LARGEST, SHOWN, structure_image
from gvoys.errors import ParameterError
from gvoys.io.files import appearing, as_path, check_output

_INK, _EDGE = "#1f2430", "#737b8c"  # of molecules and letters, and of edges that are no bonds
_CLOSE_UP = np.array([4.6, 3.4]) * BOND  # least size of a fragment's drawing
_FRAGMENTS = 6  # in notebooks
_INCHES = 0.42 / BOND  # of one unit of length
_WIDEST = 7.0  # inches of the drawing
_BARS = 2.6  # inches beside it


def attribution_svg(explanation: Any, scale: float | None = None, *, name: str = "") -> str:
    """Draw a graph whose nodes and edges have the colours of their shares; `scale` is the share of the full colour.

    Every node is an element with the attributes data-node and data-share and a title that says both; edges likewise.
    """
    count = len(explanation.nodes)
    if not 0 < count <= LARGEST:
        sentence = f"{count:,} nodes are too many to draw" if count else "a graph without nodes"
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" class="attribution" viewBox="0 0 300 40" width="300" height="40" '
            f'font-family="system-ui, sans-serif"><text x="4" y="25" font-size="16" fill="{_EDGE}">{sentence}</text>'
            "</svg>"
        )
    return _drawn(picture_of(explanation), explanation, scale, name)


def drawing_with_fragments(explanation: Any, name: str, count: int) -> tuple[str, list[tuple[Any, str]]]:
    """Draw a graph as `attribution_svg`, and the places of the sequences with the largest shares as parts of it."""
    if not 0 < len(explanation.nodes) <= LARGEST:
        return attribution_svg(explanation, name=name), [(sequence, "") for sequence in explanation.sequences[:count]]
    picture = picture_of(explanation)
    drawing = _drawn(picture, explanation, None, name)
    key = f"ink-{blake2b(drawing.encode(), digest_size=6).hexdigest()}"  # of its own on any page, or in any notebook
    parts = [(item, _fragment_svg(explanation, item, picture, key)) for item in explanation.sequences[:count]]
    return drawing.replace('<g class="ink"', f'<g id="{key}" class="ink"'), parts


def _drawn(picture: Picture, explanation: Any, scale: float | None, name: str) -> str:
    scale = largest_share(explanation) if scale is None else scale
    low, high = picture.box
    wide, tall = SHOWN * (high - low)
    kind = "attribution" if picture.molecule is None else "attribution molecule"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" '
        f'aria-label="drawing of {_text(name or "a graph")}" viewBox="{_numbers(*low, *(high - low))}" '
        f'width="{wide:.0f}" height="{tall:.0f}" style="background: #fff; color: {_INK}">',
        *(_edge(picture, explanation, edge, scale) for edge in range(len(picture.bands))),
        *(_node(picture, explanation, node, scale) for node in range(len(picture.xy))),
        f"<g {INK}>{picture.ink or _network_ink(picture)}</g></svg>",
    ]
    return "".join(parts)


def fragment(explanation: Any, sequence: Any) -> tuple[list[int], list[int]]:
    """Find nodes and edges at one place of a sequence, and around it up to its Weisfeiler–Lehman iteration."""
    nodes, steps = set(sequence.nodes), {frozenset(step) for step in pairwise(sequence.nodes)}
    ends = [frozenset(pair) for pair in explanation.edges.tolist()]
    edges = {k for k, pair in enumerate(ends) if pair in steps}
    for _ in range(sequence.iteration):
        edges |= {k for k, pair in enumerate(ends) if pair & nodes}
        nodes = nodes.union(*(ends[k] for k in edges))
    return sorted(nodes), sorted(edges)


def _fragment_svg(explanation: Any, sequence: Any, picture: Picture, key: str) -> str:
    """Draw a part of the picture, with the place of a sequence highlighted."""
    nodes, edges = fragment(explanation, sequence)
    xy, kind = picture.xy[nodes], "away" if sequence.share < 0 else "towards"
    low, high = xy.min(axis=0), xy.max(axis=0)
    size = np.maximum(high - low + 2.4 * picture.radius, _CLOSE_UP)
    first, last = picture.box[0], picture.box[1] - size  # the window stays within the drawing
    corner = np.where(first < last, np.clip((low + high - size) / 2.0, first, last), (first + last) / 2.0)
    colour = PALETTES["light"][0 if sequence.share < 0 else 2]
    bands = [f"M{_numbers(*band[0])}L{_numbers(*band[1])}" for k in edges if (band := picture.bands[k]) is not None]
    discs = [f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{picture.radius:.0f}"/>' for x, y in xy]
    width, window = min(BAND, picture.radius), f'width="120" height="{120 * size[1] / size[0]:.0f}"'
    return (
        f'<svg class="fragment" viewBox="{_numbers(*corner, *size)}" {window} '
        f'aria-hidden="true" style="color: {_INK}"><g class="{kind}" fill="{colour}">{"".join(discs)}'
        f'<path d="{"".join(bands)}" stroke="{colour}" stroke-width="{width:.0f}"/></g><use href="#{key}"/></svg>'
    )


def attribution_html(explanation: Any) -> str:
    """Draw an explanation for a notebook: the graph, and below it the sequences with the largest shares."""
    drawing, parts = drawing_with_fragments(explanation, "", _FRAGMENTS)
    figures = [
        f'<figure style="margin: 0; text-align: center">{svg}<figcaption>{_text(str(sequence))}<br>'
        f"{signed(float(sequence.share))}</figcaption></figure>"
        for sequence, svg in parts
    ]
    style = f"background: #fff; color: {_INK}; font-size: 13px; display: flex; flex-wrap: wrap; gap: 8px 16px"
    return f'<div>{drawing}<div style="{style}">{"".join(figures)}</div></div>'


def save_attribution(explanation: Any, path: str | PathLike[str]) -> None:
    """Write the drawing to NAME.svg, or to NAME.png with a bar for each walk length; it appears when it is complete."""
    path = as_path(path)
    suffix = path.suffix.lower()
    if suffix not in (".svg", ".png"):
        raise ParameterError(f"drawings are written as NAME.svg or NAME.png, and not as {path.name}")
    check_output(path)
    if suffix == ".svg":
        with appearing(path) as partial:
            partial.write_text(attribution_svg(explanation), encoding="utf-8")
        return
    check()
    n_nodes = len(explanation.nodes)
    if not 0 < n_nodes <= LARGEST:
        raise ParameterError(f"graphs of 1 to {LARGEST:,} nodes are drawn, and this one has {n_nodes:,}")
    from matplotlib.figure import Figure

    picture = picture_of(explanation)
    low, high = picture.box
    inches = min(_INCHES, _WIDEST / (high - low).max())
    wide, tall = np.maximum(inches * (high - low), 1.0)
    figure = Figure(figsize=(wide + _BARS, max(tall, 2.2) + 0.35), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[wide, _BARS])
    draw_picture(left, picture, explanation, 72 * inches)
    _draw_bars(right, explanation)
    what = "prediction" if explanation.of is None else f"decision for {class_name(explanation.of)}"
    terms = f"baseline {number(explanation.baseline)}, nodes {signed(float(np.sum(explanation.nodes)))}"
    total = f"{terms}: {what} {number(explanation.decision)}"
    figure.suptitle(legible(total), fontsize=9, parse_math=False)
    save_figure(figure, path)


def _node_title(picture: Picture, explanation: Any, node: int) -> str:
    error = float(explanation.node_errors[node])
    sure = f" (± {error:.2g})" if error > 0 else ""
    return f"{picture.names[node]} {node}: {signed(float(explanation.nodes[node]))}{sure}"


def _edge_title(picture: Picture, explanation: Any, edge: int) -> str:
    a, b = explanation.edges[edge].tolist()
    joint = " → " if explanation.graph.directed else "–"
    share = signed(float(explanation.edge_shares[edge]))
    return f"{picture.names[a]} {a}{joint}{picture.names[b]} {b}: {share}"


def _text(text: str) -> str:
    return escape(legible(text))


def _numbers(*values: float) -> str:
    return " ".join(f"{value:.0f}" for value in values)


def _edge(picture: Picture, explanation: Any, edge: int, scale: float) -> str:
    share, band = float(explanation.edge_shares[edge]), picture.bands[edge]
    a, b = explanation.edges[edge].tolist()
    colour = f'class="band" stroke="{share_colour(share, scale)}"'
    if band is None:
        x, y = picture.xy[a] - [0.0, picture.radius + 0.14 * BOND]
        drawn = f'<circle {colour} fill="none" cx="{x:.0f}" cy="{y:.0f}" r="{0.2 * BOND:.0f}" stroke-width="6"/>'
    else:
        (x, y), (u, v) = band
        ends = f'x1="{x:.0f}" y1="{y:.0f}" x2="{u:.0f}" y2="{v:.0f}"'
        drawn = f'<line {colour} {ends} stroke-width="{min(BAND, picture.radius):.0f}"/>'
    title = _text(_edge_title(picture, explanation, edge))
    about = f'data-edge="{edge}" data-ends="{a} {b}" data-share="{share:.6g}"'
    return f'<g class="edge" {about}><title>{title}</title>{drawn}</g>'


def _node(picture: Picture, explanation: Any, node: int, scale: float) -> str:
    share, (x, y) = float(explanation.nodes[node]), picture.xy[node]
    rim = "" if picture.molecule is not None else f' stroke="{_EDGE}" stroke-width="1.5"'
    disc = (
        f'<circle class="disc" fill="{share_colour(share, scale)}"{rim} cx="{x:.0f}" cy="{y:.0f}" '
        f'r="{picture.radius:.0f}"/>'
    )
    title = _text(_node_title(picture, explanation, node))
    return f'<g class="node" data-node="{node}" data-share="{share:.6g}"><title>{title}</title>{disc}</g>'


def _network_ink(picture: Picture) -> str:
    lines = "".join(f"M{_numbers(*begin)}L{_numbers(*end)}" for begin, end in picture.lines)
    corners = (" ".join(f"{x:.0f},{y:.0f}" for x, y in head) for head in picture.heads)
    heads = "".join(f'<polygon class="head" points="{points}" fill="{_EDGE}" stroke="none"/>' for points in corners)
    letters = "".join(
        f'<text x="{x:.0f}" y="{y + 0.35 * size:.0f}" font-size="{size:.0f}" text-anchor="middle">{_text(text)}</text>'
        for text, (x, y), size in picture.letters
    )
    return (
        f'<path class="line" stroke="{_EDGE}" stroke-width="2.5" d="{lines}"/>{heads}'
        f'<g fill="currentColor" stroke="none">{letters}</g>'
    )


def draw_picture(axes: Any, picture: Picture, explanation: Any, points: float) -> None:
    """Draw bands and discs in their colours, then the ink, on axes where a unit of length has so many points."""
    from matplotlib.patches import Circle, Polygon

    scale = largest_share(explanation)
    for (a, _), band, share in zip(explanation.edges.tolist(), picture.bands, explanation.edge_shares, strict=True):
        colour = share_colour(float(share), scale)
        if band is None:
            index = picture.xy[a] - [0.0, picture.radius + 0.14 * BOND]
            axes.add_patch(Circle(index, 0.2 * BOND, facecolor="none", edgecolor=colour, linewidth=6 * points))
        else:
            begin, end = band
            x, y = end - begin
            aside = min(BAND, picture.radius) / 2.0 / (float(np.hypot(x, y)) or 1.0) * np.array([-y, x])
            corners = np.array([begin + aside, end + aside, end - aside, begin - aside])
            axes.add_patch(Polygon(corners, facecolor=colour, linewidth=0))
    rim = 0.0 if picture.molecule is not None else 1.2 * points
    for index, share in zip(picture.xy, explanation.nodes, strict=True):
        colour = share_colour(float(share), scale)
        axes.add_patch(Circle(index, picture.radius, facecolor=colour, edgecolor=_EDGE, linewidth=rim, zorder=2))
    (left, top), (right, bottom) = picture.box
    if picture.molecule is None:
        _draw_network(axes, picture, points)
    else:
        image, indices = structure_image(picture.molecule)
        x, y = (picture.xy - indices).mean(axis=0)  # RDKit's pixels and texts leave different margins
        axes.imshow(image, extent=(x, x + image.shape[1], y + image.shape[0], y), zorder=3)
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.axis("off")


def _draw_network(axes: Any, picture: Picture, points: float) -> None:
    from matplotlib.patches import Polygon

    for line in picture.lines:
        axes.plot(*np.array(line).T, zorder=3, color=_EDGE, linewidth=1.8 * points)
    for corners in picture.heads:
        axes.add_patch(Polygon(corners, facecolor=_EDGE, linewidth=0, zorder=3))
    for text, index, size in picture.letters:
        look = {"ha": "center", "va": "center_baseline", "parse_math": False, "zorder": 4, "color": _INK}
        axes.text(*index, legible(text), fontsize=0.9 * size * points, **look)


def _draw_bars(axes: Any, explanation: Any) -> None:
    lengths = np.asarray(explanation.lengths).sum(axis=0)
    scale = float(np.abs(lengths).max(initial=0.0))
    axes.barh(range(len(lengths)), lengths, color=[share_colour(np.sign(length) * scale, scale) for length in lengths])
    axes.set_yticks(range(len(lengths)))
    axes.invert_yaxis()
    axes.axvline(0.0, color=_EDGE, linewidth=0.8)
    axes.set(xlabel="share", ylabel="walk length")
    axes.spines[["top", "right", "left"]].set_visible(False)
