"""Open DATA, report the rows that were skipped, and find the target."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from gvoys.errors import DatasetError, ParameterError
from gvoys.io import Graphs, GraphSource, Skipped, open_graphs
from gvoys.io.open import no_columns

TASKS = ("auto", "classes", "numbers")
_SHOWN = 3  # rows that are skipped, by name
_CLASSES = 20  # different whole numbers up to which a target is taken as classes
_SIGNS = "<>=~≤≥≈ "  # of censored numbers
_FEW = 20  # graphs of which each may have a class of its own


def read_with_target(
    console: Console, data: str, reading: dict[str, Any], target: str | None
) -> tuple[GraphSource, Graphs]:
    """Return the source, and the graphs with the target; say which rows were skipped."""
    source = open_graphs(data, target=target, **reading)
    if not source.column_names:
        raise no_columns(source)
    if len(source.target_names) != 1:
        names = ", ".join(map(repr, source.column_names))
        raise DatasetError(f"{source}: name the column to predict with --target; it has {names}")
    graphs = source.read()
    say_skipped(console, len(graphs.skipped), len(graphs.batch), graphs.skipped)
    return source, graphs


def file_name(column: str) -> str:
    """A column as part of the name of a file."""
    return re.sub(r"[^\w.+-]+", "_", column)


def counted(number: int, what: str) -> str:
    """1 graph, 2 graphs."""
    return f"1 {what}" if number == 1 else f"{number:,} {what}s"


def say(console: Console, sentence: str) -> None:
    """Say what the user may not expect."""
    console.print(sentence, style="yellow", highlight=False, markup=False, soft_wrap=True)


def say_skipped(
    console: Console, n_skipped: int, n_graphs: int, rows: Sequence[Skipped] = (), file: Path | None = None
) -> None:
    """Say how many rows are missing from the result, and name the first ones or the file that lists them."""
    if not n_skipped:
        return
    named = "; ".join([f"row {row.row}: {row.reason}" for row in rows[:_SHOWN]])
    more = f"; and {n_skipped - _SHOWN} more" if n_skipped > _SHOWN else ""
    where = f"; {file} lists them" if file else f": {named}{more}."
    verb = "was" if n_skipped == 1 else "were"
    say(console, f"{n_skipped:,} of {n_skipped + n_graphs:,} rows {verb} skipped{where}")


def is_real(y: NDArray[Any], task: str = "auto", name: str | None = None, rows: Sequence[int] = ()) -> bool:
    """Return whether targets are real numbers rather than classes; raise an error where they are neither."""
    if task not in TASKS:
        raise ParameterError(f"--task is auto, classes or numbers, not {task!r}")
    what, n_values = "the target" if name is None else f"the column {name!r}", len(np.unique(y))
    if task != "classes":
        _check_numbers(y, task, what, rows or range(1, len(y) + 1))
    if y.dtype.kind not in "iuf":
        real = False
    elif task == "auto":  # a dataset whose file says integers means classes, a table says nothing
        real = y.dtype.kind == "f" and (bool((y != np.round(y)).any()) or n_values > _CLASSES)
    else:
        real = task == "numbers"
    if not real:
        _check_classes(n_values, len(y), what)
    return real


def _check_numbers(y: NDArray[Any], task: str, what: str, rows: Sequence[int]) -> None:
    """Check that all cells are finite numbers where most are numbers, or would be without a sign as in >64."""
    if y.dtype.kind in "iuf" and np.isfinite(y).all():
        return
    texts = [f"{value:g}" if y.dtype.kind == "f" else str(value) for value in y]
    others: dict[str, list[int]] = {}
    for row, text in zip(rows, texts, strict=True):
        if "," in text or not math.isfinite(_number(text)):
            others.setdefault(text, []).append(row)
    n_numbers, n_close = (sum(not math.isnan(_number(text.lstrip(signs))) for text in texts) for signs in ("", _SIGNS))
    if not others or (task == "auto" and (not n_numbers or 2 * n_close <= len(texts))):
        return
    result = [f"{text!r} in row{'s' * (len(values) > 1)} {_listed(values)}" for text, values in others.items()]
    result[_SHOWN:] = [f"{len(result) - _SHOWN} other texts"] if len(result) > _SHOWN else []
    comma = any("," in text and not math.isnan(_number(text)) for text in others)
    remedy = "write numbers with a point" if comma else "leave such cells empty, and their rows are skipped"
    raise DatasetError(f"{what} holds numbers, but also {' and '.join(result)}; {remedy}, or give --task classes")


def _listed(rows: Sequence[int]) -> str:
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return ", ".join(map(str, rows[:_SHOWN])) + more


def _number(text: str) -> float:
    """Return the number of a text, with a decimal point or comma; nan where it is none."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


def _check_classes(n_classes: int, n_graphs: int, what: str) -> None:
    if n_graphs > _FEW and 2 * n_classes > n_graphs:
        raise DatasetError(
            f"{what} has {n_classes:,} different values in {n_graphs:,} graphs, which are too many to be classes; "
            "choose another one with --target"
        )
