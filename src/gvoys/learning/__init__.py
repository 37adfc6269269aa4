"""Learning from profiles: a classifier, a regressor, and the series mu itself."""

from gvoys.learning.classifier import RandomWalkClassifier

__all__ = ["RandomWalkClassifier"]
