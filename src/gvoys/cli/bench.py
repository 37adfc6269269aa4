"""gvoys bench: other packages on the same graphs, with the error each reached beside its time."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gvoys.bench import Measurement, Settings, run_bench, write_results
from gvoys.files import check_output

__all__ = ["run_bench_command"]


def run_bench_command(console: Console, settings: Settings, out: Path | None) -> None:
    """Measure, print a table for each task, and write."""
    if out is not None:
        check_output(out)
    with console.status("…") as status:
        found, machine = run_bench(settings, lambda stage: status.update(f"{stage} …"))
    for task in dict.fromkeys(row.task for row in found):
        table = Table("", "seconds", "error reached", "largest", "times as long", title=task)
        for row in found:
            if row.task == task:
                table.add_row(*_cells(row))
        console.print(table)
    console.print(", ".join(f"{key} {value}" for key, value in machine.items()), style="dim", highlight=False)
    if out is not None:
        write_results(out, found, machine, settings.command)
        console.print(f"Written to {out}.", highlight=False, soft_wrap=True, markup=False)


def _cells(row: Measurement) -> list[str]:
    if row.seconds is None or row.error is None or row.largest is None:
        return [row.way, escape(row.remark), "", "", ""]
    ratio = "" if row.ratio is None else f"{row.ratio:,.0f}" if row.ratio >= 10 else f"{row.ratio:.2g}"
    return [row.way, f"{row.seconds:.4g}", f"{row.error:.1e}", f"{row.largest:.1e}", ratio]
