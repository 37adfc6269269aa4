"""gvoys compares graphs by the walks they share: random walk kernels in time linear in nodes, edges and graphs."""

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
from gvoys.learning import RandomWalkClassifier
from gvoys.series import Coefficients, Exponential, Geometric
from gvoys.walks import compute_gram, profiles

__version__ = "0.1.0"

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
    "as_batch",
    "compute_gram",
    "datasets",
    "errors",
    "estimate",
    "estimate_on_product",
    "exact_kernel",
    "profiles",
    "theory",
]
