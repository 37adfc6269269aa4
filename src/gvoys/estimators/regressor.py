"""RandomWalkRegressor: a Gaussian process over graphs, with the series mu learned by marginal likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gvoys.defaults import REGRESSOR
from gvoys.errors import ParameterError
from gvoys.estimators.base import as_seed
from gvoys.estimators.learner import Learner
from gvoys.estimators.learning.blocks import WalkBlocks, walks_of
from gvoys.estimators.learning.gaussian import BlockGrams, FeatureMoments, Likelihood, maximise_likelihood
from gvoys.estimators.learning.likeness import similarity_floor
from gvoys.estimators.learning.posteriors import FeaturePosterior, GramPosterior, Posterior
from gvoys.estimators.learning.targets import check_targets, check_weights, warn_of_constant
from gvoys.estimators.progress import SILENT, Progress, progress_bars
from gvoys.graphs.batch import GraphBatch
from gvoys.io.convert import as_batch
from gvoys.walks import Walk
from gvoys.walks.checks import check_count, check_flag

__all__ = ["RandomWalkRegressor", "begin", "check_targets", "finish", "moments_of"]

_BLOCK = 4096  # graphs whose features are in the making at once
TWO_SIDED = 1.959963984540054  # deviations within which 95 % of a normal distribution lie
_AT_ONCE = 512  # graphs that are compared with all fitted ones at once


class RandomWalkRegressor(RegressorMixin, Learner):
    """Gaussian process regression on graphs; every walk length (and kind of label) has an amplitude of its own.

    K = sum over blocks b of mu_b K_b + noise, a block being one walk length under one choice of labels, scaled to
    unit mean diagonal. mu and the noise maximise the marginal likelihood, by analytic gradients. Up to `max_exact`
    graphs the blocks are exact counts of label sequences and the work is O(n^3); past it they are sketches of
    n_components numbers in all, graphs are read in a stream, and the work is O(n D^2) with D = n_components.

    Parameters
    ----------
    max_length : int, default=5
        Longest walk that is counted.
    labels : {"auto", "node", "edge", "both"}, None or tuple of them, default="auto"
        Labels that are used; "auto" means node labels where there are any. Each of several has blocks of its own.
    cosine : bool, default=True
        Whether every block is there a second time, normalised, so that it does not grow with the graphs.
    learn : bool, default=True
        False keeps mu = 1 / (number of blocks) and noise = 0.1 in units of the targets' variance.
    n_components : int, default=1024
        Numbers per graph in feature space, over all blocks.
    max_exact : int, default=3000
        Number of graphs up to which Gram matrices are formed.
    max_iterations : int, default=100
        Steps of the optimiser at most.
    start : {"ones", "uniform"} or array, default="ones"
        Weight of each node as the start of a walk.
    stop : {"ones", "uniform"} or array, default="ones"
        Weight of each node as the end of a walk.
    refine : int, default=0
        Weisfeiler–Lehman iterations; each has amplitudes of its own.
    backtrack : bool, default=False
        Whether backtracking walks are counted too.
    random_state : int, RandomState or None, default=0
        Seed of the sketch.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    verbose : bool, default=False
        Whether `fit` shows progress bars, on stderr.

    Attributes
    ----------
    mu_ : ndarray of shape (n_blocks,)
        Amplitudes by block, in units of the targets' variance.
    noise_ : float
        Variance of the noise, in the same units.
    blocks_ : list of str
        What each block is.
    log_marginal_likelihood_ : float
        Of the fitted graphs' standardised targets.
    curve_ : list of float
        The same after every step of the optimiser.
    similarity_floor_ : float or None
        Graphs that are less similar to the nearest fitted one are "unlike" in `predict_table`; None past `max_exact`.

    Examples
    --------
    >>> import gvoys as gv
    >>> molecules = gv.datasets.molecules(80)
    >>> y = molecules.graph_sizes.astype(float)
    >>> model = RandomWalkRegressor(max_length=3).fit(molecules[:60], y[:60])
    >>> mean, std = model.predict(molecules[60:], return_std=True)
    >>> mean.shape, bool(np.abs(mean - y[60:]).mean() < 1.0)
    ((20,), True)
    """

    def __init__(
        self,
        max_length: int = REGRESSOR.max_length,
        *,
        labels: Any = "auto",
        cosine: bool = True,
        learn: bool = True,
        n_components: int = REGRESSOR.n_components,
        max_exact: int = 3000,
        max_iterations: int = 100,
        start: Any = REGRESSOR.ends,
        stop: Any = REGRESSOR.ends,
        refine: int = REGRESSOR.refine,
        backtrack: bool = REGRESSOR.backtrack,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.max_length = max_length
        self.labels = labels
        self.cosine = cosine
        self.learn = learn
        self.n_components = n_components
        self.max_exact = max_exact
        self.max_iterations = max_iterations
        self.start = start
        self.stop = stop
        self.refine = refine
        self.backtrack = backtrack
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RandomWalkRegressor:
        """Learn mu and noise, and condition on the graphs.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.
        y : array-like of shape (n_graphs,)
            A finite number for each graph.
        sample_weight : array-like of shape (n_graphs,) or None, default=None
            Weight of each graph: the variance of its noise is noise / weight, as of the mean of so many measurements.
            0 leaves it out; None means that all are 1.

        Returns
        -------
        RandomWalkRegressor
            The fitted regressor.

        Warns
        -----
        InputWarning
            If all targets are the same number.
        """
        batch = as_batch(X)
        weights = check_weights(sample_weight, len(batch))
        batch, targets, weights = self._keep_weighty(batch, check_targets(y, len(batch)), weights)
        targets = self._standardise(targets, weights)
        self._remember(batch)
        self.similarity_floor_: float | None = None
        exact = len(batch) <= check_count(self.max_exact, "max_exact")
        with progress_bars(self.verbose) as progress:
            (self._fit_grams if exact else self._fit_features)(batch, targets, weights, progress)
        return self

    def _take_blocks(self, batch: GraphBatch, n_components: int | None, weights: Any = None) -> list[Any]:
        """What the blocks are, from some graphs, and the profiles of those: exact without `n_components`."""
        self.walks_, made = WalkBlocks.fitted(
            batch,
            walks_of(batch, self.max_length, self.labels, **Walk.options_of(self)),
            cosine=check_flag(self.cosine, "cosine"),
            n_components=n_components,
            seed=as_seed(self.random_state),
            n_jobs=self.n_jobs,
            weights=weights,
        )
        self.blocks_ = self.walks_.names
        return made

    def _standardise(self, targets: NDArray[np.float64], weights: Any) -> NDArray[np.float64]:
        if len(targets) < 2:
            raise ParameterError("two graphs or more are needed to fit a Gaussian process")
        if (targets == targets[0]).all():
            warn_of_constant(len(targets), float(targets[0]))
        if weights is None:
            self.mean_, self.deviation_ = float(targets.mean()), float(targets.std()) or 1.0
        else:
            self.mean_ = float(np.average(targets, weights=weights))
            self.deviation_ = float(np.sqrt(np.average((targets - self.mean_) ** 2, weights=weights))) or 1.0
        return (targets - self.mean_) / self.deviation_

    def _fit_grams(self, batch: GraphBatch, targets: NDArray[np.float64], weights: Any, progress: Progress) -> None:
        with progress.running("profiles"):
            fitted = self._take_blocks(batch, None, weights)
            grams = BlockGrams(self.walks_.grams(fitted), targets, weights)
        self.posterior_: Posterior = GramPosterior.of(self.walks_, fitted, grams, *self._learn(grams, progress))
        self.similarity_floor_ = similarity_floor(np.tensordot(self.mu_[:-1], grams.grams[:-1], axes=1))

    def _fit_features(self, batch: GraphBatch, targets: NDArray[np.float64], weights: Any, progress: Progress) -> None:
        first = slice(_BLOCK)  # graphs enough for the traces
        n_components = check_count(self.n_components, "n_components")
        self._take_blocks(batch[first], n_components, None if weights is None else weights[first])
        self._fit_moments(moments_of(self, batch, targets, weights, progress), progress)

    def _fit_moments(self, moments: FeatureMoments, progress: Progress = SILENT) -> None:
        self.posterior_ = FeaturePosterior.of(self.walks_, moments, *self._learn(moments, progress))

    def _learn(self, likelihood: Likelihood, progress: Progress) -> tuple[NDArray[np.float64], float]:
        """log mu and log noise, and what is kept of them."""
        n_blocks = likelihood.n_blocks
        log_mu, log_noise = np.full(n_blocks, -np.log(n_blocks)), float(np.log(0.1))
        curve: list[float] = []
        if check_flag(self.learn, "learn"):
            steps = check_count(self.max_iterations, "max_iterations")
            on_step = progress.counter("optimising", steps)
            log_mu, log_noise, curve = maximise_likelihood(likelihood, log_mu, log_noise, steps, on_step)
        self.mu_, self.noise_ = np.exp(log_mu), float(np.exp(log_noise))
        self.log_marginal_likelihood_ = likelihood.evaluate(log_mu, log_noise)[0]
        self.curve_ = curve or [self.log_marginal_likelihood_]
        return log_mu, log_noise

    # -- predicting

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict new measurements; deviations and covariances include their noise.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.
        return_std : bool, default=False
            Whether the standard deviation of each prediction is returned too.
        return_cov : bool, default=False
            Whether the covariance of the predictions is returned too.

        Returns
        -------
        ndarray of shape (n_graphs,), or a tuple of it and what was asked for
            The means, in the units of the targets.
        """
        check_is_fitted(self, "posterior_")
        batch = self._read(X)
        if return_cov:
            mean, covariance = self.posterior_.mean_and_covariance(batch)
            covariance = covariance + self.noise_ * np.eye(len(batch))
            return self.mean_ + self.deviation_ * mean, self.deviation_**2 * covariance
        mean, variance = np.empty(len(batch)), np.empty(len(batch))
        for first in range(0, len(batch), _AT_ONCE):
            rows = slice(first, min(first + _AT_ONCE, len(batch)))
            if return_std:
                mean[rows], variance[rows] = self.posterior_.mean_and_variance(batch[rows])
            else:
                mean[rows] = self.posterior_.mean(batch[rows])
        mean = self.mean_ + self.deviation_ * mean
        return (mean, self.deviation_ * np.sqrt(np.maximum(variance + self.noise_, 0.0))) if return_std else mean

    def predict_table(self, X: Any) -> dict[str, NDArray[Any]]:
        """All that is known of each graph, as columns of a table.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.

        Returns
        -------
        dict of str to ndarray of shape (n_graphs,)
            "prediction"; "deviation", its standard deviation; "lower" and "upper", the ends of its 95 % interval;
            "nearest", the number of the fitted graph that is most like it, and "similarity", the cosine with it, where
            fitted graphs are kept; "unseen", the share of nodes whose label no fitted graph has; "unlike", whether
            some label is unseen or the similarity is below `similarity_floor_`: predictions for such graphs are
            extrapolations, and at most about 1 % of graphs like the fitted ones are among them.
        """
        batch = as_batch(X)
        mean, deviation = self.predict(batch, return_std=True)
        half = TWO_SIDED * deviation
        table = {"prediction": mean, "deviation": deviation, "lower": mean - half, "upper": mean + half}
        starts = range(0, max(len(batch), 1), _AT_ONCE)
        found = [self.posterior_.nearest(batch[first : first + _AT_ONCE]) for first in starts]
        known = [each for each in found if each is not None]
        if known:
            nearest, similarity = map(np.concatenate, zip(*known, strict=True))
            table |= {"nearest": self._numbered(nearest), "similarity": similarity}
        return self._with_likeness(table, batch)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """The features by which the model compares graphs: their dot products are its kernel, sum_b mu_b K_b.

        Past `max_exact` they are those that it was fitted with. Up to it the kernel is exact, and the counts of label
        sequences are hashed to `n_components` numbers: products are unbiased, with a standard error of at most
        sqrt(2 / n_components) sqrt(K(G, G) K(H, H)). ``set_params(n_components=…)`` widens them without another fit.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.

        Returns
        -------
        ndarray of shape (n_graphs, n_features)
            The features, float32; each row is a function of its graph alone.
        """
        check_is_fitted(self, "posterior_")
        batch, width = self._read(X), check_count(self.n_components, "n_components")
        starts = range(0, max(len(batch), 1), _AT_ONCE)
        parts = (self.posterior_.features(batch[first : first + _AT_ONCE], width) for first in starts)
        return np.concatenate([part.astype(np.float32) for part in parts])

    def _uses_node_labels(self) -> bool:
        return any(walk.node_labels for walk in self.walks_.walks)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> NDArray[np.float64]:
        """Draw new measurements from the posterior.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.
        n_samples : int, default=1
            How many draws.
        random_state : int, RandomState or None, default=0
            Seed of the draws.

        Returns
        -------
        ndarray of shape (n_graphs, n_samples)
            The draws.
        """
        mean, covariance = self.predict(X, return_cov=True)
        rng = check_random_state(random_state)
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        draws = rng.standard_normal((len(mean), check_count(n_samples, "n_samples")))
        return mean[:, None] + root @ draws

    def log_marginal_likelihood(self) -> float:
        """Log marginal likelihood of the fitted graphs' standardised targets.

        Returns
        -------
        float
            The value at the learned mu and noise.
        """
        check_is_fitted(self, "posterior_")
        return self.log_marginal_likelihood_


