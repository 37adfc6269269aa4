"""Alignment of kernels with classes (Cristianini et al. 2001), centred (Cortes et al. 2012): 1 would be perfect."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gvoys.walks import DenseProfiles

__all__ = ["block_alignments"]


def block_alignments(profiles: DenseProfiles, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """For profiles of graphs and their classes: (n_iterations, n_lengths).

    <K, Y> / (|K| |Y|) of centred matrices, by way of features: |X^T Y|^2 / (|X^T X| |Y^T Y|).
    """
    same = (codes[:, None] == np.arange(codes.max() + 1)).astype(np.float64)
    same -= same.mean(axis=0)
    target = np.linalg.norm(same.T @ same)
    out = np.zeros((profiles.n_iterations, profiles.n_lengths))
    for place in np.ndindex(*out.shape):
        X = profiles.block(*place)
        X -= X.mean(axis=0)
        size = np.linalg.norm(X.T @ X) * target
        out[place] = np.linalg.norm(X.T @ same) ** 2 / size if size > 0 else 0.0
    return out
