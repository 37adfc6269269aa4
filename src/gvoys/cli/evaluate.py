"""gvoys evaluate: nested cross-validation of a learner on one dataset or several."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gvoys.cli.learner import learner_for, shown_score
from gvoys.cli.read import read_with_target
from gvoys.estimators.learning.evaluation import Evaluation, evaluate_folds
from gvoys.io.files import appearing

__all__ = ["Options", "run_evaluate"]

_FEW = 1000  # graphs below which one split says little, and three are made


@dataclass(frozen=True)
class Options:
    """What the command line was given."""

    root: Path | None
    target: str | None
    smiles: str
    folds: int
    seeds: tuple[int, ...] | None
    attributes: bool
    out: Path | None
    n_jobs: int | None


def run_evaluate(console: Console, data: list[str], options: Options) -> None:
    """Load, evaluate, print and write."""
    if options.out is not None:
        _check_plots()
    table = Table(
        "data",
        "graphs",
        "score",
        "± over folds",
        "seeds",
        "fit",
        "predict",
        title=f"{options.folds} folds; everything chosen inside the training folds",
    )
    for name in data:
        row = _one(console, name, options)
        table.add_row(*row)
        if len(data) > 1:
            console.print(f"{row[0]}: {row[2]} ± {row[3]}")
    console.print(table)


def _one(console: Console, data: str, options: Options) -> list[str]:
    name, graphs, y = read_with_target(console, data, options.root, options.target, options.smiles)
    batch = graphs.batch
    seeds = options.seeds or ((0, 1, 2) if len(batch) < _FEW else (0,))
    model = learner_for(name, graphs, y, options.attributes, options.n_jobs)
    found = evaluate_folds(
        model,
        batch,
        y,
        options.folds,
        seeds,
        lambda splits, n: track(splits, name, total=n, console=console, transient=True),
    )
    if options.out is not None:
        _write(options.out / name, name, found, seeds)
    score, deviation = shown_score(found)
    seconds = [f"{value:.1f} s" for value in (found.fit_seconds, found.predict_seconds)]
    return [name, f"{len(batch):,}", score, deviation, ", ".join(map(str, seeds)), *seconds]


def _write(folder: Path, name: str, found: Evaluation, seeds: tuple[int, ...]) -> None:
    """results.json, and the plots; a file appears only when it is whole."""
    from gvoys.report import plots

    folder.mkdir(parents=True, exist_ok=True)
    result = {
        "data": name,
        "score": "accuracy" if found.classify else "rmse",
        "seeds": list(seeds),
        "scores": found.scores,
        "mean": found.mean,
        "deviation": found.deviation,
        "fit_seconds": found.fit_seconds,
        "predict_seconds": found.predict_seconds,
    }
    with appearing(folder / "results.json") as partial:
        partial.write_text(json.dumps(result, indent=1))
    if found.classify:
        plots.save_confusion(folder / "confusion.png", found.truth, found.predicted)
        shares = np.mean([model.contributions_ for model in found.models], axis=0)
        plots.save_contributions(folder / "lengths.png", shares)
    else:
        plots.save_scatter(folder / "predictions.png", found.truth, found.predicted)
        names = found.models[0].blocks_
        plots.save_bars(folder / "lengths.png", names, np.mean([model.mu_ for model in found.models], axis=0))


def _check_plots() -> None:
    from gvoys.report import plots

    plots.check()
