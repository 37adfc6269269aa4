"""GraphVoyagers, Algorithm 1 of the paper, and OneSidedVoyagers, for the same kernel with less variance."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DivergenceError, ModulationError, ParameterError, VarianceWarning
from gvoys.estimators.base import SLACK, TRUNCATION
from gvoys.graphs.batch import GraphBatch
from gvoys.paper.sampled_estimator import N_WALKERS, SampledEstimator, moved_to_set_params
from gvoys.paper.theory import finite_variance
from gvoys.series import Geometric, Series
from gvoys.walks.checks import check_anchors, check_halting
from gvoys.walks.dense import DenseProfiles
from gvoys.walks.growth import choose_exponents, growth_constant, power_of_two, walk_rate
from gvoys.walks.profiles import check_finite
from gvoys.walks.sampled import DISTRIBUTIONS, WalkConfig, compute_voyagers, compute_walks
from gvoys.walks.walk import Walk, takes_walk


class GraphVoyagers(SampledEstimator):
    """Algorithm 1 of the paper, corrected: ``X @ X.T`` has the mean K off the diagonal, for the infinite series.

    On the diagonal, and between graphs that are equal node by node, both factors come from the same walks, and the
    product is too large on average, however many components there are. Two estimators that differ in `replicate` only
    have independent walks: the products of their features have the mean K for all pairs, the diagonal included.
    `RandomWalkKernel(method="voyagers")` does that.

    These are the paper's parameters. `set_params` sets some more: `start` and `stop`, as in `Walk`; `replicate`, which
    independent draw of the walks is used, 0 to 255; `n_jobs`, `device` and `verbose`, as in `RandomWalkFeatures`.

    Parameters
    ----------
    series : Geometric, Exponential or Coefficients, default=Geometric("auto")
        The weights of the walk lengths, with a modulation f >= 0, f * f = mu; a series without one raises
        ModulationError.
    n_components : int, default=100
        Number of independent repetitions, d_G; only they make the error vanish, like 1 / sqrt(n_components).
    n_walks : int, default=1
        Number of walkers per node, side and component. The best use of a budget is 1, with more components instead. The
        paper's block-GVoys with m walks in d_G blocks is n_components=d_G, n_walks=m // d_G.
    p_halt : float, default=0.2
        Probability that a walker halts at a step, between 0 and 1.
    n_anchors : int or None, default=None
        Number of nodes of each graph that take deposits, drawn anew for each component; a graph with fewer nodes uses
        all of them. None means all nodes, which has the least variance and costs nothing more.
    share_signs : bool, default=False
        Whether all walkers of a component share g and z.
    share_halting : bool, default=True
        Whether walkers halt at the same step on all graphs.
    signs : {"rademacher", "gaussian", "uniform"}, default="rademacher"
        Distribution of g; "rademacher" has the least variance.
    labels : {"auto", "node", "edge", "both"} or None, default="auto"
        Labels that two walks must share; "auto" uses node labels if the graphs have them.
    random_state : int, RandomState or None, default=0
        Seed; with an integer the result is a pure function of the graphs and the parameters.

    Attributes
    ----------
    series_ : Geometric, Exponential or Coefficients
        The series with its decay as a number.
    max_length_ : int
        Where f was truncated, with an error of at most 1e-9.

    Notes
    -----
    Cost: n_graphs x nodes x n_components x n_walks x 2 / p_halt steps; memory O(nodes) beyond the features.

    Examples
    --------
    >>> import gvoys as gv
    >>> molecules = gv.datasets.molecules(10)
    >>> voyagers = GraphVoyagers(gv.Exponential(0.1), n_components=200)
    >>> voyagers.fit_transform(molecules).shape
    (10, 200)
    """

    start: Any = "uniform"
    stop: Any = "uniform"
    n_lengths_ = 1

    @takes_walk(**moved_to_set_params("start", "stop", "replicate", "n_jobs", "verbose", "device"))
    def __init__(
        self,
        series: Series = Geometric("auto"),  # noqa: B008 (immutable)
        n_components: int = N_WALKERS,
        n_walks: int = 1,
        p_halt: float = 0.2,
        n_anchors: int | None = None,
        share_signs: bool = False,
        share_halting: bool = True,
        signs: str = "rademacher",
        labels: str | None = "auto",
        random_state: Any = 0,
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

    @property
    def walk(self) -> Walk:
        """Walks of any length, by the labels, starts and stops that were given."""
        return Walk(max_length=None, labels=self.labels, start=self.start, stop=self.stop)

    def _choose_length(self, batch: GraphBatch) -> tuple[int, float | None]:
        share = TRUNCATION / growth_constant(batch)
        rate = walk_rate(batch, lambda rate: self._modulation_length(rate**2, share))
        self.scale_ = power_of_two(rate)  # one for all graphs, now and later
        try:
            self.series_.check_convergence(rate**2)
        except DivergenceError as error:
            raise DivergenceError(
                f"{error} (GraphVoyagers needs the infinite series; OneSidedVoyagers takes a walk with max_length)"
            ) from None
        self.series_.check_modulation()
        return self.series_.modulation_length(rate**2, share), rate

    def _modulation_length(self, growth: float, share: float) -> int:
        try:
            return self.series_.modulation_length(growth, share)
        except ModulationError as error:  # a lower rate may do
            raise DivergenceError(str(error)) from None

    def _length_at(self, growth: float) -> int:
        return self._modulation_length(growth, SLACK * TRUNCATION)

    def _reaches(self, growth: float) -> bool:
        try:
            return self.series_.modulation_length(growth, SLACK * TRUNCATION) <= self.max_length_
        except (DivergenceError, ModulationError):
            return False

    def _make_config(self) -> WalkConfig:
        if not isinstance(self.signs, str) or self.signs not in DISTRIBUTIONS:
            raise ParameterError(f"signs must be one of {', '.join(map(repr, DISTRIBUTIONS))}, not {self.signs!r}")
        config = self._share_config(check_halting(self.p_halt))
        return replace(config, n_anchors=check_anchors(self.n_anchors), signs=self.signs)

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
        if not finite_variance(batch, self.series_, self.config_.p_halt, share_halting=self.config_.share_halting):
            warnings.warn(
                f"voyagers with p_halt={self.p_halt:g} are unbiased on these graphs but their variance is infinite; "
                "lower p_halt or the decay, or use OneSidedVoyagers or method='sketch'",
                VarianceWarning,
                stacklevel=4,
            )

    def _sample_walks(self, batch: GraphBatch, walk: Walk) -> NDArray[np.float64]:
        scales = np.full(len(batch), self.scale_)
        return compute_voyagers(batch, walk, scales, self.config_, self.deposits_, self.device)

    def _name_features(self) -> list[str]:
        return [f"voyager{k}" for k in range(self.n_components_)]


class OneSidedVoyagers(SampledEstimator):
    """Sampled walks of one side, every length kept apart: any series, and less variance than Algorithm 1.

    ``X @ X.T`` has the mean K off the diagonal; what `GraphVoyagers` says of the diagonal holds here too. Features are
    stacked by length, (n_graphs, (max_length + 1) * n_components). `set_params` also sets `replicate`, `n_jobs`,
    `device` and `verbose`, as there.

    Parameters
    ----------
    series : Geometric, Exponential or Coefficients, default=Geometric("auto")
        The weights of the walk lengths; ``decay="auto"`` becomes 1 / d_max^2 of the fitted graphs.
    walk : Walk, default=Walk()
        What is counted, without refinement, attributes or ``backtrack=False``.
    n_components : int, default=100
        Number of independent repetitions; the error falls like 1 / sqrt(n_components).
    n_walks : int, default=1
        Number of walkers per node and component. The best use of a budget is 1, with more components instead.
    p_halt : float or None, default=None
        Probability that a walker halts at a step, between 0 and 1; None lets every walker reach the longest length,
        which has the least variance for long walks.
    share_signs : bool, default=False
        Whether all walkers of a component share the signs z of labels.
    share_halting : bool, default=True
        Whether walkers halt at the same step on all graphs.
    random_state : int, RandomState or None, default=0
        Seed; with an integer the result is a pure function of the graphs and the parameters.

    Attributes
    ----------
    series_ : Geometric, Exponential or Coefficients
        The series with its decay as a number.
    max_length_ : int
        The longest walk.

    Notes
    -----
    Cost: n_graphs x nodes x n_components x n_walks x min(max_length, 1 / p_halt) steps.

    Examples
    --------
    >>> import gvoys as gv
    >>> walks = OneSidedVoyagers(gv.Geometric("auto"), gv.Walk(max_length=4), n_components=50)
    >>> walks.fit_transform(gv.datasets.molecules(10)).shape
    (10, 250)
    """

    @takes_walk(**moved_to_set_params("replicate", "n_jobs", "verbose", "device"))
    def __init__(
        self,
        series: Series = Geometric("auto"),  # noqa: B008 (immutable)
        walk: Walk = Walk(),  # noqa: B008
        n_components: int = N_WALKERS,
        n_walks: int = 1,
        p_halt: float | None = None,
        share_signs: bool = False,
        share_halting: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.series = series
        self.walk = walk
        self.n_components = n_components
        self.n_walks = n_walks
        self.p_halt = p_halt
        self.share_signs = share_signs
        self.share_halting = share_halting
        self.random_state = random_state

    def _make_config(self) -> WalkConfig:
        if self.p_halt is None:
            return replace(self._share_config(0.0), share_halting=True)
        return self._share_config(check_halting(self.p_halt))

    @property
    def n_lengths_(self) -> int:
        """Number of lengths that are kept apart."""
        return self.max_length_ + 1

    def _sample_walks(self, batch: GraphBatch, walk: Walk) -> NDArray[np.float64]:
        exponents = choose_exponents(batch, walk.longest)
        values = compute_walks(batch, walk, np.ldexp(1.0, exponents), self.config_, self.device)
        return DenseProfiles(values, exponents).features(self.series_, out=values)

    def _name_features(self) -> list[str]:
        return [f"walk{i}_{k}" for i in range(self.n_lengths_) for k in range(self.n_components_)]
