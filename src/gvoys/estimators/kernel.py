"""RandomWalkKernel: graphs in, Gram matrix out, with an error bar on every value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.estimators.base import Choice, WalkEstimator, check_finite
from gvoys.estimators.spread import gram_with_error, rounding, rounding_floor
from gvoys.estimators.vocabulary import Vocabulary, sparse_gram, squared_norms
from gvoys.exact import exact_kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import LABEL_CHOICES
from gvoys.series import Geometric, Series
from gvoys.threads import threads
from gvoys.walks.profiles import (
    check_components,
    moment_profiles,
    sequence_rounds,
    sketch_profiles,
    voyager_profiles,
)
from gvoys.walks.sequences import STATE_BUDGET, estimate_states
from gvoys.walks.settings import check_flag

__all__ = ["RandomWalkKernel"]

METHODS = ("moments", "sequences", "sketch", "voyagers", "exact")


class RandomWalkKernel(TransformerMixin, WalkEstimator):
    """The random walk kernel between graphs: `fit_transform` returns the Gram matrix.

    Parameters
    ----------
    series : Geometric, Exponential or Coefficients, default=Geometric("auto")
        The weights of the walk lengths; ``decay="auto"`` becomes 1 / d_max^2 of the fitted graphs.
    max_length : int or None, default=8
        Longest walk; None means the infinite series, truncated with an error of at most 1e-9 of a bound on it.
    method : {"auto", "moments", "sequences", "sketch", "voyagers", "exact"}, default="auto"
        "moments" is exact and ignores labels, "sequences" is exact and sparse, "sketch" is unbiased, "voyagers" samples
        walks and is unbiased, "exact" runs a solver on every pair: slow, for checking. "auto" means "moments" if
        neither labels nor attributes are used, "sequences" if their estimated number fits the budget of states, else
        "sketch".
    n_components : int, default=512
        Width of the sketch of one walk length, or number of walkers per node.
    start : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the start of a walk: 1 / n, 1, or one number per node of all graphs.
    stop : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the end of a walk, like `start`.
    labels : {"auto", "node", "edge", "both"} or None, default="auto"
        Labels that two walks must share; "auto" uses node labels if the graphs have them.
    refine : int, default=0
        Number of Weisfeiler–Lehman iterations of the labels; the kernel is the sum over the iterations 0
        to `refine`.
    backtrack : bool, default=True
        Whether walks may backtrack; False counts non-backtracking walks only.
    attribute_bandwidth : float or None, default=None
        Compare node attributes by ``exp(-|a - b|^2 / (2 bandwidth^2))``; None ignores them.
    random_state : int, RandomState or None, default=0
        Seed; with an integer the result is a pure function of the graphs and the parameters.
    n_jobs : int or None, default=None
        Number of threads, -1 for all; the result does not depend on it.
    device : {"cpu", "cuda"}, default="cpu"
        Where profiles are computed.
    normalize : bool, default=False
        Whether to divide by sqrt(K(G, G) K(H, H)); a graph with K(G, G) = 0 has zeros. "voyagers" with it raises
        UnsupportedError.
    verbose : bool, default=False
        Whether `transform` shows a progress bar.

    Attributes
    ----------
    method_ : Choice
        The method, a string with the reason for it in ``method_.reason``.
    standard_error_ : ndarray
        Standard error of the matrix that `fit_transform` or `transform` returned last: 0 for exact methods, nan with
        fewer than 256 components.
    series_ : Geometric, Exponential or Coefficients
        The series with its decay as a number.
    max_length_ : int
        The longest walk.
    scale_ : float
        The power of two that adjacency matrices are divided by.

    Notes
    -----
    With ``max_length=None`` the error is at most 1e-9 of a bound on the infinite series,
    ``sum_i mu_i (rho_G rho_H)^i |v_G| |w_G| |v_H| |w_H|``. A value far below the bound, as for walks from one end of a
    long path to the other, may come out as 0; `exact_kernel` is relative to the value itself.

    The standard error comes from the spread over groups of 128 components, widened for their small number, and is never
    below the rounding of float32: +-1.96 of it held 93 to 97 % of the exact values at 256, 512 and 1024 components
    (``python -m benchmarks coverage``). With ``normalize=True`` it accounts for the noise of the diagonal, and is 0
    between a graph and itself.

    The features of "voyagers" have a biased diagonal, since both factors come from the same walks. Here every value,
    the diagonal included, is the product of two independent replicates of the walks, (X Y' + Y X') / 2: unbiased
    everywhere, but the matrix need not be positive semidefinite, and a cosine would divide by a noisy diagonal.

    Examples
    --------
    >>> import gvoys as gv
    >>> kernel = RandomWalkKernel(gv.Geometric(0.1), max_length=3, normalize=True)
    >>> K = kernel.fit_transform(gv.datasets.molecules(20))
    >>> K.shape, kernel.method_.reason
    ((20, 20), 'an estimated ... label sequences fit the budget, so that exact counts are kept')
    """

    def __init__(
        self,
        series: Series = Geometric("auto"),  # noqa: B008 (immutable)
        *,
        max_length: int | None = 8,
        method: str = "auto",
        n_components: int = 512,
        start: Any = "uniform",
        stop: Any = "uniform",
        labels: str | None = "auto",
        refine: int = 0,
        backtrack: bool = True,
        attribute_bandwidth: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "cpu",
        normalize: bool = False,
        verbose: bool = False,
    ) -> None:
        self.series = series
        self.max_length = max_length
        self.method = method
        self.n_components = n_components
        self.start = start
        self.stop = stop
        self.labels = labels
        self.refine = refine
        self.backtrack = backtrack
        self.attribute_bandwidth = attribute_bandwidth
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.normalize = normalize
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RandomWalkKernel:
        """Profile the graphs that later ones are compared with.

        Parameters
        ----------
        X : GraphBatch or list of graphs
            The graphs, as `as_batch` takes them.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        batch = self._fit_common(X)
        self.n_components_ = check_components(self.n_components, self.settings_)
        check_flag(self.normalize, "normalize")
        self.method_ = self._choose_method(batch)
        with threads(self.n_jobs):
            try:
                self._keep(batch)
            except UnsupportedError:
                if self.method != "auto" or self.method_ != "sequences":
                    raise
                self.method_ = Choice("sketch", f"the label sequences exceed the budget of {STATE_BUDGET:,} states")
                self._keep(batch)
        return self

    def _keep(self, batch: GraphBatch) -> None:
        self.fitted_, self.diagonal_ = self._profile(batch, fitting=True)
        self.rounding_ = self._rounding(batch)

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Compute the Gram matrix of the graphs.

        Parameters
        ----------
        X : GraphBatch or list of graphs
            The graphs, as `as_batch` takes them.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_graphs, n_graphs)
            The kernel values.
        """
        self.fit(X)
        return self._compare(self.fitted_, self.diagonal_, self.rounding_)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Compute the kernel between new graphs and the fitted ones.

        Parameters
        ----------
        X : GraphBatch or list of graphs
            The graphs, as `as_batch` takes them.

        Returns
        -------
        ndarray of shape (n_graphs, n_fitted)
            The kernel values.
        """
        batch = self._read(X)
        with threads(self.n_jobs):
            return self._compare(*self._profile(batch, fitting=False), self._rounding(batch))

    # -- which method

    def _choose_method(self, batch: GraphBatch) -> Choice:
        if self.method != "auto":
            return self._check_method()
        if self.settings_.plain:
            return Choice("moments", "no labels or attributes are used, so that one number per length is exact")
        if self.device != "cpu":
            return Choice("sketch", "labels are used, and the GPU computes sketches")
        if self.attribute_bandwidth is not None:
            return Choice("sketch", "node attributes are used, which only a sketch can do")
        states = self._n_rounds * estimate_states(
            batch,
            self.max_length_,
            node_labels=self.settings_.node_labels or self.refine > 0,
            edge_labels=self.settings_.edge_labels,
            backtrack=self.backtrack,
        )
        if states <= STATE_BUDGET:
            return Choice(
                "sequences", f"an estimated {states:,.0f} label sequences fit the budget, so that exact counts are kept"
            )
        if np.isinf(states):
            return Choice("sketch", "label sequences are too many to count quickly, by a sample of the graphs")
        return Choice("sketch", f"an estimated {states:,.0f} label sequences exceed the budget of {STATE_BUDGET:,}")

    def _check_method(self) -> Choice:
        if self.method not in METHODS:
            raise ParameterError(
                f"method must be 'auto' or one of {', '.join(map(repr, METHODS))}, not {self.method!r}"
            )
        if self.method == "exact" and (self.refine or not self.backtrack or self.attribute_bandwidth is not None):
            raise UnsupportedError(
                "method='exact' cannot use refine, backtrack=False or node attributes; use 'sequences' or 'sketch'"
            )
        if self.method == "voyagers":
            self.settings_.check_sampled()
            if self.normalize:
                raise UnsupportedError(
                    "method='voyagers' cannot use normalize=True, which would divide by a noisy diagonal; "
                    "use another method"
                )
            return Choice(
                "voyagers",
                "as asked; every value, the diagonal included, comes from two independent replicates of the walks",
            )
        return Choice(self.method, "as asked")

    # -- profiles and their products

    def _profile(self, batch: GraphBatch, fitting: bool) -> tuple[Any, NDArray[np.float64]]:
        """What is compared, and K(G, G) of every graph."""
        if self.method_ == "voyagers":
            return self._both_replicates(batch), np.ones(len(batch))  # no diagonal is needed, since no cosine is
        if self.method_ == "exact":
            return batch, np.array([self._pair(graph, graph) for graph in batch])
        if self.method_ == "sequences":
            rounds = sequence_rounds(batch, self.max_length_, self.settings_)
            if fitting:
                self.vocabulary_ = Vocabulary.from_counts(rounds)
            features = self.vocabulary_.features(rounds, self._factors(), len(batch))
            return features, squared_norms(rounds, self._factors(), len(batch))
        if self.method_ == "moments":
            features = moment_profiles(batch, self.max_length_, self.settings_)
            self._weigh(features)
        else:
            features = self._sketch(batch)
        return features, np.einsum("nij,nij->n", features, features, dtype=np.float64)

    def _sketch(self, batch: GraphBatch) -> NDArray[np.float32]:
        width = self._n_rounds * self.n_components_
        out = np.empty((len(batch), self.max_length_ + 1, width), np.float32)
        for block in self._blocks(batch, 4 * (self.max_length_ + 1) * width):
            settings = self._block_settings(batch, block)
            sketch_profiles(batch[block], self.max_length_, self.n_components_, settings, out=out[block])
            self._weigh(out[block])
        return out

    def _both_replicates(self, batch: GraphBatch) -> NDArray[np.float64]:
        """Two independent replicates of the walks, stacked along the lengths, (n, 2 * n_lengths, n_components).

        Their products with the replicates swapped are (X Y' + Y X') / 2.
        """
        out = np.empty((len(batch), 2 * (self.max_length_ + 1), self.n_components_))
        for block in self._blocks(batch, 8 * out.shape[1] * out.shape[2]):
            settings = self._block_settings(batch, block)
            for replicate, part in enumerate(np.split(out[block], 2, axis=1)):
                part[:] = voyager_profiles(batch[block], self.max_length_, self.n_components_, settings, replicate)
                self._weigh(part)
                part /= np.sqrt(2.0)
        return out

    def _rounding(self, batch: GraphBatch) -> NDArray[np.float64]:
        """What float32 may change of each graph's profile, relative; the other methods work in float64."""
        return rounding(batch, self.max_length_) if self.method_ == "sketch" else np.zeros(len(batch))

    def _compare(self, left: Any, diagonal: NDArray[np.float64], own: NDArray[np.float64]) -> NDArray[np.float64]:
        """K between some graphs and the fitted ones, from what is compared, K(G, G) and the rounding of each."""
        K, error = self._products(left)
        check_finite(K)
        sketched = self.method_ == "sketch"  # errors of exact methods are zeros that are never touched
        if sketched:
            error = np.hypot(error, rounding_floor(own, self.rounding_, diagonal, self.diagonal_))
        if self.normalize:
            norms = np.outer(_inverse_root(diagonal), _inverse_root(self.diagonal_))
            K, error = K * norms, error * norms if sketched else error
            if left is self.fitted_:  # a graph's cosine with itself is one, whatever was drawn
                np.fill_diagonal(K, diagonal > 0)
                np.fill_diagonal(error, 0.0)
        self.standard_error_ = error
        return K

    def _products(self, left: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """K before normalisation, and its standard error."""
        right = self.fitted_
        if self.method_ == "sketch":
            return gram_with_error(left, right, self.n_components_, self.normalize)
        if self.method_ == "voyagers":
            K, error = gram_with_error(left, _swapped(right), self.n_components_)
            if left is right:  # symmetric to the bit, as other methods are
                K, error = (K + K.T) / 2.0, (error + error.T) / 2.0
            return K, error
        if self.method_ == "exact":
            K = np.array([[self._pair(g, h) for h in right] for g in left]).reshape(len(left), len(right))
        elif self.method_ == "sequences":
            K = sparse_gram(left, right)
        else:
            ours = left[:, :, 0]
            K = ours @ (ours if left is right else right[:, :, 0]).T
        return K, np.zeros(K.shape)

    def _pair(self, g: GraphBatch, h: GraphBatch) -> float:
        series = self.series_ if self.max_length is None else self.series_.truncated(self.max_length_)
        used = (self.settings_.node_labels, self.settings_.edge_labels)
        labels = next(name for name, flags in LABEL_CHOICES.items() if flags == used)
        if not isinstance(self.start, str) or not isinstance(self.stop, str):
            raise UnsupportedError(
                "method='exact' cannot use arrays for start and stop; use 'uniform' or 'ones', or another method"
            )
        return float(exact_kernel(g, h, series, start=self.start, stop=self.stop, labels=labels))


def _swapped(replicates: NDArray[np.float64]) -> NDArray[np.float64]:
    """The second replicate of the walks before the first."""
    return np.roll(replicates, replicates.shape[1] // 2, axis=1)


def _inverse_root(diagonal: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / sqrt(K(G, G)), and 0 for graphs without walks."""
    positive = diagonal > 0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)
