"""gvoys embed: a file of graphs becomes a folder of features, part by part."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from gvoys.apps.scale.job import (
    VERSION,
    Parameters,
    check_rows,
    decay_of_features,
    describe_job,
    first_graphs,
    plan_features,
    read_job,
)
from gvoys.apps.scale.parts import part_features, part_ids, part_path, skipped_beside, stack_rows
from gvoys.apps.scale.predict import open_file, training_of
from gvoys.apps.scale.run import SUMMARY, Columns, Progress, Summary, Task, Worker, run_job
from gvoys.errors import DatasetError, GvoysError, ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import LABEL_CHOICES
from gvoys.io.chemistry import Chemistry
from gvoys.io.copies import ARROW_ERRORS, pyarrow
from gvoys.io.files import as_path, check_kept
from gvoys.io.sources import FileSource
from gvoys.io.sources.source import digest_file
from gvoys.kernels.inputs import missing_labels
from gvoys.walks import Moments, Sequences
from gvoys.walks.profiles import check_finite
from gvoys.walks.walk import FIELDS, check_walk

_FREE = ("rows_per_part", "device")  # what features do not depend on
_TRIES = 10  # graphs that a model is tried on before the work begins


def _read_like(like: str | PathLike[str] | None) -> _Defaults | _Run | _Model:
    """Read what features are to be like: the folder of a run, the file of a model, or None for neither."""
    if like is None:
        return _Defaults()
    path = as_path(like)
    if path.is_dir():
        return _Run(path, _read_run(path))
    from gvoys.estimators.saving import load_model  # which takes a tenth of a second to import

    return _Model(path, load_model(path))


def _given_parameters(parameters: Parameters | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the parameters that were given, by name; a walk, or a mapping of some of its fields, is taken apart."""
    if isinstance(parameters, Parameters):
        return parameters.as_dict() | {"decay": decay_of_features(parameters.decay)}
    given = dict(parameters or {})
    known = [item.name for item in fields(Parameters)]
    for name in given:
        if name not in known:
            how = f"write walk=gv.Walk({name}=…)" if name in FIELDS else f"there are {', '.join(known)}"
            raise ParameterError(f"there is no parameter {name!r}; {how}")
    walk = given.pop("walk", {})
    return given | (dict(walk) if isinstance(walk, Mapping) else check_walk(walk).get_params())


