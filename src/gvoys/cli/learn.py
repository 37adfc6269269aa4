"""gvoys learn: the series mu from data, and what it is worth in nested cross-validation."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gvoys.cli.read import is_real, read_with_target
from gvoys.errors import ParameterError
from gvoys.estimators.learners import LearnedSeries, learn_series
from gvoys.estimators.learning.comparison import compare_machines
from gvoys.graphs.batch import GraphBatch

__all__ = ["Options", "run_learn"]


@dataclass(frozen=True)
class Options:
    """What the command line was given."""

    root: Path | None
    target: str | None
    smiles: str
    objective: str | None
    labels: str | None
    max_length: int
    refine: int
    folds: int
    seeds: tuple[int, ...]
    out: Path | None

    @property
    def walks(self) -> dict[str, Any]:
        """What the series and the kernel must agree on."""
        return {"max_length": self.max_length, "labels": self.labels, "refine": self.refine}


def run_learn(console: Console, data: str, options: Options) -> None:
    """Learn on all graphs and print; then once more inside every training fold, for an honest figure."""
    name, graphs, y = read_with_target(console, data, options.root, options.target, options.smiles)
    batch = graphs.batch
    real = is_real(y)
    objective = options.objective or ("likelihood" if real else "svm")
    if real and objective != "likelihood":
        raise ParameterError(f"{name} has real targets, which only the objective 'likelihood' takes")
    begin = time.perf_counter()
    series = learn_series(batch, y, objective, **options.walks)
    _show(console, name, series, time.perf_counter() - begin)
    if options.out is not None:
        _write(options.out, name, series)
    if not real:
        _compare(console, name, batch, y, objective, options)


def _rows(series: LearnedSeries) -> list[tuple[str, float, float]]:
    """What each coefficient is for, the coefficient, and its share."""
    mu, shares = np.array(series.rounds or [series.mu]), np.atleast_2d(series.shares)
    names = [f"round{r} walk{i}" if len(mu) > 1 else f"walk{i}" for r, i in np.ndindex(mu.shape)]
    return list(zip(names, mu.ravel().tolist(), shares.ravel().tolist(), strict=True))


def _show(console: Console, name: str, series: LearnedSeries, seconds: float) -> None:
    table = Table("walks", "mu", "share of the kernel", title=f"{name}: learned by {series.objective}, {seconds:.2f} s")
    for walks, mu, share in _rows(series):
        table.add_row(walks, f"{mu:.3g}", f"{share:6.1%} " + "█" * round(40 * share))
    console.print(table)
    console.print(f"{series.objective}: {series.curve[0]:.4g} at first, {series.curve[-1]:.4g} at the end\n")


def _compare(console: Console, name: str, batch: GraphBatch, y: NDArray[Any], objective: str, options: Options) -> None:
    found = compare_machines(
        batch,
        y,
        objective,
        options.folds,
        options.seeds,
        lambda splits: track(splits, name, console=console, transient=True),
        **options.walks,
    )
    table = Table(
        "series", "accuracy", "± over folds", title=f"{name}: {options.folds} folds, C chosen in the training folds"
    )
    for row, scores in (
        ("geometric, decay 1/d_max²", found.geometric),
        ("learned in the training folds", found.learned),
    ):
        table.add_row(row, f"{100 * np.mean(scores):.1f} %", f"{100 * np.std(scores):.1f}")
    console.print(table)
    console.print(
        f"With C chosen on the test folds, biased by selection: {100 * np.mean(found.learned_on_test):.1f} ± "
        f"{100 * np.std(found.learned_on_test):.1f} %\n"
    )


def _write(folder: Path, name: str, series: LearnedSeries) -> None:
    from gvoys.report import plots

    folder.mkdir(parents=True, exist_ok=True)
    names, _, shares = zip(*_rows(series), strict=True)
    plots.save_bars(folder / f"{name}-lengths.png", list(names), np.array(shares))
    plots.save_curve(folder / f"{name}-curve.png", series.curve, series.objective)
