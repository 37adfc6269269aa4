"""gvoys predict: what a model says of every graph of a file, part by part, in one table in the end."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from gvoys.errors import ParameterError
from gvoys.estimators.saving import load_model
from gvoys.graphs.batch import GraphBatch
from gvoys.io.arrow import pyarrow
from gvoys.io.files import appearing, as_path, check_new, check_output, lock_beside, locked
from gvoys.io.open import open_graphs
from gvoys.io.sources import FileSource
from gvoys.io.sources.base import digest_file
from gvoys.scale.job import VERSION
from gvoys.scale.parts import part_path
from gvoys.scale.run import SKIPPED, Columns, Progress, Summary, Task, Worker, run_job
from gvoys.walks.checks import check_count

__all__ = ["predict_file"]


class _Prediction(Task):
    """Makes parts of predictions."""

    def compute(self, batch: GraphBatch) -> Columns:
        table: Columns = self.model.predict_table(batch)
        return table

    def empty(self) -> Columns:
        return self.compute(GraphBatch.from_arrays([], []))


def predict_file(
    model: str | PathLike[str],
    path: str | PathLike[str],
    out: Path,
    *,
    smiles: str | None = None,
    id: str | None = None,
    root: str | PathLike[str] | None = None,
    rows_per_part: int = 4096,
    worker: Worker | None = None,
    on_progress: Progress | None = None,
) -> Summary:
    """Write predictions for all graphs of a file; a run that was interrupted goes on where it stopped.

    Parameters
    ----------
    model : str or path-like
        File of a model that was saved.
    path : str or path-like
        A file, folder or name of a dataset that `open_graphs` takes.
    out : Path
        The table, NAME.csv, with one row for each graph; rows that cannot be read are in NAME.skipped.csv.
    smiles : str or None, default=None
        Column of a table that holds the SMILES; None means that of the training table.
    id : str or None, default=None
        Column that holds the ids; None numbers the rows.
    root : str, path-like or None, default=None
        A folder that holds the TU dataset, where `path` is its name.
    rows_per_part : int, default=4096
        Rows of the input that are predicted at once; the predictions do not depend on it.
    worker : callable or None, default=None
        Makes the parts, such as `Cluster.run`; None makes them in this process.
    on_progress : callable or None, default=None
        Called as in `embed_file`.

    Returns
    -------
    Summary
        Numbers of graphs, skipped rows and parts.

    Raises
    ------
    ModelError
        If `model` is no model file.
    ParameterError
        If `out` exists already, or an unfinished run had another model or input.
    DatasetError
        If the file cannot be read, or is changed while it is read.
    """
    pyarrow()
    check_output(out)
    loaded = load_model(model)
    training: dict[str, Any] = getattr(loaded, "training_", None) or {}
    source = open_graphs(path, smiles=smiles or training.get("smiles") or "smiles", id=id, root=root)
    if not isinstance(source, FileSource):
        raise ParameterError("predict_file takes a file; for graphs in memory use load_model and predict_table")
    work = out.with_name(f"{out.name}.work").absolute()
    job = {"version": VERSION, "input": source.identity(), "model": digest_file(as_path(model))}
    job["parameters"] = {"rows_per_part": check_count(rows_per_part, "rows_per_part"), "id": id, "smiles": smiles}
    with locked(lock_beside(out), out):
        if not work.exists():
            check_new(out)
        summary = run_job(_Prediction(source, work, loaded), job, worker, on_progress)
        _write_table(work, out, summary.n_parts, training.get("ids"))
        shutil.rmtree(work)
    return summary


def _write_table(work: Path, out: Path, n_parts: int, ids: list[str] | None) -> None:
    """The skipped rows, then the parts one after the other."""
    with appearing(out.with_suffix(".skipped.csv")) as partial:
        shutil.copyfile(work / SKIPPED, partial)
    with appearing(out) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        for index in range(n_parts):
            names, rows = _read(part_path(work, index), ids)
            if index == 0:
                table.writerow(names)
            table.writerows(rows)


def _read(part: Path, ids: list[str] | None) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Names and rows of a part; the nearest graph by its id."""
    found = pyarrow("parquet").read_table(part)
    columns = [found.column(name).to_pylist() for name in found.column_names]
    if ids and "nearest" in found.column_names:
        place = found.column_names.index("nearest")
        columns[place] = [ids[number] for number in columns[place]]
    return found.column_names, zip(*columns, strict=True)
