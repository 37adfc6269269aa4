"""GraphVoyagers, the paper's Algorithm 1, and OneSidedVoyagers, which reach the same end with less variance."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gvoys.errors import DivergenceError, ModulationError, ParameterError, VarianceWarning
from gvoys.estimators.base import SLACK, WHOLE, WalkEstimator, check_finite
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.convert import as_batch
from gvoys.graphs.endpoints import compute_endpoint
from gvoys.series import Geometric, Series
from gvoys.theory import finite_variance
from gvoys.threads import threads
from gvoys.walks.profiles import check_components
from gvoys.walks.settings import (
    Settings,
    check_anchors,
    check_count,
    check_flag,
    check_halting,
    outdoing,
    power_of_two,
    walk_rate,
)
from gvoys.walks.voyagers import DISTRIBUTIONS, Crew, check_copy, compute_voyagers, compute_walks

__all__ = ["GraphVoyagers", "OneSidedVoyagers"]


class _SampledWalks(TransformerMixin, WalkEstimator):
    """What both have in common: walkers see labels, weights and directions, and nothing else."""

    method = "voyagers"
    device = "cpu"
    refine = 0
    backtrack = True
    attribute_bandwidth = None

    def fit(self, X: Any, y: Any = None) -> Any:
        """Resolve the series and the longest walk; no graph's features depend on any other graph."""
        batch = self._fit_common(X)
        self.n_components_ = check_components(self.n_components, self.settings_)
        self.crew_ = self._hire()
        self._prepare(batch)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Fit, and features of the same graphs, (n_graphs, n_features)."""
        batch = as_batch(X)
        return self.fit(batch)._features(batch)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Features, (n_graphs, n_features)."""
        return self._features(self._read(X))

    def _features(self, batch: GraphBatch) -> NDArray[np.float64]:
        out = np.empty((len(batch), self.n_lengths_ * self.n_components_))
        per_graph = 8 * self.n_components_ * self.n_lengths_
        with threads(self.n_jobs):
            for block in self._blocks(batch, per_graph):
                out[block] = self._sail(batch[block], self._block_settings(batch, block)).reshape(-1, out.shape[1])
        check_finite(out)
        return out

    def _prepare(self, batch: GraphBatch) -> None:
        """What else is to be kept from the fitted graphs."""

    def _ends(self, batch: GraphBatch, settings: Settings) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return compute_endpoint(batch, settings.start, "start"), compute_endpoint(batch, settings.stop, "stop")

    def _labels(self) -> dict[str, Any]:
        settings = self.settings_
        return {"node_labels": settings.node_labels, "edge_labels": settings.edge_labels, "scale": self.scale_}


