"""Alignment of kernels with classes (Cristianini et al. 2001), centred (Cortes et al. 2012): 1 would be perfect."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gvoys.walks import Profiles

__all__ = ["block_alignments"]

_ENOUGH = 1000  # graphs that tell the alignment


def block_alignments(profiles: Profiles, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """For profiles of graphs and their classes: (n_iterations, n_lengths), by a thousand of them at most.

    <K, Y> / (|K| |Y|) of centred matrices.
    """
    some = slice(None, None, max(-(-len(codes) // _ENOUGH), 1))
    same = (codes[some, None] == np.arange(codes.max() + 1)).astype(np.float64)
    same -= same.mean(axis=0)
    target, grams = np.linalg.norm(same.T @ same), profiles.take(some).grams()
    sizes = np.array([np.linalg.norm(_centred(K)) for K in grams]) * target
    products = np.einsum("nc,bnc->b", same, grams @ same)
    found = np.divide(products, sizes, out=np.zeros(len(grams)), where=sizes > 0)
    return found.reshape(profiles.n_iterations, profiles.n_lengths)


def _centred(K: NDArray[np.float64]) -> NDArray[np.float64]:
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()
