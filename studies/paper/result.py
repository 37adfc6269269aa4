"""What an experiment leaves: rows of numbers, curves, and a few sentences."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gvoys.drawing import plots
from gvoys.errors import DatasetError
from gvoys.io.files import appearing


@dataclass(frozen=True)
class Plan:
    """How much to do, on what, with which seed."""

    quick: bool = False
    root: str | None = None  # a folder of TU datasets
    seed: int = 0
    tell: Callable[[str], None] = lambda stage: None  # called with what is being done

    def command(self, name: str) -> str:
        """What to type to have this experiment again."""
        quick, root = " --quick" if self.quick else "", "" if self.root is None else " --root FOLDER"
        return f"python -m studies.paper {name}{quick}{root} --seed {self.seed}"


@dataclass(frozen=True)
class Row:
    """One comparison: the paper's number, ours by the paper's method, and our best."""

    what: str
    paper: str
    faithful: str
    best: str = ""


@dataclass(frozen=True)
class Curve:
    """A line of a figure, with error bars where there are any; None marks what could not be measured."""

    name: str
    x: list[float]
    y: list[float | None]
    error: list[float] | None = None
    ended: str = ""  # why there is nothing after the last point


@dataclass(frozen=True)
class Figure:
    """Curves on logarithmic axes."""

    name: str
    title: str
    x_axis: str
    y_axis: str
    curves: list[Curve]


@dataclass(frozen=True)
class Result:
    """An experiment."""

    name: str
    title: str
    command: str
    rows: list[Row]
    figures: list[Figure]
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    machine: dict[str, str] = field(default_factory=dict)


def shown_scores(scores: list[float]) -> str:
    """Mean and deviation of accuracies, in per cent."""
    return f"{100 * np.mean(scores):.1f} ± {100 * np.std(scores):.1f}"


def slope(x: Any, y: Any) -> float:
    """Of log y over log x."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def save_curves(
    path: Path, curves: Sequence[tuple[str, Any, Any, Any, str]], title: str, x_axis: str, y_axis: str
) -> None:
    """Plot several curves on logarithmic axes."""
    figure, axes = plots.new_figure(8.0, 4.5)
    for name, x, y, error, ended in curves:
        kept = [i for i, value in enumerate(y) if value is not None]
        values = [[column[i] for i in kept] for column in (x, y)]
        line = axes.errorbar(
            *values, yerr=None if error is None else [error[i] for i in kept], label=name, marker="o", capsize=2
        )
        if ended and kept:
            end = (values[0][-1], values[1][-1])
            axes.annotate(ended, end, (4, 4), textcoords="offset points", fontsize="small", color=line[0].get_color())
            axes.plot(*end, marker="x", markersize=10, color=line[0].get_color())
    axes.set(title=title, xlabel=x_axis, ylabel=y_axis, xscale="log", yscale="log")
    figure.legend(loc="outside right upper", fontsize="small")
    axes.grid(alpha=0.3)
    plots.save_figure(figure, path)


def write_result(result: Result, folder: Path) -> None:
    """NAME.json, and a PNG and an SVG of every figure; a file appears when it is whole."""
    for figure in result.figures:
        curves = [(curve.name, curve.x, curve.y, curve.error, curve.ended) for curve in figure.curves]
        for suffix in ("png", "svg"):
            path = folder / f"{figure.name}.{suffix}"
            save_curves(path, curves, figure.title, figure.x_axis, figure.y_axis)
    with appearing(folder / f"{result.name}.json") as partial:
        partial.write_text(json.dumps(asdict(result), indent=1) + "\n")


def read_result(path: Path) -> Result:
    """What `write_result` wrote; a file that it did not is refused."""
    try:
        data = json.loads(path.read_text())
        figures = [Figure(**figure | {"curves": [Curve(**c) for c in figure["curves"]]}) for figure in data["figures"]]
        return Result(**data | {"rows": [Row(**row) for row in data["rows"]], "figures": figures})
    except (KeyError, TypeError, ValueError):
        raise DatasetError(f"{path} is no result of this version; remove it, or write into another folder") from None
