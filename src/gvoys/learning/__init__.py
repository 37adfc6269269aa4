"""Learning from profiles: a classifier, a regressor, and the series mu itself."""

from gvoys.learning.classifier import RandomWalkClassifier
from gvoys.learning.regressor import RandomWalkRegressor
from gvoys.learning.series import LearnedSeries, learn_series

__all__ = ["LearnedSeries", "RandomWalkClassifier", "RandomWalkRegressor", "learn_series"]
