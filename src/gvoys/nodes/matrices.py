"""The matrix of a graph that a kernel of its nodes is a function of, in the form in which it multiplies fastest.

Every matrix here is diag(scale) (diag(left) A + diag(diagonal)) diag(1 / scale) with the adjacency matrix A as it is
stored, so that normalised matrices need no weights of their own: vectors are divided by `scale` once, before all steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from gvoys._compiled.arguments import frozen
from gvoys._compiled.cpu.recurrence_cpu import DEVICE_LANES, LANES, WIDE, Sparse, Terms, step_four, step_one, step_wide
from gvoys.errors import GraphError, ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import outgoing, spectral_radius

MATRICES = ("adjacency", "row", "symmetric", "laplacian", "normalized_laplacian")
BLOCK_COLUMNS = 64  # columns of a dense kernel that are made at once
_LARGE_GRAPH_NODES = 1 << 16  # from here on the order of the nodes decides how fast products are

Array = NDArray[Any]
Look = Callable[[int, slice, Array], None]
Step = Callable[[Terms, Array, Array, Array], None]

_STEPS: dict[int, Any] = {1: step_one, LANES: step_four, WIDE: step_wide}  # by the number of vectors they take at once
_SMALL_GRAPH_TIMES = {1: 1.0, LANES: 2.0, WIDE: 5.0}  # relative times of a step
_TIMED_STEPS = 8  # steps that are timed on large graphs
_PARALLEL_PARTS = 96  # parts of the rows that threads share
_ROW_ENTRIES = 4  # entries that take as long as what else is done for a row


class Recurrence(NamedTuple):
    """Factors of every step, (n_steps,) each: y = matrix M x + itself x + before y, and total += kept y."""

    matrix: Array
    itself: Array
    before: Array
    kept: Array
    first: float  # factor of the vector itself in the total


@dataclass(frozen=True)
class NodeMatrix:
    """A matrix of a graph."""

    sparse: Any  # the adjacency matrix, and what its rows are multiplied by, in double precision
    interval: tuple[float, float] | None  # where the eigenvalues lie; None where they may be complex
    scale: Array = field(default_factory=lambda: np.empty(0))  # vectors are divided by it before all steps; empty: ones
    order: Array = field(default_factory=lambda: np.empty(0, np.int64))  # the node of each row; empty: in their order
    device: str = "cpu"  # where `sparse`, `scale` and all vectors are

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.sparse.left)

    @cached_property
    def _in_single(self) -> Sparse:
        indptr, indices, *numbers = self.sparse
        return Sparse(indptr, indices, *(frozen(array.astype(np.float32)) for array in numbers))

    @cached_property
    def _parts(self) -> Array:
        """Where parts of the rows with as much work as others begin."""
        work = self.sparse.indptr + _ROW_ENTRIES * np.arange(self.n_nodes + 1)
        bounds = np.linspace(0, work[-1], _PARALLEL_PARTS + 1)
        return np.asarray(frozen(np.searchsorted(work, bounds).astype(np.int64)))

    @cached_property
    def _times(self) -> dict[int, float]:
        """The time of a step by the number of vectors, which a large graph and the caches decide."""
        if self.n_nodes < _LARGE_GRAPH_NODES:  # the bits are the same whether vectors go alone or together
            return _SMALL_GRAPH_TIMES
        times, factors = dict.fromkeys(_STEPS, math.inf), np.ones(_TIMED_STEPS)
        for width in [*_STEPS, *_STEPS]:
            X, begin = np.zeros((self.n_nodes, width), np.float32), perf_counter()
            self._run_block(Recurrence(factors, factors, factors, factors, 0.0), X, slice(0, width), None)
            times[width] = min(times[width], perf_counter() - begin)
        return times

    def rows_of(self, nodes: Array) -> Array:
        """Return the rows of nodes."""
        return np.argsort(self.order)[nodes] if len(self.order) else nodes

    def put(self, array: Array) -> Any:
        """Copy an array to where vectors are; on a GPU in single precision."""
        if self.device == "cpu":
            return array
        from gvoys._compiled.cuda.recurrence_cuda import copy_to_device

        return copy_to_device(array)

    def spread(self, rows: Any, V: Array) -> Array:
        """Spread vectors on some rows, (n_rows, n_vectors), to all; the others are 0."""
        X = np.zeros_like(V, shape=(self.n_nodes, V.shape[1]))
        X[rows] = V
        return X

    def run(self, recurrence: Recurrence, X: Array, look: Look | None = None, overwrite: bool = False) -> Array:
        """Run a recurrence on vectors, (n_nodes, n_vectors), in their precision; rows are in `order`."""
        width = X.shape[1]
        if width and self._width_of_block(width) == width:
            return self._run_block(recurrence, X, slice(0, width), look, overwrite)
        out = np.empty_like(X)
        first = 0
        while first < width:
            columns = slice(first, first + self._width_of_block(width - first))
            out[:, columns] = self._run_block(recurrence, X[:, columns], columns, look)
            first = columns.stop
        return out

    def _width_of_block(self, n_left: int) -> int:
        """Return how many of the remaining vectors to multiply at once."""
        if self.device == "cuda":
            return min(n_left, DEVICE_LANES)
        return min(n_left, min(_STEPS, key=lambda width: math.ceil(n_left / width) * self._times[width]))

    def _choose_step(self, width: int, kind: Any) -> tuple[int, Step]:
        """Return how many vectors a step takes at once, of which any may be empty, and the step."""
        if self.device == "cuda":
            from gvoys._compiled.cuda.recurrence_cuda import step_eight

            return DEVICE_LANES, partial(step_eight, self.sparse)
        lanes, step = next((lanes, step) for lanes, step in _STEPS.items() if width <= lanes)
        return lanes, partial(step, self.sparse if kind == np.float64 else self._in_single, self._parts)

    def _run_block(
        self, recurrence: Recurrence, X: Array, columns: slice, look: Look | None, overwrite: bool = False
    ) -> Array:
        kind, width = X.dtype, X.shape[1]
        lanes, step = self._choose_step(width, kind)
        x, scale = X, self.scale[:, None].astype(kind)
        if not overwrite or width < lanes or not X.flags.c_contiguous:
            x = np.zeros_like(X, shape=(len(X), lanes))
            x[:, :width] = X
        if len(scale):
            x /= scale
        y, total = np.zeros_like(x), kind.type(recurrence.first) * x
        if look is not None:
            look(0, columns, x)
        *factors, _ = recurrence
        for number, terms in enumerate(zip(*(factor.astype(kind) for factor in factors), strict=True), 1):
            step(Terms(*terms), x, y, total)
            x, y = y, x
            if look is not None:
                look(number, columns, x)
        if len(scale):
            total *= scale
        return total if width == lanes else total[:, :width]

    def move_to(self, device: str) -> NodeMatrix:
        """Copy to a GPU, or give near nodes near rows on the CPU (reverse Cuthill–McKee) where the graph is large."""
        if device == "cuda":
            from gvoys._compiled.cuda.recurrence_cuda import copy_sparse_to_device, copy_to_device

            scale = copy_to_device(self.scale) if len(self.scale) else self.scale
            return NodeMatrix(copy_sparse_to_device(self.sparse), self.interval, scale, self.order, device)
        if self.n_nodes < _LARGE_GRAPH_NODES or len(self.order):
            return self
        indptr, indices, weights, left, diagonal = self.sparse
        data = weights if len(weights) else np.ones(len(indices), np.float32)
        A = sp.csr_array((data, indices.view(np.int32), indptr), shape=(self.n_nodes, self.n_nodes))
        order = reverse_cuthill_mckee(A, symmetric_mode=True).astype(np.int64)
        B = A[order][:, order]
        B.sort_indices()
        data = B.data if len(weights) else weights
        left, diagonal, scale = (array[order] if len(array) else array for array in (left, diagonal, self.scale))
        arrays = (B.indptr.astype(np.int64), B.indices.astype(np.int32).view(np.uint32), data, left, diagonal)
        return NodeMatrix(Sparse(*map(frozen, arrays)), self.interval, scale, order)


def on_host(array: Any) -> Array:
    """Copy an array to the host, wherever it is."""
    return np.asarray(array.get() if hasattr(array, "get") else array)


def column_blocks(n_columns: int) -> list[slice]:
    """Return blocks of columns that are made at once."""
    return [slice(first, min(first + BLOCK_COLUMNS, n_columns)) for first in range(0, n_columns, BLOCK_COLUMNS)]


def matrix_of(graph: GraphBatch, name: str, transposed: bool = False) -> NodeMatrix:
    """Make the matrix of a graph with a name."""
    if not isinstance(name, str) or name not in MATRICES:
        raise ParameterError(f"matrix must be one of {', '.join(map(repr, MATRICES))}, not {name!r}")
    if graph.directed and name not in ("adjacency", "row"):
        raise UnsupportedError(
            f"matrix={name!r} is that of an undirected graph, and this one is directed; use 'adjacency' or 'row', or "
            "drop the directions"
        )
    if name == "adjacency":
        radius = None if graph.directed else float(spectral_radius(graph, 1e-4)[0])
        sparse = _as_sparse(graph, np.ones(graph.n_nodes), transposed=transposed)
        return NodeMatrix(sparse, None if radius is None else (-radius, radius))
    degrees = _sum_weights(graph, positive=name != "laplacian")
    if name == "laplacian":
        largest = float(2.0 * outgoing(graph).max(initial=0.0)) or 1.0
        sparse = _as_sparse(graph, -np.ones(graph.n_nodes), degrees)
        return NodeMatrix(sparse, (-largest if _has_negative_weight(graph) else 0.0, largest))
    isolated = degrees == 0
    degrees = np.where(isolated, 1.0, degrees)
    sparse = _as_sparse(graph, 1.0 / degrees, isolated.astype(np.float64) if isolated.any() else None, transposed)
    scale = np.sqrt(degrees) if name != "row" else degrees if transposed else np.empty(0)
    return NodeMatrix(sparse, None if graph.directed else (-1.0, 1.0), scale)


def _sum_weights(graph: GraphBatch, positive: bool) -> Array:
    """Sum the weights that leave each node; `positive` checks that they can be divided by."""
    if graph.edge_weights is None:
        return np.diff(graph.indptr).astype(np.float64)
    degrees = np.bincount(graph.rows(), graph.edge_weights, minlength=graph.n_nodes).astype(np.float64)
    bad = np.flatnonzero((degrees <= 0) & (np.diff(graph.indptr) > 0))
    if positive and bad.size:
        raise GraphError(
            f"node {int(bad[0])} has edges but a weighted degree of {degrees[bad[0]]:g}; only positive degrees can be "
            "normalised"
        )
    if positive and _has_negative_weight(graph):
        raise GraphError("an edge has a negative weight; normalised matrices need weights of at least 0")
    return degrees


def _has_negative_weight(graph: GraphBatch) -> bool:
    return graph.edge_weights is not None and bool(graph.edge_weights.min(initial=0.0) < 0.0)


def _as_sparse(graph: GraphBatch, left: Array, diagonal: Array | None = None, transposed: bool = False) -> Sparse:
    indptr, indices, weights = graph.indptr, graph.indices, graph.edge_weights
    if transposed and graph.directed:
        A = graph.adjacency().T.tocsr()
        indptr, indices, weights = A.indptr, A.indices, None if weights is None else A.data
    numbers = [np.empty(0) if array is None else np.asarray(array, np.float64) for array in (weights, left, diagonal)]
    arrays: list[Array] = [np.asarray(indptr, np.int64), np.asarray(indices, np.int32).view(np.uint32), *numbers]
    return Sparse(*map(frozen, arrays))
