"""gvoys train: a model of a column, from all graphs that have it, in a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gvoys.apps.cli.messages import answer, begin
from gvoys.apps.cli.options import (
    Attributes,
    Data,
    Folds,
    Jobs,
    Json,
    Molecules,
    Overwrite,
    Parts,
    Reading,
    Splitting,
    Targets,
    Task,
    columns_of,
    given_options,
    read_options,
)

if TYPE_CHECKING:
    from rich.console import Console

    from gvoys.apps.cli.data import Job


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
    from gvoys.apps.cli.data import learner_for, prepare
    from gvoys.apps.cli.outputs import check_outputs
    from gvoys.kernels.inputs import unused_attributes

    models, columns = [], columns_of(target)
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
        names = list(map(str, model.training_["classes"] or []))
        named = f"tells {len(names)} classes apart: {', '.join(names[:5])}{', …' * (len(names) > 5)}"
        made = f"{file}, {file.stat().st_size / 1e6:.1f} MB: {named if names else 'predicts numbers'}"
        console.print(made, highlight=False, soft_wrap=True, markup=False)
    if json:
        kept = ("data", "target", "classes", "scores")
        summaries = [{key: model.training_[key] for key in kept} for model in models]
        answer([summary | {"out": str(file)} for summary, file in zip(summaries, files, strict=True)])


def _score(console: Console, job: Job, model: Any, folds: int, seed: int) -> list[float]:
    """Cross-validate, and say what came out."""
    from gvoys.apps.cli.data import cross_validate

    evaluation, _ = cross_validate(console, job, model, folds, (seed,))
    mean, deviation = evaluation.mean, evaluation.deviation
    score = (
        f"RMSE {mean:.3g} ± {deviation:.2g}" if job.classes is None else f"{100 * mean:.1f} % ± {100 * deviation:.1f}"
    )
    sentence = f"{score} over {folds} folds of {len(job.y):,} graphs"
    console.print(sentence if job.target is None else f"{job.target}: {sentence}", highlight=False, markup=False)
    return [float(item) for item in evaluation.scores()[0]]


def _save(models: list[Any], columns: list[Any], out: Path) -> list[Path]:
    """Write one file, or a folder with one for each column, all at once."""
    from gvoys.apps.cli.data import file_name
    from gvoys.apps.cli.outputs import another, together

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


def predict(
    model: Annotated[Path, typer.Argument(help="The file or folder that `gvoys train` wrote.")],
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="NAME.csv for the predictions.")],
    reading: Reading,
    parts: Parts,
    index: Annotated[
        Path | None, typer.Option(help="An index of a library: its graph that is nearest to each graph is named.")
    ] = None,
    overwrite: Overwrite = False,
    n_jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Predict with a trained model: a table of ids, predictions and how sure they are.

    Classes come with their probabilities, numbers with a deviation and a 95 % interval. Where the model keeps its
    training graphs, the nearest of them is named; *--index* names the nearest graph of a library of any size. *unseen*
    is the share of nodes whose label no training graph has, and *unlike* marks graphs that are unlike all training
    graphs, so that predictions for them are guesses. Molecules are read as those of the training table were. A run
    that was stopped or killed goes on where it was when the command is given again.
    """
    console = begin(json)
    from gvoys.apps.cli.outputs import RunFiles, check_outputs, run_parts
    from gvoys.apps.scale import predict_file

    files = RunFiles.from_out(out)
    more: dict[str, Any] = {"root": reading.root, "overwrite": overwrite, "work": files.work}
    check_outputs(out, ".csv", inputs=[model, data, index], beside=[files.skipped], **more)
    how = given_options(reading) | {"index": index, "rows_per_part": parts.rows_per_part, "overwrite": overwrite}

    run_parts(console, ("predict",), files, parts, n_jobs, json, partial(predict_file, model, data, out, **how))
