"""The front door to profiles: one vector per graph and walk length, whose dot products are the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.convert import as_batch
from gvoys.series import Series
from gvoys.threads import threads
from gvoys.walks.moments import compute_moments

__all__ = ["compute_gram", "profiles"]

METHODS = ("moments",)


def profiles(
    batch: GraphBatch | Any,
    method: str = "moments",
    max_length: int = 8,
    n_components: int | None = None,
    *,
    start: Any = "uniform",
    stop: Any = "uniform",
    scale: float = 1.0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Profiles H_i(G) with <H_i(G), H_i(H)> = K_i(G, H), made graph by graph; the series comes in when they meet.

    Parameters
    ----------
    batch : GraphBatch, or anything that `as_batch` takes.
    method : "moments", exact, one number per length; it does not look at labels.
    max_length : the longest walk, at least 0.
    n_components : width of the sketched methods; "moments" has the width 1 and does not read it.
    start, stop : "uniform" (1/n per node), "ones", or an array of one weight per node of the batch.
    scale : adjacency matrices are divided by it; pass the same to ``series.coefficients(max_length, scale)``.
    n_jobs : threads; the result does not depend on it.

    Returns
    -------
    array of shape (n_graphs, max_length + 1, width)

    >>> import networkx as nx
    >>> profiles([nx.path_graph(2), nx.cycle_graph(5)], "moments", max_length=2, start="ones", stop="ones")[:, :, 0]
    array([[ 2.,  2.,  2.],
           [ 5., 10., 20.]])
    """
    if method not in METHODS:
        raise ParameterError(f"there is no method {method!r}; choose one of {', '.join(map(repr, METHODS))}")
    if not isinstance(max_length, (int, np.integer)) or isinstance(max_length, bool) or max_length < 0:
        raise ParameterError(f"max_length must be an integer of at least 0, not {max_length!r}")
    if not 0 < scale < np.inf:
        raise ParameterError(f"scale must be a positive number, not {scale!r}")
    with threads(n_jobs):
        return compute_moments(as_batch(batch), int(max_length), start, stop, scale)


def compute_gram(
    left: NDArray[Any], series: Series, right: NDArray[Any] | None = None, scale: float = 1.0
) -> NDArray[np.float64]:
    """K = sum_i mu_i <H_i, H'_i> for all pairs of profiles, (n_left, n_right); `right` defaults to `left`.

    >>> import networkx as nx
    >>> from gvoys import Geometric
    >>> compute_gram(profiles([nx.path_graph(2)], max_length=3, start="ones", stop="ones"), Geometric(0.5))
    array([[7.5]])
    """
    mu = series.coefficients(left.shape[1] - 1, scale)
    root = np.sqrt(mu)[:, None]  # on both sides, so that a Gram matrix comes out symmetric to the bit
    ours = (left * root).reshape(len(left), -1).astype(np.float64, copy=False)
    theirs = ours if right is None else (right * root).reshape(len(right), -1).astype(np.float64, copy=False)
    return ours @ theirs.T
