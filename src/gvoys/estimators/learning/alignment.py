"""Alignment of kernels with classes (Cristianini et al. 2001), centred (Cortes et al. 2012): 1 would be perfect."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gvoys.walks import Profiles

_ENOUGH = 300  # graphs that tell the alignment


def block_alignments(profiles: Profiles, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """For profiles of graphs and their classes: (n_iterations, n_lengths), by a few hundred of them at most.

    <K, Y> / (|K| |Y|) of centred matrices.
    """
    subset = slice(None, None, max(-(-len(codes) // _ENOUGH), 1))
    same = (codes[subset, None] == np.arange(codes.max() + 1)).astype(np.float64)
    same -= same.mean(axis=0)
    target, profiles = np.linalg.norm(same.T @ same), profiles.take(subset)
    out = np.zeros((profiles.n_iterations, profiles.n_lengths))
    for (iteration, length), K in profiles.each_gram():
        size = float(np.linalg.norm(_centred(K)) * target)
        out[iteration, length] = float(np.einsum("nc,nc->", same, K @ same)) / size if size > 0 else 0.0
    return out


def _centred(K: NDArray[np.float64]) -> NDArray[np.float64]:
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()
