"""Plots as files, by matplotlib."""

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


def new_figure(width: float = 5.0, height: float = 4.0) -> tuple[Any, Any]:
    """Make a figure with one pair of axes."""
    check()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure; the file appears when it is complete."""
    with appearing(path) as partial:
        figure.savefig(partial, format=path.suffix[1:], dpi=150)


def save_confusion(path: Path, truth: Sequence[Any], predicted: Sequence[Any]) -> None:
    """Plot how often each class was predicted for each other."""
    from sklearn.metrics import confusion_matrix

    classes = sorted(set(truth) | set(predicted))
    counts = confusion_matrix(truth, predicted, labels=classes)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    figure, axes = new_figure()
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    axes.set(xlabel="predicted class", ylabel="true class")
    axes.set_xticks(range(len(classes)), classes)
    axes.set_yticks(range(len(classes)), classes)
    for (i, j), count in np.ndenumerate(counts):
        axes.text(j, i, f"{count}", ha="center", va="center", color="white" if shares[i, j] > 0.5 else "black")
    save_figure(figure, path)


def save_contributions(path: Path, shares: NDArray[np.float64]) -> None:
    """Plot the alignment of each Weisfeiler–Lehman iteration and length with the classes."""
    figure, axes = new_figure(6.0, 3.0)
    image = axes.imshow(shares, cmap="viridis", vmin=0, aspect="auto")
    axes.set(xlabel="walk length", ylabel="Weisfeiler–Lehman iteration")
    axes.set_yticks(range(len(shares)))
    figure.colorbar(image, label="alignment with the classes")
    save_figure(figure, path)


def save_bars(path: Path, names: Sequence[str], values: NDArray[np.float64]) -> None:
    """Plot one bar per block."""
    figure, axes = new_figure(6.0, 0.3 * len(names) + 1.0)
    axes.barh(range(len(names)), values)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("learned weight")
    save_figure(figure, path)


def save_curve(path: Path, curve: Sequence[float], objective: str) -> None:
    """Plot the objective after every step."""
    figure, axes = new_figure()
    axes.plot(range(len(curve)), curve, marker="." if len(curve) < 50 else None)
    axes.set(xlabel="step", ylabel=objective)
    save_figure(figure, path)


def save_scatter(path: Path, truth: Sequence[float], predicted: Sequence[float]) -> None:
    """Plot predicted against measured values."""
    figure, axes = new_figure(4.5, 4.5)
    axes.scatter(truth, predicted, s=6, alpha=0.5)
    ends = [min(*truth, *predicted), max(*truth, *predicted)]
    axes.plot(ends, ends, color="grey", linewidth=1)
    axes.set(xlabel="measured", ylabel="predicted, by models that had not seen it")
    save_figure(figure, path)
