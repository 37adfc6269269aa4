"""Predictions of a fitted Gaussian process: from kernel values with the fitted graphs, or from features.

All in units of the targets' standard deviation, without their mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from gvoys.graphs.batch import GraphBatch
from gvoys.kernels.base_kernels import Pairs, nearest_by
from gvoys.kernels.blocks import WalkBlocks
from gvoys.kernels.gaussian import BlockGrams, FeatureMoments
from gvoys.kernels.kernel_sum import Induced, KernelSum
from gvoys.kernels.profiler import hash_blocks
from gvoys.walks import SparseProfiles

Array = NDArray[np.float64]


class Posterior(Protocol):
    """Means and (co)variances of the process at new graphs, without noise."""

    @property
    def walks(self) -> Any:
        """The object whose `walks` compare graphs."""

    def mean(self, batch: GraphBatch) -> Array:
        """(n_graphs,)."""

    def mean_and_variance(self, batch: GraphBatch) -> tuple[Array, Array]:
        """Two arrays of (n_graphs,)."""

    def mean_and_covariance(self, batch: GraphBatch) -> tuple[Array, Array]:
        """(n_graphs,) and (n_graphs, n_graphs)."""

    def nearest(self, batch: GraphBatch) -> tuple[NDArray[np.int64], Array] | None:
        """The fitted graph that each is most like and their similarity, where fitted graphs are kept."""

    def features(self, batch: GraphBatch, width: int) -> Array:
        """(n_graphs, n_features): products are the kernel, those of exact counts in expectation, by `width` numbers."""


@dataclass(frozen=True)
class GramPosterior:
    """With a Gram matrix of the fitted graphs."""

    walks: WalkBlocks
    fitted: list[SparseProfiles]
    mu: Array  # (n_blocks,)
    factor: Array  # Cholesky factor of K + noise I
    weights: Array  # (K + noise I)^-1 y

    @classmethod
    def of(
        cls, walks: WalkBlocks, fitted: list[SparseProfiles], grams: BlockGrams, log_mu: Array, log_noise: float
    ) -> GramPosterior:
        """Condition on the fitted graphs."""
        return cls(walks, fitted, np.exp(log_mu), *grams.posterior(log_mu, log_noise))

    def _cross(self, new: list[SparseProfiles]) -> Array:
        """Kernel values, (n_new, n_fitted)."""
        return np.tensordot(self.mu, self.walks.grams(new, self.fitted), axes=1)

    def mean(self, batch: GraphBatch) -> Array:
        """Predict by kernel values with the fitted graphs."""
        return self.mean_of(self.walks.profile(batch))

    def mean_of(self, new: list[SparseProfiles]) -> Array:
        """The same of graphs that have been profiled."""
        return np.asarray(self._cross(new) @ self.weights)

    def mean_and_variance(self, batch: GraphBatch) -> tuple[Array, Array]:
        """The prior variance less what the fitted graphs tell."""
        new = self.walks.profile(batch)
        cross = self._cross(new)
        half = _solved(self.factor, cross)
        return cross @ self.weights, self.mu @ self.walks.diagonals(new) - np.einsum("ij,ij->j", half, half)

    def mean_and_covariance(self, batch: GraphBatch) -> tuple[Array, Array]:
        """The same for all pairs of new graphs."""
        new = self.walks.profile(batch)
        cross = self._cross(new)
        half = _solved(self.factor, cross)
        prior = np.tensordot(self.mu, self.walks.grams(new), axes=1)
        return cross @ self.weights, prior - half.T @ half

    def nearest(self, batch: GraphBatch) -> tuple[NDArray[np.int64], Array] | None:
        """Find the nearest graph by the cosine of the learned kernel without its constant."""
        new, mu = self.walks.profile(batch), np.append(self.mu[:-1], 0.0)
        inner = np.tensordot(mu, self.walks.grams(new, self.fitted), axes=1)
        left, right = (mu @ self.walks.diagonals(side) for side in (new, self.fitted))
        return nearest_by(Pairs(inner, left, right).cosines())

    def features(self, batch: GraphBatch, width: int) -> Array:
        """The sequences of new graphs are not known before, so that they are hashed."""
        return hash_blocks(self.walks, self.walks.profile(batch), self.mu, width)


@dataclass(frozen=True)
class KernelPosterior:
    """With the kernel values of the fitted graphs, whatever the kernel."""

    kernel: KernelSum
    fitted: list[SparseProfiles]
    factor: Array  # Cholesky factor of K + noise I
    weights: Array  # (K + noise I)^-1 y

    @property
    def walks(self) -> KernelSum:
        """The kernel has them."""
        return self.kernel

    def _cross(self, new: list[SparseProfiles]) -> Array:
        return self.kernel.values(new, self.fitted) + self.kernel.constant

    def mean(self, batch: GraphBatch) -> Array:
        """Predict by kernel values with the fitted graphs."""
        return np.asarray(self._cross(self.kernel.profile(batch)) @ self.weights)

    def mean_and_variance(self, batch: GraphBatch) -> tuple[Array, Array]:
        """The prior variance less what the fitted graphs tell."""
        new = self.kernel.profile(batch)
        cross = self._cross(new)
        half = _solved(self.factor, cross)
        prior = self.kernel.diagonal(new) + self.kernel.constant
        return cross @ self.weights, prior - np.einsum("ij,ij->j", half, half)

    def mean_and_covariance(self, batch: GraphBatch) -> tuple[Array, Array]:
        """The same for all pairs of new graphs."""
        new = self.kernel.profile(batch)
        cross = self._cross(new)
        half = _solved(self.factor, cross)
        return cross @ self.weights, self._cross_of(new) - half.T @ half

    def _cross_of(self, new: list[SparseProfiles]) -> Array:
        return self.kernel.values(new) + self.kernel.constant

    def nearest(self, batch: GraphBatch) -> tuple[NDArray[np.int64], Array] | None:
        """Find the nearest graph by common surroundings."""
        return nearest_by(self.kernel.similarities(self.kernel.profile(batch), self.fitted))

    def features(self, batch: GraphBatch, width: int) -> Array:
        """Compute features by comparison with at most `width` of the fitted graphs."""
        features = Induced.on(self.kernel, self.fitted, width).features(batch)
        features[:, -1] *= np.sqrt(self.kernel.constant)
        return features


@dataclass(frozen=True)
class FeaturePosterior:
    """In feature space, where the fitted graphs are not needed any more."""

    walks: WalkBlocks | Induced
    noise: float
    root: Array  # sqrt(mu) by column
    factor: Array  # Cholesky factor of noise I + Phi^T Phi
    weights: Array  # mean of the weights, by column

    @classmethod
    def of(
        cls, walks: WalkBlocks | Induced, moments: FeatureMoments, log_mu: Array, log_noise: float
    ) -> FeaturePosterior:
        """Condition on the graphs that the moments are of."""
        return cls(walks, float(np.exp(log_noise)), *moments.posterior(log_mu, log_noise))

    def _features(self, batch: GraphBatch) -> Array:
        return self.walks.features(batch).astype(np.float64) * self.root

    def mean(self, batch: GraphBatch) -> Array:
        """Linear in the features."""
        return np.asarray(self._features(batch) @ self.weights)

    def _features_and_lost(self, batch: GraphBatch) -> tuple[Array, Array]:
        """Features, and the prior variance that they lack."""
        if isinstance(self.walks, Induced):
            features, lost = self.walks.features_and_lost(batch)
            return features * self.root, lost * self.root[0] ** 2
        return self._features(batch), np.zeros(len(batch))

    def mean_and_variance(self, batch: GraphBatch) -> tuple[Array, Array]:
        """Predict with variances, by the covariance of the weights."""
        features, lost = self._features_and_lost(batch)
        half = _solved(self.factor, features)
        return features @ self.weights, self.noise * np.einsum("ij,ij->j", half, half) + lost

    def mean_and_covariance(self, batch: GraphBatch) -> tuple[Array, Array]:
        """The same for all pairs of new graphs."""
        features, lost = self._features_and_lost(batch)
        half = _solved(self.factor, features)
        return features @ self.weights, self.noise * (half.T @ half) + np.diag(lost)

    def nearest(self, batch: GraphBatch) -> tuple[NDArray[np.int64], Array] | None:
        """They are not."""
        return None

    def features(self, batch: GraphBatch, width: int) -> Array:
        """Return the fitted features, whatever the `width`."""
        return self._features(batch)


def _solved(factor: Array, rows: Array) -> Array:
    return np.asarray(solve_triangular(factor, rows.T, lower=True))
