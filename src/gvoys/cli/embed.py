"""gvoys embed: a file of graphs in, a folder of features out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gvoys.cli.messages import begin
from gvoys.cli.options import Data, Device, Jobs, Json, Molecules, Parts, Reading, Walks, no_labels, read_options

__all__ = ["embed"]


def embed(
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="A folder for the features.")],
    reading: Reading,
    molecules: Molecules,
    walks: Walks,
    parts: Parts,
    lengths: Annotated[
        str, typer.Option(help="summed or stacked over walk lengths; auto sums sketches up and keeps moments apart.")
    ] = "auto",
    device: Device = "cpu",
    n_jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Turn a file of graphs into features, whose dot products are the kernel: a Parquet dataset in numbered parts.

    Memory does not grow with the input. A run that was stopped or killed goes on where it was when the command is given
    again, and ends with the same bytes. Rows that cannot be read are listed in skipped.csv.
    """
    console = begin(json)
    from gvoys.cli.stream import run_parts
    from gvoys.scale import embed_file

    parameters = parameters_of(walks, lengths, parts.rows_per_part, device)

    def work(worker: Any, on_progress: Any, _: Any) -> Any:
        return embed_file(
            data, out, parameters, **read_options(reading, molecules), worker=worker, on_progress=on_progress
        )

    run_parts(console, "embed", out, out / "skipped.csv", parts, n_jobs, json, work)


def parameters_of(walks: Walks, lengths: str, rows_per_part: int, device: str) -> Any:
    """The options as `embed_file` and `write_gram` take them."""
    from gvoys.scale.job import Parameters

    options = vars(walks) | {"n_components": walks.components, "labels": no_labels(walks.labels)}
    del options["components"]
    return Parameters(**options, lengths=lengths, rows_per_part=rows_per_part, device=device)
