"""Square matrices: SciPy sparse arrays and dense NumPy arrays. A zero is no edge; other values are weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gvoys.errors import GraphError
from gvoys.io.readers.check_sparse import check_sparse
from gvoys.io.readers.parts import GraphParts, Names


def matches(graph: Any) -> bool:
    """Recognise a sparse matrix or a two-dimensional numeric array."""
    return sp.issparse(graph) or (isinstance(graph, np.ndarray) and graph.ndim == 2 and graph.dtype.kind in "biuf")


def read(graph: Any, names: Names) -> GraphParts:
    """Read one adjacency matrix; the entries come out sorted, in linear time."""
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise GraphError(f"an adjacency matrix must be square, not of shape {graph.shape}")
    if graph.dtype.kind not in "biuf":
        raise GraphError(f"an adjacency matrix must hold real numbers, not {graph.dtype}")
    if sp.issparse(graph):
        check_sparse(graph)
    if sp.issparse(graph) and graph.dtype.kind in "biu" and graph.dtype.itemsize < 4:
        graph = graph.astype(np.float64)  # repeated entries add up, past the range of small integers
    matrix = sp.csr_array(graph)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    weights = matrix.data.astype(np.float64, copy=False)
    zero = weights == 0
    if zero.any():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
        weights = matrix.data.astype(np.float64, copy=False)
    return GraphParts(
        n_nodes=matrix.shape[0],
        rows=np.repeat(np.arange(matrix.shape[0], dtype=matrix.indices.dtype), np.diff(matrix.indptr)),
        columns=matrix.indices,
        directed=names.directed,
        both_ways=True,
        weights=None if (weights == 1).all() else weights,
        named=False,
    )
