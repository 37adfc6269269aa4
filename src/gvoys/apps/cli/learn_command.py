"""gvoys learn: the series mu from data, and the gain in nested cross-validation."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from gvoys.apps.cli.messages import answer, begin
from gvoys.apps.cli.options import (
    Data,
    Folds,
    Jobs,
    Json,
    Molecules,
    OutFolder,
    Overwrite,
    Reading,
    fields_of,
    read_options,
)
from gvoys.walk_fields import WalkFields

if TYPE_CHECKING:
    from rich.console import Console

    from gvoys.apps.evaluation.baselines import Comparison
    from gvoys.estimators.learned_series import LearnedSeries


def learn(
    data: Data,
    reading: Reading,
    molecules: Molecules,
    walks: WalkFields,
    target: Annotated[str | None, typer.Option(help="The column to predict; of TU datasets the class.")] = None,
    objective: Annotated[
        str | None, typer.Option(help="svm, layer, alignment or likelihood; svm, for real targets likelihood.")
    ] = None,
    folds: Folds = 10,
    seed: Annotated[
        list[int] | None, typer.Option(help="Seed of the split; give it again for more. Default: 0.")
    ] = None,
    out: OutFolder = None,
    overwrite: Overwrite = False,
    n_jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Learn the coefficients mu of the walk kernel, and see the gain in nested cross-validation."""
    console = begin(json)
    import numpy as np
    from rich.progress import track

    from gvoys.apps.cli.data import is_real, read_with_target
    from gvoys.apps.cli.outputs import check_outputs, together
    from gvoys.apps.evaluation.baselines import compare_series
    from gvoys.apps.evaluation.folds import check_folds
    from gvoys.drawing import plots
    from gvoys.errors import ParameterError
    from gvoys.estimators.learned_series import learn_series
    from gvoys.threads import threads
    from gvoys.walks.walk import Walk

    if out is not None:
        check_outputs(out, inputs=[data], root=reading.root, overwrite=overwrite, folder=True)
    source, graphs = read_with_target(console, data, read_options(reading, molecules), target)
    assert graphs.y is not None
    name, real = source.name, is_real(graphs.y, name=target, rows=graphs.rows)
    objective = objective or ("likelihood" if real else "svm")
    if real and objective != "likelihood":
        raise ParameterError(f"{name} has real targets, which only the objective 'likelihood' takes")
    check_folds(graphs.y, not real, folds)
    walk = Walk(**fields_of(walks))
    with threads(n_jobs):
        start = time.perf_counter()
        series = learn_series(graphs.batch, graphs.y, objective, walk=walk)
        _show(console, name, series, time.perf_counter() - start)
        splits = (folds, tuple(seed or [0]), lambda steps: track(steps, name, console=console, transient=True))
        comparison = compare_series(graphs.batch, graphs.y, objective, *splits, walk)
    _show_gain(console, f"{name}: {folds} folds", comparison, real)
    if out is not None:
        with together(out) as folder:
            names, _, shares = zip(*_rows(series), strict=True)
            plots.save_bars(folder / f"{name}-lengths.png", list(names), np.array(shares))
            plots.save_curve(folder / f"{name}-curve.png", series.curve, series.objective)
    if json:
        mu = [{"walks": walk, "mu": value, "share": share} for walk, value, share in _rows(series)]
        scores = vars(comparison)
        scores = {key: scores[key] for key in ("geometric", "learned")} if real else scores
        answer({"data": name, "objective": objective, "mu": mu, "rmse" if real else "accuracy": scores})


def _rows(series: LearnedSeries) -> list[tuple[str, float, float]]:
    """List each coefficient with its name and its share."""
    import numpy as np

    mu, shares = np.array(series.rounds or [series.mu]), np.atleast_2d(series.shares)
    names = [f"round{r} walk{i}" if len(mu) > 1 else f"walk{i}" for r, i in np.ndindex(mu.shape)]
    return list(zip(names, mu.ravel().tolist(), shares.ravel().tolist(), strict=True))


def _show(console: Console, name: str, series: LearnedSeries, seconds: float) -> None:
    from rich.markup import escape
    from rich.table import Table

    title = f"{escape(name)}: learned by {series.objective}, {seconds:.2f} s"
    table = Table("walks", "mu", "share of the kernel", title=title)
    for walks, mu, share in _rows(series):
        table.add_row(walks, f"{mu:.3g}", f"{share:6.1%} " + "█" * round(40 * share))
    console.print(table)
    console.print(f"{series.objective}: {series.curve[0]:.4g} at first, {series.curve[-1]:.4g} at the end\n")


def _show_gain(console: Console, title: str, comparison: Comparison, real: bool) -> None:
    """Print the scores of both kernels on graphs that the learned series has not seen."""
    import numpy as np
    from rich.markup import escape
    from rich.table import Table

    method = "Gaussian processes" if real else "C chosen in the training folds"
    table = Table("series", "RMSE" if real else "accuracy", "± over folds", title=f"{escape(title)}, {method}")
    scores = {"geometric, decay 1/d_max²": comparison.geometric, "learned in the training folds": comparison.learned}
    for row, values in scores.items():
        mean, deviation = float(np.mean(values)), float(np.std(values))
        shown = (f"{mean:.3g}", f"{deviation:.2g}") if real else (f"{100 * mean:.1f} %", f"{100 * deviation:.1f}")
        table.add_row(row, *shown)
    console.print(table)
    if not real:
        mean, deviation = (100 * float(f(comparison.learned_on_test)) for f in (np.mean, np.std))
        console.print(f"With C chosen on the test folds, biased by selection: {mean:.1f} ± {deviation:.1f} %\n")
