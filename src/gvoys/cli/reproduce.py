"""gvoys reproduce: the paper's experiments, with its numbers beside ours."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gvoys.report import plots
from gvoys.reproduce import Plan, reproduce

__all__ = ["run_reproduce"]


def run_reproduce(console: Console, names: list[str], quick: bool, root: Path | None, out: Path, seed: int) -> None:
    """Run, print the rows, and say where the page is."""
    plots.check()
    begin = time.perf_counter()
    with console.status("…") as status:
        plan = Plan(quick, None if root is None else str(root), seed, lambda stage: status.update(f"{stage} …"))
        report = reproduce(names, plan, out)
    for result in report.results:
        table = Table("", "the paper", "the paper's way", "the best way", title=result.title)
        for row in result.rows:
            table.add_row(*map(escape, (row.what, row.paper, row.faithful, row.best)))
        console.print(table)
        for note in result.notes:
            console.print(note, style="dim", highlight=False, markup=False)
    console.print(f"{time.perf_counter() - begin:.0f} s: {report.page}", highlight=False, soft_wrap=True, markup=False)