@dataclass(frozen=True)
class _Defaults:
    """No other features, so that parameters which are not given are the defaults."""

    reading: Mapping[str, Any] = field(default_factory=dict)

    def plan(self, source: FileSource, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        parameters = Parameters.from_dict(given)
        parameters.check()
        return plan_features(source, first_graphs(source), parameters)


@dataclass(frozen=True)
class _Run:
    """Features of an earlier run; what was "auto" is what it became there."""

    folder: Path
    job: dict[str, Any]

    @property
    def reading(self) -> Mapping[str, Any]:
        return {"chemistry": dict(self.job["input"].get("chemistry") or {}), "fields": self.job["input"].get("fields")}

    def plan(self, source: FileSource, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        signature = _signature(self.job)
        if signature["model"] is not None:
            raise ParameterError(f"{self.folder} has the features of a model; give the file of that model as like")
        parameters, graphs = self._parameters(given), first_graphs(source)
        self._check_graphs(source, graphs)
        model, job = plan_features(source, graphs, parameters)
        _check_same(self.folder, signature, str(source), _signature(job))
        digest = hashlib.blake2b(json.dumps(signature, sort_keys=True).encode(), digest_size=16).hexdigest()
        return model, job | {"like": {"run": digest}}

    def _parameters(self, given: dict[str, Any]) -> Parameters:
        asked, fitted = self.job["parameters"], self.job["fitted"]
        became = asked | {name: fitted[name] for name in ("method", "lengths", "labels")}
        if fitted["method"] == Sequences.name:
            became["n_columns"] = fitted["width"]
        for name, value in given.items():
            value = list(value) if isinstance(value, tuple) else value  # as JSON has it
            if name not in _FREE and value not in (asked[name], became[name]):
                raise ParameterError(
                    f"{name} is {value!r}, and {became[name]!r} in {self.folder}, so that features would not compare; "
                    f"leave out {name}, or like"
                )
        return Parameters.from_dict(became | {name: given[name] for name in _FREE if name in given})

    def _check_graphs(self, source: FileSource, graphs: GraphBatch) -> None:
        """Check that these graphs have what the others had."""
        fitted = self.job["fitted"]
        kind = missing_labels(graphs, *LABEL_CHOICES[fitted["labels"]])
        if kind is not None:
            raise UnsupportedError(
                f"{self.folder} used {kind} labels and the graphs of {source} have none, so that their features "
                "cannot compare; add the labels, or embed both with labels=None"
            )
        if fitted["directed"] not in (None, graphs.directed) and graphs.n_entries:
            kinds = ("undirected", "directed")
            raise UnsupportedError(
                f"the graphs of {self.folder} were {kinds[fitted['directed']]} and those of {source} are "
                f"{kinds[graphs.directed]}, so that their refined labels cannot compare; embed both with refine=0"
            )


@dataclass(frozen=True)
class _Model:
    """Features by which a model compares graphs."""

    path: Path
    model: Any

    @property
    def reading(self) -> Mapping[str, Any]:
        return training_of(self.model)

    def plan(self, source: FileSource, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        rows = given.get("rows_per_part", Parameters.rows_per_part)
        for name in given:
            if name != "rows_per_part":
                raise ParameterError(f"{name} is given, and {self.path} has its own; leave out {name}, or like")
        check_rows(rows)
        self._check_graphs(first_graphs(source))
        width = int(self.model.transform(GraphBatch.from_arrays([], [])).shape[1])
        fitted = {"method": type(self.model).__name__, "width": width}
        job = describe_job(source, {"rows_per_part": int(rows)}, fitted, _digest_model(self.path))
        return self.model, job

    def _check_graphs(self, graphs: GraphBatch) -> None:
        """Check that the model can do one of some graphs, with edges where there are any."""
        candidates = np.flatnonzero(np.diff(graphs.entry_offsets))[:_TRIES].tolist() or [0]
        for graph in candidates:
            try:
                self.model.transform(graphs[[graph]])
                return
            except GvoysError as error:
                if graph == candidates[-1]:
                    raise UnsupportedError(f"{self.path} cannot be used on these graphs: {error}") from None


def _digest_model(path: Path) -> dict[str, str]:
    if not path.is_file():
        raise DatasetError(f"there is no folder of features or model file {path}")
    return {"model": digest_file(path)}


def _read_run(folder: Path) -> dict[str, Any]:
    """Read the job of a run of this version."""
    job = read_job(folder)
    if job is None:
        raise DatasetError(f"{folder} holds no run of gvoys embed; name its folder, or a model file")
    if job.get("version") != VERSION:
        raise ParameterError(f"{folder} is of another version of gvoys, whose features may differ; embed it again")
    return job


def _signature(job: dict[str, Any]) -> dict[str, Any]:
    """List all that features depend on, by name."""
    try:
        asked, fitted, model = job["parameters"], job["fitted"], (job["like"] or {}).get("model")
        if model is not None:
            return {"model": model, "width": fitted["width"]}
        names = [name for name in FIELDS if name not in ("max_length", "labels")]  # which are in `fitted`
        names += [] if fitted["method"] == Moments.name else ["seed"]
        return (
            {"model": None, "chemistry": dict(job["input"].get("chemistry") or {})}
            | {name: asked[name] for name in names}
            | fitted
        )
    except (KeyError, TypeError, AttributeError):
        raise ParameterError("the file of a job is damaged; embed its graphs again, into another folder") from None


def _check_same(other: Path, theirs: dict[str, Any], name: str, ours: dict[str, Any]) -> None:
    """Check two signatures; that of a model file has no width."""
    for key in theirs:
        if key in ours and not _are_equal(theirs[key], ours[key]):
            values = "" if key in ("model", "mu") else f" ({theirs[key]!r} and {ours[key]!r})"
            raise ParameterError(
                f"the features of {other} and of {name} do not compare: they differ in {key}{values}; "
                "embed one of them with like=… the other"
            )


def _are_equal(left: Any, right: Any) -> bool:
    """Return whether two values are the same; series up to rounding, which may differ between machines."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and np.allclose(left, right, rtol=1e-12, atol=0.0)
    return bool(left == right)


class _Embedding(Task):
    """Makes parts of features."""

    def compute(self, batch: GraphBatch) -> Columns:
        features = self.model.transform(batch)
        if sp.issparse(features):
            with np.errstate(over="ignore"):
                features = features.astype(np.float32)  # as those of sketches are
            check_finite(features.data)
        return {"features": features}

    def empty(self) -> Columns:
        return self.compute(GraphBatch.from_arrays([], []))


def embed_file(
    path: str | PathLike[str] | FileSource,
    folder: Path,
    parameters: Parameters | Mapping[str, Any] | None = None,
    *,
    like: str | PathLike[str] | None = None,
    smiles: str | None = None,
    id: str | None = None,
    root: str | PathLike[str] | None = None,
    chemistry: Chemistry | dict[str, Any] | None = None,
    overwrite: bool = False,
    worker: Worker | None = None,
    on_progress: Progress | None = None,
    **fields: Any,
) -> Summary:
    """Write features of all graphs of a file into a folder; a run that was interrupted goes on where it stopped.

    Parameters
    ----------
    path : str, path-like or FileSource
        A file, folder or name of a dataset that `open_graphs` takes, or what it returned.
    folder : Path
        A new folder, or that of an earlier run with the same input and parameters. Rows that cannot be read are
        skipped, and listed in FOLDER.skipped.csv beside it.
    parameters : Parameters, mapping or None, default=None
        Parameters of the features: all of them, or those that are given, by name. The others are the defaults, or
        those of `like`.
    like : str, path-like or None, default=None
        Folder of an earlier run, for features that compare with its features: the same bits for the same graph. Or
        file of a model, for the features of its method `transform`, by which it compares graphs. A parameter that
        contradicts raises an error; `rows_per_part` and, for a folder, `device` are free.
    smiles, id : str or None, default=None
        Columns of a table that hold the SMILES and the ids; None means that of the model's training table, or
        "smiles", and numbers the rows.
    root : str, path-like or None, default=None
        A folder that holds the TU dataset, where `path` is its name.
    chemistry : Chemistry, dict or None, default=None
        What of a molecule becomes part of its graph, as in `open_graphs`; None means as in `like`, or the defaults.
    overwrite : bool, default=False
        Whether to remove an earlier run from the folder and start anew.
    worker : callable or None, default=None
        Makes the parts, such as `Cluster.run`; None makes them in this process.
    on_progress : callable or None, default=None
        Called at first and after every part with how much of the input is done, of how much, and the graphs made.
    **fields : object
        Names of labels, weights and attributes, as in `open_graphs`; those of `like` where they are not given.

    Returns
    -------
    Summary
        Numbers of graphs, skipped rows and parts.

    Raises
    ------
    ParameterError
        If the folder holds another run, `path` is no path or would be overwritten, or a parameter contradicts `like`.
    UnsupportedError
        If the graphs lack labels that `like` used.
    DatasetError
        If the file cannot be read, or no graph of it, or is changed while it is read.
    """
    pyarrow()
    folder = Path(folder).absolute()  # workers may stand elsewhere
    given, model_or_run = _given_parameters(parameters), _read_like(like)
    source = open_file(path, model_or_run.reading, smiles, chemistry, id, root, **fields)
    check_kept([folder, skipped_beside(folder)], [source.path, like])
    model, job = model_or_run.plan(source, given)
    return run_job(_Embedding(source, folder, model), job, worker, on_progress, overwrite)


_SUMMARIES = (SUMMARY, "summary.json")  # the latter of earlier versions


def read_features(folder: str | PathLike[str], like: str | PathLike[str] | None = None) -> tuple[list[str], Any]:
    """Read a folder that `gvoys embed` wrote.

    Parameters
    ----------
    folder : str or path-like
        The folder.
    like : str, path-like or None, default=None
        Folder of another run, or file of a model, whose features must compare with these: else an error says what
        differs. None compares nothing.

    Returns
    -------
    ids : list of str
        Id of each graph.
    features : ndarray or csr_array of shape (n_graphs, n_features)
        Features of each graph, whose dot products are the kernel; sparse where label sequences were counted.

    Raises
    ------
    ParameterError
        If the features do not compare with those of `like`.
    DatasetError
        If the folder holds no run, or one that is not finished, or a part is damaged.
    """
    folder = as_path(folder)
    if like is not None:
        other = as_path(like)
        signature = _signature(_read_run(other)) if other.is_dir() else _digest_model(other)
        _check_same(other, signature, str(folder), _signature(_read_run(folder)))
    try:
        summary = next(folder / name for name in _SUMMARIES if (folder / name).is_file())
        n_parts = int(json.loads(summary.read_bytes())["parts"])
    except (StopIteration, OSError, ValueError, KeyError, TypeError):
        raise DatasetError(f"{folder} holds no finished run of gvoys embed; give that command again") from None
    parts = [part_path(folder, index) for index in range(n_parts)]
    try:
        ids = [name for part in parts for name in part_ids(part)]
        return ids, stack_rows([part_features(part) for part in parts]) if parts else np.empty((0, 0))
    except ARROW_ERRORS:
        raise DatasetError(f"a part of {folder} is damaged or missing; give the command that made it again") from None
