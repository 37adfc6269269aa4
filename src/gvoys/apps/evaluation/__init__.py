"""Cross-validation of learners beside baselines on the same folds, with a report."""

from gvoys.apps.evaluation.baselines import baselines_for
from gvoys.apps.evaluation.evaluate import Difference, Evaluation, LearnerMethod, Method, Prediction, Result, evaluate
from gvoys.apps.evaluation.folds import Fold, make_folds

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
