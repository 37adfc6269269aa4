"""The drawing of an explanation by matplotlib, with a bar for each walk length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gvoys.errors import ParameterError
from gvoys.report.bonds import Line
from gvoys.report.layout import LARGEST, lay_out
from gvoys.report.picture import BAND, Picture, picture_of
from gvoys.report.plots import _save, check
from gvoys.report.shares import class_name, largest_share, legible, number, share_colour, signed

__all__ = ["save_plot"]

_INCHES = 0.42  # of a usual edge
_WIDEST = 7.0  # inches of the drawing
_BARS = 2.6  # inches beside it
_SIDES = {"start": "left", "middle": "center", "end": "right"}
_INK, _EDGE = "#2a2e37", "#737b8c"


def save_plot(explanation: Any, path: Path) -> None:
    """Write the drawing and the bars to a file.

    Parameters
    ----------
    explanation : Explanation
        What `explain` returned for the graph.
    path : Path
        The file, NAME.png.

    Raises
    ------
    ParameterError
        If the graph has no nodes, or too many to be drawn.
    MissingDependencyError
        If matplotlib is not installed.
    """
    check()
    n_nodes = len(explanation.nodes)
    if not 0 < n_nodes <= LARGEST:
        raise ParameterError(f"graphs of 1 to {LARGEST:,} nodes are drawn, and this one has {n_nodes:,}")
    from matplotlib.figure import Figure

    picture = picture_of(lay_out(explanation.graph, explanation.edges))
    low, high = picture.box()
    inches = min(_INCHES, _WIDEST / (high - low).max())
    wide, tall = np.maximum(inches * (high - low), 1.0)
    figure = Figure(figsize=(wide + _BARS, max(tall, 2.2) + 0.35), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[wide, _BARS])
    _draw(left, picture, explanation, 72 * inches)
    left.set(xlim=(low[0], high[0]), ylim=(high[1], low[1]), aspect="equal")
    left.axis("off")
    _draw_bars(right, explanation)
    figure.suptitle(legible(_sum(explanation)), fontsize=9, parse_math=False)
    _save(figure, path)


def _sum(explanation: Any) -> str:
    what = "prediction" if explanation.of is None else f"decision for {class_name(explanation.of)}"
    total = signed(float(np.sum(explanation.nodes)))
    return f"baseline {number(explanation.baseline)}, nodes {total}: {what} {number(explanation.decision)}"


def _draw(axes: Any, picture: Picture, explanation: Any, points: float) -> None:
    """Bands and discs in their colours, then the ink; a usual edge has so many points."""
    from matplotlib.patches import Circle, Polygon

    scale, layout = largest_share(explanation), picture.layout
    for (a, _), band, share in zip(layout.ends.tolist(), picture.bands, explanation.edge_shares, strict=True):
        colour = share_colour(float(share), scale)
        if band is None:
            place = layout.xy[a] - [0.0, picture.radius + 0.14]
            axes.add_patch(Circle(place, 0.2, facecolor="none", edgecolor=colour, linewidth=0.1 * points))
        else:
            width = BAND if layout.molecule else min(BAND, picture.radius)
            axes.add_patch(Polygon(_rectangle(band, width), facecolor=colour, linewidth=0))
    rim = 0.0 if layout.molecule else 0.02 * points
    for place, share in zip(layout.xy, explanation.nodes, strict=True):
        colour = share_colour(float(share), scale)
        axes.add_patch(Circle(place, picture.radius, facecolor=colour, edgecolor=_EDGE, linewidth=rim, zorder=2))
    _draw_ink(axes, picture, points)


def _draw_ink(axes: Any, picture: Picture, points: float) -> None:
    from matplotlib.patches import Polygon

    ink, width = (_INK, 0.045 * points) if picture.layout.molecule else (_EDGE, 0.03 * points)
    for line in picture.lines:
        style = {"linestyle": (0, (2.5, 2.2)) if line.dashed else "-", "color": ink, "linewidth": width}
        axes.plot(*np.array([line.begin, line.end]).T, zorder=3, **style)
    for corners in picture.arrows:
        axes.add_patch(Polygon(corners, facecolor=ink, linewidth=0, zorder=3))
    for mark in picture.marks:
        how = {"ha": _SIDES[mark.anchor], "va": "center_baseline", "parse_math": False, "zorder": 4, "color": _INK}
        axes.text(*mark.place, legible(mark.text), fontsize=0.9 * mark.size * points, **how)


def _rectangle(line: Line, width: float) -> Any:
    step = line.end - line.begin
    aside = width / 2.0 / (float(np.hypot(*step)) or 1.0) * np.array([-step[1], step[0]])
    return np.array([line.begin + aside, line.end + aside, line.end - aside, line.begin - aside])


def _draw_bars(axes: Any, explanation: Any) -> None:
    lengths = np.asarray(explanation.lengths).sum(axis=0)
    scale = float(np.abs(lengths).max(initial=0.0))
    axes.barh(range(len(lengths)), lengths, color=[share_colour(np.sign(each) * scale, scale) for each in lengths])
    axes.set_yticks(range(len(lengths)))
    axes.invert_yaxis()
    axes.axvline(0.0, color=_EDGE, linewidth=0.8)
    axes.set(xlabel="share", ylabel="walk length")
    axes.spines[["top", "right", "left"]].set_visible(False)
