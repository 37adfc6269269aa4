"""Directed edges, for non-backtracking walks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gvoys.graphs.batch import GraphBatch

__all__ = ["reverse_entries"]


def reverse_entries(batch: GraphBatch) -> NDArray[np.int64]:
    """Find the entries x -> u for each entry u -> x.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.

    Returns
    -------
    ndarray of shape (n_entries, 2)
        Where they begin and end; parallel edges may be several.
    """
    rows, columns = batch.rows().astype(np.int64), batch.columns()
    forward, backward = rows * batch.n_nodes + columns, columns * batch.n_nodes + rows
    return np.column_stack([np.searchsorted(forward, backward, side) for side in ("left", "right")])
