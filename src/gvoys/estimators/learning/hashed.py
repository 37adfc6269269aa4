"""Exact counts of label sequences as vectors of fixed width: a count sketch, see `gvoys.walks.hashed`.

Every sequence of every block is added to one column of each of four tables, W columns in all. One table would have the
same bound on the variance, but most of it by rare collisions of frequent sequences, which a seed has or has not.
Normalised blocks are divided by the norms of the counts, and so are unbiased.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.estimators.learning.blocks import WalkBlocks
from gvoys.walks import SparseProfiles
from gvoys.walks.hashed import signed_columns
from gvoys.walks.products import row_squares

_TABLES = 4

Array = NDArray[np.float64]


def hash_blocks(walks: WalkBlocks, profiles: list[SparseProfiles], mu: Array, width: int) -> Array:
    """Features whose products are the kernel sum_b mu_b K_b in expectation."""
    plain = [(item.blocks[r][i].keys, item.block(r, i)) for item in profiles for r, i in _places(item)]
    out = np.zeros((len(profiles[0]), width + 1))
    for block, (keys, counts) in enumerate(plain):
        factors = np.full(len(out), np.sqrt(mu[block] / walks.traces[block]))
        out[:, :-1] += _hashed(counts, factors, keys, (walks.seed, block), width)
    for block, (keys, counts) in enumerate(plain if walks.cosine else [], len(plain)):
        norms = np.sqrt(row_squares(counts.indptr, counts.data))
        factors = np.sqrt(mu[block]) / np.where(norms > 0, norms, 1.0)
        out[:, :-1] += _hashed(counts, factors, keys, (walks.seed, block), width)
    out[:, -1] = np.sqrt(mu[-1])
    return out


def _places(profiles: SparseProfiles) -> Any:
    return np.ndindex(profiles.n_iterations, profiles.n_lengths)


def _hashed(
    counts: sp.csr_array, factors: Array, keys: NDArray[np.uint64], stream: tuple[int, int], width: int
) -> Array:
    """Counts times the factor of their graph, in the columns and with the signs of their sequences."""
    n_tables = min(_TABLES, width)
    columns, signs = signed_columns(keys, stream, width, n_tables)
    pointers = n_tables * np.arange(len(keys) + 1)
    entries = ((signs / np.sqrt(n_tables)).ravel(), columns.ravel(), pointers)
    table = sp.csr_array(entries, shape=(len(keys), width))
    return np.asarray((counts @ table).toarray()) * factors[:, None]