class GraphVoyagers(_SampledWalks):
    """Algorithm 1 of the paper, corrected: ``X @ X.T`` has the mean K off the diagonal, for the whole series.

    On the diagonal, and between graphs that are equal node by node, both factors come from the same walks, and the
    product is too large on average, however many components there are. Two estimators that differ in `copy` only have
    independent walks: the products of their features have the mean K for all pairs, the diagonal included.
    `RandomWalkKernel(method="voyagers")` does that.

    Cost: n_graphs x nodes x n_components x n_walks x 2 / p_halt steps; memory O(nodes) beyond the features.

    Parameters
    ----------
    series : Geometric, Exponential or Coefficients, with a modulation f >= 0, f * f = mu, or it is refused.
    n_components : independent repetitions, d_G; only they make the error vanish, like 1 / sqrt(n_components).
    n_walks : walkers per node, side and component. The best use of a budget is 1, with more components instead. The
        paper's block-GVoys with m walks in d_G blocks is n_components=d_G, n_walks=m // d_G.
    p_halt : chance that a walker halts at a step, between 0 and 1.
    n_anchors : nodes of each graph at which walkers may meet, drawn anew for each component; a graph with fewer nodes
        uses all of them. None means all nodes, which has the least variance and costs nothing more.
    share_signs : whether all walkers of a component share g and z.
    share_halting : whether walkers halt at the same step on all graphs.
    signs : "rademacher" (least variance), "gaussian" or "uniform": the distribution of g.
    labels, start, stop : as in `gvoys.profiles`.
    random_state : an integer makes the features a pure function of graph and parameters.
    copy : which independent draw of the walks, 0 to 255.
    n_jobs : threads; the result does not depend on it.
    verbose : show a progress bar in transform.

    Attributes
    ----------
    series_ : the series with its decay as a number.
    max_length_ : where f was cut, with at most 1e-9 of it left.

    >>> import gvoys as gv
    >>> molecules = gv.datasets.molecules(10)
    >>> voyagers = GraphVoyagers(gv.Exponential(0.1), n_components=200)
    >>> voyagers.fit_transform(molecules).shape
    (10, 200)
    """

    max_length = None
    n_lengths_ = 1

    def __init__(
        self,
        series: Series = Geometric("auto"),  # noqa: B008 (immutable)
        n_components: int = 100,
        n_walks: int = 1,
        p_halt: float = 0.2,
        n_anchors: int | None = None,
        share_signs: bool = False,
        share_halting: bool = True,
        signs: str = "rademacher",
        labels: str | None = "auto",
        random_state: Any = 0,
        *,
        start: Any = "uniform",
        stop: Any = "uniform",
        copy: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.series = series
        self.n_components = n_components
        self.n_walks = n_walks
        self.p_halt = p_halt
        self.n_anchors = n_anchors
        self.share_signs = share_signs
        self.share_halting = share_halting
        self.signs = signs
        self.labels = labels
        self.random_state = random_state
        self.start = start
        self.stop = stop
        self.copy = copy
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _choose_scale(self, batch: GraphBatch) -> float:
        self.rate_ = walk_rate(batch)
        return power_of_two(self.rate_)

    def _choose_length(self, batch: GraphBatch) -> None:
        growth = (self.rate_ or 0.0) ** 2
        try:
            self.series_.check_convergence(growth)
        except DivergenceError as error:
            raise DivergenceError(
                f"{error} (voyagers walk the whole series; OneSidedVoyagers takes a max_length)"
            ) from None
        self.series_.check_modulation()
        self.max_length_ = self.series_.modulation_length(growth, WHOLE / outdoing(batch))

    def _reaches(self, growth: float) -> bool:
        try:
            return self.series_.modulation_length(growth, SLACK * WHOLE) <= self.max_length_
        except (DivergenceError, ModulationError):
            return False

    def _hire(self) -> Crew:
        if not isinstance(self.signs, str) or self.signs not in DISTRIBUTIONS:
            raise ParameterError(f"signs must be one of {', '.join(map(repr, DISTRIBUTIONS))}, not {self.signs!r}")
        return Crew(
            self.n_components_,
            check_count(self.n_walks, "n_walks"),
            check_halting(self.p_halt),
            check_anchors(self.n_anchors),
            check_flag(self.share_signs, "share_signs"),
            check_flag(self.share_halting, "share_halting"),
            self.signs,
            self.settings_.seed,
            check_copy(self.copy),
        )

    def _prepare(self, batch: GraphBatch) -> None:
        with np.errstate(over="ignore"):
            self.deposits_ = np.sqrt(self.series_.modulation(self.max_length_, self.scale_))
        check_finite(self.deposits_)
        self._warn(batch)

    def _read(self, X: Any) -> GraphBatch:
        batch = super()._read(X)
        self._warn(batch)
        return batch

    def _warn(self, batch: GraphBatch) -> None:
        if not finite_variance(batch, self.series_, self.crew_.p_halt, share_halting=self.crew_.share_halting):
            warnings.warn(
                f"voyagers with p_halt={self.p_halt:g} are unbiased on these graphs but their variance is infinite; "
                "lower p_halt or the decay, or use OneSidedVoyagers or method='sketch'",
                VarianceWarning,
                stacklevel=4,
            )

    def _sail(self, batch: GraphBatch, settings: Settings) -> NDArray[np.float64]:
        return compute_voyagers(batch, self.deposits_, self.crew_, *self._ends(batch, settings), **self._labels())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """voyager0, voyager1, …"""
        check_is_fitted(self, "crew_")
        return np.array([f"voyager{k}" for k in range(self.n_components_)], dtype=object)


class OneSidedVoyagers(_SampledWalks):
    """Sampled walks of one side, every length kept apart: no modulation, any mu, and less variance than Algorithm 1.

    ``X @ X.T`` has the mean K off the diagonal; what `GraphVoyagers` says of the diagonal holds here too. Features are
    stacked by length, (n_graphs, (max_length + 1) * n_components).

    Parameters
    ----------
    max_length : the longest walk; None means the whole series.
    p_halt : None lets every walker go on to the longest length, which has the least variance for long walks; a
        number between 0 and 1 halts them as in `GraphVoyagers`.
    The others are as in `GraphVoyagers`.

    Cost: n_graphs x nodes x n_components x n_walks x min(max_length, 1 / p_halt) steps.

    >>> import gvoys as gv
    >>> walks = OneSidedVoyagers(gv.Geometric("auto"), max_length=4, n_components=50)
    >>> walks.fit_transform(gv.datasets.molecules(10)).shape
    (10, 250)
    """

    def __init__(
        self,
        series: Series = Geometric("auto"),  # noqa: B008 (immutable)
        n_components: int = 100,
        n_walks: int = 1,
        p_halt: float | None = None,
        share_signs: bool = False,
        share_halting: bool = True,
        labels: str | None = "auto",
        random_state: Any = 0,
        *,
        max_length: int | None = 8,
        start: Any = "uniform",
        stop: Any = "uniform",
        copy: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.series = series
        self.n_components = n_components
        self.n_walks = n_walks
        self.p_halt = p_halt
        self.share_signs = share_signs
        self.share_halting = share_halting
        self.labels = labels
        self.random_state = random_state
        self.max_length = max_length
        self.start = start
        self.stop = stop
        self.copy = copy
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _hire(self) -> Crew:
        return Crew(
            self.n_components_,
            check_count(self.n_walks, "n_walks"),
            0.0 if self.p_halt is None else check_halting(self.p_halt),
            share_signs=check_flag(self.share_signs, "share_signs"),
            share_halting=check_flag(self.share_halting, "share_halting") or self.p_halt is None,
            seed=self.settings_.seed,
            copy=check_copy(self.copy),
        )

    @property
    def n_lengths_(self) -> int:
        """Lengths that are kept apart."""
        return self.max_length_ + 1

    def _sail(self, batch: GraphBatch, settings: Settings) -> NDArray[np.float64]:
        ends = self._ends(batch, settings)
        profiles = compute_walks(batch, self.max_length_, self.crew_, *ends, **self._labels())
        return profiles * self._factors()[:, None]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """walk0_0, walk0_1, …: the walk's length, and the component."""
        check_is_fitted(self, "crew_")
        names = [f"walk{i}_{k}" for i in range(self.n_lengths_) for k in range(self.n_components_)]
        return np.array(names, dtype=object)
