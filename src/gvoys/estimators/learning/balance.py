"""From blocks to features in which every walk length has the same share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gvoys.estimators.learning.base_kernels import squared_norms
from gvoys.estimators.learning.profiler import LabelsAndAttributes
from gvoys.walks import DenseProfiles

__all__ = ["Balance"]


@dataclass(frozen=True)
class Balance:
    """Weights that give every walk length the same trace over the fitted graphs, Weisfeiler–Lehman iterations added up.

    Features are then half-normalised, K(G, H) / (K(G, G) K(H, H))^(1/4): between counts, which tell sizes apart, and
    the cosine, which does not.
    """

    n_iterations: int
    lengths: NDArray[np.float64]  # (max_length + 1,)
    attributes: NDArray[np.float64] | None  # (2,)

    @classmethod
    def fitted(cls, profiles: LabelsAndAttributes, n_iterations: int) -> Balance:
        """Equal traces; attributes together count as much as labels together."""
        lengths = _equal_shares(profiles.labels, n_iterations)
        if profiles.attributes is None:
            return cls(n_iterations, lengths, None)
        attributes = _equal_shares(profiles.attributes, 1) * (len(lengths) / profiles.attributes.n_lengths)
        return cls(n_iterations, lengths, attributes)

    def features(self, profiles: LabelsAndAttributes) -> NDArray[np.float32]:
        """(n_graphs, n_features): dot products are the balanced, half-normalised kernel."""
        parts = [profiles.labels.iterations(self.n_iterations).features(self.lengths)]
        if self.attributes is not None and profiles.attributes is not None:
            parts.append(profiles.attributes.features(self.attributes))
        features = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
        norms = np.sqrt(squared_norms(features))
        roots = np.sqrt(np.where(norms > 0, norms, 1.0))
        return np.divide(features, roots[:, None], dtype=np.float32, casting="same_kind")


def _equal_shares(profiles: DenseProfiles, n_iterations: int) -> NDArray[np.float64]:
    """1 / trace of each length's kernel over the first iterations, and 0 for lengths that no walk has."""
    traces = profiles.diagonals()[:n_iterations].sum(axis=0).mean(axis=1)
    return np.where(traces > 0, 1.0 / np.where(traces > 0, traces, 1.0), 0.0)
