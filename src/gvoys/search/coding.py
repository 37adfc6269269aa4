"""Short codes of graphs: some coordinates of their profiles, a byte each, and the length of all that is left.

Profiles are compared with landmarks, and projected on the directions in which these differ most (Nyström). For unit
vectors x = p + r, with p the projection, <x, y> is at most <p_x, p_y> + |r_x| |r_y|, and near that where x and y are
near each other. That is what a search looks at first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cpu.code_scan import Codes, scan
from gvoys.graphs.batch import GraphBatch
from gvoys.search.comparing import Comparer
from gvoys.walks.sequences import spread_graphs

N_LANDMARKS = 1024
_NEGLIGIBLE = 1e-9  # of the largest eigenvalue
_CHUNKS = 16  # of rows, which do not depend on the threads

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Coder:
    """Projects graphs on the leading directions of some landmarks."""

    comparer: Comparer
    landmarks: Any
    root: Array  # (n_landmarks, width)

    @classmethod
    def fitted(cls, comparer: Comparer, batch: GraphBatch, width: int) -> Coder:
        """Landmarks are some of the graphs, evenly spread."""
        landmarks = comparer.profile(batch[spread_graphs(batch, N_LANDMARKS)])
        K, _ = comparer.cosines(landmarks, landmarks)
        values, vectors = np.linalg.eigh((K + K.T) / 2.0)
        kept = np.flatnonzero(values > _NEGLIGIBLE * values[-1])[::-1][:width] if len(values) else np.empty(0, int)
        return cls(comparer, landmarks, vectors[:, kept] / np.sqrt(values[kept]))

    def project(self, profiles: Any) -> tuple[Array, Array]:
        """Coordinates, (n_graphs, width), and lengths of what is left, (n_graphs,)."""
        K, _ = self.comparer.cosines(profiles, self.landmarks)
        coordinates = K @ self.root
        return coordinates, np.sqrt(np.maximum(1.0 - np.einsum("ij,ij->i", coordinates, coordinates), 0.0))


def encoded(places: Array, rests: Array) -> Codes:
    """A byte for each coordinate."""
    largest = np.abs(places).max(axis=1, initial=0.0)
    scales = np.where(largest > 0, largest, 1.0) / 127.0
    values = np.rint(places / scales[:, None]).astype(np.int8)
    return Codes(values, scales.astype(np.float32), rests.astype(np.float32))


@dataclass(frozen=True)
class Queries:
    """Graphs that are searched for, with their profiles."""

    profiles: Any
    places: NDArray[np.float32]
    rests: NDArray[np.float32]

    @classmethod
    def of(cls, coder: Coder, batch: GraphBatch) -> Queries:
        """Project graphs to queries."""
        profiles = coder.comparer.profile(batch)
        coordinates, rests = coder.project(profiles)
        return cls(profiles, coordinates.astype(np.float32), rests.astype(np.float32))


def most_similar(codes: Codes, queries: Queries, count: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Bounds and rows of the codes with the largest bounds on their similarity, (n_queries, at most count) each."""
    n_rows, n_queries = len(codes.values), len(queries.places)
    bounds = np.arange(_CHUNKS + 1) * n_rows // _CHUNKS
    shape = (_CHUNKS, n_queries, min(count, -(-n_rows // _CHUNKS)))  # a chunk has no more
    scores, rows = np.empty(shape, np.float32), np.empty(shape, np.int64)
    scan(codes, queries.places, queries.rests, bounds, scores, rows)
    return largest([(scores[chunk], rows[chunk]) for chunk in range(_CHUNKS)], min(count, n_rows))


def largest(parts: list[tuple[NDArray[Any], NDArray[Any]]], count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The largest scores of each query, and their rows; of equal ones the first rows."""
    scores = np.concatenate([scores for scores, _ in parts], axis=1)
    rows = np.concatenate([rows for _, rows in parts], axis=1)
    order = np.lexsort(np.stack([rows.astype(np.float64), -scores.astype(np.float64)]), axis=1)[:, :count]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)
