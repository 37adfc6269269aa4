"""node_kernel: kernels of the nodes of one graph, which multiply vectors and never become a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from gvoys.graphs.batch import GraphBatch
from gvoys.io.convert import as_one_graph
from gvoys.nodes.matrices import column_blocks
from gvoys.nodes.node_learner import check_tolerance
from gvoys.nodes.recurrences import Factors, KernelForm, form_of, run_factors
from gvoys.threads import threads
from gvoys.walks.checks import check_nodes

Array = NDArray[np.float64]


def node_kernel(
    graph: Any,
    series: Any,
    *,
    matrix: str | None = None,
    form: str = "series",
    tol: float = 1e-10,
    n_jobs: int | None = None,
) -> NodeKernel:
    """Kernel of the nodes of one graph, as an operator that multiplies vectors.

    With a series it is ``sum_i mu_i M^i`` for a matrix M of the graph, or ``f(M) f(M)^T`` with ``f * f = mu``. With
    `Diffusion`, `RegularizedLaplacian`, `PStep` or `Matern` it is that function of the graph's Laplacian.

    A product takes as many passes over the graph as the function needs for its tolerance: few for smooth ones, for a
    geometric series the root of ``1 / (1 - decay * rho)`` times the digits. Memory is that of some vectors.

    Parameters
    ----------
    graph : graph
        One graph of any kind that `as_batch` takes; labels are ignored.
    series : Geometric, Exponential, Coefficients, Diffusion, RegularizedLaplacian, PStep or Matern
        The function of the matrix. The argument of a series is M itself, so that a geometric series converges where
        decay * rho < 1, with the spectral radius rho of M.
    matrix : {"adjacency", "row", "symmetric", "laplacian", "normalized_laplacian"} or None, default=None
        A, D^-1 A, D^-1/2 A D^-1/2, D - A or 1 - D^-1/2 A D^-1/2; None means "adjacency" for a series, and
        "normalized_laplacian" for the others.
    form : {"series", "factored"}, default="series"
        With a series: sum_i mu_i M^i, or f(M) f(M)^T, which is symmetric and positive semidefinite on directed graphs
        and for "row" too. Where M is symmetric, they are the same.
    tol : float, default=1e-10
        Largest error of the kernel as an operator, relative to a bound on its largest eigenvalue.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Returns
    -------
    NodeKernel
        A `scipy.sparse.linalg.LinearOperator` of shape (n_nodes, n_nodes).

    Raises
    ------
    DivergenceError
        If the series diverges on this graph.
    UnsupportedError
        If the matrix is one of undirected graphs, and the graph is directed.

    Examples
    --------
    >>> import networkx as nx
    >>> import gvoys as gv
    >>> kernel = node_kernel(nx.cycle_graph(6), gv.Geometric(0.25))
    >>> kernel.columns([0]).ravel().round(3)
    array([1.156, 0.311, 0.089, 0.044, 0.089, 0.311])
    """
    one = as_one_graph(graph, "graph", labels=False)
    return NodeKernel(one, form_of(one, series, matrix, form, check_tolerance(tol)), n_jobs)


class NodeKernel(LinearOperator):
    """Kernel of the nodes of one graph; `node_kernel` makes it.

    Parameters
    ----------
    graph : GraphBatch
        A batch of one graph.
    form : KernelForm
        What products with the kernel are made of.
    n_jobs : int or None, default=None
        Threads.

    Attributes
    ----------
    error_ : float
        A bound on the error of the operator, in the norm of its largest eigenvalue; of directed graphs in that of row
        sums or of column sums.
    n_products_ : int
        Passes over the graph that a product takes.
    """

    def __init__(self, graph: GraphBatch, form: KernelForm, n_jobs: int | None = None) -> None:
        super().__init__(np.dtype(np.float64), (graph.n_nodes, graph.n_nodes))
        self.graph, self._form, self._n_jobs = graph, form, n_jobs
        self.error_ = form.error
        self.n_products_ = sum(len(recurrence.kept) for _, recurrence in form.factors)

    def _matmat(self, X: Any) -> Array:
        return self._run(self._form.factors, X)

    def _rmatvec(self, x: Any) -> Array:
        return self._rmatmat(np.reshape(x, (-1, 1)))

    def _rmatmat(self, X: Any) -> Array:
        return self._run(self._form.transposed, X)

    def _run(self, factors: Factors, X: Any) -> Array:
        with threads(self._n_jobs):
            return run_factors(factors, np.ascontiguousarray(X, np.float64))

    def columns(self, nodes: Any) -> Array:
        """Some columns of the kernel.

        Parameters
        ----------
        nodes : array-like of int
            The nodes.

        Returns
        -------
        ndarray of shape (n_nodes, n_columns)
            The columns.
        """
        chosen = check_nodes(nodes, self.shape[0], repeats=True)
        out = np.empty((self.shape[0], len(chosen)))
        for block in column_blocks(len(chosen)):
            units = np.zeros((self.shape[0], block.stop - block.start))
            units[chosen[block], np.arange(units.shape[1])] = 1.0  # a node may come more than once
            out[:, block] = self._matmat(units)
        return out

    def diagonal(self) -> Array:
        """The kernel of every node with itself, column by column: for graphs of some thousand nodes.

        Returns
        -------
        ndarray of shape (n_nodes,)
            The diagonal.
        """
        out = np.empty(self.shape[0])
        for block in column_blocks(len(out)):
            out[block] = self.columns(np.arange(block.start, block.stop))[block].diagonal()
        return out
