"""gvoys embed: a file of graphs in, a folder of features out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from gvoys.apps.cli.messages import begin
from gvoys.apps.cli.options import (
    Counting,
    Data,
    Device,
    Jobs,
    Json,
    Molecules,
    Overwrite,
    Parts,
    Reading,
    fields_of,
    is_given,
    read_options,
)
from gvoys.walk_fields import WalkFields

_NAMES = {"components": "n_components", "columns": "n_columns"}  # options that Python has by other names


def embed(
    context: typer.Context,
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="A folder for the features.")],
    reading: Reading,
    molecules: Molecules,
    walks: WalkFields,
    counting: Counting,
    parts: Parts,
    like: Annotated[
        Path | None, typer.Option(help="A folder of features or a model whose features these are to compare with.")
    ] = None,
    lengths: Annotated[
        str, typer.Option(help="summed or stacked over walk lengths; auto sums sketches up and keeps moments apart.")
    ] = "auto",
    device: Device = "cpu",
    overwrite: Overwrite = False,
    n_jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Turn a file of graphs into features, whose dot products are the kernel: a Parquet dataset in numbered parts.

    Memory does not grow with the input. A run that was stopped or killed goes on where it was when the command is given
    again, and ends with the same bytes. Rows that cannot be read are listed beside the folder. Features of any two runs
    with the same options compare; with *--like* they compare with those of another run, or of a trained model.
    """
    console = begin(json)
    from gvoys.apps.cli.outputs import RunFiles, check_outputs, run_parts
    from gvoys.apps.scale import embed_file
    from gvoys.apps.scale.parts import skipped_beside

    files = RunFiles(out, skipped_beside(out), out)
    check_outputs(
        out, inputs=[data, like], root=reading.root, overwrite=overwrite, folder=True, beside=[files.skipped], work=out
    )
    how: dict[str, Any] = read_options(reading, molecules) | {"overwrite": overwrite}
    more = {"lengths": lengths, "rows_per_part": parts.rows_per_part, "device": device}
    how["parameters"] = parameters_of(walks, counting, more)
    if like is not None:
        how |= _given(context, how) | {"like": like}
    run_parts(console, ("embed",), files, parts, n_jobs, json, partial(embed_file, data, out, **how))


def parameters_of(walks: WalkFields, counting: Counting, more: dict[str, Any]) -> dict[str, Any]:
    """Return the options as `embed_file` and `write_gram` name them."""
    from gvoys.walks.walk import Walk

    options = vars(counting) | more | {"decay": "auto" if counting.decay is None else counting.decay}
    return {_NAMES.get(option, option): value for option, value in options.items()} | {"walk": Walk(**fields_of(walks))}


def _given(context: typer.Context, how: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters and chemistry that the user asked for; all else is as it was there."""
    given = partial(is_given, context)
    spelled = {name: option for option, name in _NAMES.items()}
    parameters = dict(how["parameters"])
    walk = {name: value for name, value in parameters.pop("walk").get_params().items() if given(name)}
    asked = {name: value for name, value in parameters.items() if given(spelled.get(name) or name)} | {"walk": walk}
    chemistry = how["chemistry"] if any(map(given, how["chemistry"])) else None
    return {"parameters": asked, "chemistry": chemistry}


def kernel(
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="NAME.npy for the matrix; NAME.ids.txt goes beside it.")],
    reading: Reading,
    molecules: Molecules,
    walks: WalkFields,
    counting: Counting,
    parts: Parts,
    lengths: Annotated[str, typer.Option(help="stacked or summed over walk lengths.")] = "stacked",
    normalize: Annotated[bool, typer.Option("--normalize", help="Divide by sqrt(K(G,G) K(H,H)).")] = False,
    device: Device = "cpu",
    overwrite: Overwrite = False,
    n_jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Write the Gram matrix of a file of graphs, block by block, to a .npy file that NumPy can map into memory.

    The matrix is that of `RandomWalkKernel` with the same options. A run that was stopped or killed goes on where it
    was when the command is given again.
    """
    console = begin(json)
    from gvoys.apps.cli.outputs import RunFiles, check_outputs, run_parts
    from gvoys.apps.scale import write_gram
    from gvoys.apps.scale.job import Parameters
    from gvoys.io.files import check_folder

    files = RunFiles.from_out(out)
    check_folder(out.parent)
    out.parent.mkdir(parents=True, exist_ok=True)
    tables = [out.parent / f"{out.stem}.ids.txt", files.skipped]
    check_outputs(out, ".npy", inputs=[data], root=reading.root, overwrite=overwrite, beside=tables, work=files.work)
    how: dict[str, Any] = {**read_options(reading, molecules), "normalize": normalize, "overwrite": overwrite}
    more = {"lengths": lengths, "rows_per_part": parts.rows_per_part, "device": device}
    how["parameters"] = Parameters(**parameters_of(walks, counting, more))
    run_parts(console, ("profiles", "kernel"), files, parts, n_jobs, json, partial(write_gram, data, out, **how))
