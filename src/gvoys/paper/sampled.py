"""What the estimators by sampled walks have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from gvoys.estimators.base import WalkEstimator
from gvoys.graphs.batch import GraphBatch
from gvoys.io.convert import as_batch
from gvoys.threads import threads
from gvoys.walks.checks import check_count
from gvoys.walks.profiles import check_finite

__all__ = ["SampledEstimator"]


class SampledEstimator(TransformerMixin, WalkEstimator):
    """Base class of the estimators by sampled walks, which use labels, weights and directions only."""

    method = "voyagers"
    refine = 0
    backtrack = True
    attribute_bandwidth = None

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
        self.n_components_ = check_count(self.n_components, "n_components")
        self.config_ = self._make_config()
        self._prepare(batch)
        return self

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
            for rows, some, walk in self._blocks(batch, per_graph):
                out[rows] = self._sample_walks(some, walk).reshape(-1, out.shape[1])
        check_finite(out)
        return out

    def _prepare(self, batch: GraphBatch) -> None:
        """What else is to be kept from the fitted graphs."""
