"""Sparse profiles: counts of label sequences, whose columns are the sequences that occur."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, reduce
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from gvoys._compiled.cpu.sequence_keys import Table, look_up, number_keys
from gvoys.graphs.labels import combine_hashes, hash_integers
from gvoys.threads import n_threads, threads
from gvoys.walks.profiles import Profiles, check_finite
from gvoys.walks.sparse_products import device_of_products, row_squares, summed_gram

MOST_COLUMNS = 2**31 - 1  # their numbers are int32


class Counts:
    """Counts of one iteration and length."""

    _listed: tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64]]

    def __init__(self, keys: NDArray[np.uint64], matrix: sp.csr_array) -> None:
        self._numbered = (keys, matrix)

    @classmethod
    def listed(cls, pointers: NDArray[np.int64], keys: NDArray[np.uint64], values: NDArray[np.float64]) -> Counts:
        """Counts that are listed graph by graph; columns are numbered when they are first asked for."""
        self = cls.__new__(cls)
        self._listed = (pointers, keys, values)
        return self

    @cached_property
    def _numbered(self) -> tuple[NDArray[np.uint64], sp.csr_array]:
        pointers, listed, values = self._listed
        keys, codes = number_keys(listed)
        pointers = pointers.astype(np.int32)  # as SciPy would have it, by another copy
        return keys, sp.csr_array((values, codes, pointers), shape=(len(pointers) - 1, len(keys)))

    @property
    def keys(self) -> NDArray[np.uint64]:
        """Hashes of the label sequences, sorted."""
        return self._numbered[0]

    @property
    def matrix(self) -> sp.csr_array:
        """Weight of each graph's walks, (n_graphs, n_columns)."""
        return self._numbered[1]

    @property
    def listing(self) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64]]:
        """Where each graph's counts begin, the hash of the sequence of each, and the counts."""
        if hasattr(self, "_listed"):
            return self._listed
        return self.matrix.indptr, self.keys[self.matrix.indices], self.matrix.data

    @property
    def size(self) -> int:
        """Number of counts."""
        return len(self._listed[1]) if hasattr(self, "_listed") else self.matrix.nnz

    @cached_property
    def table(self) -> Table:
        """Where keys are looked up."""
        return Table.from_keys(self.keys)

    @cached_property
    def by_sequence(self) -> sp.csc_array:
        """Matrix by columns, of the graphs that have a sequence."""
        return self.matrix.tocsc()

    def squares(self) -> NDArray[np.float64]:
        """The sum of squared counts of every graph, (n_graphs,)."""
        listed = hasattr(self, "_listed")
        return row_squares(*(self._listed[::2] if listed else (self.matrix.indptr, self.matrix.data)))

    @classmethod
    def joined(cls, parts: list[Counts]) -> Counts:
        """Join the counts of several groups of graphs."""
        keys = np.unique(np.concatenate([part.keys for part in parts]))
        return cls(keys, sp.csr_array(sp.vstack([part.match(keys) for part in parts], format="csr")))

    def take(self, graphs: Any) -> Counts:
        """Select graphs, and keep all columns."""
        return Counts(self.keys, sp.csr_array(self.matrix[graphs]))

    def like(self, other: Counts) -> sp.csr_array:
        """Return the counts of the sequences that other graphs have, (n_graphs, n_keys)."""
        if self is other or "_numbered" in vars(self):
            return self.match(other.keys)
        pointers, columns, values = look_up(*self._listed, other.table)
        return sp.csr_array((values, columns, pointers), shape=(len(pointers) - 1, len(other.keys)))

    def match(self, keys: NDArray[np.uint64]) -> sp.csr_array:
        """Return the counts of other sequences, sorted: zero where one does not occur here."""
        if keys is self.keys:
            return self.matrix
        positions = np.minimum(np.searchsorted(keys, self.keys), max(len(keys) - 1, 0))
        known = keys[positions] == self.keys if len(keys) else np.zeros(len(self.keys), bool)
        kept = known[self.matrix.indices]
        before = np.concatenate([[0], np.cumsum(kept)])
        columns = positions[self.matrix.indices[kept]]
        shape = (self.matrix.shape[0], len(keys))
        return sp.csr_array((self.matrix.data[kept], columns, before[self.matrix.indptr]), shape=shape)


