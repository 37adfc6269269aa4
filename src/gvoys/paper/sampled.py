"""What the estimators by sampled walks have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from gvoys.estimators.base import WalkEstimator, check_finite
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.endpoints import compute_endpoint
from gvoys.io.convert import as_batch
from gvoys.threads import threads
from gvoys.walks.profiles import check_components
from gvoys.walks.settings import Settings

__all__ = ["SampledWalks"]


class SampledWalks(TransformerMixin, WalkEstimator):
    """Base class of the estimators by sampled walks, which use labels, weights and directions only."""

    method = "voyagers"
    device = "cpu"
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
        batch = self._fit_common(X)
        self.n_components_ = check_components(self.n_components, self.settings_)
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
            for block in self._blocks(batch, per_graph):
                out[block] = self._sample_walks(batch[block], self._block_settings(batch, block)).reshape(
                    -1, out.shape[1]
                )
        check_finite(out)
        return out

    def _prepare(self, batch: GraphBatch) -> None:
        """What else is to be kept from the fitted graphs."""

    def _ends(self, batch: GraphBatch, settings: Settings) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return compute_endpoint(batch, settings.start, "start"), compute_endpoint(batch, settings.stop, "stop")

    def _labels(self) -> dict[str, Any]:
        settings = self.settings_
        return {"node_labels": settings.node_labels, "edge_labels": settings.edge_labels, "scale": self.scale_}
