"""gvoys predict: what a model says of every graph of a file, part by part, in one table in the end."""

from __future__ import annotations

import csv
import functools
import hashlib
import operator
import shutil
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from gvoys.apps.scale.job import VERSION
from gvoys.apps.scale.parts import part_path, read_summary
from gvoys.apps.scale.run import Columns, Progress, Summary, Task, Worker, run_job
from gvoys.errors import InputWarning, ModelError, ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry import as_chemistry
from gvoys.io.copies import pyarrow
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
from gvoys.io.open import name_fields, open_source
from gvoys.io.sources import FileSource, GraphSource
from gvoys.io.sources.graph_sources import DEFAULTS, NamedSource
from gvoys.io.sources.source import MoleculeSource, digest_file
from gvoys.walks.checks import check_count


@dataclass(frozen=True)
class Models:
    """Models of the same kind of graphs."""

    by_name: dict[str, Any]  # the models
    digest: str  # what tells their files from others

    @property
    def reading(self) -> Mapping[str, Any]:
        """Return how the graphs were read that they were trained on; each model has the fields that it uses."""
        first, *others = map(training_of, self.by_name.values())
        return first | {"fields": functools.reduce(operator.or_, map(_fields, others), _fields(first))}

    def predict_table(self, batch: GraphBatch) -> dict[str, NDArray[Any]]:
        """Make all columns of all models."""
        return {
            f"{name}{column}": values
            for name, model in self.by_name.items()
            for column, values in model.predict_table(batch).items()
        }

    def training_ids(self) -> dict[str, list[str]]:
        """Return the ids of the training graphs, by name of the column that numbers them."""
        known = {f"{name}nearest": training_of(model).get("ids") for name, model in self.by_name.items()}
        return {column: ids for column, ids in known.items() if ids}


def training_of(model: Any) -> dict[str, Any]:
    """Return what a model keeps of its training: the data, the target and how graphs were read."""
    return getattr(model, "training_", None) or {}


def _fields(training: Mapping[str, Any]) -> dict[str, Any]:
    return training.get("fields") or {}


def load_models(path: str | PathLike[str]) -> Models:
    """Load a model, or all of the folder that `gvoys train` wrote for several targets."""
    from gvoys.estimators.saving import load_model  # all of the learners, which gvoys embed does without

    path = as_path(path)
    if not path.is_dir():
        return Models({"": load_model(path)}, digest_file(path))
    files = sorted(path.glob("*.gvoys"))
    if not files:
        raise ModelError(f"{path} is a folder without models, whose names end in .gvoys")
    loaded = {file: load_model(file) for file in files}
    digests = "".join(digest_file(file) for file in files)
    by_name = {f"{training_of(model).get('target') or file.stem} ": model for file, model in loaded.items()}
    read = [{key: training_of(model).get(key) for key in ("smiles", "chemistry")} for model in loaded.values()]
    models = Models(by_name, hashlib.blake2b(digests.encode(), digest_size=16).hexdigest())
    fields = models.reading["fields"].items()
    equal = all(training == read[0] for training in read) and all(
        _fields(training_of(m)).items() <= fields for m in by_name.values()
    )
    if len(by_name) < len(files) or not equal:
        raise ModelError(
            f"the models of {path} do not predict together: two have the same target, or their graphs were read with "
            "other columns, fields or chemistry; use them one by one"
        )
    return models


def load_one(path: str | PathLike[str]) -> Any:
    """Load a model where one is wanted."""
    models = list(load_models(path).by_name.values())
    if len(models) > 1:
        raise ModelError(f"{path} holds {len(models)} models, and one is wanted: name its file in {path}")
    return models[0]


def open_file(
    path: Any,
    like: Mapping[str, Any],
    smiles: str | None = None,
    chemistry: Any = None,
    id: str | None = None,
    root: Any = None,
    **fields: Any,
) -> FileSource:
    """Open a file as other graphs were opened, whose "smiles", "chemistry" and "fields" count where none are given."""
    right = like.get("chemistry")
    if None not in (chemistry, right) and as_chemistry(chemistry) != as_chemistry(right):
        was = as_chemistry(right).as_dict() or "the defaults"
        raise ParameterError(f"the other molecules were read with the chemistry {was}; leave out its options")
    source = path
    if not isinstance(path, GraphSource):
        source = open_source(path, smiles or like.get("smiles") or "smiles", id, None, root, chemistry)
        known = like.get("fields") or {}
        name_fields(source, DEFAULTS | (known if isinstance(source, NamedSource) else {}) | fields)
    if not isinstance(source, FileSource):
        raise ParameterError("this takes a file; for graphs in memory use the estimators, or write_store first")
    if right is not None and isinstance(source, MoleculeSource):  # other graphs have no chemistry
        source.chemistry = as_chemistry(right)
    return source


def open_as_trained(path: Any, model: Any, how: Mapping[str, Any]) -> FileSource:
    """Open a file as the graphs of a model, or of none, were opened; `how` has the options that were given."""
    like = training_of(model)
    chemistry = as_chemistry(how["chemistry"])
    given = chemistry if chemistry.as_dict() or not like else None
    return open_file(path, like, **{**how, "chemistry": given})


@lru_cache(maxsize=1)
def _open_index(path: str, digest: str) -> Any:
    """Open an index once in a process that makes parts."""
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
        if self.library is None:
            return table
        hits = _open_index(*self.library).nearest(batch, 1)
        return table | {"library nearest": hits.ids[:, 0].astype(str), "library similarity": hits.similarities[:, 0]}

    def empty(self) -> Columns:
        return self.compute(GraphBatch.from_arrays([], []))


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
    smiles, id, root : str, path-like or None, default=None
        As in `embed_file`; the chemistry is that of the training table.
    index : str, path-like or None, default=None
        An index that `gvoys search` or `Index.save` wrote: its graph that is nearest to each graph is named, with the
        similarity by which the index compares.
    rows_per_part : int, default=4096
        Rows of the input that are predicted at once; another number changes predictions by rounding alone.
    overwrite : bool, default=False
        Whether to start anew, and to replace `out` in the end.
    worker, on_progress : callable or None, default=None
        As in `embed_file`.
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
    library = None
    if index is not None:
        from gvoys.search.folder import MANIFEST, check_chemistry

        check_chemistry(index, source)
        library = (str(as_path(index).absolute()), digest_file(as_path(index) / MANIFEST))
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


def _write_table(task: Task, out: Path, n_parts: int) -> tuple[int, int]:
    """Write the skipped rows and all parts; return how many graphs have unseen labels, and how many are unlike."""
    counts = dict.fromkeys(("unseen", "unlike"), 0)
    ids = task.model.training_ids()
    with appearing(out.with_suffix(".skipped.csv")) as partial:
        shutil.copyfile(task.skipped, partial)
    with appearing(out) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        for index in range(n_parts):
            columns: dict[str, list[Any]] = pyarrow("parquet").read_table(part_path(task.folder, index)).to_pydict()
            for name in columns.keys() & ids.keys():
                columns[name] = [ids[name][number] for number in columns[name]]
            if index == 0:
                table.writerow(columns)
            table.writerows(zip(*columns.values(), strict=True))
            for kind in counts:  # in the columns of any model
                values = [values for name, values in columns.items() if name.split(" ")[-1] == kind]
                counts[kind] += sum(any(value > 0 for value in row) for row in zip(*values, strict=True))
    return counts["unseen"], counts["unlike"]
