"""gvoys embed: a file of graphs becomes a folder of features, part by part."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.arrow import pyarrow
from gvoys.io.open import open_graphs
from gvoys.io.sources import FileSource
from gvoys.scale.job import Parameters, describe, fit_model
from gvoys.scale.run import Columns, Progress, Summary, Task, Worker, run_job

__all__ = ["embed_file"]


class _Embedding(Task):
    """Makes parts of features."""

    def compute(self, batch: GraphBatch) -> Columns:
        return {"features": self.model.transform(batch)}

    def empty(self) -> Columns:
        kind = np.float64 if self.model.method_ == "moments" else np.float32
        return {"features": np.empty((0, self.model.n_features_out_), kind)}


def embed_file(
    path: str | PathLike[str],
    folder: Path,
    parameters: Parameters | None = None,
    *,
    smiles: str = "smiles",
    id: str | None = None,
    root: str | PathLike[str] | None = None,
    worker: Worker | None = None,
    on_progress: Progress | None = None,
) -> Summary:
    """Write features of all graphs of a file into a folder; a run that was interrupted goes on where it stopped.

    Parameters
    ----------
    path : str or path-like
        A file, folder or name of a dataset that `open_graphs` takes.
    folder : Path
        A new folder, or that of an earlier run with the same input and parameters. Rows that cannot be read are
        skipped, and listed in its file skipped.csv.
    parameters : Parameters or None, default=None
        Parameters of the features; None means the defaults.
    smiles : str, default="smiles"
        Column of a table that holds the SMILES.
    id : str or None, default=None
        Column that holds the ids; None numbers the rows.
    root : str, path-like or None, default=None
        A folder that holds the TU dataset, where `path` is its name.
    worker : callable or None, default=None
        Makes the parts, such as `Cluster.run`; None makes them in this process.
    on_progress : callable or None, default=None
        Called at first and after every part with how much of the input is done, how much there is, and how many graphs
        this run has made.

    Returns
    -------
    Summary
        Numbers of graphs, skipped rows and parts.

    Raises
    ------
    ParameterError
        If the folder holds another run, or `path` is no path.
    DatasetError
        If the file cannot be read, or no graph of it, or is changed while it is read.
    """
    pyarrow()
    parameters = parameters or Parameters()
    folder = Path(folder).absolute()  # workers may stand elsewhere
    source = open_graphs(path, smiles=smiles, id=id, root=root)
    if not isinstance(source, FileSource):
        raise ParameterError(
            "embed_file takes a file; for graphs in memory use RandomWalkFeatures, or write_store first"
        )
    model = fit_model(source, parameters)
    return run_job(_Embedding(source, folder, model), describe(source, parameters, model), worker, on_progress)
