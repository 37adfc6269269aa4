"""gvoys predict: a trained model and a file of graphs in, a table of predictions out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gvoys.cli.messages import begin
from gvoys.cli.options import Data, Jobs, Json, Overwrite, Parts, Reading, given_options


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
    from gvoys.cli.outputs import RunFiles, check_outputs
    from gvoys.cli.stream import run_parts
    from gvoys.scale import predict_file

    files = RunFiles.beside(out)
    inputs: list[str | Path | None] = [model, data, index]
    check_outputs(
        out, ".csv", inputs=inputs, root=reading.root, overwrite=overwrite, beside=[files.skipped], work=files.work
    )
    how: dict[str, Any] = {
        **given_options(reading),
        "index": index,
        "rows_per_part": parts.rows_per_part,
        "overwrite": overwrite,
    }

    def work(worker: Any, on_progress: Any, _: Any) -> Any:
        return predict_file(model, data, out, **how, worker=worker, on_progress=on_progress)

    run_parts(console, "predict", files, parts, n_jobs, json, work)
