"""The base class of the learners of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import ParameterError
from gvoys.estimators.base import as_seed
from gvoys.io.convert import as_one_graph
from gvoys.nodes.node_posterior import NodePosterior, Observations, condition
from gvoys.nodes.priors import prior_of
from gvoys.walks.checks import check_count, check_nodes
from gvoys.walks.method import check_device

_MAX_VALUE = 1e100  # also one over the least
_SINGLE_PRECISION_NODES = 20_000  # from here on vectors are in single precision

Array = NDArray[np.float64]


def check_targets(y: Any, count: int) -> Array:
    """Check measured numbers, one for each node that was given."""
    try:
        values = np.asarray("complex" if np.iscomplexobj(y) else y, np.float64)  # NumPy would drop the imaginary part
    except (TypeError, ValueError):
        raise ParameterError("y must be numbers; for classes use NodeClassifier") from None
    if values.shape != (count,):
        raise ParameterError(f"y must have one number for each of the {count} nodes, not shape {values.shape}")
    if count == 0:
        raise ParameterError("there must be at least one node with a value")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ParameterError(f"y[{bad[0]}] is {values[bad[0]]}; leave out nodes without a value")
    largest = float(np.abs(values).max())
    if largest > _MAX_VALUE or 0.0 < largest < 1.0 / _MAX_VALUE:
        raise ParameterError(f"the largest value is {largest:g}, whose square is no number; choose another unit")
    return values


def check_tolerance(tol: Any) -> float:
    """Check a relative tolerance."""
    if not isinstance(tol, (float, np.floating)) or not 1e-15 <= tol <= 0.5:
        raise ParameterError(f"tol must lie between 1e-15 and 0.5, not {tol!r}")
    return float(tol)


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
        """Check the parameters, keep the graph and the prior, and return the nodes that were measured."""
        self.graph_ = as_one_graph(graph, "graph", labels=False)
        check_count(self.max_length, "max_length", least=4)
        check_count(self.n_samples, "n_samples", least=2)
        check_tolerance(self.tol)
        chosen = check_nodes(nodes, self.graph_.n_nodes)
        self.seed_ = as_seed(self.random_state)
        check_device(self.device)
        self._prior = prior_of(self.graph_, self.kernel, self.matrix, int(self.max_length), self.device)
        single = self.device == "cuda" or self.graph_.n_nodes >= _SINGLE_PRECISION_NODES
        self._kind: Any = np.float32 if single else np.float64
        self._rows = self._prior.matrix.rows_of(chosen)
        self.terms_ = self._prior.names
        return chosen

    def _condition(
        self, seen: Observations, y: Array, seed: int, start: Array | None = None
    ) -> tuple[NodePosterior, Array, Array]:
        """Condition a process on values; return it, and its means and variances of all nodes by row."""
        posterior = condition(seen, y, float(self.tol), start)
        return posterior, posterior.means(), posterior.variances(int(self.n_samples), seed)

    def _by_node(self, values: NDArray[Any]) -> NDArray[Any]:
        """Put values by row in the order of the nodes."""
        return np.asarray(values[self._prior.matrix.rows_of(np.arange(len(values)))])

    def _check_chosen(self, nodes: Any) -> Any:
        check_is_fitted(self, "terms_")
        return slice(None) if nodes is None else check_nodes(nodes, self.graph_.n_nodes, repeats=True)
