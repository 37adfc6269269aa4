"""Features of a file: a function of the parameters and the kind of labels, not of the file's graphs."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from gvoys.errors import ParameterError
from gvoys.estimators import RandomWalkFeatures
from gvoys.graphs.batch import GraphBatch
from gvoys.io.files import open_seal, read_json, write_sealed
from gvoys.io.sources import FileSource, Skipped
from gvoys.series import Series, series_named
from gvoys.walks import Sequences, Sketch
from gvoys.walks.checks import is_auto
from gvoys.walks.sketch import N_COMPONENTS
from gvoys.walks.walk import FIELDS, Walk, check_walk, takes_walk

DECAY_OF_FEATURES = 1 / 16  # whatever the graphs, so that the features of any two runs compare
JOB = "_job.json"
_NAMES = (JOB, "job.json")  # the latter before version 5
_MADE = re.compile(
    r"_(job|summary|checksums|skipped)\.\w+|(job|index)\.json|coder\.gvoys|(part|segment)-\d+.*|\..*(lock|partial)"
)
VERSION = 7  # of the folder and of the features: a run goes on, and compares, only with its own version


@dataclass(frozen=True)
class Parameters:
    """Parameters of the features of a run."""

    series: str = "geometric"  # kind of series
    decay: float | str = "auto"  # the decay
    walk: Walk = Walk()  # noqa: RUF009 (immutable)
    method: str = "auto"  # method of `RandomWalkFeatures`
    n_components: int = N_COMPONENTS  # number of components of sampled or sketched features
    lengths: str = "auto"  # "auto" sums sketches over walk lengths and keeps the moments of each length apart
    n_columns: int | None = None  # columns that label sequences are hashed to by method "sequences"
    seed: int = 0  # seed of the random features
    rows_per_part: int = 4096  # number of rows of a part
    device: str = "cpu"  # where features are computed

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Parameters:
        """Make parameters of features from values by name, those of the walk among them."""
        walk = {name: value for name, value in values.items() if name in FIELDS}
        part_values = {name: value for name, value in values.items() if name not in FIELDS}
        return cls(walk=Walk(**walk), **part_values | {"decay": decay_of_features(part_values.get("decay", "auto"))})

    def as_dict(self) -> dict[str, Any]:
        """Return all values by name, those of the walk among them."""
        values = {name: value for name, value in vars(self).items() if name != "walk"}
        return values | check_walk(self.walk).get_params()

    def check(self) -> None:
        """Check the parameters of a run; the estimator checks the others."""
        if self.lengths not in ("auto", "stacked", "summed"):
            raise ParameterError(f"lengths must be 'auto', 'stacked' or 'summed', not {self.lengths!r}")
        check_rows(self.rows_per_part)
        check_walk(self.walk)
        for name, value in (("decay", decay_of_features(self.decay)), ("max_length", self.walk.max_length)):
            if value is None or isinstance(value, str):  # which would come from the graphs
                raise ParameterError(f"{name} must be a number, so that the features of any two files compare")
        for name, end in (("start", self.walk.start), ("stop", self.walk.stop)):
            if not isinstance(end, str):
                raise ParameterError(f'{name} must be "uniform" or "ones" for the graphs of a file, not an array')
        self.make_series()

    def make_series(self) -> Series:
        """Return the series mu."""
        return series_named(self.series, decay_of_features(self.decay))


Parameters.__init__ = takes_walk()(Parameters.__init__)  # type: ignore[method-assign]


def decay_of_features(decay: Any) -> Any:
    """Return a decay that features of any two runs share, unless another was given."""
    return DECAY_OF_FEATURES if is_auto(decay) else decay


def check_rows(count: Any) -> None:
    """Check the number of rows of a part."""
    if not isinstance(count, (int, np.integer)) or not 1 <= count <= 1_000_000:
        raise ParameterError(f"a part has 1 to 1,000,000 rows, not {count}")


def describe_job(source: FileSource, parameters: Any, fitted: dict[str, Any], like: Any = None) -> dict[str, Any]:
    """Return a job as JSON: its input, the parameters, what was fitted, and what its features are like."""
    return {
        "gvoys": metadata.version("gvoys"),
        "version": VERSION,
        "input": source.identity(),
        "parameters": parameters,
        "fitted": fitted,
        "like": like,
    }


def claim_folder(folder: Path, job: dict[str, Any]) -> None:
    """Begin a job in a new folder, or go on with it in its own; the folder must be locked."""
    before, job = read_job(folder), json.loads(json.dumps(job))  # as it comes back from the file
    if before is None and any(not file.name.startswith(".") for file in folder.iterdir()):
        raise ParameterError(f"{folder} is not empty and holds no run of gvoys; choose another folder")
    if before not in (None, job):
        names = {"parameters": "other parameters", "gvoys": "another version of gvoys", "like": "another like=…"}
        differs = next((key for key in job if before.get(key) != job[key]), "version")
        run = f"with {names.get(differs, f'another {differs}')}"
        run = run if before.get("version") == job["version"] else "of another version of gvoys"
        raise ParameterError(
            f"{folder} holds a run {run}; choose another folder, or start anew with overwrite=True or --overwrite"
        )
    write_sealed(folder / JOB, job)


def remove_run(folder: Path) -> None:
    """Remove all files of a run or an index, its job last; raise ParameterError where the folder holds others."""
    files = sorted(folder.iterdir(), key=lambda file: "job" in file.name) if folder.is_dir() else []
    strange = next((file.name for file in files if not _MADE.fullmatch(file.name)), None)
    if strange is not None:
        raise ParameterError(f"{folder} holds {strange}, which gvoys has not made; choose another folder")
    for file in files:
        if file.is_dir():
            shutil.rmtree(file)
        elif file.name != ".lock":  # of this run
            file.unlink()


def read_job(folder: Path) -> dict[str, Any] | None:
    """Read the job that a folder belongs to, or None; raise ParameterError where its file is damaged."""
    path = next((folder / name for name in _NAMES if (folder / name).is_file()), None)
    if path is None:
        return None
    content = read_json(path)
    if isinstance(content, dict) and content.get("version") == VERSION:  # earlier ones had no checksum
        content = open_seal(content)
    if not isinstance(content, dict):
        raise ParameterError(f"{path} is damaged; choose another folder, or remove this one")
    return content


COLUMNS_OF_SEQUENCES = 2**20  # an error of at most 0.14 % of sqrt(K(G, G) K(H, H)), typically far less
_FIRST_ROWS = 1000  # whatever the size of parts, so that features do not depend on it


def first_graphs(source: FileSource) -> GraphBatch:
    """Read the graphs of the first rows that hold a node; only the kind of labels comes from them."""
    first: list[Skipped] = []
    empty: GraphBatch | None = None
    for chunk in source.chunks(_FIRST_ROWS):
        records = source.records(chunk)
        graphs, _, skipped = source.graphs_of(records)
        if graphs.n_nodes:
            return graphs
        empty = empty or (graphs if len(graphs) else None)
        first = first or sorted([*records.skipped, *skipped])
    if empty is None:
        raise source.no_graph(first)
    return empty


def plan_features(
    source: FileSource, graphs: GraphBatch, parameters: Parameters
) -> tuple[RandomWalkFeatures, dict[str, Any]]:
    """Fit features on the first graphs, whose kind of labels decides what is "auto"; return them and their job."""
    parameters.check()
    counts = parameters.method == Sequences.name  # in columns that do not depend on the graphs
    model = RandomWalkFeatures(
        parameters.make_series(),
        parameters.walk,
        parameters.method,
        n_components=parameters.n_components,
        lengths="stacked" if parameters.lengths == "auto" else parameters.lengths,
        n_columns=COLUMNS_OF_SEQUENCES if counts and parameters.n_columns is None else parameters.n_columns,
        random_state=parameters.seed,
        device=parameters.device,
    ).fit(graphs)
    if parameters.lengths == "auto" and model.method_ == Sketch.name:
        model.set_params(lengths="summed").fit(graphs)
    fitted = {
        "method": str(model.method_),
        "mu": model.series_.coefficients(model.max_length_).tolist(),
        "lengths": model.lengths_,
        "width": model.n_features_out_,
        "labels": model.walk_.labels,
        "directed": bool(model.directed_) if parameters.walk.refine else None,  # which refined labels depend on
    }
    return model, describe_job(source, parameters.as_dict(), fitted)
