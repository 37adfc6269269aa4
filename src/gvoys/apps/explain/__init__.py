"""Explanations of kernel values and predictions in label sequences, and a page that shows them."""

from gvoys.apps.explain.explain_page import Prediction, write_page
from gvoys.estimators.compare import Comparison, SharedSequence, compare
from gvoys.kernels.explanation import Explanation, SequenceShare

__all__ = ["Comparison", "Explanation", "Prediction", "SequenceShare", "SharedSequence", "compare", "write_page"]
