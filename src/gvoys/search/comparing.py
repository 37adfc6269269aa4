"""By what graphs are similar: the cosine of a walk kernel, or what a trained model compares graphs by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gvoys.defaults import SEARCH
from gvoys.errors import ParameterError
from gvoys.estimators import RandomWalkFeatures, RandomWalkKernel
from gvoys.estimators.classifier import RandomWalkClassifier
from gvoys.estimators.learning.balance import Balance, BalancedProfiles
from gvoys.estimators.learning.kernel_sum import KernelSum
from gvoys.estimators.learning.posteriors import KernelPosterior
from gvoys.estimators.learning.profiler import Profiler
from gvoys.estimators.regressor import RandomWalkRegressor
from gvoys.graphs.batch import GraphBatch
from gvoys.walks import Walk

__all__ = ["Comparer", "comparer_for"]

Array = NDArray[np.float64]


class Comparer(Protocol):
    """Makes profiles of graphs, each of its graph alone, and compares them."""

    def profile(self, batch: GraphBatch) -> Any:
        """What is compared."""

    def cosines(self, left: Any, right: Any, error: bool = False) -> tuple[Array, Array]:
        """Similarities, which are 1 of a graph with itself, and their standard errors if asked for."""


@dataclass(frozen=True)
class BalancedComparer:
    """Every walk length has the same share, as in the classifier."""

    profiler: Profiler
    balance: Balance

    def profile(self, batch: GraphBatch) -> BalancedProfiles:
        """Balanced profiles."""
        return self.balance.of(self.profiler.profile(batch))

    def cosines(self, left: BalancedProfiles, right: BalancedProfiles, error: bool = False) -> tuple[Array, Array]:
        """The cosine of the balanced kernel; errors are those of walks by labels."""
        if self.balance.attributes is None:
            return left.profiles.labels.compare(self.balance.lengths, right.profiles.labels, True, error)
        K = left.pairs(right).cosines()
        return K, np.zeros(K.shape)


@dataclass(frozen=True)
class WalkComparer:
    """The cosine of a walk kernel."""

    walk: Walk
    method: Any
    mu: Array  # (n_iterations, n_lengths)

    def profile(self, batch: GraphBatch) -> Any:
        """Profiles."""
        batch, walk = self.walk.labels_on(batch)
        return self.method.profile(batch, walk)

    def cosines(self, left: Any, right: Any, error: bool = False) -> tuple[Array, Array]:
        """K(G, H) / sqrt(K(G, G) K(H, H))."""
        K, errors = left.compare(self.mu, right, True, error)
        return K, errors


@dataclass(frozen=True)
class SurroundingsComparer:
    """The share of surroundings that two graphs have in common, as in `predict_table` of the regressor."""

    kernel: KernelSum

    def profile(self, batch: GraphBatch) -> Any:
        """Profiles of every view."""
        return self.kernel.profile(batch)

    def cosines(self, left: Any, right: Any, error: bool = False) -> tuple[Array, Array]:
        """Shares."""
        K = self.kernel.similarities(left, right)
        return K, np.zeros(K.shape)


def comparer_for(features: Any, batch: GraphBatch, seed: int) -> Comparer:
    """What compares graphs as an estimator does.

    Parameters
    ----------
    features : estimator or None
        A fitted RandomWalkClassifier or RandomWalkRegressor, a RandomWalkFeatures or RandomWalkKernel, or None for the
        usual walks.
    batch : GraphBatch
        Some graphs, to which what is left open is fitted.
    seed : int
        Seed of sketches.

    Returns
    -------
    Comparer
        The comparer.

    Raises
    ------
    ParameterError
        If it is nothing of that kind.
    """
    if features is None:
        return _usual(batch, seed)
    if isinstance(features, RandomWalkClassifier):
        check_is_fitted(features, "balance_")
        return BalancedComparer(features.profiler_, features.balance_)
    if isinstance(features, RandomWalkRegressor):
        check_is_fitted(features, "posterior_")
        if isinstance(features.posterior_, KernelPosterior):
            return SurroundingsComparer(features.posterior_.kernel)
        raise ParameterError(
            'an index takes regressors of at most max_exact graphs and another kernel than "linear"; pass None instead'
        )
    if isinstance(features, (RandomWalkFeatures, RandomWalkKernel)):
        return _of_estimator(features, batch)
    raise ParameterError(
        "an index takes RandomWalkFeatures, RandomWalkKernel, a fitted RandomWalkClassifier or RandomWalkRegressor, or "
        f"None, not {type(features).__name__}"
    )


def _usual(batch: GraphBatch, seed: int) -> BalancedComparer:
    walk = Walk(SEARCH.max_length, refine=SEARCH.refine, backtrack="auto", start=SEARCH.ends, stop=SEARCH.ends)  # type: ignore[arg-type]
    profiler = Profiler.fitted(batch, walk, labels="auto", n_components=SEARCH.n_components, seed=seed)
    return BalancedComparer(profiler, Balance.fitted(profiler.profile(batch), SEARCH.refine + 1))


def _of_estimator(features: Any, batch: GraphBatch) -> WalkComparer:
    names = set(RandomWalkKernel().get_params(deep=False)) - {"normalize", "verbose"}
    given = {name: value for name, value in features.get_params(deep=False).items() if name in names}
    kernel = RandomWalkKernel(**given).fit(batch)
    walk = kernel._given_walk
    mu = kernel.series_.coefficients_by_round(walk.n_iterations, walk.max_length)
    return WalkComparer(walk, kernel.walk_method_, mu)
