"""gvoys evaluate: how good predictions would be, in cross-validation, beside baselines."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gvoys.apps.cli.messages import answer, begin
from gvoys.apps.cli.options import (
    KINDS,
    Attributes,
    Folds,
    Jobs,
    Json,
    Molecules,
    OutFolder,
    Overwrite,
    Reading,
    Splitting,
    Targets,
    Task,
    columns_of,
    read_options,
)

if TYPE_CHECKING:
    from rich.console import Console

    from gvoys.apps.cli.data import Job
    from gvoys.apps.evaluation import Evaluation


_FEW_GRAPHS = 1000  # graphs below which one split says little, and three are made


def evaluate(
    data: Annotated[list[str], typer.Argument(help=KINDS)],
    reading: Reading,
    molecules: Molecules,
    splitting: Splitting,
    target: Targets = None,
    task: Task = "auto",
    folds: Folds = 10,
    seed: Annotated[
        list[int] | None,
        typer.Option(help="Seed of the split; give it again for more. Default: 0, and 0 1 2 for under 1000 graphs."),
    ] = None,
    baselines: Annotated[bool, typer.Option(help="Evaluate WL and fingerprints on the same folds.")] = True,
    attributes: Attributes = None,
    out: OutFolder = None,
    overwrite: Overwrite = False,
    n_jobs: Jobs = None,
    json: Json = False,
) -> None:
    """See how well a learner classifies your graphs, or predicts a number, in nested cross-validation.

    Kernel, refinement and C are chosen inside every training fold; the figures are what new graphs would get. Baselines
    get the same folds, and a paired test says whether a difference is more than noise. With *--out* you get a page,
    every prediction with its error, and plots.
    """
    console = begin(json)
    from gvoys.apps.cli.data import cross_validate, file_name, learner_for, prepare
    from gvoys.apps.cli.outputs import another, check_outputs, together
    from gvoys.apps.evaluation.evaluation_page import summarise
    from gvoys.drawing import plots
    from gvoys.kernels.inputs import warn_of_unused

    if out is not None:
        check_outputs(out, inputs=data, root=reading.root, overwrite=overwrite, folder=True)
        plots.check()
    summaries, folders = [], list[Path]()
    columns = columns_of(target)
    for source, column in product(data, columns):
        job = prepare(console, source, read_options(reading, molecules), column, splitting, task)
        seeds = tuple(seed) if seed else (0, 1, 2) if len(job.y) < _FEW_GRAPHS else (0,)
        learner = learner_for(job, attributes, n_jobs)
        warn_of_unused(learner, job.graphs.batch)  # as `fit` does, which folds silence
        evaluation, learned = cross_validate(console, job, learner, folds, seeds, baselines)
        _show(console, job, evaluation, folds)
        about = {"data": job.name, "target": column, "graphs": len(job.y), "split": splitting.split, "folds": folds}
        summaries.append(about | {"facts": job.facts} | summarise(evaluation))
        if out is not None:
            name = f"{job.name}-{file_name(column)}" if len(columns) > 1 else job.name
            folders.append(folder := another(out / name, folders))
            with together(folder) as partial:
                _write(partial, job, evaluation, learned, summaries[-1])
            console.print(f"{folder / 'report.html'}", highlight=False, markup=False, soft_wrap=True)
    if json:
        answer(summaries if len(summaries) > 1 else summaries[0])


def _show(console: Console, job: Job, evaluation: Evaluation, folds: int) -> None:
    """Print a row for each method, and whether the first one differs from the others."""
    from rich.markup import escape
    from rich.table import Table

    from gvoys.apps.evaluation.evaluation_page import shown_measure

    first, *_ = evaluation.results
    names = list(evaluation.results[first].measures[0])
    title = f"{escape(job.title)}: {len(job.y):,} graphs, {folds} folds; everything chosen inside the training folds"
    table = Table("", *names, "fit", "predict", title=title, caption="Times are those of one fold.")
    n_folds = len(evaluation.folds)
    for method, result in evaluation.results.items():
        cells = [shown_measure(result.values(name)) for name in names]
        seconds = [f"{value:.1f} s" for value in (result.fit_seconds / n_folds, result.predict_seconds / n_folds)]
        table.add_row(method, *cells, *seconds)
    console.print(table)
    for method in list(evaluation.results)[1:]:
        ahead = evaluation.difference(method)
        difference = (
            f"{'ahead of' if ahead.mean >= 0 else 'behind'} {method} by {abs(ahead.mean):.3f} ± {ahead.error:.3f}"
        )
        noise = "may be noise" if ahead.is_noise else "more than noise"
        console.print(f"gvoys is {difference} ({noise}, p = {ahead.p:.2g})", highlight=False, markup=False)


def _write(folder: Path, job: Job, evaluation: Evaluation, learned: list[Any], summary: dict[str, Any]) -> None:
    """Write all files of one evaluation."""
    from gvoys.apps.evaluation.evaluation_page import write_page, write_predictions
    from gvoys.drawing.page import as_json
    from gvoys.io.files import appearing

    write_predictions(folder / "predictions.csv", evaluation, job.graphs.ids, job.graphs.smiles)
    with appearing(folder / "results.json") as partial:
        partial.write_text(as_json(summary), encoding="utf-8")
    pictures = _plot(folder, evaluation, learned)
    n_seeds = len(summary["seeds"])
    facts = [*job.facts, f"{summary['folds']} folds, {summary['split']} split, {n_seeds} seed{'s' * (n_seeds > 1)}."]
    write_page(folder / "report.html", job.title, evaluation, facts, pictures, job.graphs.ids, job.graphs.smiles)


def _plot(folder: Path, evaluation: Evaluation, learned: list[Any]) -> dict[str, Path]:
    """Draw the plots; return their files by what they show."""
    import numpy as np

    from gvoys.drawing import plots

    result = next(iter(evaluation.results.values()))
    truth = np.concatenate([evaluation.y[fold.test] for fold in evaluation.folds]).tolist()
    predicted = np.concatenate([values.values for values in result.predictions]).tolist()
    lengths = folder / "lengths.png"
    if evaluation.classes is not None:
        first = folder / "confusion.png"
        plots.save_confusion(first, truth, predicted)
        shares = [values for values in learned if values is not None]
        if not shares:
            return {"confusion": first}
        plots.save_contributions(lengths, np.mean(shares, axis=0))
        return {"confusion": first, "alignment of walk lengths with the classes": lengths}
    first = folder / "predictions.png"
    plots.save_scatter(first, truth, predicted)
    names = list(dict.fromkeys(name for values in learned for name in values))  # models may have chosen other kernels
    weights = [np.mean([values.get(name, 0.0) for values in learned]) for name in names]
    plots.save_bars(lengths, names, np.array(weights))
    return {"predicted against measured": first, "learned weight of walk lengths": lengths}
