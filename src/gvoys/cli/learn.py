"""gvoys learn: the series mu from data, and what it is worth in nested cross-validation."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from gvoys.cli.data import is_real, load_data
from gvoys.errors import ParameterError
from gvoys.estimators import RandomWalkKernel
from gvoys.graphs.batch import GraphBatch
from gvoys.learning import LearnedSeries, learn_series
from gvoys.series import Geometric, Series

__all__ = ["run_learn"]

_GRID = {"C": 10.0 ** np.arange(-2, 5)}
_EFFORT = 1_000_000  # iterations of one support vector machine


def run_learn(
    console: Console,
    data: str,
    root: Path | None,
    target: str | None,
    smiles: str,
    objective: str | None,
    labels: str | None,
    max_length: int,
    folds: int,
    seeds: tuple[int, ...],
    out: Path | None,
) -> None:
    """Learn on all graphs and print; then once more inside every training fold, for an honest figure."""
    name, batch, y = load_data(data, root, target, smiles)
    real = is_real(y)
    objective = objective or ("likelihood" if real else "svm")
    if real and objective != "likelihood":
        raise ParameterError(f"{name} has real targets, which only the objective 'likelihood' takes")
    begin = time.perf_counter()
    series = learn_series(batch, y, objective, max_length=max_length, labels=labels)
    _show(console, name, series, time.perf_counter() - begin)
    if out is not None:
        _write(out, name, series)
    if not real:
        _compare(console, name, batch, y, objective, labels, max_length, folds, seeds)


def _show(console: Console, name: str, series: LearnedSeries, seconds: float) -> None:
    table = Table(
        "length", "mu", "share of the kernel", title=f"{name}: learned by {series.objective}, {seconds:.2f} s"
    )
    for length, (mu, share) in enumerate(zip(series.mu, series.shares, strict=True)):
        table.add_row(str(length), f"{mu:.3g}", f"{share:6.1%} " + "█" * round(40 * share))
    console.print(table)
    console.print(f"{series.objective}: {series.curve[0]:.4g} at first, {series.curve[-1]:.4g} at the end\n")


def _compare(
    console: Console,
    name: str,
    batch: GraphBatch,
    y: NDArray[Any],
    objective: str,
    labels: str | None,
    max_length: int,
    folds: int,
    seeds: tuple[int, ...],
) -> None:
    honest: dict[str, list[float]] = {"geometric, decay 1/d_max²": [], "learned in the training folds": []}
    chosen_on_test: list[float] = []
    splits = [
        split
        for seed in seeds
        for split in StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
    ]
    for train, test in track(splits, name, console=console, transient=True):
        learned = learn_series(batch[train], y[train], objective, max_length=max_length, labels=labels)
        for row, series in zip(honest, (Geometric("auto"), learned), strict=True):
            nested, best = _score(series, batch, y, train, test, labels, max_length)
            honest[row].append(nested)
        chosen_on_test.append(best)
    table = Table("series", "accuracy", "± over folds", title=f"{name}: {folds} folds, C chosen in the training folds")
    for row, scores in honest.items():
        table.add_row(row, f"{100 * np.mean(scores):.1f} %", f"{100 * np.std(scores):.1f}")
    console.print(table)
    console.print(
        f"With C chosen on the test folds, which is not honest: {100 * np.mean(chosen_on_test):.1f} ± "
        f"{100 * np.std(chosen_on_test):.1f} %\n"
    )


def _score(
    series: Series, batch: GraphBatch, y: NDArray[Any], train: Any, test: Any, labels: str | None, max_length: int
) -> tuple[float, float]:
    """Accuracy on the test fold with C by inner cross-validation, and with the C that is best on the test fold."""
    kernel = RandomWalkKernel(series, max_length=max_length, labels=labels, start="ones", stop="ones")
    K = kernel.fit_transform(batch[train])
    size = float(K.diagonal().mean()) or 1.0
    K, new = K / size, kernel.transform(batch[test]) / size
    search = GridSearchCV(SVC(kernel="precomputed", max_iter=_EFFORT), _GRID, cv=5).fit(K, y[train])
    each = [SVC(kernel="precomputed", C=C, max_iter=_EFFORT).fit(K, y[train]).score(new, y[test]) for C in _GRID["C"]]
    return float(search.score(new, y[test])), float(max(each))


def _write(folder: Path, name: str, series: LearnedSeries) -> None:
    from gvoys.report import plots

    folder.mkdir(parents=True, exist_ok=True)
    plots.save_bars(
        folder / f"{name}-lengths.png", [f"walk{i}" for i in range(len(series.mu))], np.array(series.shares)
    )
    plots.save_curve(folder / f"{name}-curve.png", series.curve, series.objective)
