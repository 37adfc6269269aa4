"""Exact counts of label sequences as vectors of fixed width: a count sketch.

Every sequence of every block is added, with a random sign, to one column of each of four tables, W columns in all, that
its hash names. Products of two such vectors have the kernel as their mean, over seeds, and a variance of at most

    (K(G, G) K(H, H) + K(G, H)^2) / W

(Charikar, Chen and Farach-Colton 2002). One table has that variance too, but most of it by rare collisions of frequent
sequences, which a seed has or has not. Normalised blocks are divided by the norms of the counts, and so are unbiased.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.estimators.learning.blocks import WalkBlocks
from gvoys.graphs.labels import combine_hashes, hash_integers
from gvoys.walks import SparseProfiles

__all__ = ["hash_blocks"]

_TABLES = 4

Array = NDArray[np.float64]


def hash_blocks(walks: WalkBlocks, profiles: list[SparseProfiles], mu: Array, width: int) -> Array:
    """Features whose products are the kernel sum_b mu_b K_b in expectation.

    Parameters
    ----------
    walks : WalkBlocks
        What the blocks are, with the seed.
    profiles : list of SparseProfiles
        Exact counts of some graphs.
    mu : ndarray of shape (n_blocks,)
        Weight of each block.
    width : int
        Number of columns of the sketch.

    Returns
    -------
    ndarray of shape (n_graphs, width + 1)
        The features, each row a function of its graph alone; the last column is the constant block.
    """
    plain = [(each.blocks[r][i].keys, each.block(r, i)) for each in profiles for r, i in _places(each)]
    out = np.zeros((len(profiles[0]), width + 1))
    for block, (keys, counts) in enumerate(plain):
        factors = np.full(len(out), np.sqrt(mu[block] / walks.traces[block]))
        out[:, :-1] += _hashed(counts, factors, keys, (walks.seed, block), width)
    for block, (keys, counts) in enumerate(plain if walks.cosine else [], len(plain)):
        norms = np.sqrt(_squares(counts))
        factors = np.sqrt(mu[block]) / np.where(norms > 0, norms, 1.0)
        out[:, :-1] += _hashed(counts, factors, keys, (walks.seed, block), width)
    out[:, -1] = np.sqrt(mu[-1])
    return out


def _places(profiles: SparseProfiles) -> Any:
    return np.ndindex(profiles.n_iterations, profiles.n_lengths)


def _squares(counts: sp.csr_array) -> Array:
    return np.asarray(counts.multiply(counts).sum(axis=1), np.float64).ravel()


def _hashed(
    counts: sp.csr_array, factors: Array, keys: NDArray[np.uint64], stream: tuple[int, int], width: int
) -> Array:
    """Counts times the factor of their graph, in columns and with signs that hashes of the keys name."""
    n_tables = min(_TABLES, width)
    seed, block = (hash_integers(np.array([part], np.uint64)) for part in stream)
    streams = combine_hashes(combine_hashes(seed, block), np.arange(n_tables, dtype=np.uint64))
    bits = combine_hashes(np.broadcast_to(streams, (len(keys), n_tables)), keys[:, None])
    signs = (1.0 - 2.0 * (bits & np.uint64(1))) / np.sqrt(n_tables)
    size = width // n_tables
    columns = ((bits >> np.uint64(1)) % np.uint64(size)).astype(np.int64) + size * np.arange(n_tables)
    pointers = n_tables * np.arange(len(keys) + 1)
    table = sp.csr_array((signs.ravel(), columns.ravel(), pointers), shape=(len(keys), width))
    return np.asarray((counts @ table).toarray()) * factors[:, None]
