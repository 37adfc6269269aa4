"""Whether a graph is like the graphs that a model was fitted on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SHARE = 0.01  # of graphs like the fitted ones that are taken for unlike, at most
_SAME = 1e-6  # what rounding may take from the cosine of equal graphs
_ROWS = 256  # graphs that are compared with all others at once


def similarity_floor(inner: NDArray[np.float64], some: NDArray[np.int64] | None = None) -> float | None:
    """Return the similarity to the nearest fitted graph below which at most about 1 % of new graphs fall.

    It is the 1st percentile, over the fitted graphs, of the largest cosine with another fitted graph. If a new graph
    is drawn as they were, the k-th smallest of n such cosines is above its own with probability k / (n + 1) at most.
    Copies of a graph are left aside: in a collection in which every graph is there twice, only copies would be like it.
    """
    if some is None:
        sizes, some = np.sqrt(inner.diagonal()), np.arange(len(inner))
        scales = np.where(sizes > 0, 1.0 / np.where(sizes > 0, sizes, 1.0), 0.0)
    else:
        scales = np.ones(inner.shape[1])
    nearest = np.empty(len(inner))
    for first in range(0, len(inner), _ROWS):
        rows = slice(first, first + _ROWS)
        cosines = inner[rows] * scales[some[rows], None] * scales
        cosines[cosines > 1.0 - _SAME] = -np.inf  # copies
        cosines[np.arange(len(cosines)), some[rows]] = -np.inf
        nearest[rows] = cosines.max(axis=1, initial=-np.inf)
    known = np.sort(nearest[nearest > -np.inf])
    return float(known[max(int(_SHARE * (len(known) + 1)) - 1, 0)]) if len(known) else None


def find_unlike(
    unseen: NDArray[np.float64], similarity: NDArray[np.float64] | None, floor: float | None
) -> NDArray[np.bool_]:
    """Whether each graph is unlike all fitted ones: it has labels that they lack, or is less similar than the floor."""
    if similarity is None or floor is None:
        return unseen > 0
    return (unseen > 0) | (similarity < floor - _SAME)
