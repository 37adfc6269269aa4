"""What the estimators share: checking parameters, and keeping what was fitted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import DivergenceError, ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.convert import as_batch
from gvoys.graphs.spectrum import max_degree, spectral_radius
from gvoys.series import Series
from gvoys.walks.settings import Settings, check_length, check_settings, choose_labels

__all__ = ["Choice", "WalkEstimator"]

_WHOLE = 1e-9  # what a whole series may leave out, relative
_BLOCK = 1 << 26  # bytes that are in the making at once


class Choice(str):
    """The name of a method, with the reason why it was chosen."""

    reason: str

    def __new__(cls, name: str, reason: str) -> Choice:
        self = super().__new__(cls, name)
        self.reason = reason
        return self

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.reason

    def __repr__(self) -> str:
        return f"{str(self)!r} ({self.reason})"


class WalkEstimator(BaseEstimator):
    """Fitting that every estimator begins with; subclasses list the parameters."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    def _fit_common(self, X: Any) -> GraphBatch:
        """Read the graphs; keep series_, settings_, scale_ and max_length_."""
        if not isinstance(self.series, Series):
            raise ParameterError(f"series must be Geometric, Exponential or Coefficients, not {self.series!r}")
        if self.device != "cpu":
            raise UnsupportedError(f"device={self.device!r} is not available; this version computes on the 'cpu'")
        batch = as_batch(X)
        unseen = self.method == "moments" and isinstance(self.labels, str) and self.labels == "auto"
        node, edge = choose_labels(batch, None if unseen else self.labels)
        degree = max_degree(batch)
        self.series_ = self.series.resolved(degree)
        # one power of two for all graphs: it keeps float32 in range and changes no bit of the profiles
        self.scale_ = float(2.0 ** np.round(np.log2(degree))) if degree > 0 else 1.0
        self.settings_ = Settings(
            self.start,
            self.stop,
            node,
            edge,
            self.refine,
            self.backtrack,
            self.attribute_bandwidth,
            _as_seed(self.random_state),
            self.scale_,
        )
        check_settings(batch, self.settings_)
        self._choose_length(batch)
        return batch

    def _choose_length(self, batch: GraphBatch) -> None:
        """Keep max_length_, and for a whole series radius_, the largest spectral radius."""
        self.radius_: float | None = None
        if self.max_length is not None:
            self.max_length_ = check_length(self.max_length)
            return
        self.radius_ = float(spectral_radius(batch, 1e-4).max(initial=0.0))
        self.max_length_ = self.series_.truncation_length(self.radius_**2, _WHOLE)

    def _read(self, X: Any) -> GraphBatch:
        """Graphs to transform: labelled as the fitted ones were, and within reach of the fitted length."""
        check_is_fitted(self, "settings_")
        batch = as_batch(X)
        if batch.n_nodes and self.settings_.node_labels and batch.node_labels is None:
            raise UnsupportedError(
                "the fitted graphs had node labels and these have none; pass labels=None to ignore them"
            )
        if batch.n_entries and self.settings_.edge_labels and batch.edge_labels is None:
            raise UnsupportedError("the fitted graphs had edge labels and these have none")
        check_settings(batch, self.settings_)
        if self.radius_ is not None and len(batch):
            largest = float(spectral_radius(batch, 1e-4).max())
            growth = largest * max(largest, self.radius_)  # with each other, and with the fitted ones
            self.series_.check_convergence(growth)
            if self.series_.relative_tail(self.max_length_, growth) > 1e3 * _WHOLE:
                raise DivergenceError(
                    f"these graphs have longer walks that count than the fitted ones, which were cut at "
                    f"{self.max_length_}; fit on graphs like these, or set max_length"
                )
        return batch

    def _factors(self) -> NDArray[np.float64]:
        """sqrt(mu_i scale^(2i)): what turns scaled profiles into features."""
        return np.sqrt(self.series_.coefficients(self.max_length_, self.scale_))

    def _blocks(self, batch: GraphBatch, bytes_per_graph: int) -> Iterator[slice]:
        """Consecutive graphs of bounded size, with a progress bar where verbose."""
        step = max(_BLOCK // max(bytes_per_graph, 1), 1)
        starts: Iterable[int] = range(0, len(batch), step)
        if self.verbose:
            from rich.progress import track

            starts = track(starts, description=type(self).__name__)
        for start in starts:
            yield slice(start, min(start + step, len(batch)))


def _as_seed(random_state: Any) -> int:
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
