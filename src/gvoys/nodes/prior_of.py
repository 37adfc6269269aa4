"""The prior of a learner of nodes, by the names of its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.entries import index_type
from gvoys.nodes.forms import form_of
from gvoys.nodes.matrices import matrix_of
from gvoys.nodes.named import LaplacianKernel
from gvoys.nodes.priors import DiffusionMixture, FixedKernel, Prior
from gvoys.series import Series
from gvoys.walks.checks import is_auto

_TOL = 1e-6  # of kernels of a given form


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
    return GraphBatch._adopt(graph.node_offsets, indptr, both.indices.astype(np.int32), False, edge_weights=both.data)
