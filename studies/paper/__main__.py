"""The paper's experiments, its numbers beside ours: python -m studies.paper [fig3 | … | all] [--quick] [-o DIR]"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gvoys.drawing import plots
from gvoys.errors import GvoysError
from studies.paper import EXPERIMENTS, Plan, reproduce


def main(arguments: list[str], console: Console) -> None:
    """Run, print the rows, and say where the page is."""
    options = _parse(arguments)
    plots.check()
    begin = time.perf_counter()
    with console.status("…") as status:
        plan = Plan(options.quick, options.root, options.seed, lambda stage: status.update(f"{stage} …"))
        report = reproduce(options.experiments or ["all"], plan, options.out)
    for result in report.results:
        table = Table("", "the paper", "the paper's way", "the best way", title=result.title)
        for row in result.rows:
            table.add_row(*map(escape, (row.what, row.paper, row.faithful, row.best)))
        console.print(table)
        for note in result.notes:
            console.print(note, style="dim", highlight=False, markup=False)
    console.print(f"{time.perf_counter() - begin:.0f} s: {report.page}", highlight=False, soft_wrap=True, markup=False)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m studies.paper",
        description="Repeat the paper's experiments: JSON, pictures, and one page with its numbers beside ours. "
        "Datasets that are nowhere to be found are skipped, or replaced by synthetic graphs, and the page says so.",
    )
    names = ", ".join(EXPERIMENTS)
    parser.add_argument("experiments", nargs="*", help=f"{names}, or all, which is the default")
    parser.add_argument("--quick", action="store_true", help="small inputs: a minute rather than an hour")
    parser.add_argument("--root", metavar="FOLDER", help="the TU datasets, as NAME.zip or NAME/")
    parser.add_argument("-o", "--out", type=Path, default=Path("reproduced"), help="numbers, pictures and the page")
    parser.add_argument("--seed", type=int, default=0, help="of everything")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        main(sys.argv[1:], Console())
    except (GvoysError, OSError) as error:
        sys.exit(f"studies.paper: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
