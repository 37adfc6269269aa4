"""What gvoys embed, kernel and predict share: a file of graphs goes through in parts, with a progress bar."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from gvoys.cli.messages import answer
from gvoys.cli.options import Parts
from gvoys.cli.read import counted, say, say_skipped
from gvoys.errors import GvoysError
from gvoys.scale.run import Summary
from gvoys.threads import threads

__all__ = ["progress_bar", "resumable", "run_parts"]


def run_parts(
    console: Console,
    name: str,
    out: Path,
    skipped: Path,
    parts: Parts,
    n_jobs: int | None,
    json: bool,
    work: Callable[..., Summary],
) -> None:
    """Run a job with a progress bar, and print the result.

    Parameters
    ----------
    console : Console
        Where to print.
    name : str
        What stands before the progress bar.
    out : Path
        Where the result goes.
    skipped : Path
        The file that lists the rows that were skipped.
    parts : Parts
        Who makes the parts.
    n_jobs : int or None
        Number of threads.
    json : bool
        Whether to print the result as JSON.
    work : callable
        The job: takes `worker`, `on_progress` and the progress bar.
    """
    begin = time.perf_counter()
    with (
        threads(n_jobs),
        _worker(parts) as worker,
        progress_bar(console, name) as (bar, on_progress),
        resumable(console, out),
    ):
        summary = work(worker, on_progress, bar)
    seconds = time.perf_counter() - begin
    if json:
        answer(vars(summary) | {"seconds": seconds, "out": str(out), "skipped": str(skipped)})
    else:
        made = f"{counted(summary.n_graphs, 'graph')} in {counted(summary.n_parts, 'part')}, {seconds:.1f} s: {out}"
        console.print(made, highlight=False, soft_wrap=True, markup=False)
    say_skipped(console, summary.n_skipped, summary.n_graphs, file=skipped)
    if summary.n_unlike:
        unseen = f", {summary.n_unseen:,} of them with labels that none of these has" if summary.n_unseen else ""
        many = "1 graph is" if summary.n_unlike == 1 else f"{summary.n_unlike:,} graphs are"
        say(console, f"{many} unlike all training graphs{unseen}: see the column unlike")
    if not summary.n_graphs:
        raise GvoysError("no graph could be read")


@contextmanager
def progress_bar(console: Console, name: str) -> Iterator[tuple[Progress, Any]]:
    """A progress bar, and what is called with how much is done, of how much, and the number of graphs.

    Parameters
    ----------
    console : Console
        Where to print.
    name : str
        What stands before the bar.

    Yields
    ------
    tuple of Progress and callable
        The bar, and what moves it.
    """
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
def resumable(console: Console, out: Path) -> Iterator[None]:
    """Say after Ctrl-C that the run can go on.

    Parameters
    ----------
    console : Console
        Where to print.
    out : Path
        What is being made.

    Yields
    ------
    None
        While it is made.
    """
    try:
        yield
    except KeyboardInterrupt:
        console.print(f"stopped; the same command goes on where this run of {out} was", soft_wrap=True, markup=False)
        raise


@contextmanager
def _worker(parts: Parts) -> Iterator[Any]:
    if parts.workers is None and parts.scheduler is None:
        yield None
        return
    from gvoys.scale.cluster import open_cluster

    with open_cluster(parts.workers, parts.scheduler) as cluster:
        yield cluster.run
