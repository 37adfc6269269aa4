"""A support vector machine on a Gram matrix, whose C is chosen by inner cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

__all__ = ["EFFORT", "GRID", "search_machine"]

GRID = {"C": 10.0 ** np.arange(-2, 5)}
EFFORT = 1_000_000  # iterations of one machine


def search_machine(
    K: NDArray[np.float64], y: NDArray[Any], cv: Any, n_jobs: int | None = None, effort: int = EFFORT
) -> GridSearchCV:
    """Train on a Gram matrix with the best C of the grid.

    Parameters
    ----------
    K : ndarray of shape (n_graphs, n_graphs)
        The Gram matrix.
    y : ndarray of shape (n_graphs,)
        The classes.
    cv : int or splitter
        The inner folds.
    n_jobs : int or None, default=None
        Number of processes.
    effort : int, default=1000000
        Most iterations of one machine.

    Returns
    -------
    GridSearchCV
        The trained machine.
    """
    return GridSearchCV(SVC(kernel="precomputed", max_iter=effort), GRID, cv=cv, n_jobs=n_jobs).fit(K, y)
