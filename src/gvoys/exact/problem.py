"""One pair of graphs and a series, ready for a solver; the result of a solver, and bounds on its error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import spsolve

from gvoys.errors import ConvergenceError, ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import absolute_adjacency, spectral_radius
from gvoys.series import Geometric, Series

Matrix = Any  # sp.csr_array, or a dense array where that multiplies faster
Bound = Callable[[NDArray[np.float64]], float]
_DENSE_SHARE = 0.02  # share of non-zeros from which BLAS beats sparse times dense


class ExactKernel(float):
    """A kernel value: a float that also tells how it was found, in attributes of the names below.

    Parameters
    ----------
    value : float
        The kernel value as a plain float.
    solver : str
        Name of the solver.
    residual : float
        The solver's own measure of what is missing, relative; see each solver.
    iterations : int
        Products with the adjacency matrices, 0 for direct solvers.
    """

    solver: str
    residual: float
    iterations: int

    def __new__(cls, value: float, solver: str, residual: float, iterations: int) -> ExactKernel:
        self = super().__new__(cls, value)
        self.solver, self.residual, self.iterations = solver, float(residual), int(iterations)
        return self

    def __reduce__(self) -> tuple[type[ExactKernel], tuple[float, str, float, int]]:
        return ExactKernel, (float(self), self.solver, self.residual, self.iterations)

    @property
    def value(self) -> float:
        """The kernel value as a plain float."""
        return float(self)


@dataclass(frozen=True)
class Problem:
    """K = v^T [sum_i mu_i A_x^i] w on the product of G and H, never written down: vectors on it are (n, m) matrices."""

    g: GraphBatch  # batches of one graph each, of n and m nodes
    h: GraphBatch  # batches of one graph each, of n and m nodes
    series: Series  # the series mu, with a number as its decay
    start: tuple[NDArray[np.float64], NDArray[np.float64]]
    stop: tuple[NDArray[np.float64], NDArray[np.float64]]
    node_labels: bool  # whether these labels are used
    edge_labels: bool  # whether these labels are used
    tol: float  # relative tolerance
    max_iterations: int  # limit of the iterative solvers

    @property
    def directed(self) -> bool:
        """Whether the product's adjacency matrix may fail to be symmetric."""
        return self.g.directed or self.h.directed

    @property
    def labelled(self) -> bool:
        """Whether any labels restrict the product."""
        return self.node_labels or self.edge_labels

    @cached_property
    def radii(self) -> tuple[float, float]:
        """Upper bounds on the spectral radii of G and H."""
        return float(spectral_radius(self.g)[0]), float(spectral_radius(self.h)[0])

    @property
    def growth(self) -> float:
        """Upper bound on the spectral radius of the product."""
        return self.radii[0] * self.radii[1]

    @cached_property
    def mask(self) -> NDArray[np.bool_] | None:
        """Pairs of nodes with equal labels, (n, m); None where node labels are not used."""
        if not self.node_labels:
            return None
        left, right = (_hashed(graph.node_labels, graph.n_nodes) for graph in (self.g, self.h))
        return left[:, None] == right[None, :]

    @cached_property
    def layers(self) -> list[tuple[Matrix, Matrix]]:
        """The two adjacency matrices, or one pair of them for each edge label they share."""
        if not self.edge_labels:
            return [(_fast(self.g.adjacency()), _fast(self.h.adjacency()))]
        left, right = (_hashed(graph.edge_labels, graph.n_entries) for graph in (self.g, self.h))
        shared = np.intersect1d(left, right)
        return [(_fast(_layer(self.g, left == label)), _fast(_layer(self.h, right == label))) for label in shared]

    @property
    def right_side(self) -> NDArray[np.float64]:
        """The stop vector w of the product, (n, m)."""
        return self.restrict(np.outer(*self.stop))

    def restrict(self, W: NDArray[np.float64]) -> NDArray[np.float64]:
        """Set to zero the pairs that the product does not have."""
        return W if self.mask is None else W * self.mask

    def apply(self, W: NDArray[np.float64]) -> NDArray[np.float64]:
        """A_x applied to a vector on the product: M * sum_l A_l W B_l^T. Cost O(E_g m + E_h n)."""
        out = np.zeros(W.shape)
        for A, B in self.layers:
            out += (B @ (A @ W).T).T
        return self.restrict(out)

    def collapse(self, W: NDArray[np.float64]) -> float:
        """The product v^T W with the start vector v."""
        return float(self.start[0] @ W @ self.start[1])

    def require(
        self, solver: str, *, geometric: bool = False, unlabelled: bool = False, undirected: bool = False
    ) -> None:
        """Check that a solver can handle this problem; the message names those that can."""
        if geometric and not isinstance(self.series, Geometric):
            kind = type(self.series).__name__
            raise UnsupportedError(
                f"solver {solver!r} solves a linear system, which only Geometric series have, not {kind}; "
                "use 'vec' or 'product', or 'spectral' or 'lanczos' on undirected unlabelled graphs"
            )
        if unlabelled and self.labelled:
            raise UnsupportedError(
                f"solver {solver!r} needs unlabelled graphs, whose product is a Kronecker product; "
                "use 'vec', 'product', 'cg' or 'fixed-point', or ignore the labels with labels=None"
            )
        if undirected and self.directed:
            raise UnsupportedError(
                f"solver {solver!r} needs undirected graphs, whose adjacency matrix is symmetric; "
                "use 'vec', 'product', 'cg', 'fixed-point' or 'sylvester'"
            )

    @property
    def decay(self) -> float:
        """The decay of a geometric series."""
        if not isinstance(self.series, Geometric):
            raise ParameterError("only a Geometric series has one decay")
        return self.series.rate


