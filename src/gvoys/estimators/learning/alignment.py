"""Alignment of kernels with classes (Cristianini et al. 2001), centred (Cortes et al. 2012): 1 would be perfect."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["block_alignments"]


def block_alignments(blocks: NDArray[np.float32], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """For blocks of features (n_graphs, n_lengths, n_rounds, width) and classes: (n_rounds, n_lengths).

    <K, Y> / (|K| |Y|) of centred matrices, by way of features: |X^T Y|^2 / (|X^T X| |Y^T Y|).
    """
    same = (codes[:, None] == np.arange(codes.max() + 1)).astype(np.float64)
    same -= same.mean(axis=0)
    target = np.linalg.norm(same.T @ same)
    n_lengths, n_rounds = blocks.shape[1:3]
    out = np.zeros((n_rounds, n_lengths))
    for r in range(n_rounds):
        for i in range(n_lengths):
            X = blocks[:, i, r].astype(np.float64)
            X -= X.mean(axis=0)
            size = np.linalg.norm(X.T @ X) * target
            out[r, i] = np.linalg.norm(X.T @ same) ** 2 / size if size > 0 else 0.0
    return out
