"""gvoys compares graphs by the walks they share: random walk kernels in time linear in nodes, edges and graphs."""

from typing import TYPE_CHECKING, Any

from gvoys import datasets, errors, theory
from gvoys.estimators import (
    GraphRandomFeatures,
    GraphVoyagers,
    OneSidedVoyagers,
    RandomWalkFeatures,
    RandomWalkKernel,
    estimate,
    estimate_on_product,
)
from gvoys.exact import ExactKernel, exact_kernel
from gvoys.graphs import GraphBatch, as_batch
from gvoys.graphs.smiles import from_smiles
from gvoys.graphs.store import StoreWriter, open_store, write_store
from gvoys.series import Coefficients, Exponential, Geometric
from gvoys.walks import compute_gram, profiles

if TYPE_CHECKING:
    from gvoys.learning import RandomWalkClassifier, RandomWalkRegressor, learn_series

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
    "learn_series",
    "open_store",
    "profiles",
    "theory",
    "write_store",
]

_LEARNING = ("RandomWalkClassifier", "RandomWalkRegressor", "learn_series")


def __getattr__(name: str) -> Any:
    """Learners are imported when they are asked for: they need much of scikit-learn, and profiles do not."""
    if name not in _LEARNING:
        raise AttributeError(f"module 'gvoys' has no attribute {name!r}")
    from gvoys import learning

    return getattr(learning, name)
