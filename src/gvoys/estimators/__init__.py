"""The scikit-learn face: features, kernels, and single values with error bars."""

from gvoys.estimators.estimate import Estimate, estimate
from gvoys.estimators.features import RandomWalkFeatures
from gvoys.estimators.kernel import RandomWalkKernel

__all__ = ["Estimate", "RandomWalkFeatures", "RandomWalkKernel", "estimate"]
