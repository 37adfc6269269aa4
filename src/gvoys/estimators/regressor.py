"""RandomWalkRegressor: a Gaussian process over graphs, whose kernel is learned by marginal likelihood."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from gvoys.errors import ParameterError
from gvoys.estimators.base import as_seed
from gvoys.estimators.learner import Learner
from gvoys.graphs.batch import GraphBatch
from gvoys.io.convert import as_batch
from gvoys.kernels.blocks import WalkBlocks, walks_on
from gvoys.kernels.explaining import Attribution
from gvoys.kernels.explaining_learners import explain_mean
from gvoys.kernels.explanation import Explanation, with_smiles
from gvoys.kernels.gaussian import BlockGrams, FeatureMoments, Likelihood, maximise_likelihood
from gvoys.kernels.inputs import similarity_floor, warn_of_unused
from gvoys.kernels.kernel_sum import Induced, kinds_of
from gvoys.kernels.posteriors import FeaturePosterior, GramPosterior, KernelPosterior, Posterior
from gvoys.kernels.process import Learning, Process, learn_process
from gvoys.kernels.progress import SILENT, Progress, progress_bars
from gvoys.kernels.targets import check_targets, check_weights, warn_of_constant, weigh_extremes
from gvoys.kernels.views import View, views_of
from gvoys.threads import n_threads, threads
from gvoys.walks.checks import check_count, is_auto
from gvoys.walks.method import check_device
from gvoys.walks.sparse_products import products_on
from gvoys.walks.walk import Walk, takes_walk

_BLOCK = 2048  # graphs whose features are in the making at once, on each thread
_FIRST = 4096  # graphs enough for the traces of blocks
SAMPLE = 2000  # graphs that the kernel is learned on where there are too many
TWO_SIDED = 1.959963984540054  # deviations within which 95 % of a normal distribution lie
_COMPARED = 1000  # graphs that are enough to tell how similar the nearest others are
_AT_ONCE = 512  # graphs that are compared with all fitted ones at once


class RandomWalkRegressor(RegressorMixin, Learner):
    """Gaussian process regression on graphs, with a kernel that is learned from them.

    Graphs are compared by their walks under labels in layers, from coarse to fine: for each layer a kernel of the
    distance sqrt(sum_b w_b d_b^2), a block b being one walk length and Weisfeiler–Lehman iteration, and beside it the
    share of the surroundings of nodes that two graphs have in common (min-max kernel of refined labels). All weights,
    amplitudes and the noise maximise the marginal likelihood of at most 2000 graphs, with a weak prior on the weights,
    by analytic gradients. Up to `max_exact` graphs the process is conditioned on all of them, O(n^3); past it graphs
    are compared with `n_components` landmarks and read in a stream, O(n n_components^2).

    Deviations are widened, where needed, so that 95 % intervals hold 95 % of leave-one-out residuals. Targets far
    from all that the others tell (six deviations) count less.

    Parameters
    ----------
    walk : "auto", Walk or tuple of Walk, default="auto"
        What is counted. "auto" means non-backtracking walks of length 0 … 5 that start and stop anywhere, by all labels
        that there are, with one Weisfeiler–Lehman iteration, or none with kernel="linear". A Walk is used as given, but
        ``labels="auto"`` means all labels, and `refine` and `backtrack` may be "auto" too. Each of several has blocks
        of its own.
    kernel : str, default="auto"
        "linear", "matern12", "matern32", "gaussian" or a sum as in "matern32 + linear"; "auto" is "matern32",
        unless another predicts some graphs clearly better from the others. "linear" alone is another model:
        K = sum_b mu_b K_b over the blocks, each of which is there a second time, normalised, without layers and
        surroundings.
    layers : "auto" or tuple of {"coarse", "given", "fine"}, default="auto"
        Node labels that graphs are compared by: "coarse" is the first part of labels that are tuples, an atom's
        element; "fine" adds the degree and the sizes of rings. "auto" means all three where labels are tuples, as in
        molecules from SMILES, else "given".
    n_components : int, default=1024
        Numbers per graph past `max_exact`: landmarks, or columns of a sketch with kernel="linear".
    max_exact : int, default=10000
        Number of graphs up to which Gram matrices are formed.
    max_iterations : int, default=100
        Steps of the optimiser at most; 0 keeps equal weights, and noise = 0.1 in units of the targets' variance.
    random_state : int, RandomState or None, default=0
        Seed of the sketch.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    device : {"cpu", "cuda"}, default="cpu"
        Where the kernel is learned; kernel="linear" is learned on the CPU.
    verbose : bool, default=False
        Whether `fit` shows progress bars, on stderr.

    Attributes
    ----------
    walk_ : Walk or tuple of Walk
        The walk that was used or chosen.
    kernel_ : str
        The kernel.
    mu_ : ndarray of shape (n_blocks,)
        Weights and amplitudes, as `blocks_` names them; those of blocks are in units of their mean squared distance,
        or of their mean diagonal with kernel="linear".
    noise_ : float
        Variance of the noise, in units of the targets' variance.
    stretch_ : float
        By how much deviations are wider than the process alone would say.
    blocks_ : list of str
        What each of `mu_` is.
    log_marginal_likelihood_ : float
        Of the fitted graphs' standardised targets.
    curve_ : list of float
        The same after every step of the optimiser, with the prior.
    similarity_floor_ : float or None
        Graphs that are less similar to the nearest fitted one are "unlike" in `predict_table`; None past `max_exact`.

    Examples
    --------
    >>> import gvoys as gv
    >>> molecules = gv.datasets.molecules(80)
    >>> y = molecules.graph_sizes.astype(float)
    >>> model = RandomWalkRegressor().fit(molecules[:60], y[:60])
    >>> mean, std = model.predict(molecules[60:], return_std=True)
    >>> mean.shape, bool(np.abs(mean - y[60:]).mean() < 2.0)
    ((20,), True)
    """

    @takes_walk(learn="write max_iterations=0 for learn=False", cosine="kernel='linear' has normalised blocks always")
    def __init__(
        self,
        walk: Any = "auto",
        kernel: str = "auto",
        *,
        layers: Any = "auto",
        n_components: int = 1024,
        max_exact: int = 10_000,
        max_iterations: int = 100,
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: bool = False,
    ) -> None:
        self.walk = walk
        self.kernel = kernel
        self.layers = layers
        self.n_components = n_components
        self.max_exact = max_exact
        self.max_iterations = max_iterations
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RandomWalkRegressor:
        """Learn mu and noise, and condition on the graphs.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.
        y : array-like of shape (n_graphs,) or (n_graphs, n_targets)
            A finite number for each graph, or several, which share the kernel and the noise.
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
            If all targets are the same number, some are absurdly far from all others, or graphs have attributes.
        """
        batch = as_batch(X)
        warn_of_unused(self, batch)
        weights = check_weights(sample_weight, len(batch))
        batch, targets, weights = self._keep_weighty(batch, check_targets(y, len(batch), several=True), weights)
        if self._kinds() != ("linear",):
            weights = weigh_extremes(targets, weights)
        targets = self._standardise(targets, weights)
        self._remember(batch)
        self.similarity_floor_: float | None = None
        self.stretch_, self.kernel_ = 1.0, "linear"
        exact = len(batch) <= check_count(self.max_exact, "max_exact")
        check_device(self.device)
        linear = self._kinds() == ("linear",)
        if targets.ndim == 2 and (linear or not exact):
            raise ParameterError(
                f'several targets need another kernel than "linear" and at most max_exact={self.max_exact} graphs; '
                "fit one model for each column"
            )
        with progress_bars(self.verbose) as progress:
            if linear:
                (self._fit_grams if exact else self._fit_features)(batch, targets, weights, progress)
            else:
                (self._fit_kernel if exact else self._fit_induced)(batch, targets, weights, progress)
        return self

    def _kinds(self) -> tuple[str, ...] | None:
        return None if is_auto(self.kernel) else kinds_of(self.kernel)

    def _choose_walks(self, batch: GraphBatch, refine: int) -> tuple[Walk, ...]:
        """Return the walks; `refine` is what "auto" means."""
        walks = walks_on(batch, self.walk, refine)
        self.walk_ = walks if len(walks) > 1 else walks[0]
        return walks

    def _take_blocks(
        self, batch: GraphBatch, n_components: int | None, weights: Any = None
    ) -> tuple[WalkBlocks, list[Any]]:
        """Choose the blocks on some graphs, and profile these; exact without `n_components`."""
        walks, made = WalkBlocks.fitted(
            batch,
            self._choose_walks(batch, refine=0),
            cosine=True,
            n_components=n_components,
            seed=as_seed(self.random_state),
            n_jobs=self.n_jobs,
            weights=weights,
        )
        self.walks_: WalkBlocks | Induced = walks
        self.blocks_ = walks.names
        return walks, made

    def _standardise(self, targets: NDArray[np.float64], weights: Any) -> NDArray[np.float64]:
        if len(targets) < 2:
            raise ParameterError("two graphs or more are needed to fit a Gaussian process")
        if (targets == targets[0]).all():
            warn_of_constant(len(targets), float(targets.flat[0]))
        mean = np.average(targets, axis=0, weights=weights)
        deviation = np.sqrt(np.average((targets - mean) ** 2, axis=0, weights=weights))
        several = targets.ndim == 2
        self.mean_: Any = mean if several else float(mean)
        self.deviation_: Any = np.where(deviation > 0, deviation, 1.0) if several else float(deviation) or 1.0
        return np.asarray((targets - self.mean_) / self.deviation_)

    def _fit_grams(self, batch: GraphBatch, targets: NDArray[np.float64], weights: Any, progress: Progress) -> None:
        with progress.running("profiles"):
            walks, fitted = self._take_blocks(batch, None, weights)
            grams = BlockGrams(walks.grams(fitted), targets, weights)
        self.posterior_: Posterior = GramPosterior.of(walks, fitted, grams, *self._learn(grams, progress))
        self.similarity_floor_ = similarity_floor(np.tensordot(self.mu_[:-1], grams.grams[:-1], axes=1))

    def _fit_features(self, batch: GraphBatch, targets: NDArray[np.float64], weights: Any, progress: Progress) -> None:
        first = slice(_FIRST)
        n_components = check_count(self.n_components, "n_components")
        self._take_blocks(batch[first], n_components, None if weights is None else weights[first])
        self._fit_moments(moments_of(self, batch, targets, weights, progress), progress)

    def _fit_kernel(self, batch: GraphBatch, targets: NDArray[np.float64], weights: Any, progress: Progress) -> None:
        process, fitted = self._learn_process(batch, targets, weights, progress)
        self.posterior_ = KernelPosterior(process.kernel, fitted, *process.found)
        subset = np.arange(min(len(batch), _COMPARED)) * len(batch) // min(len(batch), _COMPARED)
        with products_on(self.device):
            shares = process.kernel.similarities([item.take(subset) for item in fitted], fitted)
        self.similarity_floor_ = similarity_floor(shares, subset)

    def _learn_process(
        self, batch: GraphBatch, targets: NDArray[np.float64], weights: Any, progress: Progress
    ) -> tuple[Process, list[Any]]:
        views: tuple[View, ...] = views_of(batch, self._choose_walks(batch, refine=1), self.layers)
        with progress.running("profiles"), threads(self.n_jobs):
            fitted = [view.profile(batch) for view in views]
        steps = check_count(self.max_iterations, "max_iterations", least=0)
        how = Learning(self._kinds(), steps, as_seed(self.random_state), progress, self.device)
        with threads(self.n_jobs), products_on(self.device):
            process = learn_process(views, fitted, targets, weights, how)
        process = replace(process, kernel=replace(process.kernel, n_jobs=self.n_jobs))
        self.kernel_ = " + ".join(process.kinds)
        self.mu_, self.noise_, self.stretch_ = process.amplitudes, process.noise, process.stretch
        self.blocks_ = process.names
        self.log_marginal_likelihood_, self.curve_ = process.log_likelihood, process.curve
        return process, fitted

    def _fit_induced(self, batch: GraphBatch, targets: NDArray[np.float64], weights: Any, progress: Progress) -> None:
        self._take_landmarks(batch, targets, weights, progress)
        self._fit_moments(moments_of(self, batch, targets, weights, progress), progress)

    def _take_landmarks(
        self, batch: GraphBatch, targets: NDArray[np.float64], weights: Any = None, progress: Progress = SILENT
    ) -> None:
        """Learn the kernel on a sample of the graphs, and choose those that all others are compared with."""
        n_components = check_count(self.n_components, "n_components")
        order = np.random.default_rng(as_seed(self.random_state)).permutation(len(batch))
        rows = order[: max(SAMPLE, n_components)]
        values = None if weights is None else weights[rows]
        process, fitted = self._learn_process(batch[rows], targets[rows], values, progress)
        self.walks_ = Induced.on(process.kernel, fitted, n_components)
        self.blocks_ = self.walks_.names

    def _fit_moments(self, moments: FeatureMoments, progress: Progress = SILENT) -> None:
        self.posterior_ = FeaturePosterior.of(self.walks_, moments, *self._learn(moments, progress))

    def _learn(self, likelihood: Likelihood, progress: Progress) -> tuple[NDArray[np.float64], float]:
        """log mu and log noise, and what is kept of them."""
        n_blocks = likelihood.n_blocks
        log_mu, log_noise = np.full(n_blocks, -np.log(n_blocks)), float(np.log(0.1))
        curve: list[float] = []
        steps = check_count(self.max_iterations, "max_iterations", least=0)
        if steps:
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
            The means, in the units of the targets; (n_graphs, n_targets) where there are several, and covariances
            (n_graphs, n_graphs, n_targets).
        """
        check_is_fitted(self, "posterior_")
        batch = self._read(X)
        if return_cov:
            mean, covariance = self.posterior_.mean_and_covariance(batch)
            covariance = covariance + self.noise_ * np.eye(len(batch))
            if np.ndim(self.mean_):
                covariance = covariance[:, :, None]
            return self.mean_ + self.deviation_ * mean, (self._unit() * self.deviation_) ** 2 * covariance
        mean, variance = np.empty((len(batch), *np.shape(self.mean_))), np.empty(len(batch))
        for first in range(0, len(batch), _AT_ONCE):
            rows = slice(first, min(first + _AT_ONCE, len(batch)))
            if return_std:
                mean[rows], variance[rows] = self.posterior_.mean_and_variance(batch[rows])
            else:
                mean[rows] = self.posterior_.mean(batch[rows])
        mean = self.mean_ + self.deviation_ * mean
        if not return_std:
            return mean
        values = np.sqrt(np.maximum(variance + self.noise_, 0.0))
        return mean, self._unit() * self.deviation_ * (values[:, None] if mean.ndim == 2 else values)

    def _unit(self) -> float:
        """Factor by which deviations are wider than the process says."""
        return float(getattr(self, "stretch_", 1.0))

    def predict_table(self, X: Any) -> dict[str, NDArray[Any]]:
        """All that is known of each graph, as columns of a table.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.

        Returns
        -------
        dict of str to ndarray of shape (n_graphs,)
            "prediction"; "deviation", its standard deviation; "lower" and "upper", the ends of its 95 % interval; of
            several targets "prediction 0" and so on; "nearest", the number of the fitted graph that is most like it,
            and "similarity", the share of surroundings that they have in common (their cosine with kernel="linear"),
            where fitted graphs are kept; "unseen", the share of nodes whose label no fitted graph has; "unlike",
            whether some label is unseen or the similarity is below `similarity_floor_`: predictions for such graphs are
            extrapolations, and at most about 1 % of graphs like the fitted ones are among them.
        """
        batch = as_batch(X)
        mean, deviation = self.predict(batch, return_std=True)
        half = TWO_SIDED * deviation
        columns = {"prediction": mean, "deviation": deviation, "lower": mean - half, "upper": mean + half}
        table = columns if mean.ndim == 1 else _by_target(columns)
        starts = range(0, max(len(batch), 1), _AT_ONCE)
        result = [self.posterior_.nearest(batch[first : first + _AT_ONCE]) for first in starts]
        known = [item for item in result if item is not None]
        if known:
            nearest, similarity = map(np.concatenate, zip(*known, strict=True))
            table |= {"nearest": self._numbered(nearest), "similarity": similarity}
        return self._with_likeness(table, batch)

    def explain(
        self, X: Any, of: int | None = None, n_sequences: int = 10, smiles: Sequence[str] | None = None
    ) -> list[Explanation]:
        """Why each prediction is what it is: the shares of nodes, edges, walk lengths and iterations.

        A walk's share is split equally among its nodes, or its edges; that of a node's surroundings is the node's.
        Shares of nodes add up to what the prediction differs by from that for an empty graph. The kernel is followed
        along the ray from there (integrated gradients). Linear in the edges; `explain` takes a few times as long as
        `predict`.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.
        of : int, default=None
            The number of the target, where there are several; None means the first.
        n_sequences : int, default=10
            Number of label sequences that are named of each graph.
        smiles : sequence of str or None, default=None
            The SMILES that the graphs were read from, so that they are drawn as molecules; None knows them where X is
            a list of SMILES.

        Returns
        -------
        list of Explanation
            One for each graph, in the units of the targets.

        Raises
        ------
        ParameterError
            If there is no such target.
        UnsupportedError
            If the model has kernel="linear" and was fitted on more than `max_exact` graphs.
        """
        target = self._target(of)
        mean, deviation = (float(np.atleast_1d(item)[target]) for item in (self.mean_, self.deviation_))
        batch, count, explained = self._read(X), check_count(n_sequences, "n_sequences", 0), []
        for first in range(0, len(batch), _AT_ONCE):
            result = Attribution(batch[first : first + _AT_ONCE], count)
            with threads(self.n_jobs):
                begin, end = explain_mean(self.posterior_, result, target)
                ends = mean + deviation * begin, mean + deviation * end
                explained += result.explanations(ends, [None] * len(result.batch), deviation)
        return with_smiles(explained, X, smiles)

    def _target(self, of: Any) -> int:
        """The number of the target that is explained."""
        check_is_fitted(self, "posterior_")
        count, of = np.size(self.mean_), 0 if of is None else of
        if not isinstance(of, (int, np.integer)) or not 0 <= of < count:
            raise ParameterError(f"of must be the number of a target, 0 … {count - 1}, not {of!r}")
        return int(of)

    def _explained(self, batch: GraphBatch, of: Any, codes: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        target = self._target(of)
        return self.predict(batch).reshape(len(batch), -1)[:, target], np.full(len(batch), target)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """The features by which the model compares graphs: their dot products are its kernel.

        Past `max_exact` they are those that it was fitted with. Up to it the kernel is exact, and features compare with
        `n_components` of the fitted graphs (Nyström). With kernel="linear" the counts of label sequences are hashed
        to `n_components` numbers instead: products are unbiased, with a standard error of at most
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
        return any(walk.node_labels for walk in self.posterior_.walks.walks)

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
        if mean.ndim == 2:
            raise ParameterError("draws are of one target; fit one model for each column")
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


def _by_target(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """One column for each of several targets."""
    return {f"{name} {index}": item for name, values in columns.items() for index, item in enumerate(values.T)}


# -- a fit in pieces, as a cluster does it: begin with some graphs, add up the moments of all, finish


def begin(regressor: RandomWalkRegressor, X: Any, y: Any) -> RandomWalkRegressor:
    """A copy of the regressor that knows its features, from some graphs and their targets."""
    begun: RandomWalkRegressor = clone(regressor)
    begun.similarity_floor_, begun.stretch_, begun.kernel_ = None, 1.0, "linear"
    batch = as_batch(X)
    if not len(batch):
        raise ParameterError("the partitions hold no graph")
    if begun._kinds() == ("linear",):
        begun._take_blocks(batch, check_count(begun.n_components, "n_components"))
    else:
        begun._take_landmarks(batch, begun._standardise(check_targets(y, len(batch)), None))
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
    walks = begun.walks_.on_one_thread()

    def moments(first: int) -> FeatureMoments:
        """Compute the moments of one block on one thread, since much of the work is outside kernels."""
        rows = slice(first, first + _BLOCK)
        result = FeatureMoments.empty(walks.columns)
        with threads(1):
            result.add(walks.features(batch[rows]), targets[rows], None if weights is None else weights[rows])
        return result

    starts = range(0, len(batch), _BLOCK)
    with threads(begun.n_jobs), threadpool_limits(1, "blas"), ThreadPoolExecutor(n_threads()) as pool:
        parts = progress.track(pool.map(moments, starts), "profiles", len(starts))
        return functools.reduce(FeatureMoments.merged, parts, FeatureMoments.empty(walks.columns))


def finish(begun: RandomWalkRegressor, moments: FeatureMoments) -> RandomWalkRegressor:
    """Learn mu and noise from the moments of all graphs."""
    if moments.count < 2:
        raise ParameterError("two graphs or more are needed to fit a Gaussian process")
    standard, begun.mean_, begun.deviation_ = moments.standardised()
    if moments.constant:
        warn_of_constant(moments.count, begun.mean_)
    begun._fit_moments(standard)
    return begun
