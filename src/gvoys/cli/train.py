"""gvoys train: a model of a column, from all graphs that have it, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gvoys.cli.messages import answer, begin
from gvoys.cli.options import (
    Attributes,
    Data,
    Folds,
    Jobs,
    Json,
    Molecules,
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

    from gvoys.cli.learner import Job


def train(
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model, model.gvoys; a folder for several columns.")],
    reading: Reading,
    molecules: Molecules,
    splitting: Splitting,
    target: Targets = None,
    task: Task = "auto",
    cv: Annotated[bool, typer.Option(help="Cross-validate first, for a figure of what new graphs would get.")] = True,
    folds: Folds = 5,
    seed: Annotated[int, typer.Option(help="Seed of its split.")] = 0,
    attributes: Attributes = None,
    overwrite: Overwrite = False,
    n_jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Train a model that predicts a column, and keep it in a file for `gvoys predict`.

    A column of numbers gets a Gaussian process, classes a support vector machine; settings are chosen by the training
    graphs alone. Of several columns you get a folder with a model for each, which *predict* takes as well.
    """
    console = begin(json)
    from gvoys.cli.learner import learner_for, prepare
    from gvoys.cli.outputs import check_outputs
    from gvoys.estimators.learning.inputs import unused_attributes

    models = []
    columns = columns_of(target)
    check_outputs(out, inputs=[data], root=reading.root, overwrite=overwrite, folder=len(columns) > 1)
    for column in columns:
        job = prepare(console, data, read_options(reading, molecules), column, splitting, task)
        model = learner_for(job, attributes, n_jobs)
        scores = _score(console, job, model, folds, seed) if cv else None
        with console.status(f"training on {len(job.y):,} graphs …"):
            model.fit(job.graphs.batch, job.y)
        unused = [f"{kind}_attributes" for kind in unused_attributes(model, job.graphs.batch)]
        about = {
            "data": job.name,
            "target": column,
            "classes": None if job.classes is None else job.classes.tolist(),
            "smiles": reading.smiles or "smiles",
            "fields": {name: value for name, value in job.fields.items() if name not in unused},
            "chemistry": vars(molecules),
            "scores": scores,
        }
        model.training_ = about | {"ids": job.graphs.ids}
        models.append(model)
    files = _save(models, columns, out)
    for file, model in zip(files, models, strict=True):
        made = f"{file}, {file.stat().st_size / 1e6:.1f} MB: {_what(model.training_)}"
        console.print(made, highlight=False, soft_wrap=True, markup=False)
    if json:
        kept = ("data", "target", "classes", "scores")
        summaries = [{key: model.training_[key] for key in kept} for model in models]
        answer([summary | {"out": str(file)} for summary, file in zip(summaries, files, strict=True)])


def _score(console: Console, job: Job, model: Any, folds: int, seed: int) -> list[float]:
    """Cross-validate, and say what came out."""
    from gvoys.cli.learner import cross_validate, shown_score

    evaluation, _ = cross_validate(console, job, model, folds, (seed,))
    score, deviation = shown_score(evaluation)
    sentence = f"{score} ± {deviation} over {folds} folds of {len(job.y):,} graphs"
    console.print(sentence if job.target is None else f"{job.target}: {sentence}", highlight=False, markup=False)
    return [float(item) for item in evaluation.scores()[0]]


def _what(training: dict[str, Any]) -> str:
    """Say what was trained, so that users see how a column was taken."""
    names = training["classes"]
    if names is None:
        return "predicts numbers"
    return f"tells {len(names)} classes apart: {', '.join(map(str, names[:5]))}{', …' * (len(names) > 5)}"


def _save(models: list[Any], columns: list[Any], out: Path) -> list[Path]:
    """One file, or a folder with one for each column, all at once."""
    from gvoys.cli.outputs import another, together
    from gvoys.cli.read import file_name

    if len(models) == 1:
        models[0].save(out)
        return [out]
    files: list[Path] = []
    for column in columns:
        files.append(another(out / f"{file_name(column)}.gvoys", files))
    with together(out) as folder:
        for model, file in zip(models, files, strict=True):
            model.save(folder / file.name)
    return files
