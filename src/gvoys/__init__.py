"""gvoys compares graphs by the walks they share: random walk kernels in time linear in nodes, edges and graphs."""

from typing import TYPE_CHECKING, Any

from gvoys import datasets, errors, io
from gvoys.estimators import RandomWalkFeatures, RandomWalkKernel, estimate
from gvoys.exact import ExactKernel, exact_kernel
from gvoys.graphs import GraphBatch
from gvoys.io import StoreWriter, as_batch, from_smiles, open_store, write_store
from gvoys.paper import GraphRandomFeatures, GraphVoyagers, OneSidedVoyagers, estimate_on_product, theory
from gvoys.series import Coefficients, Exponential, Geometric
from gvoys.walks.arrays import compute_gram, profiles

if TYPE_CHECKING:
    from gvoys.estimators.learners import RandomWalkClassifier, RandomWalkRegressor, learn_series

__version__ = "0.1.1"

__all__ = [
    "Coefficients",
    "ExactKernel",
    "Exponential",
    "Geometric",
    "GraphBatch",
    "GraphRandomFeatures",
    "GraphVoyagers",
    "OneSidedVoyagers",
    "RandomWalkClassifier",
    "RandomWalkFeatures",
    "RandomWalkKernel",
    "RandomWalkRegressor",
    "StoreWriter",
    "as_batch",
    "compute_gram",
    "datasets",
    "errors",
    "estimate",
    "estimate_on_product",
    "exact_kernel",
    "from_smiles",
    "io",
    "learn_series",
    "open_store",
    "profiles",
    "theory",
    "write_store",
]

_LEARNERS = ("RandomWalkClassifier", "RandomWalkRegressor", "learn_series")


def __getattr__(name: str) -> Any:
    """Learners are imported when they are asked for: they need much of scikit-learn, and profiles do not."""
    if name not in _LEARNERS:
        raise AttributeError(f"module 'gvoys' has no attribute {name!r}")
    from gvoys.estimators import learners

    return getattr(learners, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
