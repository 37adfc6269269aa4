"""Cross-validation of learners beside baselines on the same folds, with a report."""

from gvoys.evaluation.baselines import baselines_for
from gvoys.evaluation.folds import Fold, make_folds
from gvoys.evaluation.methods import LearnerMethod, Method, Prediction
from gvoys.evaluation.run import Difference, Evaluation, Result, evaluate

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
