"""Normalised adjacency: transition probabilities, or the symmetric normalisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError, ParameterError

if TYPE_CHECKING:
    from gvoys.graphs.batch import GraphBatch


def normalized_weights(batch: GraphBatch, how: str) -> NDArray[np.float64]:
    """Weights of a normalised adjacency matrix; isolated nodes keep empty rows."""
    if how not in ("row", "symmetric"):
        raise ParameterError(f'normalized takes "row" or "symmetric", not {how!r}')
    rows, weights = batch.rows(), batch.weights()
    outgoing = _degrees(batch, rows, weights)
    if how == "row":
        return weights / outgoing[rows]
    columns = batch.columns()
    return weights / np.sqrt(outgoing[rows] * _degrees(batch, columns, weights)[columns])


def _degrees(batch: GraphBatch, nodes: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    degrees: NDArray[np.float64] = np.bincount(nodes, weights, minlength=batch.n_nodes).astype(np.float64)
    bad = np.flatnonzero(degrees[nodes] <= 0)
    if bad.size:
        node = int(nodes[bad[0]])
        graph = int(batch.node_graphs()[node])
        raise GraphError(
            f"graph {graph}: node {node - int(batch.node_offsets[graph])} has edges but a weighted degree of "
            f"{degrees[node]:g}; only positive degrees can be normalised"
        )
    return degrees
