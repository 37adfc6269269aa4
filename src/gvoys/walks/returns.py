"""Closed walks: how probable it is that a walk is back at its start."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.normalize import normalized_weights
from gvoys.io.convert import as_graphs
from gvoys.walks.closed import returns_by


def return_probabilities(graph: Any, max_length: int, *, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Probability that a random walk is back at its start after 0 … max_length steps, for every node.

    It is (P^k)_uu with P = D^-1 A: a feature of a node's place that Weisfeiler–Lehman refinement does not see, used as
    positional encoding by graph neural networks. Exact; memory is that of graph and result, and time the entries
    within max_length / 2 steps of each node (max_length in directed graphs), O(nodes x entries x max_length) at most.

    Parameters
    ----------
    graph : graph, list of graphs or GraphBatch
        Anything that `as_batch` takes, or one graph. Weights must leave every node with edges a positive degree.
    max_length : int
        Longest walk, at least 1.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (n_nodes, max_length + 1)
        Probabilities, of the nodes of one graph after the other; column k is for k steps. Of a node without edges they
        are 0 but for k = 0.

    Raises
    ------
    GraphError
        If a node with edges has no positive degree, or a weight is negative.

    References
    ----------
    Zhang et al., RetGK: Graph kernels based on return probabilities of random walks, NeurIPS 2018.

    Examples
    --------
    >>> import gvoys as gv
    >>> triangle = gv.GraphBatch.from_arrays([[0, 1], [1, 2], [2, 0]], [3])
    >>> return_probabilities(triangle, 3)[0]
    array([1.  , 0.  , 0.5 , 0.25])
    """
    batch = as_graphs(graph)
    steps = normalized_weights(batch, "row")
    _check_positive(batch)
    degrees = np.empty(0)
    if not batch.directed:
        degrees = np.bincount(batch.rows(), batch.weights(), minlength=batch.n_nodes).astype(np.float64, copy=False)
    out = returns_by(batch, steps, degrees, max_length, n_jobs)
    return np.minimum(out, 1.0, out=out)


def _check_positive(batch: GraphBatch) -> None:
    bad = np.flatnonzero(batch.weights() < 0)
    if bad.size:
        graph = int(batch.node_graphs()[batch.rows()[bad[0]]])
        raise GraphError(
            f"graph {graph} has an edge of weight {batch.weights()[bad[0]]:g}; probabilities need weights of at least 0"
        )
