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
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.endpoints import compute_endpoint
from gvoys.graphs.spectrum import max_degree
from gvoys.io.convert import as_batch
from gvoys.series import Series, check_series
from gvoys.walks.device import backend
from gvoys.walks.settings import (
    Settings,
    check_length,
    check_seed,
    check_settings,
    choose_labels,
    choose_scale,
    choose_truncation,
    walk_rate,
)

__all__ = ["SLACK", "TRUNCATION", "Choice", "TakesSeries", "WalkEstimator", "as_seed", "check_finite"]

TRUNCATION = 1e-9  # truncation error of an infinite series, relative
SLACK = 1e3  # how much larger the truncation error may be for graphs that were not fitted
_OF_SERIES = "series__"
_BLOCK = 1 << 26  # bytes that are in the making at once


class Choice(str):
    """Name of a method, with the reason why it was chosen.

    Parameters
    ----------
    name : str
        Name of the method.
    reason : str
        Why it was chosen, in words.
    """

    reason: str

    def __new__(cls, name: str, reason: str) -> Choice:
        self = super().__new__(cls, name)
        self.reason = reason
        return self

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.reason

    def __repr__(self) -> str:
        return f"{str(self)!r} ({self.reason})"


class TakesSeries(BaseEstimator):
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    def _fit_common(self, X: Any) -> GraphBatch:
        """Read the graphs; keep series_, settings_, scale_ and max_length_."""
        backend(self.device)
        batch = as_batch(X)
        unseen = self.method == "moments" and isinstance(self.labels, str) and self.labels == "auto"
        node, edge = choose_labels(batch, None if unseen else self.labels)
        self.scale_ = self._choose_scale(batch)  # one for all graphs, now and later
        self.directed_, self.n_attributes_ = batch.directed, _n_attributes(batch)
        self.settings_ = Settings(
            self.start,
            self.stop,
            node,
            edge,
            self.refine,
            self.backtrack,
            self.attribute_bandwidth,
            as_seed(self.random_state),
            self.scale_,
            self.device,
        )
        check_settings(batch, self.settings_)
        self.series_ = check_series(self.series, self._n_rounds).resolved(max_degree(batch))
        self._check_endpoints(batch)
        self._choose_length(batch)
        return batch

    def _choose_scale(self, batch: GraphBatch) -> float:
        return choose_scale(batch)

    def _choose_length(self, batch: GraphBatch) -> None:
        """Keep max_length_, and for the infinite series rate_, the growth rate of the fitted graphs' walks."""
        self.rate_: float | None = None
        if self.max_length is not None:
            self.max_length_ = check_length(self.max_length)
            return
        self.max_length_, self.rate_ = choose_truncation(batch, self.series_, TRUNCATION)

    def _check_endpoints(self, batch: GraphBatch) -> None:
        for name in ("start", "stop"):
            compute_endpoint(batch, getattr(self.settings_, name), name)

    def _block_settings(self, batch: GraphBatch, block: slice) -> Settings:
        """Settings for some of the graphs: arrays of endpoints are sliced with them."""
        nodes = slice(int(batch.node_offsets[block.start]), int(batch.node_offsets[block.stop]))
        ends = {name: getattr(self.settings_, name) for name in ("start", "stop")}
        sliced: dict[str, Any] = {
            name: what if isinstance(what, str) else np.asarray(what)[nodes] for name, what in ends.items()
        }
        return replace(self.settings_, **sliced)

    def _read(self, X: Any) -> GraphBatch:
        """Graphs to transform: labelled as the fitted ones were, and within reach of the fitted length."""
        check_is_fitted(self, "settings_")
        batch = as_batch(X)
        if batch.n_nodes and self.settings_.node_labels and batch.node_labels is None:
            raise UnsupportedError(
                "the fitted graphs had node labels and these have none; pass labels=None to ignore them"
            )
        if batch.n_entries and self.settings_.edge_labels and batch.edge_labels is None:
            raise UnsupportedError(
                "the fitted graphs had edge labels and these have none; add them, or fit without edge labels"
            )
        if self.refine and batch.n_entries and batch.directed != self.directed_:
            raise UnsupportedError(
                "refined labels differ between directed and undirected graphs; fit on graphs like these"
            )
        if self.attribute_bandwidth is not None and batch.n_nodes and _n_attributes(batch) != self.n_attributes_:
            raise UnsupportedError(
                f"the fitted graphs had {self.n_attributes_} node attributes and these have {_n_attributes(batch)}; "
                "fit on graphs like these"
            )
        check_settings(batch, self.settings_)
        self._check_endpoints(batch)
        if self.rate_ is not None and not self._surely_reaches(batch):
            growth = self._growth(walk_rate(batch))
            self.series_.check_convergence(growth)
            if not self._reaches(growth):
                raise DivergenceError(
                    f"the series was truncated at length {self.max_length_}, which is too short for these graphs; "
                    "fit on graphs like these"
                )
        return batch

    def _growth(self, rate: float) -> float:
        """How walks multiply in pairs of graphs of this rate: with each other, and with the fitted ones."""
        return rate * max(rate, self.rate_ or 0.0)

    def _surely_reaches(self, batch: GraphBatch) -> bool:
        """A quick look, by the largest degree alone."""
        growth = self._growth(max_degree(batch))
        return growth < self.series_.radius and self._reaches(growth)

    def _reaches(self, growth: float) -> bool:
        """Whether the fitted length is enough for graphs whose walks multiply like this."""
        return self.series_.relative_tail(self.max_length_, growth) <= SLACK * TRUNCATION

    @property
    def _n_rounds(self) -> int:
        """Number of Weisfeiler–Lehman iterations, iteration 0 (the labels as given) included."""
        return self.settings_.refine + 1

    def _factors(self) -> NDArray[np.float64]:
        """sqrt(mu_i scale^(2i)), (n_rounds, n_lengths): what turns scaled profiles into features."""
        with np.errstate(over="ignore"):
            factors = np.sqrt(self.series_.coefficients_by_round(self._n_rounds, self.max_length_, self.scale_))
        check_finite(factors)
        return factors

    def _weigh(self, profiles: NDArray[Any]) -> None:
        """Turn profiles (n_graphs, n_lengths, n_rounds * width) into features, in place."""
        width = profiles.shape[2] // self._n_rounds
        with np.errstate(over="ignore", invalid="ignore"):
            profiles *= np.repeat(self._factors().T, width, axis=1).astype(profiles.dtype)

    def _blocks(self, batch: GraphBatch, bytes_per_graph: int) -> Iterator[slice]:
        """Consecutive graphs of bounded size, with a progress bar where verbose."""
        step = max(_BLOCK // max(bytes_per_graph, 1), 1)
        starts: Iterable[int] = range(0, len(batch), step)
        if self.verbose:
            from rich.progress import track

            starts = track(starts, description=type(self).__name__)
        for start in starts:
            yield slice(start, min(start + step, len(batch)))


def as_seed(random_state: Any) -> int:
    """The seed of a random_state: as given, or drawn from a RandomState."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return check_seed(random_state)
    if random_state is not None and not isinstance(random_state, np.random.RandomState):
        raise ParameterError(f"random_state must be an integer, a RandomState or None, not {random_state!r}")
    return int(check_random_state(random_state).randint(2**31 - 1))


def _n_attributes(batch: GraphBatch) -> int:
    return 0 if batch.node_attributes is None else batch.node_attributes.shape[1]


def check_finite(values: NDArray[Any]) -> None:
    """Check that no number left the range of floating point."""
    if not np.isfinite(values).all():
        raise ParameterError(
            "the kernel exceeds the range of floating point numbers on these graphs; lower the decay or max_length"
        )
