"""Other packages on the same graphs, with the error each reached beside its time: python -m studies peers"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gvoys.io.files import check_output
from studies.peers import Measurement, Settings, run_bench, write_results


def main(arguments: list[str], console: Console) -> int:
    """Measure, print a table for each task, and write."""
    options = _parse(arguments)
    settings = Settings(options.quick, options.root, tuple(options.peer or ()), options.install, options.limit)
    if options.out is not None:
        check_output(options.out)
    with console.status("…") as status:
        found, machine = run_bench(settings, lambda stage: status.update(f"{stage} …"))
    for task in dict.fromkeys(row.task for row in found):
        table = Table("", "seconds", "error reached", "largest", "times as long", title=task)
        for row in found:
            if row.task == task:
                table.add_row(*_cells(row))
        console.print(table)
    console.print(", ".join(f"{key} {value}" for key, value in machine.items()), style="dim", highlight=False)
    if options.out is not None:
        write_results(options.out, found, machine, settings.command)
        console.print(f"Written to {options.out}.", highlight=False, soft_wrap=True, markup=False)
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m studies peers",
        description="Compare with other packages on the same graphs: seconds, the error that each reached, the ratios. "
        "Errors are relative to the exact kernel, computed pair by pair from its definition.",
    )
    parser.add_argument("--quick", action="store_true", help="twenty graphs: half a minute rather than many")
    parser.add_argument("--root", metavar="FOLDER", help="the TU datasets, as NAME.zip or NAME/")
    parser.add_argument("--peer", action="append", metavar="NAME", help="GraKeL or graphkit-learn; both by default")
    parser.add_argument(
        "--install", action="store_true", help="install each into an environment of its own, kept in the cache"
    )
    parser.add_argument(
        "--limit", type=float, default=180.0, help="seconds that a package may take for one Gram matrix"
    )
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="a .json file for the results")
    return parser.parse_args(arguments)


def _cells(row: Measurement) -> list[str]:
    if row.seconds is None or row.error is None or row.largest is None:
        return [row.way, escape(row.remark), "", "", ""]
    ratio = "" if row.ratio is None else f"{row.ratio:,.0f}" if row.ratio >= 10 else f"{row.ratio:.2g}"
    return [row.way, f"{row.seconds:.4g}", f"{row.error:.1e}", f"{row.largest:.1e}", ratio]