# -- a fit in pieces, as a cluster does it: begin with some graphs, add up the moments of all, finish


def begin(regressor: RandomWalkRegressor, X: Any) -> RandomWalkRegressor:
    """A copy of the regressor that knows its blocks, in feature space, from some graphs."""
    begun: RandomWalkRegressor = clone(regressor)
    batch = as_batch(X)
    if not len(batch):
        raise ParameterError("the first partition holds no graph, and the traces are taken from it")
    begun._take_blocks(batch, check_count(begun.n_components, "n_components"))
    begun._remember(batch)
    begun.seen_labels_ = None  # nobody sees the labels of all pieces
    return begun


def moments_of(
    begun: RandomWalkRegressor, X: Any, y: Any, weights: Any = None, progress: Progress = SILENT
) -> FeatureMoments:
    """All that the process needs to know of some graphs; those of several pieces are `merged`."""
    batch = as_batch(X)
    check_is_fitted(begun, "walks_")
    targets = check_targets(y, len(batch))
    moments = FeatureMoments.empty(begun.walks_.columns)
    starts = range(0, len(batch), _BLOCK)
    for first in progress.track(starts, "profiles", len(starts)):
        rows = slice(first, first + _BLOCK)
        own = None if weights is None else weights[rows]
        moments.add(begun.walks_.features(batch[rows]), targets[rows], own)
    return moments


def finish(begun: RandomWalkRegressor, moments: FeatureMoments) -> RandomWalkRegressor:
    """Learn mu and noise from the moments of all graphs."""
    if moments.count < 2:
        raise ParameterError("two graphs or more are needed to fit a Gaussian process")
    standard, begun.mean_, begun.deviation_ = moments.standardised()
    if moments.constant:
        warn_of_constant(moments.count, begun.mean_)
    begun._fit_moments(standard)
    return begun