class SparseProfiles(Profiles):
    """Counts of label sequences; columns are the sequences of these graphs, and others are matched by their hash."""

    def __init__(self, blocks: list[list[Counts]], exponents: NDArray[np.int64], n_lengths: int | None = None) -> None:
        super().__init__(exponents, len(blocks), len(blocks[0]) if n_lengths is None else n_lengths)
        self.blocks = blocks

    def take(self, graphs: Any) -> SparseProfiles:
        blocks = [[counts.take(graphs) for counts in lengths] for lengths in self.blocks]
        return SparseProfiles(blocks, self.exponents[graphs], self.n_lengths)

    def joined(self, others: list[SparseProfiles]) -> SparseProfiles:
        profiles = [self, *others]
        blocks = [
            [Counts.joined(list(parts)) for parts in zip(*(profile.blocks[r] for profile in profiles), strict=True)]
            for r in range(self.n_iterations)
        ]
        return SparseProfiles(blocks, np.concatenate([profile.exponents for profile in profiles]), self.n_lengths)

    def iterations(self, count: int) -> SparseProfiles:
        return SparseProfiles(self.blocks[:count], self.exponents, self.n_lengths)

    @property
    def size(self) -> int:
        """Number of counts."""
        return sum(counts.size for counts in chain(*self.blocks))

    @property
    def n_sequences(self) -> NDArray[np.int64]:
        """Number of each graph's counts, (n_graphs,)."""
        result = np.zeros(len(self), np.int64)
        for counts in chain(*self.blocks):
            result += np.diff(counts.matrix.indptr)
        return result

    def block(self, iteration: int, length: int) -> sp.csr_array:
        return self._block_like(iteration, length, self._powers(length), self)

    def _number(self) -> None:
        """Number the columns of all blocks, by several threads."""
        with ThreadPoolExecutor(n_threads()) as pool:
            list(pool.map(lambda counts: counts.keys, chain(*self.blocks)))

    @property
    def _keys(self) -> list[tuple[int, int]]:
        """Iteration and length of every block, as columns of features go."""
        return [(r, i) for r, lengths in enumerate(self.blocks) for i in range(len(lengths))]

    def _powers(self, length: int) -> NDArray[np.float64]:
        return np.ldexp(1.0, length * self.exponents)

    def _block_like(
        self, iteration: int, length: int, factors: NDArray[np.float64], other: SparseProfiles
    ) -> sp.csr_array:
        """Return a block, each graph times a factor, whose columns are the sequences of other graphs."""
        matrix = self.blocks[iteration][length].like(other.blocks[iteration][length])
        data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
        return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)

    def features(self, mu: Any) -> sp.csr_array:
        return self._keep("features", mu, lambda roots: self._matched(roots, self))

    def features_like(self, mu: Any, other: SparseProfiles) -> sp.csr_array:
        """Return features whose columns are the label sequences of other graphs."""
        return self._matched(self.roots(mu), other)

    def _matched(self, roots: NDArray[np.float64], other: SparseProfiles) -> sp.csr_array:
        other._number()
        parts = [self._block_like(r, i, roots[:, i, r], other) for r, i in self._keys]
        features = sp.csr_array(sp.hstack(parts, format="csr"))
        features.sort_indices()
        return features

    def _products(self, mu: Any, right: Any, cosine: bool, error: bool) -> tuple[Any, Any]:
        right._number()
        roots, right_roots = self.roots(mu), right.roots(mu)
        K = summed_gram(
            [self._block_like(r, i, roots[:, i, r], right) for r, i in self._keys],
            None if right is self else [right._block_like(r, i, right_roots[:, i, r], right) for r, i in self._keys],
        )
        return K, np.zeros(K.shape)

    def each_gram(self, other: Any = None) -> Iterator[tuple[tuple[int, int], NDArray[np.float64]]]:
        """Yield Gram matrices block by block; each thread takes a block."""
        right = self if other is None else other
        right._number()
        if device_of_products() != "cpu":
            yield from ((key, self._block_gram(key, right)) for key in self._keys)
            return

        def gram(key: tuple[int, int]) -> NDArray[np.float64]:
            with threads(1):
                return self._block_gram(key, right)

        with threadpool_limits(1, "blas"), ThreadPoolExecutor(n_threads()) as pool:
            yield from zip(self._keys, pool.map(gram, self._keys), strict=True)

    def _block_gram(self, key: tuple[int, int], other: SparseProfiles) -> NDArray[np.float64]:
        right_block = other.block(*key)
        left_block = right_block if other is self else self._block_like(*key, self._powers(key[1]), other)
        return summed_gram([left_block], None if other is self else [right_block])

    def _diagonal(self, roots: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.zeros(len(self))
        for r, i in self._keys:
            total += roots[:, i, r] ** 2 * self.blocks[r][i].squares()
        return total

    def _diagonals(self) -> NDArray[np.float64]:
        diagonals = np.zeros((self.n_iterations, self.n_lengths, len(self)))
        for r, i in self._keys:
            diagonals[r, i] = self._powers(i) ** 2 * self.blocks[r][i].squares()
        return diagonals


def signed_columns(
    keys: NDArray[np.uint64], stream: tuple[int, ...], width: int, n_tables: int = 1
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the column and the sign of each label sequence in each of some tables, which are joined."""
    start = reduce(combine_hashes, (hash_integers(np.array([part], np.uint64)) for part in stream))
    streams = combine_hashes(start, np.arange(n_tables, dtype=np.uint64))
    bits = combine_hashes(np.broadcast_to(streams, (len(keys), n_tables)), keys[:, None])
    size = width // n_tables
    columns = ((bits >> np.uint64(1)) % np.uint64(size)).astype(np.int64) + size * np.arange(n_tables)
    return columns, 1.0 - 2.0 * (bits & np.uint64(1))


def hash_counts(profiles: SparseProfiles, mu: Any, n_columns: int, seed: int) -> sp.csr_array:
    """Return features whose products are the kernel in expectation, in columns that do not depend on any graph."""
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
