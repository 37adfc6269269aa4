"""NodeClassifier: classes of the nodes of one graph, by a Gaussian process for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import ParameterError
from gvoys.graphs.check import as_array
from gvoys.kernels.targets import distinct_classes, is_missing_class
from gvoys.nodes.node_learner import NodeLearner
from gvoys.nodes.node_likelihood import learn_shared_weights
from gvoys.nodes.node_posterior import Observations
from gvoys.threads import threads

_PRIOR_COUNT = 0.01  # of observations that each class has at a node before any: Milios et al. 2018
_N_DRAWS = 64  # of the processes at a node, for the mean of probabilities
_BLOCK_NODES = 1 << 14  # for which they are drawn at once
_HELD_OUT_ONE_IN = 5  # one of so many known nodes tells how sure predictions may be
_MAX_HELD_OUT_NODES = 20_000
_PRIOR_TEMPERATURE = 2.0  # the one to expect
_PRIOR_NODES = 2.0  # that it counts as

Array = NDArray[np.float64]


class NodeClassifier(NodeLearner):
    """Classes of the nodes of one graph: predict everywhere what is known at some nodes, with probabilities.

    Every class has a Gaussian process on the nodes. Its values at the known nodes are those by which a Dirichlet
    distribution of the classes is nearest to log-normal, with the noise that goes with it (Milios et al. 2018).
    Probabilities are calibrated: a fifth of the known nodes is predicted from the others, and all logits are divided by
    the number that makes these predictions most probable.

    Parameters
    ----------
    kernel : "auto", Series, Diffusion, RegularizedLaplacian, PStep or Matern, default="auto"
        The kernel, as `node_kernel` takes it, whose weight is learned; "auto" is a sum of diffusion kernels with
        learned weights. On directed graphs "auto" ignores directions, and a series is used in its factored form.
    max_length : int, default=32
        Longest walk of the diffusion kernels.
    matrix : str or None, default=None
        The matrix of a given kernel, as in `node_kernel`.
    n_samples : int, default=8
        Samples of every class from which variances are computed, where graph and values are too many for exact ones.
    tol : float, default=1e-3
        Relative tolerance of the systems for means.
    random_state : int, RandomState or None, default=0
        Seed of random signs and samples.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    device : {"cpu", "cuda"}, default="cpu"
        Where to compute; "cuda" needs an NVIDIA GPU and CuPy, and computes in single precision.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    terms_ : tuple of str
        The kernels of the sum.
    weights_ : ndarray of shape (n_terms,)
        Their weights, which the classes share.
    temperature_ : float
        What logits are divided by.
    graph_ : GraphBatch
        The graph.

    References
    ----------
    Milios et al., Dirichlet-based Gaussian processes for large-scale calibrated classification, NeurIPS 2018.

    Examples
    --------
    >>> import networkx as nx
    >>> import gvoys as gv
    >>> karate = nx.convert_node_labels_to_integers(nx.karate_club_graph())
    >>> clubs = [karate.nodes[u]["club"] for u in karate]
    >>> seen = [0, 2, 33, 32, 5, 27]
    >>> model = gv.NodeClassifier().fit(karate, seen, [clubs[u] for u in seen])
    >>> sum(a == b for a, b in zip(model.predict(), clubs)) >= 30
    True
    """

    def __init__(
        self,
        kernel: Any = "auto",
        max_length: int = 32,
        *,
        matrix: str | None = None,
        n_samples: int = 8,
        tol: float = 1e-3,
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.kernel = kernel
        self.max_length = max_length
        self.matrix = matrix
        self.n_samples = n_samples
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    def fit(self, graph: Any, nodes: Any, y: Any) -> NodeClassifier:
        """Learn from the nodes whose classes are known.

        Parameters
        ----------
        graph : graph
            One graph of any kind that `as_batch` takes; labels are ignored.
        nodes : array-like of int, shape (n_observed,)
            These nodes, numbered from 0; or one True or False for each node.
        y : array-like of shape (n_observed,)
            Their classes.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with threads(self.n_jobs):
            chosen = self._start(graph, nodes)
            self.classes_, codes = distinct_classes(_check_classes(y, len(chosen)))
            if len(self.classes_) < 2:
                raise ParameterError(f"y holds one class, {self.classes_.tolist()[0]!r}; there must be two or more")
            self._fit(codes)
        return self

    def _fit(self, codes: NDArray[np.int64]) -> None:
        counts = _PRIOR_COUNT + np.eye(len(self.classes_))[codes]
        noise = np.log1p(1.0 / counts)
        values = np.log(counts) - noise / 2.0
        centres = (values / noise).sum(axis=0) / (1.0 / noise).sum(axis=0)
        self.weights_ = learn_shared_weights(self._prior, self._rows, values - centres, noise, self._kind, self.seed_)
        shuffled = np.random.default_rng([self.seed_, 4]).permutation(len(codes))
        held_out, kept = np.split(shuffled, [min(len(codes) // _HELD_OUT_ONE_IN, _MAX_HELD_OUT_NODES)])
        means, deviations = self._predict_processes(values, noise, np.sort(kept))
        rows = self._rows[held_out]
        self.temperature_ = _choose_temperature(means[rows], deviations[rows], codes[held_out])
        means, deviations = self._predict_processes(values, noise, np.arange(len(codes)))
        self._means = self._by_node(means) / self.temperature_
        self._deviations = self._by_node(deviations) / self.temperature_

    def _predict_processes(self, values: Array, noise: Array, kept: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return means and deviations of all classes' processes at every node, by row, from the known nodes to keep."""
        means, deviations = np.empty((2, self.graph_.n_nodes, values.shape[1]))
        for code in range(values.shape[1]):
            seen = Observations(self._prior, self._rows[kept], self.weights_, noise[kept, code], self._kind)
            seed = self.seed_ + 7919 * (code + 1)
            _, means[:, code], variances = self._condition(seen, values[kept, code], seed)
            deviations[:, code] = np.sqrt(variances)
        return means, deviations

    def predict_proba(self, nodes: Any = None) -> Array:
        """Probabilities of the classes.

        Parameters
        ----------
        nodes : array-like of int or None, default=None
            The nodes; None means all.

        Returns
        -------
        ndarray of shape (n_nodes, n_classes)
            The probabilities.
        """
        check_is_fitted(self, "classes_")
        chosen = self._check_chosen(nodes)
        means, deviations = self._means[chosen], self._deviations[chosen]
        out = np.empty_like(means)
        for first in range(0, len(means), _BLOCK_NODES):
            rows = slice(first, first + _BLOCK_NODES)
            out[rows] = _mean_softmax(means[rows], deviations[rows])
        return out

    def predict(self, nodes: Any = None) -> NDArray[Any]:
        """The most probable class of each node.

        Parameters
        ----------
        nodes : array-like of int or None, default=None
            The nodes; None means all.

        Returns
        -------
        ndarray of shape (n_nodes,)
            The classes.
        """
        return np.asarray(self.classes_[self.predict_proba(nodes).argmax(axis=1)])


def _choose_temperature(means: Array, deviations: Array, codes: NDArray[np.int64]) -> float:
    """Return the temperature of the logits that makes held-out classes most probable, with a weak prior."""

    def loss(logarithm: float) -> float:
        shares = _mean_softmax(means / np.exp(logarithm), deviations / np.exp(logarithm))
        likelihood = np.log(np.maximum(shares[np.arange(len(codes)), codes], 1e-300)).sum()
        return float(_PRIOR_NODES * (logarithm - np.log(_PRIOR_TEMPERATURE)) ** 2 - likelihood)

    return float(np.exp(minimize_scalar(loss, bounds=(-1.0, 3.0), method="bounded").x))


def _mean_softmax(means: Array, deviations: Array) -> Array:
    """Return mean probabilities over draws of the processes."""
    half = np.random.default_rng(0).normal(size=(_N_DRAWS // 2, means.shape[1]))
    total = np.zeros_like(means)
    for draw in np.concatenate([half, -half]):
        logits = means + deviations * draw
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        total += shares / shares.sum(axis=1, keepdims=True)
    return np.asarray(total / _N_DRAWS)


def _check_classes(y: Any, count: int) -> NDArray[Any]:
    try:
        values = as_array(y)
    except ValueError:  # rows of several lengths
        values = np.empty(0)
    if values.shape != (count,):
        raise ParameterError(f"y must have one class for each of the {count} nodes, not shape {values.shape}")
    if count == 0:
        raise ParameterError("there must be at least one node with a class")
    missing = next((index for index, name in enumerate(values.tolist()) if is_missing_class(name)), None)
    if missing is not None:
        raise ParameterError(f"y[{missing}] is {values[missing]}; leave out nodes without a class")
    return values
