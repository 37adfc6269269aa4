"""gvoys embed, kernel and predict: files of graphs in, features, a Gram matrix or predictions out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from gvoys.cli.read import say_skipped
from gvoys.errors import GvoysError
from gvoys.scale import embed_file, predict_file, write_gram
from gvoys.scale.job import Parameters
from gvoys.scale.run import Summary

__all__ = ["Data", "Where", "run_embed", "run_kernel", "run_predict"]


@dataclass(frozen=True)
class Data:
    """What to read.

    Parameters
    ----------
    path : str
        File, folder, or name of a dataset.
    smiles : str or None
        Column that holds the SMILES; None is for predictions: that of the training table.
    id : str or None
        Column that holds the ids; None numbers the rows.
    root : Path or None
        Folder of TU datasets.
    """

    path: str
    smiles: Any
    id: str | None
    root: Path | None


@dataclass(frozen=True)
class Where:
    """What makes the parts: this process, workers on this machine, or a cluster.

    Parameters
    ----------
    workers : int or None
        Number of workers to start on this machine.
    scheduler : str or None
        Address of a Dask scheduler.
    """

    workers: int | None
    scheduler: str | None


def run_embed(console: Console, data: Data, out: Path, parameters: Parameters, where: Where) -> None:
    """Run `gvoys embed` with a progress bar, and print the result.

    Parameters
    ----------
    console : Console
        Where to print.
    data : Data
        What to read.
    out : Path
        Folder of features.
    parameters : Parameters
        Parameters of the features.
    where : Where
        What makes the parts.
    """
    begin = time.perf_counter()
    with _worker(where) as worker, _bar(console, "embed") as (_, on_progress), _resumable(console, out):
        summary = embed_file(folder=out, parameters=parameters, **vars(data), worker=worker, on_progress=on_progress)
    _conclude(console, summary, out, out / "skipped.csv", time.perf_counter() - begin)


def run_kernel(console: Console, data: Data, out: Path, parameters: Parameters, normalize: bool, where: Where) -> None:
    """Run `gvoys kernel` with progress bars, and print the result.

    Parameters
    ----------
    console : Console
        Where to print.
    data : Data
        What to read.
    out : Path
        File of the Gram matrix, NAME.npy.
    parameters : Parameters
        Parameters of the features.
    normalize : bool
        Whether to divide by sqrt(K(G,G) K(H,H)).
    where : Where
        What makes the parts.
    """
    begin = time.perf_counter()
    with _worker(where) as worker, _bar(console, "profiles") as (bar, on_progress), _resumable(console, out):
        rows = bar.add_task("kernel", total=None, start=False, rate="")

        def on_rows(done: int, total: int) -> None:
            bar.start_task(rows)
            bar.update(rows, completed=done, total=total)

        summary = write_gram(
            out=out,
            parameters=parameters,
            normalize=normalize,
            **vars(data),
            worker=worker,
            on_progress=on_progress,
            on_rows=on_rows,
        )
    _conclude(console, summary, out, out.with_suffix(".skipped.csv"), time.perf_counter() - begin)


def run_predict(console: Console, model: Path, data: Data, out: Path, rows_per_part: int, where: Where) -> None:
    """Run `gvoys predict` with a progress bar, and print the result.

    Parameters
    ----------
    console : Console
        Where to print.
    model : Path
        File of the model.
    data : Data
        What to read.
    out : Path
        The table, NAME.csv.
    rows_per_part : int
        Rows of the input that are predicted at once.
    where : Where
        What makes the parts.
    """
    begin = time.perf_counter()
    with _worker(where) as worker, _bar(console, "predict") as (_, on_progress), _resumable(console, out):
        how: dict[str, Any] = {**vars(data), "rows_per_part": rows_per_part}
        summary = predict_file(model, out=out, **how, worker=worker, on_progress=on_progress)
    _conclude(console, summary, out, out.with_suffix(".skipped.csv"), time.perf_counter() - begin)


@contextmanager
def _bar(console: Console, name: str) -> Iterator[tuple[Progress, Any]]:
    begin = time.perf_counter()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(name, total=None, rate="")

        def on_progress(done: int, total: int, graphs: int) -> None:
            rate = graphs / max(time.perf_counter() - begin, 1e-9)
            bar.update(task, completed=done, total=total, rate=f"{rate:,.0f} graphs/s" if graphs else "")

        yield bar, on_progress


@contextmanager
def _resumable(console: Console, out: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        console.print(f"stopped; the same command goes on where this run of {out} was", soft_wrap=True, markup=False)
        raise


@contextmanager
def _worker(where: Where) -> Iterator[Any]:
    if where.workers is None and where.scheduler is None:
        yield None
        return
    from gvoys.scale.cluster import open_cluster

    with open_cluster(where.workers, where.scheduler) as cluster:
        yield cluster.run


def _conclude(console: Console, summary: Summary, out: Path, skipped: Path, seconds: float) -> None:
    made = f"{summary.n_graphs:,} graphs in {summary.n_parts:,} parts, {seconds:.1f} s: {out}"
    console.print(made, highlight=False, soft_wrap=True, markup=False)
    say_skipped(console, summary.n_skipped, summary.n_graphs, file=skipped)
    if not summary.n_graphs:
        raise GvoysError("no graph could be read")
