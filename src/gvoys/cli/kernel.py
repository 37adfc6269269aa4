"""gvoys kernel: a file of graphs in, their Gram matrix out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gvoys.cli.embed import parameters_of
from gvoys.cli.messages import begin
from gvoys.cli.options import Counting, Data, Device, Jobs, Json, Molecules, Overwrite, Parts, Reading, read_options
from gvoys.walk_fields import WalkFields


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
    from gvoys.cli.outputs import RunFiles, check_outputs
    from gvoys.cli.stream import run_parts
    from gvoys.io.files import check_folder
    from gvoys.scale import write_gram
    from gvoys.scale.job import Parameters

    files = RunFiles.beside(out)
    check_folder(out.parent)
    out.parent.mkdir(parents=True, exist_ok=True)
    off_diagonal = [out.parent / f"{out.stem}.ids.txt", files.skipped]
    check_outputs(
        out, ".npy", inputs=[data], root=reading.root, overwrite=overwrite, beside=off_diagonal, work=files.work
    )
    how: dict[str, Any] = {**read_options(reading, molecules), "normalize": normalize, "overwrite": overwrite}
    more = {"lengths": lengths, "rows_per_part": parts.rows_per_part, "device": device}
    options = parameters_of(walks, counting, more)

    def work(worker: Any, on_progress: Any, bar: Any) -> Any:
        rows = bar.add_task("kernel", total=None, start=False, rate="")

        def on_rows(done: int, total: int) -> None:
            bar.start_task(rows)
            bar.update(rows, completed=done, total=total)

        return write_gram(
            data, out, Parameters(**options), **how, worker=worker, on_progress=on_progress, on_rows=on_rows
        )

    run_parts(console, "profiles", files, parts, n_jobs, json, work)
