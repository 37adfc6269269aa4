"""Where walks start and stop: one weight per node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError, ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.numbers import as_floats

ENDS = ("uniform", "ones")  # weights that have a name


def compute_endpoint(batch: GraphBatch, what: Any, name: str) -> NDArray[np.float64]:
    """Weights of the nodes that walks start from or stop at."""
    if isinstance(what, str) and what == "ones":
        return np.ones(batch.n_nodes)
    if isinstance(what, str) and what == "uniform":
        return np.repeat(1.0 / np.maximum(batch.graph_sizes, 1), batch.graph_sizes)
    expected = f'{name} must be "uniform", "ones" or an array of {batch.n_nodes} numbers, one per node'
    try:
        values = as_floats(what, name)
    except GraphError:
        raise ParameterError(f"{expected}, not {what!r}") from None
    if values.shape != (batch.n_nodes,):
        raise ParameterError(f"{expected}, not of shape {values.shape}")
    if not np.isfinite(values).all():
        raise ParameterError(f"{expected}; its entry {int(np.argmin(np.isfinite(values)))} is not finite")
    return values
