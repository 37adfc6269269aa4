"""Counts of label sequences in columns of a fixed number: a count sketch.

Every sequence is added, with a random sign, to the column that its hash names. Products of two such rows have the
kernel as their mean, over seeds, and with W columns a variance of at most

    (K(G, G) K(H, H) + K(G, H)^2) / W

(Charikar, Chen and Farach-Colton 2002). They are the kernel where no two sequences share a column.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.graphs.labels import combine_hashes, hash_integers
from gvoys.walks.profiles import check_finite
from gvoys.walks.sparse import SparseProfiles

MOST_COLUMNS = 2**31 - 1  # their numbers are int32


def signed_columns(
    keys: NDArray[np.uint64], stream: tuple[int, ...], width: int, n_tables: int = 1
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The column and the sign of each label sequence in each of some tables, one beside the other."""
    start = reduce(combine_hashes, (hash_integers(np.array([part], np.uint64)) for part in stream))
    streams = combine_hashes(start, np.arange(n_tables, dtype=np.uint64))
    bits = combine_hashes(np.broadcast_to(streams, (len(keys), n_tables)), keys[:, None])
    size = width // n_tables
    columns = ((bits >> np.uint64(1)) % np.uint64(size)).astype(np.int64) + size * np.arange(n_tables)
    return columns, 1.0 - 2.0 * (bits & np.uint64(1))


def hash_counts(profiles: SparseProfiles, mu: Any, n_columns: int, seed: int) -> sp.csr_array:
    """Features whose products are the kernel in expectation, in columns that do not depend on any graph."""
    roots = profiles.roots(mu)
    rows, columns, values = [], [], []
    for iteration, lengths in enumerate(profiles.blocks):
        for length, counts in enumerate(lengths):
            pointers, keys, plain = counts.listing
            graphs = np.repeat(np.arange(len(profiles), dtype=np.int32), np.diff(pointers))
            column, sign = signed_columns(keys, (seed, iteration, length), n_columns)
            rows.append(graphs)
            columns.append(column.ravel().astype(np.int32))
            with np.errstate(over="ignore"):  # which raises an error below
                values.append(plain * sign.ravel() * roots[graphs, length, iteration])
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    features = sp.csr_array(sp.coo_array(entries, shape=(len(profiles), n_columns)))
    check_finite(features.data)
    return features
