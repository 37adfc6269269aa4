"""Prior over functions on the nodes: a weighted sum of kernels.

`DiffusionMixture` is the one that is learned: diffusion kernels exp(-t L) from short to long times t, and one whose
neighbours differ, exp(-2 (2 - L)), with the normalised Laplacian L. All are polynomials of the same matrix, so that a
product with all of them takes as many passes over the graph as one with the longest, and any mixture is one polynomial.
`FixedKernel` is one kernel of a given form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.entries import index_type
from gvoys.nodes.matrices import NodeMatrix, Recurrence, matrix_of
from gvoys.nodes.named import LaplacianKernel
from gvoys.nodes.recurrences import chebyshev_coefficients, chebyshev_recurrence, form_of
from gvoys.series import Series
from gvoys.walks.checks import is_auto

TIMES = tuple(2.0**k for k in range(-1, 10))
_UNLIKE = 2.0  # the time of the kernel whose neighbours differ
_TOL = 1e-6  # of each kernel, relative to its largest eigenvalue
_WHOLE = (-1.0, 1.0)

Array = NDArray[Any]


class Prior(ABC):
    """A sum of kernels of the nodes; vectors are (n_nodes, n_vectors), in the matrix's order and on its device."""

    matrix: NodeMatrix
    names: tuple[str, ...]

    @property
    def n_terms(self) -> int:
        """Number of kernels."""
        return len(self.names)

    @abstractmethod
    def apply(self, weights: Array, X: Array, error: float) -> Array:
        """The kernel with these weights times vectors."""

    def least(self, weights: Array) -> float:
        """A bound from below on the eigenvalues of the kernel with these weights."""
        return 0.0

    @abstractmethod
    def root(self, weights: Array, noise: Array) -> Array:
        """Functions of the nodes with this kernel as their covariance."""

    @abstractmethod
    def terms(self, rows: Array, V: Array) -> Array:
        """Every kernel on some rows times vectors on these rows."""


class DiffusionMixture(Prior):
    """Diffusion kernels of several times, and one whose neighbours differ."""

    def __init__(self, matrix: NodeMatrix, max_length: int) -> None:
        self.matrix = matrix
        kernels = {f"diffusion {time:g}": _diffusion(time) for time in TIMES}
        kernels["unlike neighbours"] = _mirrored(_diffusion(_UNLIKE))
        kept = {name: coefficients for name, coefficients in kernels.items() if len(coefficients) - 1 <= max_length}
        if not kept:
            least = min(len(coefficients) - 1 for coefficients in kernels.values())
            raise ParameterError(f"max_length={max_length} leaves no diffusion kernel; the shortest needs {least}")
        self.names = tuple(kept)
        self.coefficients = np.zeros((len(kept), max((len(coefficients) for coefficients in kept.values()), default=1)))
        for row, coefficients in zip(self.coefficients, kept.values(), strict=True):
            row[: len(coefficients)] = coefficients

    def apply(self, weights: Array, X: Array, error: float) -> Array:
        return self.matrix.run(self._recurrence(weights, error), X, overwrite=True)

    def _recurrence(self, weights: Array, error: float) -> Recurrence:
        return chebyshev_recurrence(_shortened(weights @ self.coefficients, error), _WHOLE)

    def least(self, weights: Array) -> float:
        mixed = np.polynomial.chebyshev.chebval(np.linspace(*_WHOLE, 513), weights @ self.coefficients)
        return max(float(mixed.min()), 0.0)

    def root(self, weights: Array, noise: Array) -> Array:
        mixed = weights @ self.coefficients

        def function(eigenvalue: Any) -> Any:
            return np.sqrt(np.maximum(np.polynomial.chebyshev.chebval(eigenvalue, mixed), 0.0))

        coefficients, _ = chebyshev_coefficients(function, _WHOLE, _TOL, most=4 * self.coefficients.shape[1])
        return self.matrix.run(chebyshev_recurrence(coefficients, _WHOLE), noise)

    def terms(self, rows: Array, V: Array) -> Array:
        positions = self.matrix.put(rows)
        out = np.zeros_like(V, shape=(self.n_terms, *V.shape))
        X = np.zeros_like(V, shape=(self.matrix.n_nodes, V.shape[1]))
        X[positions] = V
        scale = self.matrix.scale[positions][:, None].astype(V.dtype)
        recurrence = chebyshev_recurrence(np.zeros(self.coefficients.shape[1]), _WHOLE)
        factors = self.coefficients.astype(V.dtype)

        def look(step: int, columns: slice, x: Array) -> None:
            seen = x[positions, : columns.stop - columns.start] * scale
            for term in np.flatnonzero(factors[:, step]):
                out[term, :, columns] += factors[term, step] * seen

        self.matrix.run(recurrence, X, look)
        return out


