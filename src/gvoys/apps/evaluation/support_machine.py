"""A support vector machine on a Gram matrix, whose C is chosen by inner cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

GRID = {"C": 10.0 ** np.arange(-2, 5)}
EFFORT = 1_000_000  # iterations of one machine


def search_machine(
    K: NDArray[np.float64], y: NDArray[Any], cv: Any, n_jobs: int | None = None, effort: int = EFFORT
) -> GridSearchCV:
    """Train on a Gram matrix with the best C of the grid."""
    return GridSearchCV(SVC(kernel="precomputed", max_iter=effort), GRID, cv=cv, n_jobs=n_jobs).fit(K, y)
