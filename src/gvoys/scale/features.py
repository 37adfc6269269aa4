"""The features that gvoys embed wrote, all at once."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any

import numpy as np

from gvoys.errors import DatasetError
from gvoys.io.arrow import ARROW_ERRORS
from gvoys.io.files import as_path
from gvoys.scale.columns import stack_rows
from gvoys.scale.like import check_comparable
from gvoys.scale.parts import part_features, part_ids, part_path
from gvoys.scale.run import SUMMARY

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
