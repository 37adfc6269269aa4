"""The matrix of a graph that a kernel of its nodes is a function of, in the form in which it multiplies fastest.

Every matrix here is diag(scale) (diag(left) A + diag(diagonal)) diag(1 / scale) with the adjacency matrix A as it is
stored, so that normalised matrices need no weights of their own: vectors are divided by `scale` once, before all steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from gvoys.graphs.degrees import outgoing
from gvoys.graphs.spectrum import spectral_radius

MATRICES = ("adjacency", "row", "symmetric", "laplacian", "normalized_laplacian")
_LARGE = 1 << 16  # nodes from which the order of the nodes decides how fast products are

Array = NDArray[Any]
Look = Callable[[int, slice, Array], None]
Step = Callable[[Terms, Array, Array, Array], None]

_STEPS: dict[int, Any] = {1: step_one, LANES: step_four, WIDE: step_wide}  # by how many vectors they take at once
_USUAL = {1: 1.0, LANES: 2.0, WIDE: 5.0}  # times of a step on small graphs
_TRIED = 8  # steps that tell these times on large ones
_PARTS, _ROW = 96, 4  # that threads share; entries that take as long as what else is done for a row


class Recurrence(NamedTuple):
    """Factors of every step, (n_steps,) each: y = matrix M x + itself x + before y; total += kept y."""

    matrix: Array
    itself: Array
    before: Array
    kept: Array
    first: float  # what the vector itself counts in the total


@dataclass(frozen=True)
class NodeMatrix:
    """A matrix of a graph."""

    sparse: Any  # the adjacency matrix, and what its rows are multiplied by, in double precision
    scale: Array  # what vectors are divided by before all steps, and multiplied by afterwards; none for ones
    interval: tuple[float, float] | None  # where the eigenvalues lie; None where they may be complex
    order: Array  # the node that each row stands for; none for all in their order
    device: str = "cpu"  # where `sparse` and `scale` are, and all vectors

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.sparse.left)

    def put(self, array: Array) -> Any:
        """An array where vectors are; on a GPU in single precision."""
        if self.device == "cpu":
            return array
        from gvoys._compiled.cuda.recurrence_cuda import copy_to_device

        return copy_to_device(array)

    @cached_property
    def places(self) -> Array:
        """The row of each node; none for all in their order."""
        positions = np.empty_like(self.order)
        positions[self.order] = np.arange(len(self.order))
        return positions

    @cached_property
    def in_single(self) -> Sparse:
        """The same matrix in single precision."""
        indptr, indices, *numbers = self.sparse
        return Sparse(indptr, indices, *(frozen(array.astype(np.float32)) for array in numbers))

    def rows_of(self, nodes: Array) -> Array:
        """The rows of some nodes."""
        return self.places[nodes] if len(self.order) else nodes

    def run(self, recurrence: Recurrence, X: Array, look: Look | None = None, overwrite: bool = False) -> Array:
        """Run a recurrence on vectors, (n_nodes, n_vectors), in their precision; rows are in `order`."""
        if X.shape[1] and self._at_once(X.shape[1]) == X.shape[1]:
            return self._run_some(recurrence, X, slice(0, X.shape[1]), look, overwrite)
        out = np.empty_like(X)
        first = 0
        while first < X.shape[1]:
            columns = slice(first, first + self._at_once(X.shape[1] - first))
            out[:, columns] = self._run_some(recurrence, X[:, columns], columns, look)
            first = columns.stop
        return out

    def _at_once(self, left: int) -> int:
        """Return how many of the remaining vectors to multiply at once."""
        if self.device == "cuda":
            return min(left, DEVICE_LANES)
        return min(left, min(_STEPS, key=lambda width: math.ceil(left / width) * self._times[width]))

    def _step(self, width: int, kind: Any) -> tuple[int, Step]:
        """Vectors that a step takes at once, of which some may be empty, and the step."""
        if self.device == "cuda":
            from gvoys._compiled.cuda.recurrence_cuda import step_eight

            return DEVICE_LANES, partial(step_eight, self.sparse)
        sparse = self.sparse if kind == np.float64 else self.in_single
        lanes, step = next((lanes, step) for lanes, step in _STEPS.items() if width <= lanes)
        return lanes, partial(step, sparse, self._parts)

    @cached_property
    def _parts(self) -> Array:
        """Where rows with as much work as others begin: entries, and what else is to be done for a row."""
        work = self.sparse.indptr + _ROW * np.arange(self.n_nodes + 1)
        wanted = np.linspace(0, work[-1], _PARTS + 1)
        return np.asarray(frozen(np.searchsorted(work, wanted).astype(np.int64)))

    @cached_property
    def _times(self) -> dict[int, float]:
        """The time of a step by the number of vectors, which a large graph and the caches decide.

        The bits are the same whether vectors go alone or together.
        """
        if self.n_nodes < _LARGE:
            return _USUAL
        return {width: min(self._seconds(width) for _ in range(2)) for width in _STEPS}

    def _seconds(self, width: int) -> float:
        """Time a few products with the matrix."""
        factors, X = np.ones(_TRIED), np.zeros((self.n_nodes, width), np.float32)
        begin = perf_counter()
        self._run_some(Recurrence(factors, factors, factors, factors, 0.0), X, slice(0, width), None)
        return perf_counter() - begin

    def _run_some(
        self, recurrence: Recurrence, X: Array, columns: slice, look: Look | None, overwrite: bool = False
    ) -> Array:
        kind, width = X.dtype, X.shape[1]
        lanes, step = self._step(width, kind)
        x = X
        if not overwrite or width < lanes or not X.flags.c_contiguous:
            x = np.zeros_like(X, shape=(len(X), lanes))
            x[:, :width] = X
        if len(self.scale):
            x /= self._scale(kind)
        y, total = np.zeros_like(x), kind.type(recurrence.first) * x
        if look is not None:
            look(0, columns, x)
        *factors, _ = recurrence
        for number, terms in enumerate(zip(*(factor.astype(kind) for factor in factors), strict=True), 1):
            step(Terms(*terms), x, y, total)
            x, y = y, x
            if look is not None:
                look(number, columns, x)
        if len(self.scale):
            total *= self._scale(kind)
        return total if width == lanes else total[:, :width]

    def _scale(self, kind: Any) -> Array:
        return self.scale[:, None].astype(kind)

    def on(self, device: str) -> NodeMatrix:
        """The same matrix on a device, on the CPU in the order in which it multiplies fastest."""
        if device == "cpu":
            return self.reordered()
        from gvoys._compiled.cuda.recurrence_cuda import copy_sparse_to_device, copy_to_device

        scale = copy_to_device(self.scale) if len(self.scale) else self.scale
        return NodeMatrix(copy_sparse_to_device(self.sparse), scale, self.interval, self.order, device)

    def reordered(self) -> NodeMatrix:
        """The same matrix with near nodes in near rows, by reverse Cuthill–McKee, where the graph is large."""
        if self.n_nodes < _LARGE or len(self.order) or self.device != "cpu":
            return self
        indptr, indices, weights, left, diagonal = self.sparse
        shape = (self.n_nodes, self.n_nodes)
        data = weights if len(weights) else np.ones(len(indices), np.float32)
        A = sp.csr_array((data, indices.view(np.int32), indptr), shape=shape)
        order = reverse_cuthill_mckee(A, symmetric_mode=True).astype(np.int64)
        B = A[order][:, order]
        B.sort_indices()
        data = B.data if len(weights) else weights
        left, diagonal, scale = (array[order] if len(array) else array for array in (left, diagonal, self.scale))
        arrays = (B.indptr.astype(np.int64), B.indices.astype(np.int32).view(np.uint32), data, left, diagonal)
        return NodeMatrix(Sparse(*map(frozen, arrays)), scale, self.interval, order)


def on_host(array: Any) -> Array:
    """An array on the host, wherever it is."""
    return np.asarray(array.get() if hasattr(array, "get") else array)


def matrix_of(graph: GraphBatch, name: str, transposed: bool = False) -> NodeMatrix:
    """The matrix of a graph by its name."""
    if not isinstance(name, str) or name not in MATRICES:
        raise ParameterError(f"matrix must be one of {', '.join(map(repr, MATRICES))}, not {name!r}")
    if graph.directed and name not in ("adjacency", "row"):
        raise UnsupportedError(
            f"matrix={name!r} is that of an undirected graph, and this one is directed; use 'adjacency' or 'row', or "
            "drop the directions"
        )
    if name == "adjacency":
        return _adjacency(graph, transposed)
    if name == "laplacian":
        degrees = _degrees(graph, positive=False)
        largest = float(2.0 * outgoing(graph).max(initial=0.0)) or 1.0
        sparse = _sparse(graph, -np.ones(graph.n_nodes), degrees)
        return NodeMatrix(sparse, np.empty(0), (0.0 if _no_negative(graph) else -largest, largest), _IN_ORDER)
    return _normalized(graph, name, transposed)


_IN_ORDER = np.empty(0, np.int64)


def _adjacency(graph: GraphBatch, transposed: bool) -> NodeMatrix:
    interval = None
    if not graph.directed:
        radius = float(spectral_radius(graph, 1e-4)[0])
        interval = (-radius, radius)
    return NodeMatrix(_sparse(graph, np.ones(graph.n_nodes), transposed=transposed), np.empty(0), interval, _IN_ORDER)


def _normalized(graph: GraphBatch, name: str, transposed: bool) -> NodeMatrix:
    degrees = _degrees(graph, positive=True)
    alone = degrees == 0
    degrees = np.where(alone, 1.0, degrees)
    diagonal = alone.astype(np.float64) if alone.any() else np.empty(0)
    interval = None if graph.directed else (-1.0, 1.0)
    sparse = _sparse(graph, 1.0 / degrees, diagonal, transposed=transposed and graph.directed)
    scale = np.empty(0)
    if name != "row":
        scale = np.sqrt(degrees)
    elif transposed:
        scale = degrees
    return NodeMatrix(sparse, scale, interval, _IN_ORDER)


def _degrees(graph: GraphBatch, positive: bool) -> Array:
    """Sums of the weights that leave each node; positive ones where there are any."""
    if graph.edge_weights is None:
        return np.diff(graph.indptr).astype(np.float64)
    degrees = np.bincount(graph.rows(), graph.edge_weights, minlength=graph.n_nodes).astype(np.float64)
    bad = np.flatnonzero((degrees <= 0) & (np.diff(graph.indptr) > 0)) if positive else _IN_ORDER
    if bad.size:
        raise GraphError(
            f"node {int(bad[0])} has edges but a weighted degree of {degrees[bad[0]]:g}; only positive degrees can be "
            "normalised"
        )
    if positive and not _no_negative(graph):
        raise GraphError("an edge has a negative weight; normalised matrices need weights of at least 0")
    return degrees


def _no_negative(graph: GraphBatch) -> bool:
    return graph.edge_weights is None or bool(graph.edge_weights.min(initial=0.0) >= 0.0)


def _sparse(graph: GraphBatch, left: Array, diagonal: Array | None = None, transposed: bool = False) -> Sparse:
    indptr, indices, weights = graph.indptr, graph.indices, graph.edge_weights
    if transposed and graph.directed:
        A = graph.adjacency().T.tocsr()
        indptr, indices, weights = A.indptr, A.indices, None if weights is None else A.data
    arrays: Sequence[Array] = (
        np.asarray(indptr, np.int64),
        np.asarray(indices, np.int32).view(np.uint32),
        np.empty(0) if weights is None else np.asarray(weights, np.float64),
        left,
        np.empty(0) if diagonal is None else diagonal,
    )
    return Sparse(*map(frozen, arrays))
