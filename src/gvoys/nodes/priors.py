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
from numpy.polynomial.chebyshev import chebval
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.entries import index_type
from gvoys.nodes.matrices import NodeMatrix, column_blocks, matrix_of, on_host
from gvoys.nodes.named import LaplacianKernel
from gvoys.nodes.recurrences import KernelForm, chebyshev_coefficients, chebyshev_recurrence, form_of, run_factors
from gvoys.series import Series
from gvoys.walks.checks import is_auto

_TIMES = tuple(2.0**k for k in range(-1, 10))  # of the diffusion kernels
_UNLIKE_TIME = 2.0  # of the kernel whose neighbours differ
_KERNEL_TOL = 1e-6  # relative to the kernel's largest eigenvalue
_INTERVAL = (-1.0, 1.0)  # of the eigenvalues of the symmetric matrix
_CHECKED_EIGENVALUES = 513  # for the least one of a mixture
_MAX_DENSE_VALUES = 1000  # measured values up to which dense algebra is used
_MAX_DENSE_ENTRIES = 2e10  # entries that products for it may add up
_ENTRY_PASSES = 24  # passes over the graph that such a product takes, about

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
        """Multiply vectors by the kernel with these weights."""

    def least(self, weights: Array) -> float:
        """Return a bound from below on the eigenvalues of the kernel with these weights."""
        return 0.0

    @abstractmethod
    def root(self, weights: Array, noise: Array) -> Array:
        """Make functions of the nodes with this kernel as their covariance from white noise."""

    @abstractmethod
    def terms(self, rows: Array, V: Array) -> Array:
        """Multiply vectors on some rows by every kernel between these rows."""

    def dense_terms(self, rows: Array) -> Array:
        """Return every kernel between rows, (n_terms, n_rows, n_rows)."""
        n = len(rows)
        out = np.empty((self.n_terms, n, n))
        for columns in column_blocks(n):
            out[:, :, columns] = on_host(self.terms(rows, self.matrix.put(np.eye(n)[:, columns])))
        return (out + out.transpose(0, 2, 1)) / 2.0

    def allows_dense(self, n_observed: int, n_vectors: int) -> bool:
        """Return whether values, and products with vectors, are few enough for dense algebra."""
        entries = float(len(self.matrix.sparse.indices) + self.matrix.n_nodes)
        return n_observed <= _MAX_DENSE_VALUES and entries * n_vectors * _ENTRY_PASSES <= _MAX_DENSE_ENTRIES


class DiffusionMixture(Prior):
    """Diffusion kernels of several times, and one whose neighbours differ."""

    def __init__(self, matrix: NodeMatrix, max_length: int) -> None:
        self.matrix = matrix
        kernels = {f"diffusion {time:g}": _diffusion(time) for time in _TIMES}
        unlike = _diffusion(_UNLIKE_TIME)
        kernels["unlike neighbours"] = unlike * (-1.0) ** np.arange(len(unlike))
        kept = {name: coefficients for name, coefficients in kernels.items() if len(coefficients) - 1 <= max_length}
        if not kept:
            least = min(map(len, kernels.values())) - 1
            raise ParameterError(f"max_length={max_length} leaves no diffusion kernel; the shortest needs {least}")
        self.names = tuple(kept)
        self._coefficients = np.zeros((len(kept), max(map(len, kept.values()))))
        for row, coefficients in zip(self._coefficients, kept.values(), strict=True):
            row[: len(coefficients)] = coefficients

    def apply(self, weights: Array, X: Array, error: float) -> Array:
        mixed = weights @ self._coefficients
        tails = np.cumsum(np.abs(mixed)[::-1])[::-1]
        negligible = np.flatnonzero(tails <= error)  # the last terms, which together are at most `error`
        if negligible.size:
            mixed = mixed[: max(int(negligible[0]), 1)]
        return self.matrix.run(chebyshev_recurrence(mixed, _INTERVAL), X, overwrite=True)

    def least(self, weights: Array) -> float:
        eigenvalues = np.linspace(*_INTERVAL, _CHECKED_EIGENVALUES)
        return max(float(chebval(eigenvalues, weights @ self._coefficients).min()), 0.0)

    def root(self, weights: Array, noise: Array) -> Array:
        mixed = weights @ self._coefficients

        def function(eigenvalue: Any) -> Any:
            return np.sqrt(np.maximum(chebval(eigenvalue, mixed), 0.0))

        coefficients, _ = chebyshev_coefficients(function, _INTERVAL, _KERNEL_TOL, max_terms=4 * len(mixed))
        return self.matrix.run(chebyshev_recurrence(coefficients, _INTERVAL), noise)

    def terms(self, rows: Array, V: Array) -> Array:
        rows = self.matrix.put(rows)
        out = np.zeros_like(V, shape=(self.n_terms, *V.shape))
        scale = self.matrix.scale[rows][:, None].astype(V.dtype)
        factors = self._coefficients.astype(V.dtype)

        def look(step: int, columns: slice, x: Array) -> None:
            values = x[rows, : columns.stop - columns.start] * scale
            for term in np.flatnonzero(factors[:, step]):
                out[term, :, columns] += factors[term, step] * values

        steps = chebyshev_recurrence(np.zeros(self._coefficients.shape[1]), _INTERVAL)
        self.matrix.run(steps, self.matrix.spread(rows, V), look)
        return out