def _hashed(labels: Any, count: int) -> NDArray[np.uint64]:
    """Hashes of labels; none where there is nothing to label."""
    return np.empty(0, np.uint64) if labels is None and count == 0 else labels.hashed


def _layer(graph: GraphBatch, chosen: NDArray[np.bool_]) -> sp.csr_array:
    """The adjacency matrix of the chosen entries."""
    entries = np.flatnonzero(chosen)
    shape = (graph.n_nodes, graph.n_nodes)
    pairs = (graph.rows()[entries], graph.indices[entries])
    return sp.csr_array(sp.coo_array((graph.weights()[entries], pairs), shape=shape))


def _fast(matrix: sp.csr_array) -> Matrix:
    """Return the matrix, dense where that multiplies faster."""
    return matrix.toarray() if matrix.nnz > _DENSE_SHARE * matrix.shape[0] ** 2 else matrix


def relative_norm(residual: NDArray[np.float64], right_side: NDArray[np.float64]) -> float:
    """Norm of the residual relative to that of the right side."""
    size = float(np.linalg.norm(right_side))
    return float(np.linalg.norm(residual)) / size if size > 0 else 0.0


def sum_spectra(problem: Problem, left: Any, right: Any) -> tuple[float, Callable[[str], None]]:
    """Return sum_jk a_j b_k F(x_j y_k), F(x) = sum_i mu_i x^i, of (x, a) and (y, b), and a check of its digits."""
    values = problem.series.evaluate(np.outer(left[0], right[0]))
    value = float(left[1] @ values @ right[1])

    def check_cancellation(solver: str) -> None:
        magnitude = np.abs(left[1]) @ np.abs(values) @ np.abs(right[1])
        if magnitude * 1e-15 > 1e-9 * abs(value):  # rounding has eaten the digits of so small a sum
            raise ConvergenceError(
                f"solver {solver!r} finds {value:.3g} as a difference of terms of {magnitude:.3g}, which leaves no "
                "digits; use 'vec', which only adds"
            )

    return value, check_cancellation


def growth_bound(problem: Problem) -> tuple[float, Bound]:
    """Return a rate and a size with |v^T A_x^i W| <= rate^i * size(W) for all i."""
    if not problem.directed:
        length = float(np.linalg.norm(problem.start[0]) * np.linalg.norm(problem.start[1]))
        return problem.growth, lambda W: length * float(np.linalg.norm(W))
    # directed walks may at first multiply faster than the spectral radius: sizes are relative to x, |A| x <= rate * x
    bounds = zip((problem.g, problem.h), _choose_rates(problem), strict=True)
    (rate1, x1), (rate2, x2) = (_majorant(graph, rate) for graph, rate in bounds)
    reach = float(np.abs(problem.start[0]) @ x1) * float(np.abs(problem.start[1]) @ x2)
    unit = np.outer(x1, x2)
    return rate1 * rate2, lambda W: reach * float((np.abs(W) / unit).max(initial=0.0))


def check_value(problem: Problem, value: float, residual: NDArray[np.float64], solver: str) -> None:
    """Check that the residual of a linear system leaves the digits of its value."""
    rate, size_of = growth_bound(problem)
    error = size_of(residual) * float(problem.series.evaluate(rate))
    if error > tolerated_error(problem, value):
        raise ConvergenceError(
            f"solver {solver!r} finds {value:.3g}, which its residual may change by {error:.2g}; use 'vec', which "
            "bounds the value itself, or lower tol"
        )


def tolerated_error(problem: Problem, value: float) -> float:
    """Return the error in the value that a solver's residual may leave."""
    return max(1e4 * problem.tol, 1e-9) * abs(value)


def _choose_rates(problem: Problem) -> tuple[float, float]:
    """Choose two rates above the spectral radii, with a product below the radius of convergence."""
    radius, unit, (rho1, rho2) = problem.series.radius, problem.series.unit, problem.radii
    if math.isinf(unit):
        return math.inf, math.inf
    product = max(4 * rho1 * rho2, unit) if math.isinf(radius) else math.sqrt(max(rho1 * rho2, radius / 4) * radius)
    if rho1 * rho2 > 0:
        slack = math.sqrt(product / (rho1 * rho2))
        return rho1 * slack, rho2 * slack
    larger = 1.5 * max(rho1, rho2) or math.sqrt(product)
    return (larger, product / larger) if rho1 >= rho2 else (product / larger, larger)


def _majorant(graph: GraphBatch, rate: float) -> tuple[float, NDArray[np.float64]]:
    """Return r and a positive x with |A| x <= r x, for r at most `rate`, which lies above the spectral radius."""
    A = absolute_adjacency(graph)
    x = np.ones(graph.n_nodes)
    if (A @ x).max(initial=0.0) > rate:
        x = np.atleast_1d(spsolve(sp.csc_array(sp.eye_array(graph.n_nodes) - A / rate), x))
    return float(((A @ x) / x).max(initial=0.0)), x
