"""gvoys train: a model of one column, from all graphs that have it, in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from gvoys.cli.learner import learner_for, shown_score
from gvoys.cli.read import read_with_target
from gvoys.estimators.learning.evaluation import evaluate_folds
from gvoys.io.files import check_new, check_output

__all__ = ["Options", "run_train"]


@dataclass(frozen=True)
class Options:
    """What the command line was given."""

    out: Path
    root: Path | None
    target: str | None
    smiles: str
    id: str | None
    folds: int | None  # None: no cross-validation
    seed: int
    attributes: bool
    n_jobs: int | None


def run_train(console: Console, data: str, options: Options) -> None:
    """Read, cross-validate, fit on all graphs, save."""
    check_output(options.out)
    check_new(options.out)
    name, graphs, y = read_with_target(console, data, options.root, options.target, options.smiles, options.id)
    model = learner_for(name, graphs, y, options.attributes, options.n_jobs)
    training: dict[str, Any] = {"data": name, "target": options.target, "smiles": options.smiles, "ids": graphs.ids}
    if options.folds is not None:
        found = evaluate_folds(
            model,
            graphs.batch,
            y,
            options.folds,
            (options.seed,),
            lambda splits, n: track(splits, "cross-validation", total=n, console=console, transient=True),
        )
        score, deviation = shown_score(found)
        console.print(f"{score} ± {deviation} over {options.folds} folds of {len(y):,} graphs", highlight=False)
        training["scores"] = found.scores[0]
    with console.status(f"training on {len(y):,} graphs …"):
        model.fit(graphs.batch, y)
    model.training_ = training
    model.save(options.out)
    size = options.out.stat().st_size / 1e6
    console.print(f"{options.out}, {size:.1f} MB", highlight=False, soft_wrap=True, markup=False)
