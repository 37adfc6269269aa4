"""The estimators by sampled walks: what GraphVoyagers and OneSidedVoyagers have in common."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gvoys.estimators.base import WalkEstimator
from gvoys.graphs.batch import GraphBatch
from gvoys.io.convert import as_batch
from gvoys.threads import threads
from gvoys.walks.checks import check_count, check_flag, check_replicate
from gvoys.walks.method import check_supports
from gvoys.walks.profiles import check_finite
from gvoys.walks.sampled import SampledWalks, WalkConfig

N_WALKERS = 100  # components, which are many walkers each
_SETTABLE = ("start", "stop", "replicate", "n_jobs", "verbose", "device")


def moved_to_set_params(*names: str) -> dict[str, str]:
    """Return what to say of parameters that no constructor takes, but `set_params`."""
    return {name: f"write set_params({name}=…) after the constructor" for name in names}


class SampledEstimator(TransformerMixin, WalkEstimator):
    """Base class of the estimators by sampled walks, which use labels, weights and directions only."""

    # constructors have the paper's parameters; `set_params` sets these too
    method = "voyagers"
    replicate: int = 0
    n_jobs: int | None = None
    verbose: bool = False
    device: str = "cpu"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor, and those that `set_params` changed beside them.

        Parameters
        ----------
        deep : bool, default=True
            Whether the parameters of the series and the walk are returned too.

        Returns
        -------
        dict
            Values by name.
        """
        return super().get_params(deep) | {name: value for name, value in vars(self).items() if name in _SETTABLE}

    def set_params(self, **params: Any) -> Any:
        """Set parameters, those of the series and the walk included.

        Parameters
        ----------
        **params : dict
            Values by name: those of the constructor, and `replicate`, `n_jobs`, `verbose` and `device`.

        Returns
        -------
        object
            The estimator itself.
        """
        values = {name: params.pop(name) for name in list(params) if name in _SETTABLE and hasattr(type(self), name)}
        super().set_params(**params)
        vars(self).update(values)
        return self

    def __sklearn_clone__(self) -> Any:
        copy = type(self).__new__(type(self))
        vars(copy).update(deepcopy({name: value for name, value in vars(self).items() if not name.endswith("_")}))
        return copy

    def fit(self, X: Any, y: Any = None) -> Any:
        """Resolve the series and the longest walk; no graph's features depend on any other graph.

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
        batch = self._fit_walk(X)
        check_supports(SampledWalks(), self.walk_, batch)
        self.n_components_ = check_count(self.n_components, "n_components")
        self.config_ = self._make_config()
        self._prepare(batch)
        return self

    def _share_config(self, p_halt: float) -> WalkConfig:
        """Check the parameters that both estimators have."""
        return WalkConfig(
            self.n_components_,
            check_count(self.n_walks, "n_walks"),
            p_halt,
            share_signs=check_flag(self.share_signs, "share_signs"),
            share_halting=check_flag(self.share_halting, "share_halting"),
            seed=self.seed_,
            replicate=check_replicate(self.replicate),
        )

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Fit, and compute the features of the same graphs.

        Parameters
        ----------
        X : GraphBatch or list of graphs
            The graphs, as `as_batch` takes them.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_graphs, n_features)
            The features.
        """
        batch = as_batch(X)
        return self.fit(batch)._features(batch)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Compute the features of graphs.

        Parameters
        ----------
        X : GraphBatch or list of graphs
            The graphs, as `as_batch` takes them.

        Returns
        -------
        ndarray of shape (n_graphs, n_features)
            The features.
        """
        return self._features(self._read(X))

    def _features(self, batch: GraphBatch) -> NDArray[np.float64]:
        out = np.empty((len(batch), self.n_lengths_ * self.n_components_))
        per_graph = 8 * self.n_components_ * self.n_lengths_
        with threads(self.n_jobs):
            for rows, block, walk in self._blocks(batch, self.walk_, per_graph):
                out[rows] = self._sample_walks(*walk.labelled_by_structure(block)).reshape(-1, out.shape[1])
        check_finite(out)
        return out

    def _prepare(self, batch: GraphBatch) -> None:
        """Keep what else is needed of the fitted graphs."""

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the features: voyager0, voyager1 and so on, or walk0_0, walk0_1 and so on by length and component.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            One name per feature.
        """
        check_is_fitted(self, "config_")
        return np.array(self._name_features(), dtype=object)
