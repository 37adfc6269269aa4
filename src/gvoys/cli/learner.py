"""The learner that suits a target, and how its score is shown."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from gvoys.cli.read import is_real
from gvoys.errors import ParameterError
from gvoys.estimators.learners import RandomWalkClassifier, RandomWalkRegressor
from gvoys.estimators.learning.evaluation import Evaluation
from gvoys.io import Graphs

__all__ = ["learner_for", "shown_score"]


def learner_for(name: str, graphs: Graphs, y: NDArray[Any], attributes: bool, n_jobs: int | None) -> Any:
    """A regressor for real targets, a classifier for classes."""
    if attributes and graphs.batch.node_attributes is None:
        raise ParameterError(f"{name} has no node attributes; leave out --attributes")
    if is_real(y):
        return RandomWalkRegressor(labels="both" if graphs.smiles is not None else "auto", n_jobs=n_jobs)
    return RandomWalkClassifier(attribute_bandwidth="auto" if attributes else None, n_jobs=n_jobs)


def shown_score(found: Evaluation) -> tuple[str, str]:
    """The mean over folds and seeds, and the deviation over folds."""
    if found.classify:
        return f"{100 * found.mean:.1f} %", f"{100 * found.deviation:.1f}"
    return f"RMSE {found.mean:.3g}", f"{found.deviation:.2g}"
