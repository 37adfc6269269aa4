"""gvoys predict: what a model says of every graph of a file, part by part, in one table in the end."""

from __future__ import annotations

import csv
import shutil
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from gvoys.errors import InputWarning
from gvoys.graphs.batch import GraphBatch
from gvoys.io.arrow import pyarrow
from gvoys.io.files import (
    appearing,
    as_path,
    check_kept,
    check_new,
    check_output,
    lock_beside,
    locked,
    remove_folder,
    remove_left_over,
)
from gvoys.io.sources import FileSource
from gvoys.io.sources.base import digest_file
from gvoys.scale.job import VERSION
from gvoys.scale.models import load_models
from gvoys.scale.parts import part_path, read_summary
from gvoys.scale.reading import open_file
from gvoys.scale.run import Columns, Progress, Summary, Task, Worker, run_job
from gvoys.walks.checks import check_count


@lru_cache(maxsize=1)
def _opened(path: str, digest: str) -> Any:
    """An index, once in a process that makes parts."""
    from gvoys.search import Index  # which knows all learners; gvoys embed does without

    return Index.open(path, n_jobs=1)


@dataclass(frozen=True)
class _Prediction(Task):
    """Makes parts of predictions."""

    library: tuple[str, str] | None = None  # folder of an index, and what tells it from others
    keeps_smiles = True

    @property
    def skipped(self) -> Path:
        return self.folder / "_skipped.csv"  # the folder goes in the end

    def compute(self, batch: GraphBatch) -> Columns:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)  # the summary tells it once, and not once per part
            table: Columns = self.model.predict_table(batch)
        return table if self.library is None else table | _nearest(_opened(*self.library), batch)

    def empty(self) -> Columns:
        return self.compute(GraphBatch.from_arrays([], []))


def _nearest(library: Any, batch: GraphBatch) -> Columns:
    hits = library.nearest(batch, 1)
    return {"library nearest": hits.ids[:, 0].astype(str), "library similarity": hits.similarities[:, 0]}


def predict_file(
    model: str | PathLike[str],
    path: str | PathLike[str] | FileSource,
    out: Path,
    *,
    smiles: str | None = None,
    id: str | None = None,
    root: str | PathLike[str] | None = None,
    index: str | PathLike[str] | None = None,
    rows_per_part: int = 4096,
    overwrite: bool = False,
    worker: Worker | None = None,
    on_progress: Progress | None = None,
    **fields: Any,
) -> Summary:
    """Write predictions for all graphs of a file; a run that was interrupted goes on where it stopped.

    Parameters
    ----------
    model : str or path-like
        File of a model that was saved, or a folder of several: their columns begin with the names of their targets.
    path : str, path-like or FileSource
        A file, folder or name of a dataset that `open_graphs` takes, or what it returned.
    out : Path
        The table, NAME.csv, with one row for each graph, and its SMILES where it has one; rows that cannot be read are
        in NAME.skipped.csv.
    smiles : str or None, default=None
        Column of a table that holds the SMILES; None means that of the training table, whose
        chemistry is used too.
    id : str or None, default=None
        Column that holds the ids; None numbers the rows.
    root : str, path-like or None, default=None
        A folder that holds the TU dataset, where `path` is its name.
    index : str, path-like or None, default=None
        An index that `gvoys search` or `Index.save` wrote: its graph that is nearest to each graph is named, with the
        similarity by which the index compares.
    rows_per_part : int, default=4096
        Rows of the input that are predicted at once; another number changes predictions by rounding alone.
    overwrite : bool, default=False
        Whether to start anew, and to replace `out` in the end.
    worker : callable or None, default=None
        Makes the parts, such as `Cluster.run`; None makes them in this process.
    on_progress : callable or None, default=None
        Called as in `embed_file`.
    **fields : object
        Names of labels, weights and attributes, as in `open_graphs`, where they are not those of the training graphs.

    Returns
    -------
    Summary
        Numbers of graphs, skipped rows and parts, and of graphs that are unlike all that the model was fitted on.

    Raises
    ------
    ModelError
        If `model` is no model file.
    ParameterError
        If `out` exists already or an input would be overwritten, an unfinished run had another model or input, or the
        molecules of `index` were read otherwise.
    StoreError
        If `index` is no index.
    DatasetError
        If the file cannot be read, or no graph of it, or is changed while it is read.
    """
    pyarrow()
    check_output(out, ".csv")
    models = load_models(model)
    source = open_file(path, models.reading, smiles, None, id, root, **fields)
    check_kept([out, out.with_suffix(".skipped.csv")], [source.path, model, index])
    library = None if index is None else _library(index, source)
    work = out.with_name(f"{out.name}.work").absolute()
    job = {"version": VERSION, "input": source.identity(), "model": models.digest}
    job["parameters"] = {"rows_per_part": check_count(rows_per_part, "rows_per_part"), "id": id, "smiles": smiles}
    job |= {"with_smiles": source.has_smiles} | ({} if library is None else {"index": library[1]})
    with locked(lock_beside(out), out):
        remove_left_over(work)
        if not overwrite and not work.exists():
            check_new(out)
        task = _Prediction(source, work, models, library)
        summary = run_job(task, job, worker, on_progress, overwrite)
        if not summary.n_graphs:
            skipped = [row for index in range(summary.n_parts) for row in read_summary(part_path(work, index))[1][:1]]
            remove_folder(work)
            raise source.no_graph(skipped)
        n_unseen, n_unlike = _write_table(task, out, summary.n_parts)
        remove_folder(work)  # in one step: half of it would be no run that goes on
    return replace(summary, n_unseen=n_unseen, n_unlike=n_unlike)


def _library(index: str | PathLike[str], source: FileSource) -> tuple[str, str]:
    """The folder of an index that holds graphs like these, and what tells it from others."""
    from gvoys.search.folder import MANIFEST, check_chemistry

    check_chemistry(index, source)
    folder = as_path(index).absolute()
    return str(folder), digest_file(folder / MANIFEST)


def _write_table(task: Task, out: Path, n_parts: int) -> tuple[int, int]:
    """The skipped rows, then the parts one after the other; gives how many graphs have unseen labels, or are unlike."""
    n_unseen = n_unlike = 0
    ids = task.model.training_ids()
    with appearing(out.with_suffix(".skipped.csv")) as partial:
        shutil.copyfile(task.skipped, partial)
    with appearing(out) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        for index in range(n_parts):
            columns = _read(part_path(task.folder, index), ids)
            if index == 0:
                table.writerow(columns)
            table.writerows(zip(*columns.values(), strict=True))
            n_unseen += _count(columns, "unseen")
            n_unlike += _count(columns, "unlike")
    return n_unseen, n_unlike


def _count(columns: dict[str, list[Any]], kind: str) -> int:
    """Count the graphs with a positive number in a column of this kind, of any model."""
    columns_found = [values for name, values in columns.items() if name.split(" ")[-1] == kind]
    return sum(any(value > 0 for value in row) for row in zip(*columns_found, strict=True))


def _read(part: Path, ids: dict[str, list[str]]) -> dict[str, list[Any]]:
    """Columns of a part; nearest graphs by their ids."""
    columns: dict[str, list[Any]] = pyarrow("parquet").read_table(part).to_pydict()
    for name, known in ids.items():
        if name in columns:
            columns[name] = [known[number] for number in columns[name]]
    return columns
