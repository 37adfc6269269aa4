"""RandomWalkFeatures: graphs in, vectors out, whose dot products are the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.estimators.base import Choice, WalkEstimator, check_finite
from gvoys.graphs.batch import GraphBatch
from gvoys.series import Geometric, Series
from gvoys.threads import threads
from gvoys.walks.device import backend
from gvoys.walks.profiles import check_components, moment_profiles, sketch_profiles, voyager_profiles
from gvoys.walks.settings import Settings

__all__ = ["RandomWalkFeatures"]


class RandomWalkFeatures(TransformerMixin, WalkEstimator):
    """Explicit features of the random walk kernel: ``X @ X.T`` is K, exactly or in expectation.

    Parameters
    ----------
    series : Geometric, Exponential or Coefficients, default=Geometric("auto")
        The weights of the walk lengths; ``decay="auto"`` becomes 1 / d_max^2 of the fitted graphs.
    max_length : int or None, default=8
        Longest walk; None means the infinite series, truncated with an error of at most 1e-9 of a bound on it.
    method : {"auto", "moments", "sketch", "voyagers"}, default="auto"
        "moments" is exact and ignores labels, "sketch" is unbiased, "voyagers" samples walks and is unbiased off the
        diagonal only. "auto" means "moments" if neither labels nor attributes are used, else "sketch".
    n_components : int, default=512
        Width of the sketch of one walk length.
    lengths : {"stacked", "summed"}, default="stacked"
        "stacked" keeps a block of features for each length; "summed" adds them up into `n_components` numbers, still
        unbiased, with more variance.
    start : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the start of a walk: 1 / n, 1, or one number per node of all graphs.
    stop : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the end of a walk, like `start`.
    labels : {"auto", "node", "edge", "both"} or None, default="auto"
        Labels that two walks must share; "auto" uses node labels if the graphs have them.
    refine : int, default=0
        Number of Weisfeiler–Lehman iterations of the labels; the features of the iterations 0 to `refine` are
        concatenated.
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
    verbose : bool, default=False
        Whether `transform` shows a progress bar.

    Attributes
    ----------
    method_ : Choice
        The method, a string with the reason for it in ``method_.reason``.
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

    Examples
    --------
    >>> import gvoys as gv
    >>> features = RandomWalkFeatures(gv.Exponential(0.1), max_length=3, n_components=128)
    >>> features.fit_transform(gv.datasets.molecules(10)).shape
    (10, 512)
    """

    def __init__(
        self,
        series: Series = Geometric("auto"),  # noqa: B008 (immutable)
        *,
        max_length: int | None = 8,
        method: str = "auto",
        n_components: int = 512,
        lengths: str = "stacked",
        start: Any = "uniform",
        stop: Any = "uniform",
        labels: str | None = "auto",
        refine: int = 0,
        backtrack: bool = True,
        attribute_bandwidth: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: bool = False,
    ) -> None:
        self.series = series
        self.max_length = max_length
        self.method = method
        self.n_components = n_components
        self.lengths = lengths
        self.start = start
        self.stop = stop
        self.labels = labels
        self.refine = refine
        self.backtrack = backtrack
        self.attribute_bandwidth = attribute_bandwidth
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RandomWalkFeatures:
        """Choose the method and resolve the series; no graph's features depend on any other graph.

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
        self._fit_common(X)
        self.method_ = self._choose_method()
        if not isinstance(self.lengths, str) or self.lengths not in ("stacked", "summed"):
            raise ParameterError(f'lengths must be "stacked" or "summed", not {self.lengths!r}')
        if self.method_ == "moments" and self.lengths == "summed":
            raise UnsupportedError(
                "lengths='summed' needs method='sketch', since sums of moments mix the lengths; use lengths='stacked'"
            )
        if self.method_ == "voyagers" and self.settings_.plain and self.lengths == "summed":
            raise UnsupportedError(
                "lengths='summed' needs labels, since walks without them have no signs; use lengths='stacked'"
            )
        self.n_components_, self.lengths_ = check_components(self.n_components, self.settings_), self.lengths
        self.width_ = 1 if self.method_ == "moments" else self._n_rounds * self.n_components_
        return self

    def _choose_method(self) -> Choice:
        plain = self.settings_.plain
        if self.method == "auto" and plain:
            return Choice("moments", "no labels or attributes are used, so that one number per length is exact")
        if self.method == "auto":
            return Choice("sketch", "labels are used, and a sketch's width does not depend on the graphs")
        if self.method == "moments" and not plain:
            raise UnsupportedError("method='moments' cannot use labels or attributes; use method='sketch'")
        if self.method == "voyagers":
            self.settings_.check_sampled()
        elif self.method not in ("moments", "sketch"):
            raise ParameterError(f"method must be 'auto', 'moments', 'sketch' or 'voyagers', not {self.method!r}")
        return Choice(self.method, "as asked")

    @property
    def n_features_out_(self) -> int:
        """Number of features of a graph."""
        return self.width_ * (1 if self.lengths_ == "summed" else self.max_length_ + 1)

    def transform(self, X: Any) -> NDArray[Any]:
        """Compute the features of graphs.

        Parameters
        ----------
        X : GraphBatch or list of graphs
            The graphs, as `as_batch` takes them.

        Returns
        -------
        ndarray of shape (n_graphs, n_features)
            The features: float64 for "moments", else float32.
        """
        batch = self._read(X)
        kind = np.float64 if self.method_ == "moments" else np.float32
        gpu = backend(self.settings_.device)
        out = (np.empty if gpu is None else gpu.empty_on_host)((len(batch), self.n_features_out_), kind)
        size = np.dtype(kind).itemsize * (self.max_length_ + 1) * self.width_
        with threads(self.n_jobs):
            for block in self._blocks(batch, size):
                self._fill(batch[block], self._block_settings(batch, block), out[block])
        return out

    def _fill(self, batch: GraphBatch, settings: Settings, out: NDArray[Any]) -> None:
        shape = (len(batch), self.max_length_ + 1, self.width_)
        profiles = out.reshape(shape) if self.lengths_ == "stacked" else np.empty(shape, np.float32)
        if self.method_ == "moments":
            profiles[:] = moment_profiles(batch, self.max_length_, settings)
        elif self.method_ == "voyagers":
            profiles[:] = voyager_profiles(batch, self.max_length_, self.n_components_, settings)
        else:
            sketch_profiles(batch, self.max_length_, self.n_components_, settings, out=profiles)
        self._weigh(profiles)
        check_finite(profiles)
        if self.lengths_ == "summed":
            out[:] = profiles.sum(axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the features by walk length, Weisfeiler–Lehman iteration and component.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            One name per feature.
        """
        check_is_fitted(self, "width_")
        lengths = ["walks"] if self.lengths_ == "summed" else [f"walk{i}" for i in range(self.max_length_ + 1)]
        per_round = self.width_ // self._n_rounds
        rounds = [f"_round{r}" for r in range(self._n_rounds)] if self._n_rounds > 1 else [""]
        names = [f"{i}{r}_{j}" for i in lengths for r in rounds for j in range(per_round)]
        return np.array(names, dtype=object)
