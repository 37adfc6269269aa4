"""What commands do with DATA: open it, say which rows were skipped, and find what there is to predict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from gvoys.errors import DatasetError
from gvoys.io import Graphs, Skipped, open_graphs
from gvoys.io.open import no_columns

__all__ = ["file_name", "is_real", "read_with_target", "say", "say_skipped"]

_SHOWN = 3  # rows that are skipped, by name
_CLASSES = 20  # different whole numbers from which a target is taken as real


def read_with_target(console: Console, data: str, reading: dict[str, Any], target: str | None) -> tuple[str, Graphs]:
    """The name, and the graphs with the target; says which rows were skipped."""
    source = open_graphs(data, target=target, **reading)
    if not source.column_names:
        raise no_columns(source)
    if len(source.target_names) != 1:
        names = ", ".join(map(repr, source.column_names))
        raise DatasetError(f"{source}: name the column to predict with --target; it has {names}")
    graphs = source.read()
    say_skipped(console, len(graphs.skipped), len(graphs.batch), graphs.skipped)
    return source.name, graphs


def file_name(column: str) -> str:
    """A column as part of the name of a file."""
    return re.sub(r"[^\w.+-]+", "_", column)


def say(console: Console, sentence: str) -> None:
    """Say what the user may not expect."""
    console.print(sentence, style="yellow", highlight=False, markup=False, soft_wrap=True)


def say_skipped(
    console: Console, n_skipped: int, n_graphs: int, rows: Sequence[Skipped] = (), file: Path | None = None
) -> None:
    """Say how many rows are missing from the result, and name the first ones or the file that lists them."""
    if not n_skipped:
        return
    named = "; ".join([f"row {each.row}: {each.reason}" for each in rows[:_SHOWN]])
    more = f"; and {n_skipped - _SHOWN} more" if n_skipped > _SHOWN else ""
    where = f"; {file} lists them" if file else f": {named}{more}."
    verb = "was" if n_skipped == 1 else "were"
    say(console, f"{n_skipped:,} of {n_skipped + n_graphs:,} rows {verb} skipped{where}")


def is_real(y: NDArray[Any]) -> bool:
    """Whether targets are real numbers rather than classes."""
    if y.dtype.kind != "f":
        return False
    return bool((y != np.round(y)).any()) or len(np.unique(y)) > _CLASSES