def _diffusion(time: float) -> Array:
    return chebyshev_coefficients(lambda s: np.exp(time * (np.asarray(s) - 1.0)), _WHOLE, _TOL)[0]


def _mirrored(coefficients: Array) -> Array:
    return np.asarray(coefficients * (-1.0) ** np.arange(len(coefficients)))


def _shortened(coefficients: Array, error: float) -> Array:
    """Without the last terms, which together are at most `error`."""
    tails = np.cumsum(np.abs(coefficients)[::-1])[::-1]
    beyond = np.flatnonzero(tails <= error)
    return coefficients[: max(int(beyond[0]), 1)] if beyond.size else coefficients


class FixedKernel(Prior):
    """One kernel of a given form."""

    def __init__(
        self, name: str, factors: list[tuple[NodeMatrix, Recurrence]], roots: list[tuple[NodeMatrix, Recurrence]]
    ) -> None:
        self.names, self.matrix, self._factors, self._roots = (name,), factors[0][0], factors, roots

    def apply(self, weights: Array, X: Array, error: float) -> Array:
        return self._run(self._factors, float(weights[0]), X)

    def root(self, weights: Array, noise: Array) -> Array:
        return self._run(self._roots, float(np.sqrt(weights[0])), noise)

    def terms(self, rows: Array, V: Array) -> Array:
        positions = self.matrix.put(rows)
        X = np.zeros_like(V, shape=(self.matrix.n_nodes, V.shape[1]))
        X[positions] = V
        return self._run(self._factors, 1.0, X)[positions][None]

    def _run(self, factors: list[tuple[NodeMatrix, Recurrence]], weight: float, X: Array) -> Array:
        for matrix, recurrence in factors:
            X = matrix.run(recurrence, X)
        return X.dtype.type(weight) * X


def prior_of(graph: GraphBatch, kernel: Any, matrix: str | None, max_length: int, device: str = "cpu") -> Prior:
    """The prior."""
    if is_auto(kernel):
        if matrix is not None:
            raise ParameterError(f'matrix={matrix!r} needs a kernel; kernel="auto" uses the normalised Laplacian')
        return DiffusionMixture(matrix_of(undirected(graph), "symmetric").on(device), max_length)
    if not isinstance(kernel, (Series, LaplacianKernel)):
        raise ParameterError(
            f'kernel={kernel!r} is none; it is "auto", Diffusion, RegularizedLaplacian, PStep or Matern, all of '
            "gvoys.nodes, or a series, and a series must be Geometric, Exponential or Coefficients"
        )
    symmetric = not graph.directed and matrix != "row"
    form = form_of(graph, kernel, matrix, "series" if symmetric else "factored", _TOL).on(device)
    if not form.roots:
        raise ParameterError(
            f"{kernel!r} is no covariance on this graph, since it is negative for some eigenvalues; raise mu_0, or use "
            "a kernel of gvoys.nodes"
        )
    return FixedKernel(repr(kernel), form.factors, form.roots)


def undirected(graph: GraphBatch) -> GraphBatch:
    """A graph without its directions: the weights of both add up."""
    if not graph.directed:
        return graph
    A = graph.adjacency()
    both = sp.csr_array(A + A.T)
    both.sort_indices()
    indptr = both.indptr.astype(index_type(both.nnz))
    return GraphBatch(graph.node_offsets, indptr, both.indices.astype(np.int32), False, edge_weights=both.data)
