"""Index: the most similar graphs of a library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cpu.code_scan import Codes
from gvoys.errors import ParameterError
from gvoys.estimators.base import as_seed
from gvoys.estimators.regressor import TWO_SIDED
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.build import check_joinable
from gvoys.io.convert import as_batch
from gvoys.search.coding import Coder, Queries, comparer_for, encode, largest, most_similar
from gvoys.threads import threads
from gvoys.walks.checks import check_count
from gvoys.walks.sequences import spread_graphs

_BLOCK = 4096  # graphs that are encoded at once
_QUERIES = 256  # graphs that are searched for at once
_TOGETHER = 32  # of these, whose candidates are compared exactly at once
_DIGITS = 12  # by which graphs are ranked: equal ones differ by rounding, and are in the order of the library

Array = NDArray[np.float64]


class Hits(NamedTuple):
    """The most similar graphs of each query, the most similar first.

    Parameters
    ----------
    ids : ndarray of shape (n_queries, k)
        Their ids.
    similarities : ndarray of shape (n_queries, k)
        Cosines of the kernel, from 0 to 1.
    intervals : ndarray of shape (n_queries, k, 2)
        95 % intervals of the cosines; where walks are counted rather than sketched, their ends are the cosine.
    """

    ids: NDArray[Any]
    similarities: Array
    intervals: Array


@dataclass(frozen=True)
class Segment:
    """Graphs that were added together."""

    graphs: GraphBatch
    codes: Codes
    ids: Sequence[Any]

    def __len__(self) -> int:
        return len(self.graphs)


class Index:
    """Find the most similar graphs of a library.

    Every graph is kept with a short code of its profile. A search looks through all codes for graphs whose similarity
    may be largest, and compares those exactly. Codes are made with landmarks, some of the graphs that are added first.

    Parameters
    ----------
    features : estimator or None, default=None
        By what graphs are compared: the kernel of a RandomWalkFeatures or RandomWalkKernel, what a fitted
        RandomWalkClassifier or RandomWalkRegressor compares graphs by, or None: walks of up to five steps, each length
        with the same share.
    n_candidates : int, default=384
        Graphs of which the exact similarity to a query is computed. More find the true ones more often, and take
        longer.
    width : int, default=128
        Bytes of a code.
    random_state : int, RandomState or None, default=0
        Seed of sketches.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Examples
    --------
    >>> import gvoys as gv
    >>> molecules = gv.datasets.molecules(200)
    >>> index = gv.Index().add(molecules, ids=[f"molecule {i}" for i in range(200)])
    >>> ids, similarities, intervals = index.nearest(molecules[7], k=3)
    >>> str(ids[0, 0]), round(float(similarities[0, 0]), 6)
    ('molecule 7', 1.0)
    """

    def __init__(
        self,
        features: Any = None,
        *,
        n_candidates: int = 384,
        width: int = 128,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.features = features
        self.n_candidates = check_count(n_candidates, "n_candidates")
        self.width = check_count(width, "width")
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.coder_: Coder | None = None
        self.segments_: list[Segment] = []

    def __len__(self) -> int:
        return sum(map(len, self.segments_))

    def __repr__(self) -> str:
        return f"Index({len(self):,} graphs)"

    def add(self, X: Any, ids: Any = None) -> Index:
        """Add graphs; those that are there already stay as they are.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.
        ids : sequence of str or of numbers, or None, default=None
            Names of the graphs; None numbers them, after those that are there.

        Returns
        -------
        Index
            The index itself.

        Raises
        ------
        ParameterError
            If there are not as many ids as graphs, or they are neither text nor numbers.
        GraphError
            If the graphs have labels and those that are there have none, or the like.
        """
        batch = as_batch(X)
        names = range(len(self), len(self) + len(batch)) if ids is None else as_ids(ids)
        if len(names) != len(batch):
            raise ParameterError(f"ids must be one for each of the {len(batch)} graphs, not {len(names)}")
        if not len(batch):
            return self
        if self.segments_:
            check_joinable([self.segments_[0].graphs, batch])
        if self.coder_ is None:
            self._fit(batch)
        assert self.coder_ is not None
        with threads(self.n_jobs):
            self.segments_.append(Segment(batch, encode_graphs(self.coder_, batch), names))
        return self

    def _fit(self, batch: GraphBatch) -> None:
        """Fit the coder and its landmarks on a sample of the graphs."""
        with threads(self.n_jobs):
            sample = batch[spread_graphs(batch, _BLOCK)]
            comparer = comparer_for(self.features, sample, as_seed(self.random_state))
            self.coder_ = Coder.fitted(comparer, sample, self.width)

    def nearest(self, X: Any, k: int = 10) -> Hits:
        """Find the most similar graphs of the library.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.
        k : int, default=10
            How many for each of the graphs; all of a library that has fewer.

        Returns
        -------
        Hits
            Ids, similarities and their intervals. Graphs of the same similarity are in the order of the library.

        Raises
        ------
        ParameterError
            If the library is empty.
        """
        count = min(check_count(k, "k"), len(self))
        if self.coder_ is None or not count:
            raise ParameterError("the index holds no graphs; add some first")
        batch = as_batch(X)
        parts = []
        with threads(self.n_jobs):
            for first in range(0, len(batch), _QUERIES):
                parts += list(self._hits(Queries.from_graphs(self.coder_, batch[first : first + _QUERIES]), count))
        names = [self._ids(rows) for rows, _, _ in parts]
        if any(isinstance(name, str) for row_names in names for name in row_names):
            ids = np.empty((len(batch), count), object)
            for row, row_names in zip(ids, names, strict=True):
                row[:] = row_names
        else:
            ids = np.array(names).reshape(len(batch), count)
        similarities, errors = (np.array([part[k] for part in parts]).reshape(-1, count) for k in (1, 2))
        half = TWO_SIDED * np.nan_to_num(errors)
        return Hits(ids, similarities, np.stack([similarities - half, np.minimum(similarities + half, 1.0)], axis=2))

    def _hits(self, queries: Queries, count: int) -> Iterator[tuple[NDArray[np.int64], Array, Array]]:
        """Yield rows, similarities and standard errors of each query."""
        rows = self._candidates(queries, max(self.n_candidates, count))
        assert self.coder_ is not None
        comparer = self.coder_.comparer
        for first in range(0, len(rows), _TOGETHER):
            block = np.arange(first, min(first + _TOGETHER, len(rows)))
            candidates, inverse = np.unique(rows[block], return_inverse=True)
            profiles = comparer.profile(self._graphs(candidates))
            asked = queries.profiles  # those of several views are a list
            asked = [part.take(block) for part in asked] if isinstance(asked, list) else asked.take(block)
            K, errors = comparer.cosines(asked, profiles, error=True)
            for columns, similarities, spread in zip(inverse.reshape(len(block), -1), K, errors, strict=True):
                columns = np.sort(columns)
                best = columns[np.argsort(-similarities[columns].round(_DIGITS), kind="stable")[:count]]
                yield candidates[best], similarities[best], spread[best]

    def _candidates(self, queries: Queries, count: int) -> NDArray[np.int64]:
        """Rows of the whole library that may be most similar, (n_queries, at most count)."""
        best, first = [], 0
        for segment in self.segments_:
            scores, rows = most_similar(segment.codes, queries, count)
            best.append((scores, rows + first))
            first += len(segment)
        return largest(best, min(count, first))[1]

    def _by_segment(self, rows: NDArray[np.int64]) -> Iterator[tuple[Segment, NDArray[np.int64]]]:
        """Split sorted rows by segment."""
        first = 0
        for segment in self.segments_:
            local = rows[(rows >= first) & (rows < first + len(segment))] - first
            if len(local):
                yield segment, local
            first += len(segment)

    def _graphs(self, rows: NDArray[np.int64]) -> GraphBatch:
        parts = [segment.graphs[local] for segment, local in self._by_segment(rows)]
        return parts[0] if len(parts) == 1 else GraphBatch.concatenate(parts)

    def _ids(self, rows: NDArray[np.int64]) -> list[Any]:
        order = np.argsort(rows, kind="stable")
        result = [segment.ids[row] for segment, local in self._by_segment(rows[order]) for row in local.tolist()]
        return [result[position] for position in np.argsort(order).tolist()]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index to a folder; graphs that are in that folder already are not written again.

        Parameters
        ----------
        path : str or path-like
            A new folder, or that which the index was opened from.
        """
        from gvoys.search.folder import write_index

        write_index(self, path)

    @classmethod
    def open(cls, path: str | PathLike[str], n_jobs: int | None = None) -> Index:
        """Open an index that `save` or `gvoys search` wrote: checksums are compared, and it is mapped into memory.

        Parameters
        ----------
        path : str or path-like
            The folder.
        n_jobs : int or None, default=None
            Threads.

        Returns
        -------
        Index
            The index, to which more graphs can be added.

        Raises
        ------
        StoreError
            If the folder is no index, or damaged.
        """
        from gvoys.search.folder import read_index

        return read_index(path, n_jobs)


def encode_graphs(coder: Coder, batch: GraphBatch) -> Codes:
    """Make codes of any graphs, each of its graph alone."""
    starts = range(0, max(len(batch), 1), _BLOCK)
    parts = [encode(*coder.project(coder.comparer.profile(batch[first : first + _BLOCK]))) for first in starts]
    return Codes(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def as_ids(ids: Any) -> list[Any]:
    """Ids as Python's own text and numbers, which a file of JSON holds."""
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise ParameterError(f"ids must be a sequence, one for each graph, not {ids!r}")
    result = [item.item() if isinstance(item, np.generic) else item for item in ids]
    bad = next((item for item in result if not isinstance(item, (str, int, float))), None)
    if bad is not None or None in result:
        raise ParameterError(f"ids must be text or numbers, not {bad!r}; convert them, as in map(str, ids)")
    return result
