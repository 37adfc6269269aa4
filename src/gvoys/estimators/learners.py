"""Estimators that learn from targets; apart from the others, since they need much of scikit-learn."""

from gvoys.estimators.classifier import RandomWalkClassifier
from gvoys.estimators.learned_series import LearnedSeries, learn_series
from gvoys.estimators.regressor import RandomWalkRegressor

__all__ = ["LearnedSeries", "RandomWalkClassifier", "RandomWalkRegressor", "learn_series"]
