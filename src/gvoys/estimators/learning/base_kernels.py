"""Base kernels on the profiles: linear, Matérn and Gaussian, and Nyström features of them.

Every constant comes from the graphs it was fitted on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["KERNELS", "BaseKernel", "Nystroem", "Pairs", "nearest_by", "squared_norms"]

_SAMPLE = 2000  # graphs whose distances tell the median
_COLUMNS = 2048  # features that are multiplied at once
_SAME = 1e-6  # of their squared lengths: what float32 leaves of the squared distance of equal graphs

# kernels of a distance, in units
_OF_DISTANCE: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "matern12": lambda r: np.exp(-r),
    "matern32": lambda r: (1.0 + np.sqrt(3.0) * r) * np.exp(-np.sqrt(3.0) * r),
    "gaussian": lambda r: np.exp(-(r**2) / 2.0),
}
KERNELS = ("linear", *_OF_DISTANCE)


@dataclass(frozen=True)
class Pairs:
    """What any kernel needs to know of pairs of graphs: inner products and squared lengths of their features.

    In double precision: a product in single precision depends on the shape of the matrix it is computed in, and with
    it a prediction would depend on the other graphs of the call.
    """

    inner: NDArray[np.float64]  # (n_left, n_right)
    left: NDArray[np.float64]  # (n_left,)
    right: NDArray[np.float64]  # (n_right,)

    @classmethod
    def between(cls, left: NDArray[np.float32], right: NDArray[np.float32]) -> Pairs:
        """Some columns at a time, so that no copy of all features is made."""
        inner = np.zeros((len(left), len(right)))
        for begin in range(0, left.shape[1], _COLUMNS):
            ours = left[:, begin : begin + _COLUMNS].astype(np.float64)
            inner += ours @ (ours if left is right else right[:, begin : begin + _COLUMNS].astype(np.float64)).T
        squares = squared_norms(left)
        return cls(inner, squares, squares if left is right else squared_norms(right))

    def sample(self, most: int) -> Pairs:
        """At most this many graphs of those that were paired with themselves, spread evenly."""
        some = slice(None, None, max(-(-len(self.left) // most), 1))
        return Pairs(self.inner[some, some], self.left[some], self.right[some])

    def cosines(self) -> NDArray[np.float64]:
        """Inner products of unit vectors; 0 where a graph has no features."""
        sizes = np.sqrt(self.left[:, None] * self.right[None, :])
        return np.where(sizes > 0, self.inner / np.where(sizes > 0, sizes, 1.0), 0.0)

    def squared_distances(self) -> NDArray[np.float64]:
        """|x - y|^2; below a millionth of |x|^2 + |y|^2 it is rounding of float32 features, and 0."""
        sizes = self.left[:, None] + self.right[None, :]
        squares = sizes - 2.0 * self.inner
        return np.where(squares > _SAME * sizes, squares, 0.0)


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
        some = np.sqrt(pairs.sample(_SAMPLE).squared_distances())
        distances = some[np.triu_indices(len(some), 1)]
        return cls(name, float(np.median(distances)) if distances.size and np.median(distances) > 0 else 1.0)

    def gram(self, pairs: Pairs) -> NDArray[np.float64]:
        """Kernel values, (n_left, n_right)."""
        if self.name == "linear":
            return pairs.inner / self.unit**2
        return _OF_DISTANCE[self.name](np.sqrt(pairs.squared_distances()) / self.unit)


@dataclass(frozen=True)
class Nystroem:
    """Nyström features: K(G, landmarks) K(landmarks, landmarks)^(-1/2), whose products approximate the kernel."""

    kernel: BaseKernel
    features: NDArray[np.float32]  # (n_landmarks, n_features)
    root: NDArray[np.float64]  # (n_landmarks, n_landmarks)

    @classmethod
    def fitted(cls, kernel: BaseKernel, features: NDArray[np.float32]) -> Nystroem:
        values, vectors = np.linalg.eigh(kernel.gram(Pairs.between(features, features)))
        kept = values > 1e-9 * values.max()  # landmarks that are alike add nothing but noise
        return cls(kernel, features, vectors[:, kept] / np.sqrt(values[kept]))

    def embed(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """(n_graphs, at most n_landmarks)."""
        return self.kernel.gram(Pairs.between(features, self.features)) @ self.root


def squared_norms(features: NDArray[np.float32]) -> NDArray[np.float64]:
    """|x|^2 of each row, (n,)."""
    return np.einsum("nw,nw->n", features, features, dtype=np.float64)


def nearest_by(cosines: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The column of the largest value of each row, and the value."""
    nearest = cosines.argmax(axis=1)
    return nearest, cosines[np.arange(len(cosines)), nearest]
