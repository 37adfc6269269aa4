"""What the estimators share: checking parameters, and keeping what was fitted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import DivergenceError, ParameterError, UnsupportedError
from gvoys.estimators.learning.inputs import check_has_labels, missing_labels
from gvoys.estimators.progress import wants_progress
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.degrees import max_degree
from gvoys.io.convert import as_batch
from gvoys.series import Series, check_series
from gvoys.threads import threads
from gvoys.walks.backends import check_device
from gvoys.walks.checks import check_length, check_seed
from gvoys.walks.growth import choose_truncation, walk_rate
from gvoys.walks.methods import labels_for
from gvoys.walks.walk import Walk

__all__ = ["SLACK", "TRUNCATION", "TakesGraphs", "TakesSeries", "WalkEstimator", "as_seed"]

TRUNCATION = 1e-9  # truncation error of an infinite series, relative
SLACK = 1e3  # how much larger the truncation error may be for graphs that were not fitted
_OF_SERIES = "series__"
_BLOCK = 1 << 26  # bytes that are in the making at once


class TakesGraphs(BaseEstimator):
    """An estimator whose samples are graphs, not rows of an array; scikit-learn asks for that."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


class TakesSeries(TakesGraphs):
    """An estimator with a series, whose parameters are set through it: ``set_params(series__decay=0.1)``."""

    series: Series

    def set_params(self, **params: Any) -> Any:
        """Set parameters, those of the series included.

        The series is replaced and never changed: others, and the constructor's default, may hold the same one.

        Parameters
        ----------
        **params : dict
            Values by name; ``series__decay`` is the decay of the series.

        Returns
        -------
        object
            The estimator itself.
        """
        own = {name.removeprefix(_OF_SERIES): params.pop(name) for name in list(params) if name.startswith(_OF_SERIES)}
        super().set_params(**params)
        if own:
            self.series = copy(self.series).set_params(**own)
        return self


class WalkEstimator(TakesSeries):
    """Base class of the estimators: fitting that every estimator begins with; subclasses list the parameters."""

    def _fit_walk(self, X: Any) -> GraphBatch:
        """Read the graphs, with structural labels if wanted; keep series_ and walk_, whose length is resolved."""
        check_device(self.device)
        batch = as_batch(X)
        length = 0 if self.max_length is None else self.max_length
        walk = Walk.on(batch, length, labels_for(self.method, self.labels), **Walk.options_of(self))
        self.seed_ = as_seed(self.random_state)
        self.directed_, self.n_attributes_ = batch.directed, _n_attributes(batch.node_attributes)
        self.n_edge_attributes_ = _n_attributes(batch.edge_attributes)
        self.series_ = check_series(self.series, walk.n_iterations).resolved(lambda: max_degree(batch))
        self.max_length_, self.rate_ = self._choose_length(batch)
        self._given_walk = replace(walk, max_length=self.max_length_)
        batch, self.walk_ = self._label(batch)
        return batch

    def _label(self, batch: GraphBatch) -> tuple[GraphBatch, Walk]:
        """The graphs with the labels that walks go by, and the walk by them."""
        with threads(self.n_jobs):
            return self._given_walk.labels_on(batch)

    def _choose_length(self, batch: GraphBatch) -> tuple[int, float | None]:
        """The longest walk, and for the infinite series the growth rate of the fitted graphs' walks."""
        if self.max_length is not None:
            return check_length(self.max_length), None
        return choose_truncation(batch, self.series_, TRUNCATION)

    def _read(self, X: Any) -> GraphBatch:
        """Graphs to transform: labelled as the fitted ones were, and within reach of the fitted length."""
        check_is_fitted(self, "walk_")
        batch, walk = as_batch(X), self._given_walk
        if missing_labels(batch, walk.node_labels, walk.edge_labels) == "node":
            raise UnsupportedError(
                "the fitted graphs had node labels and these have none; pass labels=None to ignore them"
            )
        check_has_labels(batch, walk.node_labels, walk.edge_labels)
        if self.refine and batch.n_entries and batch.directed != self.directed_:
            raise UnsupportedError(
                "refined labels differ between directed and undirected graphs; fit on graphs like these"
            )
        if walk.attribute_bandwidth is not None and batch.n_nodes:
            _check_as_many("node", self.n_attributes_, _n_attributes(batch.node_attributes))
        if walk.edge_attribute_bandwidth is not None and batch.n_entries:
            _check_as_many("edge", self.n_edge_attributes_, _n_attributes(batch.edge_attributes))
        walk.checked(batch)
        if self.rate_ is not None and not self._surely_reaches(batch):
            growth = self._growth(walk_rate(batch, lambda rate: self._length_at(self._growth(rate))))
            self.series_.check_convergence(growth)
            if not self._reaches(growth):
                raise DivergenceError(
                    f"the series was truncated at length {self.max_length_}, which is too short for these graphs; "
                    "fit on graphs like these"
                )
        return self._label(batch)[0]

    def _growth(self, rate: float) -> float:
        """How walks multiply in pairs of graphs of this rate: with each other, and with the fitted ones."""
        return rate * max(rate, self.rate_ or 0.0)

    def _length_at(self, growth: float) -> int:
        """The longest walk that the infinite series needs where walks multiply like this."""
        return self.series_.truncation_length(growth, SLACK * TRUNCATION)

    def _surely_reaches(self, batch: GraphBatch) -> bool:
        """A quick look, by the largest degree alone."""
        growth = self._growth(max_degree(batch))
        return growth < self.series_.radius and self._reaches(growth)

    def _reaches(self, growth: float) -> bool:
        """Whether the fitted length is enough for graphs whose walks multiply like this."""
        return self.series_.relative_tail(self.max_length_, growth) <= SLACK * TRUNCATION

    def _shows_progress(self) -> bool:
        return wants_progress(self.verbose)

    def _blocks(self, batch: GraphBatch, bytes_per_graph: int) -> Iterator[tuple[slice, GraphBatch, Walk]]:
        """Consecutive graphs of bounded size, with a progress bar where verbose."""
        step = max(_BLOCK // max(bytes_per_graph, 1), 1)
        starts: Iterable[int] = range(0, len(batch), step)
        if self._shows_progress():
            from rich.progress import track

            starts = track(starts, description=type(self).__name__)
        for start in starts:
            block = slice(start, min(start + step, len(batch)))
            yield block, batch[block], self.walk_.within(batch, block)


def as_seed(random_state: Any) -> int:
    """The seed of a random_state: as given, or drawn from a RandomState."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return check_seed(random_state)
    if random_state is not None and not isinstance(random_state, np.random.RandomState):
        raise ParameterError(f"random_state must be an integer, a RandomState or None, not {random_state!r}")
    return int(check_random_state(random_state).randint(2**31 - 1))


def _n_attributes(attributes: NDArray[np.float64] | None) -> int:
    return 0 if attributes is None else attributes.shape[1]


def _check_as_many(kind: str, fitted: int, found: int) -> None:
    if found != fitted:
        raise UnsupportedError(
            f"the fitted graphs had {fitted} {kind} attributes and these have {found}; fit on graphs like these"
        )
