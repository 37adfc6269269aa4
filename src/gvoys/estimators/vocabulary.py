"""Sequence counts as sparse matrices: columns are the sequences that occur at fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.walks.sequences import Counts

__all__ = ["Vocabulary", "sparse_gram", "squared_norms"]

_DENSE = 5_000_000  # numbers in two dense matrices


@dataclass(frozen=True)
class Vocabulary:
    """The sorted sequences of each Weisfeiler–Lehman iteration and length, which are columns.

    Parameters
    ----------
    keys : list of list of ndarray
        Hashes of the sequences, for each iteration and length.
    """

    keys: list[list[NDArray[np.uint64]]]

    @classmethod
    def from_counts(cls, rounds: list[list[Counts]]) -> Vocabulary:
        """Collect the sequences that occur in counts.

        Parameters
        ----------
        rounds : list of list of Counts
            Counts of each iteration and length.

        Returns
        -------
        Vocabulary
            The sequences.
        """
        return cls([[np.unique(counts.keys) for counts in lengths] for lengths in rounds])

    @property
    def n_columns(self) -> int:
        """Number of different sequences."""
        return sum(len(keys) for lengths in self.keys for keys in lengths)

    def features(self, rounds: list[list[Counts]], factors: NDArray[np.float64], n_graphs: int) -> sp.csr_array:
        """Counts of the known sequences, times factors.

        Parameters
        ----------
        rounds : list of list of Counts
            Counts of each iteration and length.
        factors : ndarray of shape (n_iterations, n_lengths)
            Factors of the counts.
        n_graphs : int
            Number of graphs.

        Returns
        -------
        csr_array of shape (n_graphs, n_columns)
            The features.
        """
        parts, first = [], 0
        for known, lengths, row in zip(self.keys, rounds, factors, strict=True):
            for keys, counts, factor in zip(known, lengths, row, strict=True):
                places = np.minimum(np.searchsorted(keys, counts.keys), max(len(keys) - 1, 0))
                seen = keys[places] == counts.keys if len(keys) else np.zeros(len(counts.keys), bool)
                parts.append((counts.graphs[seen], first + places[seen], factor * counts.values[seen]))
                first += len(keys)
        rows, columns, values = (np.concatenate([part[i] for part in parts]) for i in range(3))
        return sp.csr_array(sp.coo_array((values, (rows, columns)), shape=(n_graphs, max(self.n_columns, 1))))


def squared_norms(rounds: list[list[Counts]], factors: NDArray[np.float64], n_graphs: int) -> NDArray[np.float64]:
    """K(G, G) of every graph, over all its sequences, known or not.

    Parameters
    ----------
    rounds : list of list of Counts
        Counts of each iteration and length.
    factors : ndarray of shape (n_iterations, n_lengths)
        Factors of the counts.
    n_graphs : int
        Number of graphs.

    Returns
    -------
    ndarray of shape (n_graphs,)
        The squared norms.
    """
    total = np.zeros(n_graphs)
    for lengths, row in zip(rounds, factors, strict=True):
        for counts, factor in zip(lengths, row, strict=True):
            total += np.bincount(counts.graphs, (factor * counts.values) ** 2, minlength=n_graphs)
    return total


def sparse_gram(left: sp.csr_array, right: sp.csr_array) -> NDArray[np.float64]:
    """The dense matrix left @ right.T, by BLAS if both are small enough to be dense, which is faster.

    Parameters
    ----------
    left : csr_array of shape (n_left, n_columns)
        Features.
    right : csr_array of shape (n_right, n_columns)
        Features to compare with.

    Returns
    -------
    ndarray of shape (n_left, n_right)
        The Gram matrix.
    """
    if (left.shape[0] + right.shape[0]) * left.shape[1] > _DENSE:
        return (left @ right.T).toarray()
    ours = left.toarray()
    return ours @ (ours if left is right else right.toarray()).T
