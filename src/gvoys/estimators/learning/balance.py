"""From blocks to features in which every walk length has the same share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gvoys.estimators.learning.base_kernels import squared_norms
from gvoys.estimators.learning.profiler import Profiles

__all__ = ["Balance"]


@dataclass(frozen=True)
class Balance:
    """Weights that give every walk length the same trace over the fitted graphs, Weisfeiler–Lehman iterations added up.

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
        norms = np.sqrt(squared_norms(features))
        roots = np.sqrt(np.where(norms > 0, norms, 1.0))
        return np.divide(features, roots[:, None], dtype=np.float32, casting="same_kind")


def _mean_squares(blocks: NDArray[np.float32]) -> NDArray[np.float64]:
    """The trace of each length's kernel over the number of graphs."""
    flat = blocks.reshape(len(blocks), blocks.shape[1], -1)
    return np.einsum("nlw,nlw->l", flat, flat, dtype=np.float64) / max(len(blocks), 1)


def _inverse(traces: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / trace, and 0 for lengths that no walk has."""
    return np.where(traces > 0, 1.0 / np.where(traces > 0, traces, 1.0), 0.0)
