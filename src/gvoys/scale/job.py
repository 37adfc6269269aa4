"""What a run is: its input, its parameters, and what was fitted. A folder belongs to one job."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from gvoys.defaults import DECAY_OF_FILES, FILES
from gvoys.errors import ParameterError
from gvoys.estimators import RandomWalkFeatures
from gvoys.graphs.batch import GraphBatch
from gvoys.io.files import appearing
from gvoys.io.sources import FileSource, Skipped
from gvoys.series import Series, series_named
from gvoys.walks import Sequences, Sketch

__all__ = ["JOB", "Parameters", "claim_folder", "fit_model", "read_job"]

JOB = "job.json"
VERSION = 4  # of the folder: a run goes on only in a folder of its own version
_FIRST = 1000  # rows


@dataclass(frozen=True)
class Parameters:
    """Parameters of the features of a run.

    Parameters
    ----------
    series : {"geometric", "exponential"}, default="geometric"
        Kind of series.
    decay : float, default=1/16
        The decay. It does not depend on the graphs, so that the features of any two runs compare.
    max_length : int, default=6
        Longest walk that is counted.
    method : str, default="auto"
        Method of `RandomWalkFeatures`.
    n_components : int, default=512
        Number of components of sampled or sketched features.
    lengths : {"auto", "stacked", "summed"}, default="auto"
        "auto" sums sketches over walk lengths and keeps the moments of each length apart.
    labels : {"auto", "node", "edge", "both"} or None, default="auto"
        Labels that are used.
    refine : int, default=0
        Number of Weisfeiler–Lehman iterations.
    backtrack : bool, default=True
        Whether walks may backtrack; False counts non-backtracking walks.
    seed : int, default=0
        Seed of the random features.
    rows_per_part : int, default=4096
        Number of rows of a part.
    device : {"cpu", "cuda"}, default="cpu"
        Where features are computed.
    """

    series: str = "geometric"
    decay: float = DECAY_OF_FILES
    max_length: int = FILES.max_length
    method: str = "auto"
    n_components: int = FILES.n_components
    lengths: str = "auto"
    labels: str | None = "auto"
    refine: int = FILES.refine
    backtrack: bool = FILES.backtrack
    seed: int = 0
    rows_per_part: int = 4096
    device: str = "cpu"

    def check(self) -> None:
        """Check the parameters of a run; the estimator checks the others.

        Raises
        ------
        ParameterError
            If one is out of its range.
        """
        if self.lengths not in ("auto", "stacked", "summed"):
            raise ParameterError(f"lengths must be 'auto', 'stacked' or 'summed', not {self.lengths!r}")
        if not 1 <= self.rows_per_part <= 1_000_000:
            raise ParameterError(f"a part has 1 to 1,000,000 rows, not {self.rows_per_part}")
        self.series_of_walks()

    def series_of_walks(self) -> Series:
        """The series mu.

        Returns
        -------
        Series
            The series.
        """
        return series_named(self.series, self.decay)


def fit_model(source: FileSource, parameters: Parameters) -> RandomWalkFeatures:
    """Fit features on the first rows that hold a graph: the kind of labels comes from there.

    How many rows that are does not depend on the parts, so that features do not either.

    Parameters
    ----------
    source : FileSource
        The input.
    parameters : Parameters
        Parameters of the features.

    Returns
    -------
    RandomWalkFeatures
        Fitted features.

    Raises
    ------
    DatasetError
        If no graph can be read.
    """
    parameters.check()
    first: list[Skipped] = []
    for chunk in source.chunks(_FIRST):
        records = source.records(chunk)
        graphs, _, skipped = source.graphs_of(records)
        if len(graphs):
            return _fitted(graphs, parameters)
        first = first or sorted([*records.skipped, *skipped])
    raise source.no_graph(first)


def _fitted(graphs: GraphBatch, parameters: Parameters) -> RandomWalkFeatures:
    model = RandomWalkFeatures(
        parameters.series_of_walks(),
        max_length=parameters.max_length,
        method=parameters.method,
        n_components=parameters.n_components,
        lengths="stacked" if parameters.lengths == "auto" else parameters.lengths,
        labels=parameters.labels,
        refine=parameters.refine,
        backtrack=parameters.backtrack,
        random_state=parameters.seed,
        device=parameters.device,
    ).fit(graphs)
    if model.method_ == Sequences.name:
        raise ParameterError("the columns of method 'sequences' depend on the graphs of a run; use 'sketch' for files")
    if parameters.lengths == "auto" and model.method_ == Sketch.name:
        model.set_params(lengths="summed").fit(graphs)
    return model


def describe(source: FileSource, parameters: Parameters, model: RandomWalkFeatures) -> dict[str, Any]:
    """The job as JSON; the same for the same input and parameters, whatever the machine.

    Parameters
    ----------
    source : FileSource
        The input.
    parameters : Parameters
        Parameters of the features.
    model : RandomWalkFeatures
        Fitted features.

    Returns
    -------
    dict
        The job.
    """
    fitted = {
        "method": str(model.method_),
        "mu": model.series_.coefficients(model.max_length_).tolist(),
        "lengths": model.lengths_,
        "width": model.n_features_out_,
    }
    return {
        "gvoys": metadata.version("gvoys"),
        "version": VERSION,
        "input": source.identity(),
        "parameters": asdict(parameters),
        "fitted": fitted,
    }


def claim_folder(folder: Path, job: dict[str, Any]) -> None:
    """Begin a job in a new folder, or go on with it in its own; the folder must be locked.

    Parameters
    ----------
    folder : Path
        The folder.
    job : dict
        What `describe` returned.

    Raises
    ------
    ParameterError
        If the folder holds another job or other files.
    """
    before, text = read_job(folder), json.dumps(job, indent=1)
    job = json.loads(text)  # as it comes back from the file
    if before is None and any(not file.name.startswith(".") for file in folder.iterdir()):
        raise ParameterError(f"{folder} is not empty and holds no run of gvoys; choose another folder")
    if before in (None, job):
        with appearing(folder / JOB) as partial:
            partial.write_text(text)
    else:
        differs = next((key for key in job if (before or {}).get(key) != job[key]), "version")
        what = "other parameters" if differs == "parameters" else f"another {differs}"
        raise ParameterError(f"{folder} holds a run with {what}; choose another folder, or remove it")


def read_job(folder: Path) -> dict[str, Any] | None:
    """The job that a folder belongs to.

    Parameters
    ----------
    folder : Path
        The folder.

    Returns
    -------
    dict or None
        The job, or None where there is none.

    Raises
    ------
    ParameterError
        If the file of the job is damaged.
    """
    try:
        found = json.loads((folder / JOB).read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ParameterError(f"{folder / JOB} is damaged; choose another folder, or remove this one")
    return found
