"""The base class of the learners of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gvoys.estimators.base import as_seed
from gvoys.io.convert import as_one_graph
from gvoys.nodes.checks import check_tolerance
from gvoys.nodes.matrices import on_host
from gvoys.nodes.prior_of import prior_of
from gvoys.walks.backends import check_device
from gvoys.walks.checks import check_count, check_nodes

_SINGLE = 20_000  # nodes from which vectors are in single precision


class NodeLearner(BaseEstimator):
    """Base class: a Gaussian process of the nodes of one graph."""

    kernel: Any
    max_length: int
    matrix: str | None
    n_samples: int
    tol: float
    random_state: Any
    device: str

    def _start(self, graph: Any, nodes: Any) -> NDArray[np.int64]:
        """Check the parameters, keep the graph and the prior; the nodes that were measured."""
        self.graph_ = as_one_graph(graph, "graph", labels=False)
        check_count(self.max_length, "max_length", least=4)
        check_count(self.n_samples, "n_samples", least=2)
        check_tolerance(self.tol)
        chosen = check_nodes(nodes, self.graph_.n_nodes)
        self.seed_ = as_seed(self.random_state)
        check_device(self.device)
        self._prior = prior_of(self.graph_, self.kernel, self.matrix, int(self.max_length), self.device)
        single = self.device == "cuda" or self.graph_.n_nodes >= _SINGLE
        self._kind: Any = np.float32 if single else np.float64
        self._rows = self._prior.matrix.rows_of(chosen)
        self.terms_ = self._prior.names
        return chosen

    def _known(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log degree of each node, and whether it is one of these, by row."""
        measured = np.zeros(self.graph_.n_nodes)
        measured[rows] = 1.0
        degrees = np.diff(on_host(self._prior.matrix.sparse.indptr)).astype(np.float64)
        return np.column_stack([np.log1p(degrees), measured])

    def _by_node(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values by row in the order of the nodes."""
        order = self._prior.matrix.order
        if not len(order):
            return values
        out = np.empty_like(values)
        out[order] = values
        return out

    def _chosen(self, nodes: Any) -> Any:
        check_is_fitted(self, "terms_")
        return slice(None) if nodes is None else check_nodes(nodes, self.graph_.n_nodes, repeats=True)
