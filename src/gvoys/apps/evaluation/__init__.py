"""Cross-validation of learners beside baselines on the same folds, with a report."""

from gvoys.apps.evaluation.baselines import baselines_for
from gvoys.apps.evaluation.evaluate import Difference, Evaluation, Result, evaluate
from gvoys.apps.evaluation.folds import Fold, make_folds
from gvoys.apps.evaluation.measures import LearnerMethod, Method, Prediction

__all__ = [
    "Difference",
    "Evaluation",
    "Fold",
    "LearnerMethod",
    "Method",
    "Prediction",
    "Result",
    "baselines_for",
    "evaluate",
    "make_folds",
]
