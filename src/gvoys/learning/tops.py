"""Balanced features of blocks, and kernels on top; every constant comes from the graphs it was fitted on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.learning.profiler import Profiles

__all__ = ["TOPS", "Balance", "Landmarks", "Pairs", "Top"]

TOPS = ("linear", "laplacian", "gaussian")
_SAMPLE = 2000  # graphs whose distances tell the median
_COLUMNS = 2048  # features that are multiplied at once
_SAME = 1e-6  # of their squared lengths: what float32 leaves of the squared distance of equal graphs


@dataclass(frozen=True)
class Balance:
    """Weights that give every walk length the same trace over the fitted graphs, rounds of refinement added up.

    Features are then half-normalised, K(G, H) / (K(G, G) K(H, H))^(1/4): between counts, which tell sizes apart, and
    the cosine, which does not.
    """

    n_rounds: int
    lengths: NDArray[np.float64]  # (max_length + 1,)
    attributes: NDArray[np.float64] | None  # (2,)

    @classmethod
    def fitted(cls, profiles: Profiles, n_rounds: int) -> Balance:
        """Equal traces; attributes together count as much as labels together."""
        traces = _mean_squares(profiles.labels[:, :, :n_rounds])
        lengths = _inverse(traces)
        if profiles.attributes is None:
            return cls(n_rounds, lengths, None)
        attributes = _inverse(_mean_squares(profiles.attributes)) * (len(lengths) / profiles.attributes.shape[1])
        return cls(n_rounds, lengths, attributes)

    def features(self, profiles: Profiles) -> NDArray[np.float32]:
        """(n_graphs, n_features): dot products are the balanced, half-normalised kernel."""
        n = len(profiles)
        weights = np.sqrt(self.lengths).astype(np.float32)[:, None, None]
        parts = [(profiles.labels[:, :, : self.n_rounds] * weights).reshape(n, -1)]
        if self.attributes is not None and profiles.attributes is not None:
            parts.append((profiles.attributes * np.sqrt(self.attributes).astype(np.float32)[:, None]).reshape(n, -1))
        features = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
        norms = np.sqrt(_squared_norms(features))
        roots = np.sqrt(np.where(norms > 0, norms, 1.0))
        return np.divide(features, roots[:, None], dtype=np.float32, casting="same_kind")


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
        squares = _squared_norms(left)
        return cls(inner, squares, squares if left is right else _squared_norms(right))

    def sample(self, most: int) -> Pairs:
        """At most this many graphs of those that were paired with themselves, spread evenly."""
        some = slice(None, None, max(-(-len(self.left) // most), 1))
        return Pairs(self.inner[some, some], self.left[some], self.right[some])

    def squared_distances(self) -> NDArray[np.float64]:
        """|x - y|^2; below a millionth of |x|^2 + |y|^2 it is rounding of float32 features, and 0."""
        sizes = self.left[:, None] + self.right[None, :]
        squares = sizes - 2.0 * self.inner
        return np.where(squares > _SAME * sizes, squares, 0.0)


@dataclass(frozen=True)
class Top:
    """A kernel of features: "linear", "laplacian" exp(-distance / unit) or "gaussian" exp(-distance^2 / (2 unit^2)).

    The unit is the median distance of the fitted graphs, for "linear" the root mean square length.
    """

    name: str
    unit: float

    @classmethod
    def fitted(cls, name: str, pairs: Pairs) -> Top:
        """The unit from the fitted graphs paired with themselves."""
        if name not in TOPS:
            raise ParameterError(f"there is no top {name!r}; choose among {', '.join(map(repr, TOPS))}")
        if name == "linear":
            return cls(name, float(np.sqrt(pairs.left.mean())) or 1.0)
        some = np.sqrt(pairs.sample(_SAMPLE).squared_distances())
        distances = some[np.triu_indices(len(some), 1)]
        return cls(name, float(np.median(distances)) if distances.size and np.median(distances) > 0 else 1.0)

    def gram(self, pairs: Pairs) -> NDArray[np.float64]:
        """Kernel values, (n_left, n_right)."""
        if self.name == "linear":
            return pairs.inner / self.unit**2
        squares = pairs.squared_distances()
        if self.name == "laplacian":
            return np.exp(-np.sqrt(squares) / self.unit)
        return np.exp(-squares / (2.0 * self.unit**2))


@dataclass(frozen=True)
class Landmarks:
    """Nystroem's features: K(G, landmarks) K(landmarks, landmarks)^(-1/2), whose products approximate the kernel."""

    top: Top
    features: NDArray[np.float32]  # (n_landmarks, n_features)
    root: NDArray[np.float64]  # (n_landmarks, n_landmarks)

    @classmethod
    def fitted(cls, top: Top, features: NDArray[np.float32]) -> Landmarks:
        values, vectors = np.linalg.eigh(top.gram(Pairs.between(features, features)))
        kept = values > 1e-9 * values.max()  # landmarks that are alike add nothing but noise
        return cls(top, features, vectors[:, kept] / np.sqrt(values[kept]))

    def embed(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """(n_graphs, at most n_landmarks)."""
        return self.top.gram(Pairs.between(features, self.features)) @ self.root


def _mean_squares(blocks: NDArray[np.float32]) -> NDArray[np.float64]:
    """The trace of each length's kernel over the number of graphs."""
    flat = blocks.reshape(len(blocks), blocks.shape[1], -1)
    return np.einsum("nlw,nlw->l", flat, flat, dtype=np.float64) / max(len(blocks), 1)


def _inverse(traces: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / trace, and 0 for lengths that no walk has."""
    return np.where(traces > 0, 1.0 / np.where(traces > 0, traces, 1.0), 0.0)


def _squared_norms(features: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.einsum("nw,nw->n", features, features, dtype=np.float64)
