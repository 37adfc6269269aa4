"""OneSidedVoyagers: sampled walks of one side, for the same kernel with less variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gvoys.graphs.batch import GraphBatch
from gvoys.paper.sampled_estimator import N_WALKERS, SampledEstimator, moved_to_set_params
from gvoys.series import Geometric, Series
from gvoys.walks.checks import check_count, check_flag, check_halting, check_replicate
from gvoys.walks.dense import DenseProfiles
from gvoys.walks.growth import choose_exponents
from gvoys.walks.sampled import WalkConfig, compute_walks
from gvoys.walks.walk import Walk, takes_walk


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
        return WalkConfig(
            self.n_components_,
            check_count(self.n_walks, "n_walks"),
            0.0 if self.p_halt is None else check_halting(self.p_halt),
            share_signs=check_flag(self.share_signs, "share_signs"),
            share_halting=check_flag(self.share_halting, "share_halting") or self.p_halt is None,
            seed=self.seed_,
            replicate=check_replicate(self.replicate),
        )

    @property
    def n_lengths_(self) -> int:
        """Number of lengths that are kept apart."""
        return self.max_length_ + 1

    def _sample_walks(self, batch: GraphBatch, walk: Walk) -> NDArray[np.float64]:
        exponents = choose_exponents(batch, walk.longest)
        values = compute_walks(batch, walk, np.ldexp(1.0, exponents), self.config_, self.device)
        return DenseProfiles(values, exponents).features(self.series_, out=values)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the features walk0_0, walk0_1 and so on, by length and component.

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
        names = [f"walk{i}_{k}" for i in range(self.n_lengths_) for k in range(self.n_components_)]
        return np.array(names, dtype=object)
