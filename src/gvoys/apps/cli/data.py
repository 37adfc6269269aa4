"""Open DATA, report the rows that were skipped, and find the target."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from gvoys.apps.cli.options import Splitting
from gvoys.apps.evaluation import Evaluation, LearnerMethod, baselines_for, evaluate, make_folds
from gvoys.apps.evaluation.folds import check_split, describe_copies, groups_for, merge_duplicates, same_molecules
from gvoys.errors import DatasetError, ParameterError
from gvoys.estimators.classifier import RandomWalkClassifier
from gvoys.estimators.regressor import RandomWalkRegressor
from gvoys.io import Graphs, GraphSource, Skipped, open_graphs
from gvoys.io.open import no_columns
from gvoys.kernels.profiler import usual_bandwidth, usual_walk

TASKS = ("auto", "classes", "numbers")
_SHOWN = 3  # rows that are skipped, by name
_MOST_CLASSES = 20  # different whole numbers up to which a target is taken as classes
_SIGNS = "<>=~≤≥≈ "  # of censored numbers
_FEW_GRAPHS = 20  # of which all may have different classes


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
    """Write a column as part of the name of a file."""
    return re.sub(r"[^\w.+-]+", "_", column)


def counted(number: int, what: str) -> str:
    """Count in words, as in 1 graph and 2 graphs."""
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
        real = y.dtype.kind == "f" and (bool((y != np.round(y)).any()) or n_values > _MOST_CLASSES)
    else:
        real = task == "numbers"
    if not real and len(y) > _FEW_GRAPHS and 2 * n_values > len(y):
        raise DatasetError(
            f"{what} has {n_values:,} different values in {len(y):,} graphs, which are too many to be classes; "
            "choose another one with --target"
        )
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
    result = []
    for text, values in others.items():
        more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
        result.append(f"{text!r} in row{'s' * (len(values) > 1)} {', '.join(map(str, values[:_SHOWN]))}{more}")
    result[_SHOWN:] = [f"{len(result) - _SHOWN} other texts"] if len(result) > _SHOWN else []
    comma = any("," in text and not math.isnan(_number(text)) for text in others)
    remedy = "write numbers with a point" if comma else "leave such cells empty, and their rows are skipped"
    raise DatasetError(f"{what} holds numbers, but also {' and '.join(result)}; {remedy}, or give --task classes")


def _number(text: str) -> float:
    """Return the number of a text, with a decimal point or comma; nan where it is none."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


@dataclass(frozen=True)
class Job:
    """A target to learn, with the graphs that have it."""

    name: str
    graphs: Graphs
    y: NDArray[Any]
    groups: NDArray[np.int64]  # (n_graphs,), that no fold may tear apart
    facts: list[str]  # sentences on the graphs
    classes: NDArray[Any] | None  # None for numbers
    target: str | None  # the column; None where the data has only one
    fields: Mapping[str, Any]  # names of labels, weights and attributes

    @property
    def title(self) -> str:
        """Title of the job."""
        return self.name if self.target is None else f"{self.name}, {self.target}"


def prepare(
    console: Console, data: str, reading: dict[str, Any], target: str | None, splitting: Splitting, task: str
) -> Job:
    """Read the graphs, find duplicates and groups, and say what was found."""
    if splitting.duplicates not in ("keep", "merge"):
        raise ParameterError(f"--duplicates is keep or merge, not {splitting.duplicates!r}")
    check_split(splitting.split, splitting.group)
    source, graphs = read_with_target(console, data, reading, target)
    y = graphs.y
    assert y is not None
    classify = not is_real(y, task, target, graphs.rows)
    same = same_molecules(graphs, reading["chemistry"])
    n_same = len(same) - len(np.unique(same))
    facts = [f"{len(y):,} graphs."]
    if classify and task == "auto" and y.dtype.kind == "f":
        column = f"The column {source.target_names[0]!r} holds {len(np.unique(y))} different whole numbers"
        facts.append(f"{column}, which are taken as classes; --task numbers predicts numbers.")
    if source.fields.get("node_attributes"):
        facts.append(f"Node attributes: {', '.join(map(repr, source.fields['node_attributes']))}.")
    differing = describe_copies(y, same, classify)
    if n_same and splitting.duplicates == "merge":
        rows, y, n_bad = merge_duplicates(y, same, classify)
        graphs, same = graphs.take(rows), same[rows]
        means = f"without {n_bad:,} molecules of several classes" if n_bad else "which agree in their classes"
        means = means if classify else "with the mean of their values"
        facts.append(f"{n_same:,} duplicates were merged, {means}.")
    elif n_same:
        sentence = "1 is a duplicate of another" if n_same == 1 else f"{n_same:,} are duplicates of others"
        facts.append(f"{sentence}, by their canonical SMILES; they stay in one fold.")
    facts += [differing] if differing else []
    groups = groups_for(splitting.split, graphs, same, splitting.group)
    classes, counts = np.unique(y, return_counts=True) if classify else (None, None)
    rare = [] if classes is None else [str(name) for name in classes[counts == 1].tolist()]
    single = [f"Classes with a single graph, which no fold can learn and test: {', '.join(rare[:5])}."] if rare else []
    for fact in [*facts[1:], *single]:
        say(console, fact)
    return Job(source.name, graphs, y, groups, facts, classes, target, source.fields)


def learner_for(job: Job, attributes: bool | None, n_jobs: int | None) -> Any:
    """Make a regressor or a classifier; attributes are used, ignored or, by default, tried."""
    batch = job.graphs.batch
    if attributes and batch.node_attributes is None:
        remedy = "name them with --node-attributes, or leave out --attributes"
        raise ParameterError(f"{job.name} has no node attributes that are read; {remedy}")
    if attributes and job.classes is None:
        raise ParameterError("node attributes are used to classify, not yet for numbers; leave out --attributes")
    if job.classes is None:
        return RandomWalkRegressor(n_jobs=n_jobs)
    if attributes is None:
        return RandomWalkClassifier(n_jobs=n_jobs)
    bandwidth = usual_bandwidth(batch) if attributes else None
    return RandomWalkClassifier(usual_walk(batch, refine="auto", attribute_bandwidth=bandwidth), n_jobs=n_jobs)


def cross_validate(
    console: Console, job: Job, model: Any, n_folds: int, seeds: tuple[int, ...], baselines: bool = False
) -> tuple[Evaluation, list[Any]]:
    """Predict every fold, with a progress bar; return that and what each model learned of walk lengths."""
    batch, y, classes = job.graphs.batch, job.y, job.classes
    folds = make_folds(y, classes is not None, n_folds, seeds, job.groups)
    method = LearnerMethod(model, batch, y, classes, _lengths)
    others = baselines_for(batch, y, classes, job.graphs.smiles, model.n_jobs) if baselines else {}
    methods = {"gvoys": method, **others}
    bar = partial(track, description=job.title, console=console, transient=True)
    return evaluate(methods, y, classes, folds, bar), method.kept


def _lengths(model: Any) -> Any:
    """Return the alignments of lengths with the classes, where known, or the weights of a regressor's blocks."""
    if hasattr(model, "mu_"):
        return dict(zip(model.blocks_, model.mu_, strict=True))
    return getattr(model, "contributions_", None)
