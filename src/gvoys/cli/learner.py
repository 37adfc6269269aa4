"""The learner that suits a target, how it is cross-validated, and how its score is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from gvoys.cli.options import Splitting
from gvoys.cli.read import is_real, read_with_target, say
from gvoys.errors import ParameterError
from gvoys.estimators.classifier import RandomWalkClassifier
from gvoys.estimators.learning.profiler import usual_bandwidth, usual_walk
from gvoys.estimators.regressor import RandomWalkRegressor
from gvoys.evaluation import Evaluation, LearnerMethod, baselines_for, evaluate, make_folds
from gvoys.evaluation.groups import check_split, describe_copies, groups_for, merge_duplicates, same_molecules
from gvoys.io import Graphs


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
        facts.append(f"{n_same:,} duplicates were merged, {_means(classify, n_bad)}.")
    elif n_same:
        sentence = "1 is a duplicate of another" if n_same == 1 else f"{n_same:,} are duplicates of others"
        facts.append(f"{sentence}, by their canonical SMILES; they stay in one fold.")
    facts += [differing] if differing else []
    groups = groups_for(splitting.split, graphs, same, splitting.group)
    classes, counts = np.unique(y, return_counts=True) if classify else (None, None)
    for fact in [*facts[1:], *_rare(classes, counts)]:
        say(console, fact)
    return Job(source.name, graphs, y, groups, facts, classes, target, source.fields)


def _means(classify: bool, n_bad: int) -> str:
    if not classify:
        return "with the mean of their values"
    return f"without {n_bad:,} molecules of several classes" if n_bad else "which agree in their classes"


def _rare(classes: NDArray[Any] | None, counts: NDArray[Any] | None) -> list[str]:
    rare = [] if classes is None else [str(name) for name in classes[counts == 1].tolist()]
    return [f"Classes with a single graph, which no fold can learn and test: {', '.join(rare[:5])}."] if rare else []


def learner_for(job: Job, attributes: bool | None, n_jobs: int | None) -> Any:
    """A regressor for real targets, a classifier for classes; attributes are used, ignored or, by default, tried."""
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
    """Predictions for every fold, with a progress bar, and what each model learned of walk lengths."""
    batch, y, classes = job.graphs.batch, job.y, job.classes
    folds = make_folds(y, classes is not None, n_folds, seeds, job.groups)
    method = LearnerMethod(model, batch, y, classes, _lengths)
    others = baselines_for(batch, y, classes, job.graphs.smiles, model.n_jobs) if baselines else {}
    evaluation = evaluate(
        {"gvoys": method, **others},
        y,
        classes,
        folds,
        lambda steps: track(steps, job.title, console=console, transient=True),
    )
    return evaluation, method.kept


def _lengths(model: Any) -> Any:
    """Alignments of the lengths with the classes, where they are known, or the weights of a regressor's blocks."""
    if hasattr(model, "mu_"):
        return dict(zip(model.blocks_, model.mu_, strict=True))
    return getattr(model, "contributions_", None)


def shown_score(found: Evaluation) -> tuple[str, str]:
    """The mean over folds and seeds, and the deviation over folds."""
    if found.classes is not None:
        return f"{100 * found.mean:.1f} %", f"{100 * found.deviation:.1f}"
    return f"RMSE {found.mean:.3g}", f"{found.deviation:.2g}"
