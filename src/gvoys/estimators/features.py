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
    series : Geometric, Exponential or Coefficients; ``decay="auto"`` becomes 1 / d_max^2 of the fitted graphs.
    max_length : the longest walk; None means the infinite series, to 1e-9 of the bound
        ``sum_i mu_i (rho_G rho_H)^i |v_G| |w_G| |v_H| |w_H|`` on it. A value far below the bound, as for walks from one
        end of a long path to the other, may come out as 0; `exact_kernel` is relative to the value itself.
    method : "moments" (exact, unlabelled), "sketch", "voyagers" (sampled walks: K off the diagonal only), or "auto":
        moments where nothing but edges counts, else sketch.
    n_components : width of the sketch of one walk length.
    lengths : "stacked" keeps a block of features for each length, "summed" adds them up into n_components numbers,
        still unbiased, with more variance.
    start, stop, labels, refine, backtrack, attribute_bandwidth : as in `gvoys.profiles`.
    random_state : an integer makes the features a pure function of graph and parameters.
    n_jobs : threads.
    device : "cpu" or "cuda".
    verbose : show a progress bar in transform.

    Attributes
    ----------
    method_ : the method, with the reason in ``method_.reason``.
    series_ : the series with its decay as a number.
    max_length_, scale_ : the longest walk, and the power of two that adjacency matrices were divided by.

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
        """Choose the method and resolve the series; no graph's features depend on any other graph."""
        self._fit_common(X)
        self.method_ = self._choose_method()
        if not isinstance(self.lengths, str) or self.lengths not in ("stacked", "summed"):
            raise ParameterError(f'lengths must be "stacked" or "summed", not {self.lengths!r}')
        if self.method_ == "moments" and self.lengths == "summed":
            raise UnsupportedError("lengths='summed' needs a sketch: sums of moments mix the lengths; use 'stacked'")
        if self.method_ == "voyagers" and self.settings_.plain and self.lengths == "summed":
            raise UnsupportedError("lengths='summed' needs labels: walks without them have no signs; use 'stacked'")
        self.n_components_, self.lengths_ = check_components(self.n_components, self.settings_), self.lengths
        self.width_ = 1 if self.method_ == "moments" else self._n_rounds * self.n_components_
        return self

    def _choose_method(self) -> Choice:
        plain = self.settings_.plain
        if self.method == "auto" and plain:
            return Choice("moments", "nothing but edges counts, so that one number per length is exact")
        if self.method == "auto":
            return Choice("sketch", "labels count, and a sketch's width does not depend on the graphs")
        if self.method == "moments" and not plain:
            raise UnsupportedError("method='moments' sees no labels or attributes; use method='sketch'")
        if self.method == "voyagers":
            self.settings_.check_sampled()
        elif self.method not in ("moments", "sketch"):
            raise ParameterError(f"method must be 'auto', 'moments', 'sketch' or 'voyagers', not {self.method!r}")
        return Choice(self.method, "as asked")

    @property
    def n_features_out_(self) -> int:
        """Features of a graph."""
        return self.width_ * (1 if self.lengths_ == "summed" else self.max_length_ + 1)

    def transform(self, X: Any) -> NDArray[Any]:
        """Features, (n_graphs, n_features): float64 for moments, else float32."""
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
        """One name per feature: its walk length, its round of refinement, its place."""
        check_is_fitted(self, "width_")
        lengths = ["walks"] if self.lengths_ == "summed" else [f"walk{i}" for i in range(self.max_length_ + 1)]
        per_round = self.width_ // self._n_rounds
        rounds = [f"_round{r}" for r in range(self._n_rounds)] if self._n_rounds > 1 else [""]
        names = [f"{i}{r}_{j}" for i in lengths for r in rounds for j in range(per_round)]
        return np.array(names, dtype=object)
