"""Outputs of commands, which are checked before any work, and runs in parts with a progress bar."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from gvoys.apps.cli.data import counted, say, say_skipped
from gvoys.apps.cli.messages import answer
from gvoys.apps.cli.options import Parts
from gvoys.apps.scale.run import Summary, is_table
from gvoys.io.fetch import data_folder, dataset_in
from gvoys.io.files import check_folder, check_kept, check_new, check_output
from gvoys.threads import threads

_JOBS = ("_job.json", "job.json", "features/_job.json", "ending.json")  # of runs that go on


class RunFiles(NamedTuple):
    """Paths of a run that can go on: its result, the table of skipped rows, and the folder of its work."""

    out: Path
    skipped: Path
    work: Path

    @classmethod
    def from_out(cls, out: Path) -> RunFiles:
        """Put the table and the folder beside a file."""
        return cls(out, out.parent / f"{out.stem}.skipped.csv", out.parent / f"{out.name}.work")


def check_outputs(
    out: Path,
    *suffixes: str,
    inputs: Iterable[str | Path | None] = (),
    root: Path | None = None,
    overwrite: bool = False,
    folder: bool = False,
    beside: Iterable[Path] = (),
    work: Path | None = None,
) -> None:
    """Check that outputs take the place of no input, nor of another file without --overwrite, and can be written.

    `beside` are files that go with `out`; a run that is unfinished in the folder `work` goes on.
    """
    if folder:
        check_folder(out)
    else:
        check_output(out, *suffixes)
    check_kept([out, *beside], _files(inputs, root))
    if not overwrite and not (work and any((work / job).exists() for job in _JOBS)):
        for path in (out, *beside):
            if path.is_dir() and not any(path.iterdir()):
                continue
            if path.name.endswith(".skipped.csv") and is_table(path):  # of another run
                continue
            check_new(path)


def another(path: Path, taken: Iterable[Path]) -> Path:
    """Add a number to a path where another output of the same command has it."""
    numbered = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return next(item for item in chain([path], numbered) if item not in taken)


@contextmanager
def together(folder: Path) -> Iterator[Path]:
    """Write files in a temporary folder; they appear in `folder` when all are complete."""
    folder = Path(os.path.realpath(folder))  # files are renamed, which links to other disks do not allow
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as partial:
        yield Path(partial)
        folder.mkdir(exist_ok=True)
        for file in Path(partial).iterdir():
            file.replace(folder / file.name)


def _files(inputs: Iterable[str | Path | None], root: Path | None) -> Iterator[Path]:
    """List the files of inputs, of which some are names of datasets."""
    for given in inputs:
        if given is not None and given != "-":
            yield Path(given)
            if str(given) == Path(given).name and (root is not None or not os.path.exists(given)):
                dataset = dataset_in(root or data_folder("tu"), str(given))
                yield from [] if dataset is None else [dataset]


def run_parts(
    console: Console,
    names: tuple[str, ...],
    files: RunFiles,
    parts: Parts,
    n_jobs: int | None,
    json: bool,
    work: Callable[..., Summary],
) -> None:
    """Run `work` with a progress bar, and a second one for rows where there are two names; print the result."""
    begin = time.perf_counter()
    with ExitStack() as stack:
        stack.enter_context(threads(n_jobs))
        how: dict[str, Any] = {"worker": None}
        if parts.workers is not None or parts.scheduler is not None:
            from gvoys.apps.scale.cluster import open_cluster

            how["worker"] = stack.enter_context(open_cluster(parts.workers, parts.scheduler)).run
        bar, how["on_progress"] = stack.enter_context(progress_bar(console, names[0]))
        stack.enter_context(resumable(console, files.out))
        if len(names) > 1:
            rows = bar.add_task(names[1], total=None, start=False, rate="")

            def on_rows(done: int, total: int) -> None:
                bar.start_task(rows)
                bar.update(rows, completed=done, total=total)

            how["on_rows"] = on_rows
        summary = work(**how)
    seconds = time.perf_counter() - begin
    if json:
        answer(vars(summary) | {"seconds": seconds, "out": str(files.out), "skipped": str(files.skipped)})
    else:
        made = f"{counted(summary.n_graphs, 'graph')} in {counted(summary.n_parts, 'part')}"
        console.print(f"{made}, {seconds:.1f} s: {files.out}", highlight=False, soft_wrap=True, markup=False)
    say_skipped(console, summary.n_skipped, summary.n_graphs, file=files.skipped)
    if summary.n_unlike:
        unseen = f", {summary.n_unseen:,} of them with labels that none of these has" if summary.n_unseen else ""
        many = "1 graph is" if summary.n_unlike == 1 else f"{summary.n_unlike:,} graphs are"
        say(console, f"{many} unlike all training graphs{unseen}: see the column unlike")


@contextmanager
def progress_bar(console: Console, name: str) -> Iterator[tuple[Progress, Any]]:
    """Show a progress bar; yield it and a function that takes how much is done, of how much, and the graphs."""
    begin = time.perf_counter()
    name_column, rate_column = TextColumn("{task.description}"), TextColumn("{task.fields[rate]}")
    columns = (name_column, BarColumn(), TaskProgressColumn(), rate_column, TimeRemainingColumn())
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
