"""The scikit-learn interface: kernels, features, single values with error bars; learners are in their own modules."""

from gvoys.estimators.estimate import Estimate, estimate
from gvoys.estimators.features import RandomWalkFeatures
from gvoys.estimators.kernel import RandomWalkKernel

__all__ = ["Estimate", "RandomWalkFeatures", "RandomWalkKernel", "estimate"]
