"""Short codes of graphs: coordinates of their profiles, a byte each, and the length of the rest.

Profiles are projected on the directions in which landmarks differ most (Nyström). For unit vectors x = p + r, with p
the projection, <x, y> is at most <p_x, p_y> + |r_x| |r_y|, which a search looks at first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gvoys._compiled.cpu.code_scan import Codes, scan
from gvoys.errors import DivergenceError, ParameterError
from gvoys.estimators import RandomWalkFeatures, RandomWalkKernel
from gvoys.estimators.classifier import RandomWalkClassifier
from gvoys.estimators.regressor import RandomWalkRegressor
from gvoys.graphs.batch import GraphBatch
from gvoys.kernels.balance import Balance, BalancedProfiles
from gvoys.kernels.kernel_sum import KernelSum
from gvoys.kernels.posteriors import KernelPosterior
from gvoys.kernels.profiler import Profiler, usual_walk
from gvoys.walks import Walk
from gvoys.walks.growth import walk_rate
from gvoys.walks.sequences import spread_graphs

_LONGEST_WALK = 5  # walks, where no estimator is given
_PAIRWISE = ("exact", "voyagers")
_HALVINGS = 40

Array = NDArray[np.float64]


class Comparer(Protocol):
    """Makes profiles of graphs, each of its graph alone, and compares them."""

    def profile(self, batch: GraphBatch) -> Any:
        """Compute the profiles that are compared."""

    def cosines(self, left: Any, right: Any, error: bool = False) -> tuple[Array, Array]:
        """Similarities, which are 1 of a graph with itself, and their standard errors if asked for."""


@dataclass(frozen=True)
class BalancedComparer:
    """Every walk length has the same share, as in the classifier."""

    profiler: Profiler
    balance: Balance

    def profile(self, batch: GraphBatch) -> BalancedProfiles:
        return self.balance.of(self.profiler.profile(batch))

    def cosines(self, left: BalancedProfiles, right: BalancedProfiles, error: bool = False) -> tuple[Array, Array]:
        # errors are those of walks by labels
        if self.balance.attributes is None:
            return left.profiles.labels.compare(self.balance.lengths, right.profiles.labels, True, error)
        K = left.pairs(right).cosines()
        return K, np.zeros(K.shape)


@dataclass(frozen=True)
class WalkComparer:
    """The cosine of a walk kernel."""

    walk: Walk
    method: Any
    mu: Array  # (n_iterations, n_lengths)
    largest_rate: float | None = None  # by which walks may multiply, where mu stands for an infinite series

    def profile(self, batch: GraphBatch) -> Any:
        if self.largest_rate is not None:
            _check_rate(batch, self.largest_rate)
        return self.method.profile(batch, self.walk)

    def cosines(self, left: Any, right: Any, error: bool = False) -> tuple[Array, Array]:
        K, errors = left.compare(self.mu, right, True, error)
        return K, errors


@dataclass(frozen=True)
class SurroundingsComparer:
    """The share of surroundings that two graphs have in common, as in `predict_table` of the regressor."""

    kernel: KernelSum

    def profile(self, batch: GraphBatch) -> Any:
        return self.kernel.profile(batch)

    def cosines(self, left: Any, right: Any, error: bool = False) -> tuple[Array, Array]:
        K = self.kernel.similarities(left, right)
        return K, np.zeros(K.shape)


def comparer_for(features: Any, batch: GraphBatch, seed: int) -> Comparer:
    """Return the comparer that matches an estimator."""
    if features is None:
        profiler = Profiler.fitted(batch, usual_walk(batch, _LONGEST_WALK), seed=seed)
        return BalancedComparer(profiler, Balance.fitted(profiler.profile(batch), 1))
    if isinstance(features, RandomWalkClassifier):
        check_is_fitted(features, "balance_")
        return BalancedComparer(features.profiler_, features.balance_)
    if isinstance(features, RandomWalkRegressor):
        check_is_fitted(features, "posterior_")
        if isinstance(features.posterior_, KernelPosterior):
            return SurroundingsComparer(features.posterior_.kernel)
        raise ParameterError(
            'an index takes regressors of at most max_exact graphs and another kernel than "linear"; pass None instead'
        )
    if isinstance(features, (RandomWalkFeatures, RandomWalkKernel)):
        return _of_estimator(features, batch)
    raise ParameterError(
        "an index takes RandomWalkFeatures, RandomWalkKernel, a fitted RandomWalkClassifier or RandomWalkRegressor, or "
        f"None, not {type(features).__name__}"
    )


def _of_estimator(features: Any, batch: GraphBatch) -> WalkComparer:
    names = set(RandomWalkKernel().get_params(deep=False)) - {"normalize", "verbose"}
    given = {name: value for name, value in features.get_params(deep=False).items() if name in names}
    if given["method"] in _PAIRWISE:
        raise ParameterError(f"an index needs profiles, which method={given['method']!r} has none of; choose another")
    kernel = RandomWalkKernel(**given).fit(batch)
    walk = kernel.walk_
    mu = kernel.series_.coefficients_by_round(walk.n_iterations, walk.longest)
    return WalkComparer(walk, kernel.walk_method_, mu, _largest_rate(kernel))


def _check_rate(batch: GraphBatch, largest: float) -> None:
    def check(rate: float) -> int:
        if rate > largest:
            raise DivergenceError  # so that rates are looked at more closely
        return 0

    rate = walk_rate(batch, check)
    if rate > largest:
        raise DivergenceError(
            f"walks of these graphs multiply by {rate:.6g} at every step, and the infinite series was truncated for "
            f"{largest:.6g} at most; set max_length, or make an index of graphs like these"
        )


def _largest_rate(kernel: RandomWalkKernel) -> float | None:
    """Return the largest growth rate of walks for which the fitted length is enough."""
    if kernel.rate_ is None:
        return None
    low, high = kernel.rate_, 2.0 * kernel.rate_
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        growth = middle**2
        enough = growth < kernel.series_.radius and kernel._reaches(growth)
        low, high = (middle, high) if enough else (low, middle)
    return low


N_LANDMARKS = 1024
_NEGLIGIBLE = 1e-9  # of the largest eigenvalue
_N_CHUNKS = 16  # of rows, whatever the threads


@dataclass(frozen=True)
class Coder:
    """Projects graphs on the leading directions of some landmarks."""

    comparer: Comparer
    landmarks: Any
    root: Array  # (n_landmarks, width)

    @classmethod
    def fitted(cls, comparer: Comparer, batch: GraphBatch, width: int) -> Coder:
        """Landmarks are some of the graphs, evenly spread."""
        landmarks = comparer.profile(batch[spread_graphs(batch, N_LANDMARKS)])
        K, _ = comparer.cosines(landmarks, landmarks)
        values, vectors = np.linalg.eigh((K + K.T) / 2.0)
        kept = np.flatnonzero(values > _NEGLIGIBLE * values[-1])[::-1][:width] if len(values) else np.empty(0, int)
        return cls(comparer, landmarks, vectors[:, kept] / np.sqrt(values[kept]))

    def project(self, profiles: Any) -> tuple[Array, Array]:
        """Coordinates, (n_graphs, width), and lengths of what is left, (n_graphs,)."""
        K, _ = self.comparer.cosines(profiles, self.landmarks)
        coordinates = K @ self.root
        return coordinates, np.sqrt(np.maximum(1.0 - np.einsum("ij,ij->i", coordinates, coordinates), 0.0))


def encode(coordinates: Array, rests: Array) -> Codes:
    """Round each coordinate to a byte."""
    largest = np.abs(coordinates).max(axis=1, initial=0.0)
    scales = np.where(largest > 0, largest, 1.0) / 127.0
    values = np.rint(coordinates / scales[:, None]).astype(np.int8)
    return Codes(values, scales.astype(np.float32), rests.astype(np.float32))


@dataclass(frozen=True)
class Queries:
    """Graphs that are searched for, with their profiles."""

    profiles: Any
    coordinates: NDArray[np.float32]
    rests: NDArray[np.float32]

    @classmethod
    def from_graphs(cls, coder: Coder, batch: GraphBatch) -> Queries:
        """Project graphs to queries."""
        profiles = coder.comparer.profile(batch)
        coordinates, rests = coder.project(profiles)
        return cls(profiles, coordinates.astype(np.float32), rests.astype(np.float32))


def most_similar(codes: Codes, queries: Queries, count: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Bounds and rows of the codes with the largest bounds on their similarity, (n_queries, at most count) each."""
    n_rows, n_queries = len(codes.values), len(queries.coordinates)
    bounds = np.arange(_N_CHUNKS + 1) * n_rows // _N_CHUNKS
    shape = (_N_CHUNKS, n_queries, min(count, -(-n_rows // _N_CHUNKS)))  # a chunk has no more
    scores, rows = np.empty(shape, np.float32), np.empty(shape, np.int64)
    scan(codes, queries.coordinates, queries.rests, bounds, scores, rows)
    return largest([(scores[chunk], rows[chunk]) for chunk in range(_N_CHUNKS)], min(count, n_rows))


def largest(parts: list[tuple[NDArray[Any], NDArray[Any]]], count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the largest scores of each query, and their rows; the first rows of equal ones."""
    scores = np.concatenate([scores for scores, _ in parts], axis=1)
    rows = np.concatenate([rows for _, rows in parts], axis=1)
    order = np.lexsort(np.stack([rows.astype(np.float64), -scores.astype(np.float64)]), axis=1)[:, :count]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)
