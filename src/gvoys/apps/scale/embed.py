"""gvoys embed: a file of graphs becomes a folder of features, part by part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from gvoys.apps.scale.job import Parameters
from gvoys.apps.scale.like import check_comparable, given_parameters, read_like
from gvoys.apps.scale.parts import part_features, part_ids, part_path, skipped_beside, stack_rows
from gvoys.apps.scale.predict import open_file
from gvoys.apps.scale.run import SUMMARY, Columns, Progress, Summary, Task, Worker, run_job
from gvoys.errors import DatasetError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry import Chemistry
from gvoys.io.copies import ARROW_ERRORS, pyarrow
from gvoys.io.files import as_path, check_kept
from gvoys.io.sources import FileSource
from gvoys.walks.profiles import check_finite


class _Embedding(Task):
    """Makes parts of features."""

    def compute(self, batch: GraphBatch) -> Columns:
        features = self.model.transform(batch)
        return {"features": _single(features) if sp.issparse(features) else features}

    def empty(self) -> Columns:
        return self.compute(GraphBatch.from_arrays([], []))


def _single(features: Any) -> Any:
    """Sparse features in single precision, as those of sketches are."""
    with np.errstate(over="ignore"):
        features = features.astype(np.float32)
    check_finite(features.data)
    return features


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
    smiles : str or None, default=None
        Column of a table that holds the SMILES; None means that of the model's training table, or "smiles".
    id : str or None, default=None
        Column that holds the ids; None numbers the rows.
    root : str, path-like or None, default=None
        A folder that holds the TU dataset, where `path` is its name.
    chemistry : Chemistry, dict or None, default=None
        What of a molecule becomes part of its graph, as in `open_graphs`; None means as in `like`, or the defaults.
    overwrite : bool, default=False
        Whether to remove an earlier run from the folder and start anew.
    worker : callable or None, default=None
        Makes the parts, such as `Cluster.run`; None makes them in this process.
    on_progress : callable or None, default=None
        Called at first and after every part with how much of the input is done, how much there is, and how many graphs
        this run has made.
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
    given, model_or_run = given_parameters(parameters), read_like(like)
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
        check_comparable(folder, like)
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
