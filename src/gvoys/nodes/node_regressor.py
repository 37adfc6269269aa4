"""NodeRegressor: a Gaussian process on the nodes of one graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import ParameterError
from gvoys.estimators.base import as_seed
from gvoys.kernels.inputs import warn_user
from gvoys.nodes.node_learner import NodeLearner, check_targets
from gvoys.nodes.node_likelihood import Evidence, Learned, dense_evidence, learn_weights, random_signs, sampled_evidence
from gvoys.nodes.node_posterior import NodePosterior, Observations
from gvoys.threads import threads
from gvoys.walks.checks import check_count, is_auto

_MAX_EXACT_VALUES = 4000  # up to which `log_marginal_likelihood` is exact, by default
_MIN_SIGNS, _MAX_SIGNS = 8, 500  # vectors for it beyond, by default
_ENOUGH_SIGNS = 10**6  # in all vectors, by default
_EXACT_SHARE, _SIGNS_SHARE = 1e-8, 1e-4  # errors of kernels, relative to the covariance's least eigenvalue
_SIGNS_TOL = 1e-4  # of their systems
_MAX_LOG_WEIGHT = 230.0  # 1e100

Array = NDArray[np.float64]


class NodeRegressor(NodeLearner):
    """Gaussian process on the nodes of one graph: predict everywhere what was measured at some nodes.

    The kernel is a sum of diffusion kernels from short to long times, whose weights are learned from the values,
    together with the noise. All products with it are exact; no matrix of nodes by nodes is ever made, so that a million
    nodes take a minute or less.

    Parameters
    ----------
    kernel : "auto", Series, Diffusion, RegularizedLaplacian, PStep or Matern, default="auto"
        The kernel, as `node_kernel` takes it, whose weight and noise are learned; "auto" is the sum of diffusion
        kernels. On directed graphs "auto" ignores directions, and a series is used in its factored form.
    max_length : int, default=32
        Longest walk of the diffusion kernels. Shorter ones are faster, and leave out slow diffusion.
    matrix : str or None, default=None
        The matrix of a given kernel, as in `node_kernel`.
    noise : float or "auto", default="auto"
        Standard deviation of a measurement; "auto" learns it.
    n_samples : int, default=16
        Samples from which standard deviations are computed, where graph and values are too many for exact ones. More
        take longer; intervals hold what they say for any number.
    tol : float, default=1e-4
        Relative tolerance of the systems for means.
    random_state : int, RandomState or None, default=0
        Seed of random signs and samples.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    device : {"cpu", "cuda"}, default="cpu"
        Where to compute; "cuda" needs an NVIDIA GPU and CuPy, and computes in single precision.

    Attributes
    ----------
    terms_ : tuple of str
        The kernels of the sum.
    weights_ : ndarray of shape (n_terms,)
        Their weights, in squared units of the values.
    shares_ : dict of str to float
        Share of each, and of the noise, in the variance of a value.
    noise_ : float
        Standard deviation of a measurement.
    mean_ : float
        The constant mean.
    graph_ : GraphBatch
        The graph.

    References
    ----------
    Borovitskiy et al., Matérn Gaussian processes on graphs, AISTATS 2021; Wilson et al., Efficiently sampling functions
    from Gaussian process posteriors, ICML 2020.

    Examples
    --------
    >>> import networkx as nx
    >>> import numpy as np
    >>> import gvoys as gv
    >>> grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 20))
    >>> height = np.sin(np.arange(400) // 20 / 4) + np.cos(np.arange(400) % 20 / 5)
    >>> seen = np.arange(0, 400, 7)
    >>> model = gv.NodeRegressor().fit(grid, seen, height[seen])
    >>> mean, std = model.predict(return_std=True)
    >>> bool(np.abs(mean - height).max() < 0.5), mean.shape
    (True, (400,))
    """

    def __init__(
        self,
        kernel: Any = "auto",
        max_length: int = 32,
        *,
        matrix: str | None = None,
        noise: Any = "auto",
        n_samples: int = 16,
        tol: float = 1e-4,
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.kernel = kernel
        self.max_length = max_length
        self.matrix = matrix
        self.noise = noise
        self.n_samples = n_samples
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    def fit(self, graph: Any, nodes: Any, y: Any) -> NodeRegressor:
        """Learn from what was measured at some nodes.

        Parameters
        ----------
        graph : graph
            One graph of any kind that `as_batch` takes; labels are ignored.
        nodes : array-like of int, shape (n_observed,)
            The nodes that were measured, numbered from 0; or one True or False for each node.
        y : array-like of shape (n_observed,)
            The values.

        Returns
        -------
        self : object
            The fitted regressor.
        """
        with threads(self.n_jobs):
            chosen = self._start(graph, nodes)
            self._fit(check_targets(y, len(chosen)))
        return self

    def _fit(self, values: Array) -> None:
        self._centre, self._unit = float(values.mean()), float(values.std())
        noise = self._check_noise()
        if self._unit <= 1e-12 * abs(self._centre):
            self._fit_constant(values, 0.0 if noise is None else noise)
            return
        fixed = None if noise is None else (noise / self._unit) ** 2
        self._y = (values - self._centre) / self._unit
        learned = learn_weights(self._prior, self._rows, self._y, self._kind, self.seed_, fixed)
        self._set_learned(learned)
        seen = Observations(self._prior, self._rows, learned.weights, learned.noise, self._kind, 10.0 * self.tol)
        posterior, means, variances = self._condition(seen, self._y, self.seed_, learned.solution)
        self._posterior: NodePosterior | None = posterior
        self.mean_ = self._centre + self._unit * posterior.mean
        self._means = self._by_node(self._centre + self._unit * means)
        self._deviations = self._by_node(self._unit * np.sqrt(variances + learned.noise))

    def _fit_constant(self, values: Array, noise: float) -> None:
        """Predict one value everywhere, where all measured values are equal."""
        reason = "there is only one value" if len(values) == 1 else "all values are the same"
        deviations = f"deviations are the noise, {noise:g}" if noise else "deviations are 0"
        warn_user(
            f"{reason}: predictions are that value everywhere, and {deviations}, since nothing tells how nodes differ; "
            "measure nodes that differ"
        )
        zeros = np.zeros(self._prior.n_terms)
        self._set_learned(Learned.from_variances(np.append(zeros, 1.0), zeros))
        self._y, self._posterior, self.mean_ = np.zeros(len(values)), None, self._centre
        self._means = np.full(self.graph_.n_nodes, self._centre)
        self._deviations = np.full(self.graph_.n_nodes, noise)
        self.noise_ = noise

    def _check_noise(self) -> float | None:
        if is_auto(self.noise):
            return None
        is_number = isinstance(self.noise, (int, float, np.integer, np.floating)) and not isinstance(self.noise, bool)
        if not is_number or not 0 < self.noise < np.inf:
            raise ParameterError(f'noise must be "auto" or a positive number, not {self.noise!r}')
        return float(self.noise)

    def _set_learned(self, learned: Learned) -> None:
        self.weights_ = learned.weights * self._unit**2
        self.noise_ = self._unit * float(np.sqrt(learned.noise))
        self.shares_ = dict(zip([*self.terms_, "noise"], learned.shares.tolist(), strict=True))

    def predict(self, nodes: Any = None, return_std: bool = False) -> Any:
        """Predict new measurements; deviations include their noise.

        Parameters
        ----------
        nodes : array-like of int or None, default=None
            The nodes; None means all.
        return_std : bool, default=False
            Whether the standard deviation of each prediction is returned too.

        Returns
        -------
        ndarray of shape (n_nodes,), or a tuple of two
            The means, and the standard deviations where they are asked for.
        """
        chosen = self._check_chosen(nodes)
        mean = self._means[chosen]
        return (mean, self._deviations[chosen]) if return_std else mean

    def sample_y(self, nodes: Any = None, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Draw functions of the nodes from the posterior, without the noise of measurements.

        Parameters
        ----------
        nodes : array-like of int or None, default=None
            The nodes; None means all.
        n_samples : int, default=1
            Number of functions.
        random_state : int, RandomState or None, default=0
            Seed of the draw.

        Returns
        -------
        ndarray of shape (n_nodes, n_samples)
            The functions.
        """
        chosen, count = self._check_chosen(nodes), check_count(n_samples, "n_samples")
        if self._posterior is None:
            return np.tile(self._means[chosen][:, None], count)
        with threads(self.n_jobs):
            samples = self._posterior.samples(count, as_seed(random_state))
        return self._by_node(self._centre + self._unit * samples)[chosen]

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, *, exact: bool | None = None, n_signs: int | None = None
    ) -> Any:
        """Logarithm of the density of the measured values, their constant mean taken as it was estimated.

        Parameters
        ----------
        theta : array-like of shape (n_terms + 1,) or None, default=None
            Logarithms of weights and of the noise's variance, in squared units of the values; None means what was
            learned.
        eval_gradient : bool, default=False
            Whether the derivatives by theta are returned too.
        exact : bool or None, default=None
            Whether to use dense linear algebra, or else random signs and Lanczos quadrature; None means up to 4000
            values.
        n_signs : int or None, default=None
            Number of vectors of random signs; None means a million signs in all, from which the value is known to a
            thousandth.

        Returns
        -------
        float, or a tuple of it and an ndarray of shape (n_terms + 1,)
            The value, and the gradient where it is asked for.
        """
        check_is_fitted(self, "mean_")
        if self._posterior is None:
            raise ParameterError("the likelihood has no value where all measured values are the same")
        variances = self._check_theta(theta) / self._unit**2
        with threads(self.n_jobs):
            evidence = self._compute_evidence(variances, self._y - self._posterior.mean, exact, n_signs)
        value = evidence.value - len(self._y) * np.log(self._unit)
        return (value, evidence.gradient * variances) if eval_gradient else value

    def _check_theta(self, theta: Any) -> Array:
        """Return the weights and the variance of the noise; theta holds their logarithms."""
        if theta is None:
            return np.append(self.weights_, self.noise_**2)
        count = len(self.terms_) + 1
        try:
            logs = np.asarray(theta, np.float64)
        except (TypeError, ValueError):
            logs = np.empty(0)
        if logs.shape != (count,) or not (logs <= _MAX_LOG_WEIGHT).all():
            raise ParameterError(
                f"theta must hold {count} numbers of at most {_MAX_LOG_WEIGHT:g}: logarithms of the weights of "
                f"{', '.join(self.terms_)}, and of the noise's variance"
            )
        return np.exp(logs)

    def _compute_evidence(self, variances: Array, y: Array, exact: bool | None, n_signs: int | None) -> Evidence:
        weights, noise = variances[:-1], float(variances[-1])
        if exact if exact is not None else len(y) <= _MAX_EXACT_VALUES:
            seen = Observations(self._prior, self._rows, weights, noise, np.float64, _EXACT_SHARE)
            evidence = dense_evidence(seen, y)
            if evidence is None:
                raise ParameterError("the covariance cannot be factored with this theta; raise the noise")
            return evidence
        count = int(np.clip(_ENOUGH_SIGNS // len(y), _MIN_SIGNS, _MAX_SIGNS))
        count = count if n_signs is None else check_count(n_signs, "n_signs")
        seen = Observations(self._prior, self._rows, weights, noise, self._kind, _SIGNS_SHARE)
        return sampled_evidence(seen, y, random_signs(len(y), count, self.seed_, self._kind), _SIGNS_TOL)
