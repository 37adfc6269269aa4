"""Features that compare: those of an earlier run, or those by which a model compares graphs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from gvoys.apps.scale.job import (
    VERSION,
    Parameters,
    check_rows,
    decay_of_features,
    describe,
    first_graphs,
    fit_model,
    new_job,
    read_job,
)
from gvoys.errors import DatasetError, GvoysError, ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import LABEL_CHOICES
from gvoys.io.files import as_path
from gvoys.io.sources import FileSource
from gvoys.io.sources.source import digest_file
from gvoys.kernels.inputs import missing_labels
from gvoys.walks import Moments, Sequences
from gvoys.walks.walk import FIELDS, check_walk

_FREE = ("rows_per_part", "device")  # what features do not depend on
_TRIES = 10  # graphs that a model is tried on before the work begins


class Plan(NamedTuple):
    """The fitted features of a run, and its job."""

    model: Any
    job: dict[str, Any]


class Like(Protocol):
    """Parameters that two runs must share for their features to compare."""

    @property
    def reading(self) -> Mapping[str, Any]:
        """Options by which the graphs were read: the column of SMILES, and the chemistry."""

    def plan(self, source: FileSource, given: dict[str, Any]) -> Plan:
        """The same features for another file; `given` are the parameters that were asked for."""


def read_like(like: str | PathLike[str] | None) -> Like:
    """Read what features are to be like: the folder of a run, the file of a model, or None for neither."""
    if like is None:
        return _Nothing()
    path = as_path(like)
    if path.is_dir():
        return _Run(path, _read(path))
    from gvoys.estimators.saving import load_model  # which takes a tenth of a second to import

    return _Model(path, load_model(path))


def given_parameters(parameters: Parameters | Mapping[str, Any] | None) -> dict[str, Any]:
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
class _Nothing:
    """No other features: the parameters say it all."""

    reading: Mapping[str, Any] = field(default_factory=dict)

    def plan(self, source: FileSource, given: dict[str, Any]) -> Plan:
        parameters = Parameters.from_dict(given)
        parameters.check()
        model = fit_model(first_graphs(source), parameters)
        return Plan(model, describe(source, parameters, model))


# -- an earlier run


@dataclass(frozen=True)
class _Run:
    """The features of an earlier run: what was "auto" there is what it became there."""

    folder: Path
    job: dict[str, Any]

    @property
    def reading(self) -> Mapping[str, Any]:
        return {"chemistry": _chemistry(self.job), "fields": self.job["input"].get("fields")}

    def plan(self, source: FileSource, given: dict[str, Any]) -> Plan:
        signature = _signature(self.job)
        if signature["model"] is not None:
            raise ParameterError(f"{self.folder} has the features of a model; give the file of that model as like")
        parameters, graphs = self._parameters(given), first_graphs(source)
        self._check_graphs(source, graphs)
        model = fit_model(graphs, parameters)
        job = describe(source, parameters, model)
        _check_same(self.folder, signature, str(source), _signature(job))
        return Plan(model, job | {"like": {"run": _digest(signature)}})

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


# -- a model


@dataclass(frozen=True)
class _Model:
    """The features by which a model compares graphs."""

    path: Path
    model: Any

    @property
    def reading(self) -> Mapping[str, Any]:
        return getattr(self.model, "training_", None) or {}

    def plan(self, source: FileSource, given: dict[str, Any]) -> Plan:
        rows = given.get("rows_per_part", Parameters.rows_per_part)
        for name in given:
            if name != "rows_per_part":
                raise ParameterError(f"{name} is given, and {self.path} has its own; leave out {name}, or like")
        check_rows(rows)
        self._check_graphs(first_graphs(source))
        width = int(self.model.transform(GraphBatch.from_arrays([], [])).shape[1])
        fitted = {"method": type(self.model).__name__, "width": width}
        return Plan(self.model, new_job(source, {"rows_per_part": int(rows)}, fitted, _of_file(self.path)))

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


# -- whether features compare


def check_comparable(folder: Path, like: str | PathLike[str]) -> None:
    """Check that the features of a run compare with those of another run's folder, or of a model's file."""
    other = as_path(like)
    signature = _signature(_read(other)) if other.is_dir() else _of_file(other)
    _check_same(other, signature, str(folder), _signature(_read(folder)))


def _of_file(path: Path) -> dict[str, str]:
    if not path.is_file():
        raise DatasetError(f"there is no folder of features or model file {path}")
    return {"model": digest_file(path)}


def _read(folder: Path) -> dict[str, Any]:
    """The job of a run of this version."""
    job = read_job(folder)
    if job is None:
        raise DatasetError(f"{folder} holds no run of gvoys embed; name its folder, or a model file")
    if job.get("version") != VERSION:
        raise ParameterError(f"{folder} is of another version of gvoys, whose features may differ; embed it again")
    return job


def _signature(job: dict[str, Any]) -> dict[str, Any]:
    """All that features depend on, by name."""
    try:
        asked, fitted, model = job["parameters"], job["fitted"], (job["like"] or {}).get("model")
        if model is not None:
            return {"model": model, "width": fitted["width"]}
        names = [name for name in FIELDS if name not in ("max_length", "labels")]  # which are in `fitted`
        names += [] if fitted["method"] == Moments.name else ["seed"]
        return {"model": None, "chemistry": _chemistry(job)} | {name: asked[name] for name in names} | fitted
    except (KeyError, TypeError, AttributeError):
        raise ParameterError("the file of a job is damaged; embed its graphs again, into another folder") from None


def _chemistry(job: dict[str, Any]) -> dict[str, Any]:
    """Options of chemistry that differ from the defaults."""
    return dict(job["input"].get("chemistry") or {})


def _digest(signature: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(signature, sort_keys=True).encode(), digest_size=16).hexdigest()


def _check_same(other: Path, theirs: dict[str, Any], name: str, ours: dict[str, Any]) -> None:
    """Check two signatures; that of a model file has no width."""
    for key in theirs:
        if key in ours and not _equal(theirs[key], ours[key]):
            values = "" if key in ("model", "mu") else f" ({theirs[key]!r} and {ours[key]!r})"
            raise ParameterError(
                f"the features of {other} and of {name} do not compare: they differ in {key}{values}; "
                "embed one of them with like=… the other"
            )


def _equal(left: Any, right: Any) -> bool:
    """Whether two values are the same; series up to rounding, which may differ between machines."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and np.allclose(left, right, rtol=1e-12, atol=0.0)
    return bool(left == right)
