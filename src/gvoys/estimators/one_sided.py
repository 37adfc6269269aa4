"""OneSidedVoyagers: sampled walks of one side, which reach the same end with less variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gvoys.estimators.sampled import SampledWalks
from gvoys.graphs.batch import GraphBatch
from gvoys.series import Geometric, Series
from gvoys.walks.settings import Settings, check_count, check_flag, check_halting
from gvoys.walks.voyagers import WalkConfig, check_replicate, compute_walks

__all__ = ["OneSidedVoyagers"]


class OneSidedVoyagers(SampledWalks):
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
        replicate: int = 0,
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
        self.replicate = replicate
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _make_config(self) -> WalkConfig:
        return WalkConfig(
            self.n_components_,
            check_count(self.n_walks, "n_walks"),
            0.0 if self.p_halt is None else check_halting(self.p_halt),
            share_signs=check_flag(self.share_signs, "share_signs"),
            share_halting=check_flag(self.share_halting, "share_halting") or self.p_halt is None,
            seed=self.settings_.seed,
            replicate=check_replicate(self.replicate),
        )

    @property
    def n_lengths_(self) -> int:
        """Lengths that are kept apart."""
        return self.max_length_ + 1

    def _sample_walks(self, batch: GraphBatch, settings: Settings) -> NDArray[np.float64]:
        ends = self._ends(batch, settings)
        profiles = compute_walks(batch, self.max_length_, self.config_, *ends, **self._labels())
        self._weigh(profiles)
        return profiles

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """walk0_0, walk0_1, …: the walk's length, and the component."""
        check_is_fitted(self, "config_")
        names = [f"walk{i}_{k}" for i in range(self.n_lengths_) for k in range(self.n_components_)]
        return np.array(names, dtype=object)
