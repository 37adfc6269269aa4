"""The base class of the learners: model files, and checks of new graphs."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gvoys.estimators.base import TakesParts
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.transform import without_each_node
from gvoys.io.convert import as_batch
from gvoys.kernels.inputs import describe_unseen, find_unlike, unseen_nodes, warn_user
from gvoys.walks.checks import is_auto

_AT_ONCE = 1024  # nodes of graphs that are predicted again without each of them, as many times as they have nodes


class Learner(TakesParts):
    """An estimator that learns from targets: it can be kept in a file, and knows which labels it has seen."""

    walk: Any

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a file; `gvoys.load_model` reads it, without running any code from it.

        Parameters
        ----------
        path : str or path-like
            The file, such as model.gvoys. It holds the features of the fitted graphs, and no graphs.

        Raises
        ------
        ParameterError
            If the model holds something that a file cannot, or the file cannot be written.
        """
        from gvoys.estimators.saving import write_model  # which knows all learners

        write_model(self, path)

    def unseen_labels(self, X: Any) -> NDArray[np.float64]:
        """Share of the nodes of each graph whose label no fitted graph has.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.

        Returns
        -------
        ndarray of shape (n_graphs,)
            From 0 to 1; 0 where the fitted graphs had no node labels, or were fitted on a cluster.
        """
        check_is_fitted(self, "seen_labels_")
        batch = as_batch(X)
        unseen = None if self.seen_labels_ is None else unseen_nodes(batch, self.seen_labels_)
        if unseen is None:
            return np.zeros(len(batch))
        counts = np.bincount(batch.node_graphs()[unseen], minlength=len(batch))
        return np.asarray(counts / np.maximum(batch.graph_sizes, 1))

    def explain_by_deletion(self, X: Any, of: Any = None) -> list[NDArray[np.float64]]:
        """Return the change of a prediction when each node is deleted with its edges.

        Every graph is predicted again as often as it has nodes. What nodes lose does not add up to the prediction.

        Parameters
        ----------
        X : list of graphs or GraphBatch
            Anything that `as_batch` takes.
        of : object, default=None
            What is explained, as in `explain`.

        Returns
        -------
        list of ndarray of shape (n_nodes,)
            Prediction for the graph less that for the graph without the node.
        """
        batch, changes = self._read(X), []
        for block in batch.blocks(_AT_ONCE):
            graphs = batch[block]
            whole, codes = self._explained(graphs, of, None)
            owners = graphs.node_graphs()
            less, _ = self._explained(without_each_node(graphs), of, codes[owners])
            changes += np.split(whole[owners] - less, graphs.node_offsets[1:-1])
        return changes

    def _explained(self, batch: GraphBatch, of: Any, codes: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The predictions that `explain` explains, and the codes of what they are for, which may be given."""
        raise NotImplementedError

    def _with_likeness(self, table: dict[str, NDArray[Any]], batch: GraphBatch) -> dict[str, NDArray[Any]]:
        """A table of predictions with the columns "unseen" and "unlike"."""
        unseen = self.unseen_labels(batch)
        floor = getattr(self, "similarity_floor_", None)  # not in files of earlier versions
        return table | {"unseen": unseen, "unlike": find_unlike(unseen, table.get("similarity"), floor)}

    # -- what was fitted

    def _remember(self, batch: GraphBatch, before: NDArray[np.uint64] | None = None) -> None:
        """Keep the direction of fitted graphs and hashes of their node labels, beside those of graphs before them."""
        labels = batch.node_labels
        if labels is not None:
            seen = labels.hashes[np.bincount(labels.codes, minlength=len(labels.hashes)) > 0]
            before = np.unique(seen) if before is None else np.union1d(seen, before)
        self.seen_labels_, self.directed_ = before, batch.directed

    def _keep_weighty(self, batch: GraphBatch, targets: Any, weights: Any) -> tuple[GraphBatch, Any, Any]:
        """Leave graphs of weight 0 out, as if they were not there; `kept_` has the numbers of the others."""
        self.__dict__.pop("kept_", None)  # of an earlier fit
        if weights is None or weights.all():
            return batch, targets, weights
        self.kept_ = np.flatnonzero(weights)
        weights = weights[self.kept_]
        return batch[self.kept_], targets[self.kept_], None if (weights == 1).all() else weights

    def _numbered(self, nearest: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of fitted graphs among all that were given to `fit`."""
        kept = getattr(self, "kept_", None)
        return nearest if kept is None else kept[nearest]

    def _uses_node_labels(self) -> bool:
        """Whether walks are compared by node labels that the graphs have."""
        raise NotImplementedError

    # -- graphs to predict

    def _read(self, X: Any) -> GraphBatch:
        """Graphs to predict, with a warning of each kind where they differ from the fitted ones."""
        batch = as_batch(X)
        if batch.n_nodes:
            self._warn_of_kind(batch)
            self._warn_of_unseen(batch)
        return batch

    def _warn_of_kind(self, batch: GraphBatch) -> None:
        directed = getattr(self, "directed_", None)  # files of older versions do not say it
        if batch.n_entries and directed is not None and directed != batch.directed:
            these, fitted = ("directed", "undirected") if batch.directed else ("undirected", "directed")
            warn_user(f"these graphs are {these} and the fitted ones were {fitted}; fit on graphs like these")
        walks = self.walk if isinstance(self.walk, (tuple, list)) else (self.walk,)
        chosen = any(is_auto(walk) or is_auto(walk.labels) for walk in walks)
        if batch.node_labels is not None and chosen and not self._uses_node_labels():
            warn_user("these graphs have node labels, which are ignored: the fitted graphs had none")

    def _warn_of_unseen(self, batch: GraphBatch) -> None:
        seen = getattr(self, "seen_labels_", None)
        unseen = None if seen is None or not self._uses_node_labels() else describe_unseen(batch, seen)
        if unseen is not None:
            warn_user(unseen)