def _diffusion(time: float) -> Array:
    """Return the Chebyshev coefficients of exp(-time L) by the symmetric matrix 1 - L."""
    return chebyshev_coefficients(lambda s: np.exp(time * (np.asarray(s) - 1.0)), _INTERVAL, _KERNEL_TOL)[0]


class FixedKernel(Prior):
    """One kernel of a given form."""

    def __init__(self, name: str, form: KernelForm) -> None:
        self.names, self.matrix, self._form = (name,), form.factors[0][0], form

    def apply(self, weights: Array, X: Array, error: float) -> Array:
        return X.dtype.type(float(weights[0])) * run_factors(self._form.factors, X)

    def root(self, weights: Array, noise: Array) -> Array:
        return noise.dtype.type(float(np.sqrt(weights[0]))) * run_factors(self._form.roots, noise)

    def terms(self, rows: Array, V: Array) -> Array:
        rows = self.matrix.put(rows)
        return run_factors(self._form.factors, self.matrix.spread(rows, V))[rows][None]


def prior_of(graph: GraphBatch, kernel: Any, matrix: str | None, max_length: int, device: str = "cpu") -> Prior:
    """Make the prior of a learner of nodes from its parameters."""
    if is_auto(kernel):
        if matrix is not None:
            raise ParameterError(f'matrix={matrix!r} needs a kernel; kernel="auto" uses the normalised Laplacian')
        return DiffusionMixture(matrix_of(_without_directions(graph), "symmetric").move_to(device), max_length)
    if not isinstance(kernel, (Series, LaplacianKernel)):
        raise ParameterError(
            f'kernel={kernel!r} is none; it is "auto", Diffusion, RegularizedLaplacian, PStep or Matern, all of '
            "gvoys.nodes, or a series, and a series must be Geometric, Exponential or Coefficients"
        )
    symmetric = not graph.directed and matrix != "row"
    form = form_of(graph, kernel, matrix, "series" if symmetric else "factored", _KERNEL_TOL).move_to(device)
    if not form.roots:
        raise ParameterError(
            f"{kernel!r} is no covariance on this graph, since it is negative for some eigenvalues; raise mu_0, or use "
            "a kernel of gvoys.nodes"
        )
    return FixedKernel(repr(kernel), form)


def _without_directions(graph: GraphBatch) -> GraphBatch:
    """Drop the directions of a graph; the weights of both add up."""
    if not graph.directed:
        return graph
    A = graph.adjacency()
    both = sp.csr_array(A + A.T)
    both.sort_indices()
    indptr = both.indptr.astype(index_type(both.nnz))
    return GraphBatch._adopt(graph.node_offsets, indptr, both.indices.astype(np.int32), False, edge_weights=both.data)
