"""Work in parts with a progress bar, for gvoys embed, kernel and predict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from gvoys.apps.cli.data import counted, say, say_skipped
from gvoys.apps.cli.messages import answer
from gvoys.apps.cli.options import Parts
from gvoys.apps.cli.outputs import RunFiles
from gvoys.apps.scale.run import Summary
from gvoys.threads import threads


def run_parts(
    console: Console,
    name: str,
    files: RunFiles,
    parts: Parts,
    n_jobs: int | None,
    json: bool,
    work: Callable[..., Summary],
) -> None:
    """Run `work`, which takes who makes the parts, what moves the progress bar, and the bar; print the result."""
    begin = time.perf_counter()
    with (
        threads(n_jobs),
        _worker(parts) as worker,
        progress_bar(console, name) as (bar, on_progress),
        resumable(console, files.out),
    ):
        summary = work(worker, on_progress, bar)
    seconds = time.perf_counter() - begin
    if json:
        answer(vars(summary) | {"seconds": seconds, "out": str(files.out), "skipped": str(files.skipped)})
    else:
        made = (
            f"{counted(summary.n_graphs, 'graph')} in {counted(summary.n_parts, 'part')}, {seconds:.1f} s: {files.out}"
        )
        console.print(made, highlight=False, soft_wrap=True, markup=False)
    say_skipped(console, summary.n_skipped, summary.n_graphs, file=files.skipped)
    if summary.n_unlike:
        unseen = f", {summary.n_unseen:,} of them with labels that none of these has" if summary.n_unseen else ""
        many = "1 graph is" if summary.n_unlike == 1 else f"{summary.n_unlike:,} graphs are"
        say(console, f"{many} unlike all training graphs{unseen}: see the column unlike")


@contextmanager
def progress_bar(console: Console, name: str) -> Iterator[tuple[Progress, Any]]:
    """A progress bar, and what is called with how much is done, of how much, and the number of graphs."""
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
    """Say after Ctrl-C that the run can go on."""
    try:
        yield
    except KeyboardInterrupt:
        text = f"stopped; the same command goes on where this run of {out} was, and --overwrite starts anew"
        console.print(text, soft_wrap=True, markup=False)
        raise


@contextmanager
def _worker(parts: Parts) -> Iterator[Any]:
    if parts.workers is None and parts.scheduler is None:
        yield None
        return
    from gvoys.apps.scale.cluster import open_cluster

    with open_cluster(parts.workers, parts.scheduler) as cluster:
        yield cluster.run
