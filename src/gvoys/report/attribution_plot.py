"""The drawing of an explanation by matplotlib, with a bar for each walk length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gvoys.errors import ParameterError
from gvoys.report.networks import LARGEST
from gvoys.report.picture import BAND, Band, Picture, picture_of
from gvoys.report.plots import _save, check
from gvoys.report.shares import class_name, largest_share, legible, number, share_colour, signed
from gvoys.report.structures import BOND, structure_image

_INCHES = 0.42 / BOND  # of one unit of length
_WIDEST = 7.0  # inches of the drawing
_BARS = 2.6  # inches beside it
_INK, _EDGE = "#1f2430", "#737b8c"


def save_plot(explanation: Any, path: Path) -> None:
    """Write the drawing and the bars to NAME.png."""
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
    figure.suptitle(legible(_sum(explanation)), fontsize=9, parse_math=False)
    _save(figure, path)


def _sum(explanation: Any) -> str:
    what = "prediction" if explanation.of is None else f"decision for {class_name(explanation.of)}"
    total = signed(float(np.sum(explanation.nodes)))
    return f"baseline {number(explanation.baseline)}, nodes {total}: {what} {number(explanation.decision)}"


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
            corners = _rectangle(band, min(BAND, picture.radius))
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
        how = {"ha": "center", "va": "center_baseline", "parse_math": False, "zorder": 4, "color": _INK}
        axes.text(*index, legible(text), fontsize=0.9 * size * points, **how)


def _rectangle(band: Band, width: float) -> Any:
    begin, end = band
    x, y = end - begin
    aside = width / 2.0 / (float(np.hypot(x, y)) or 1.0) * np.array([-y, x])
    return np.array([begin + aside, end + aside, end - aside, begin - aside])


def _draw_bars(axes: Any, explanation: Any) -> None:
    lengths = np.asarray(explanation.lengths).sum(axis=0)
    scale = float(np.abs(lengths).max(initial=0.0))
    axes.barh(range(len(lengths)), lengths, color=[share_colour(np.sign(length) * scale, scale) for length in lengths])
    axes.set_yticks(range(len(lengths)))
    axes.invert_yaxis()
    axes.axvline(0.0, color=_EDGE, linewidth=0.8)
    axes.set(xlabel="share", ylabel="walk length")
    axes.spines[["top", "right", "left"]].set_visible(False)
