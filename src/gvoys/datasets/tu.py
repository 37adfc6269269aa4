"""Datasets of the TU collection by their names."""

from __future__ import annotations

from os import PathLike
from typing import Any

from numpy.typing import NDArray

from gvoys.errors import DatasetError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.fetch import find_dataset
from gvoys.io.tu import read_tu


def load_tu(
    name: str, root: str | PathLike[str] | None = None, *, weight_column: int | None = None
) -> tuple[GraphBatch, NDArray[Any] | None]:
    """Load a dataset of the TU collection, such as "MUTAG", "NCI1" or "PROTEINS".

    Parameters
    ----------
    name : str
        Name of the dataset.
    root : str, path-like or None, default=None
        A folder that holds NAME.zip or NAME/. None looks into the folder tu/ of GVOYS_DATA, or of the system's
        cache folder where that is not set, then into installed packages (grakel carries MUTAG and Cuneiform), then
        downloads from the collection's site into tu/.
    weight_column : int or None, default=None
        Column of the edge attributes to use as edge weights; None leaves all weights one.

    Returns
    -------
    batch : GraphBatch
        The graphs. Several label columns become tuples; labels keep the numbers of the file.
    y : array of shape (n_graphs,) or (n_graphs, n_targets), or None
        Class labels as in the file, or real targets.

    Raises
    ------
    DatasetError
        If the dataset cannot be found, or a file does not fit the format; the message names the file and the line.
    """
    try:
        return read_tu(find_dataset(name, root), weight_column)
    except OSError as error:
        raise DatasetError(f"{name} cannot be read: {error.strerror or error}") from None
