"""Base kernels on the profiles: linear, Matérn and Gaussian, and Nyström features of them.

Every constant comes from the graphs it was fitted on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

_SAMPLE = 2000  # graphs whose distances tell the median
SAME = 1e-6  # of their squared lengths: what float32 leaves of the squared distance of equal graphs

# kernels of a distance, in units
_OF_DISTANCE: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "matern12": lambda r: np.exp(-r),
    "matern32": lambda r: (1.0 + np.sqrt(3.0) * r) * np.exp(-np.sqrt(3.0) * r),
    "gaussian": lambda r: np.exp(-(r**2) / 2.0),
}
KERNELS = ("linear", *_OF_DISTANCE)


class HasPairs(Protocol):
    """Graphs that can be compared with others like them."""

    def __len__(self) -> int: ...

    def pairs(self, others: Any = None) -> Pairs:
        """These graphs beside others, or beside themselves."""


@dataclass(frozen=True)
class Pairs:
    """Inner products and squared lengths of features, for pairs of graphs."""

    inner: NDArray[np.float64]  # (n_left, n_right)
    left: NDArray[np.float64]  # (n_left,)
    right: NDArray[np.float64]  # (n_right,)

    @cached_property
    def median_distance(self) -> float:
        """Median distance between different graphs of a sample; 0 where there is no pair."""
        subset = slice(None, None, max(-(-len(self.left) // _SAMPLE), 1))
        squares = self.squared_distances[subset, subset]
        squares = squares[np.triu_indices(len(squares), 1)]
        return float(np.sqrt(np.median(squares))) if squares.size else 0.0

    @property
    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """All three."""
        return self.inner, self.left, self.right

    def cosines(self) -> NDArray[np.float64]:
        """Inner products of unit vectors; 0 where a graph has no features."""
        sizes = np.sqrt(self.left[:, None] * self.right[None, :])
        return np.where(sizes > 0, self.inner / np.where(sizes > 0, sizes, 1.0), 0.0)

    @cached_property
    def squared_distances(self) -> NDArray[np.float64]:
        """|x - y|^2; below a millionth of |x|^2 + |y|^2 it is rounding of float32 features, and 0."""
        sizes = self.left[:, None] + self.right[None, :]
        squares = sizes - 2.0 * self.inner
        return np.where(squares > SAME * sizes, squares, 0.0)


@dataclass(frozen=True)
class BaseKernel:
    """A kernel of features: the inner product ("linear"), or a Matérn or Gaussian kernel of their distance.

    Distances are in units of the median distance of the fitted graphs; inner products in units of their mean square.
    """

    name: str
    unit: float

    @classmethod
    def fitted(cls, name: str, pairs: Pairs) -> BaseKernel:
        """The unit from the fitted graphs paired with themselves."""
        if name == "linear":
            return cls(name, float(np.sqrt(pairs.left.mean())) or 1.0)
        return cls(name, pairs.median_distance or 1.0)

    def gram(self, pairs: Pairs) -> NDArray[np.float64]:
        """Kernel values, (n_left, n_right)."""
        if self.name == "linear":
            return pairs.inner / self.unit**2
        return _OF_DISTANCE[self.name](np.sqrt(pairs.squared_distances) / self.unit)


@dataclass(frozen=True)
class Nystroem:
    """Nyström features: K(G, landmarks) K(landmarks, landmarks)^(-1/2), whose products approximate the kernel."""

    kernel: BaseKernel
    landmarks: HasPairs
    root: NDArray[np.float64]  # (n_landmarks, n_landmarks)

    @classmethod
    def fitted(cls, kernel: BaseKernel, landmarks: HasPairs) -> Nystroem:
        values, vectors = np.linalg.eigh(kernel.gram(landmarks.pairs()))
        kept = values > 1e-9 * values.max()  # landmarks that are alike add nothing but noise
        return cls(kernel, landmarks, vectors[:, kept] / np.sqrt(values[kept]))

    def embed(self, graphs: HasPairs) -> NDArray[np.float64]:
        """(n_graphs, at most n_landmarks)."""
        return self.kernel.gram(graphs.pairs(self.landmarks)) @ self.root


def nearest_by(cosines: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The column of the largest value of each row, and the value."""
    nearest = cosines.argmax(axis=1)
    return nearest, cosines[np.arange(len(cosines)), nearest]
