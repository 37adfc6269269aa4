"""The scikit-learn interface: features, kernels, sampled walks, and single values with error bars."""

from gvoys.estimators.estimate import Estimate, estimate
from gvoys.estimators.features import RandomWalkFeatures
from gvoys.estimators.kernel import RandomWalkKernel
from gvoys.estimators.nodes import GraphRandomFeatures, estimate_on_product
from gvoys.estimators.one_sided import OneSidedVoyagers
from gvoys.estimators.voyagers import GraphVoyagers

__all__ = [
    "Estimate",
    "GraphRandomFeatures",
    "GraphVoyagers",
    "OneSidedVoyagers",
    "RandomWalkFeatures",
    "RandomWalkKernel",
    "estimate",
    "estimate_on_product",
]
