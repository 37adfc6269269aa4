"""Training of support vector machines on a Gram matrix.

Why not scikit-learn's: it takes 1.2 ms for 135 graphs, of which 0.8 ms are checks and copies, and Python's lock for as
long; this takes 0.1 ms, goes on from one C to the next, and leaves the lock to other threads. Tests hold its decisions
to scikit-learn's.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cpu.support_vectors import train_machines
from gvoys.estimators.learning.decisions import SupportVectors
from gvoys.estimators.learning.targets import Targets

Array = NDArray[np.float64]


EXACT, ROUGH = 1e-3, 1e-2  # tolerances of the conditions of optimality: libsvm's, and for comparisons


def train(
    K: Array,
    rows: NDArray[np.int64],
    targets: Targets,
    Cs: Sequence[float],
    class_weight: Any = None,
    tolerance: float = EXACT,
) -> list[SupportVectors]:
    """Train one machine for each C on some graphs."""
    known = targets.take(rows)
    classes, codes = np.unique(known.codes, return_inverse=True)
    bounds = np.outer(np.asarray(Cs, np.float64), known.graph_weights(class_weight))
    pairs = combinations(range(len(classes)), 2)
    result = [_train_pair(K, rows, codes, pair, bounds, tolerance) for pair in pairs]
    of_each = ([(weights[c], intercepts[c]) for weights, intercepts in result] for c in range(len(Cs)))
    return [_collected(rows, summary, len(classes)) for summary in of_each]


def _train_pair(
    K: Array, rows: NDArray[np.int64], codes: NDArray[Any], pair: tuple[int, int], bounds: Array, tolerance: float
) -> tuple[Array, Array]:
    """Weights of all `rows`, zero for other classes, and intercepts, for each C."""
    subset = np.flatnonzero((codes == pair[0]) | (codes == pair[1]))
    signs = np.where(codes[subset] == pair[0], 1.0, -1.0)
    result, intercepts = train_machines(K, rows[subset], signs, np.ascontiguousarray(bounds[:, subset]), tolerance)
    weights = np.zeros(bounds.shape)
    weights[:, subset] = result
    return weights, intercepts


def _collected(rows: NDArray[np.int64], pairs: list[tuple[Array, Any]], n_classes: int) -> SupportVectors:
    weights = np.array([weights for weights, _ in pairs])
    used = weights.any(axis=0)
    return SupportVectors(rows[used], weights[:, used], np.array([intercept for _, intercept in pairs]), n_classes)
