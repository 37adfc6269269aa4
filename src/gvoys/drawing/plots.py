"""Plots as files, by matplotlib; a file appears only when it is complete."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import MissingDependencyError
from gvoys.io.files import appearing


def check() -> None:
    """Check that plots can be written in the end."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingDependencyError(
            'plots are drawn by matplotlib; install it with pip install "gvoys[report]"'
        ) from None


def _figure(width: float = 5.0, height: float = 4.0) -> tuple[Any, Any]:
    check()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _save(figure: Any, path: Path) -> None:
    with appearing(path) as partial:
        figure.savefig(partial, format=path.suffix[1:], dpi=150)


def save_confusion(path: Path, truth: Sequence[Any], predicted: Sequence[Any]) -> None:
    """Plot how often each class was predicted for each other."""
    from sklearn.metrics import confusion_matrix

    classes = sorted(set(truth) | set(predicted))
    counts = confusion_matrix(truth, predicted, labels=classes)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    figure, axes = _figure()
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    axes.set(xlabel="predicted class", ylabel="true class")
    axes.set_xticks(range(len(classes)), classes)
    axes.set_yticks(range(len(classes)), classes)
    for (i, j), count in np.ndenumerate(counts):
        axes.text(j, i, f"{count}", ha="center", va="center", color="white" if shares[i, j] > 0.5 else "black")
    _save(figure, path)


def save_contributions(path: Path, shares: NDArray[np.float64]) -> None:
    """Plot the alignment of each Weisfeiler–Lehman iteration and length with the classes."""
    figure, axes = _figure(6.0, 3.0)
    image = axes.imshow(shares, cmap="viridis", vmin=0, aspect="auto")
    axes.set(xlabel="walk length", ylabel="Weisfeiler–Lehman iteration")
    axes.set_yticks(range(len(shares)))
    figure.colorbar(image, label="alignment with the classes")
    _save(figure, path)


def save_bars(path: Path, names: Sequence[str], values: NDArray[np.float64]) -> None:
    """Plot one bar per block."""
    figure, axes = _figure(6.0, 0.3 * len(names) + 1.0)
    axes.barh(range(len(names)), values)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("learned weight")
    _save(figure, path)


def save_curve(path: Path, curve: Sequence[float], objective: str) -> None:
    """Plot the objective after every step."""
    figure, axes = _figure()
    axes.plot(range(len(curve)), curve, marker="." if len(curve) < 50 else None)
    axes.set(xlabel="step", ylabel=objective)
    _save(figure, path)


def save_scatter(path: Path, truth: Sequence[float], predicted: Sequence[float]) -> None:
    """Plot predicted against measured values."""
    figure, axes = _figure(4.5, 4.5)
    axes.scatter(truth, predicted, s=6, alpha=0.5)
    ends = [min(*truth, *predicted), max(*truth, *predicted)]
    axes.plot(ends, ends, color="grey", linewidth=1)
    axes.set(xlabel="measured", ylabel="predicted, by models that had not seen it")
    _save(figure, path)


def save_curves(
    path: Path, curves: Sequence[tuple[str, Any, Any, Any, str]], title: str, x_axis: str, y_axis: str
) -> None:
    """Plot several curves on logarithmic axes."""
    figure, axes = _figure(8.0, 4.5)
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
    _save(figure, path)
