"""Explanations of kernel values and predictions in label sequences, and a page that shows them."""

from gvoys.estimators.learning.explanation import Explanation, SequenceShare
from gvoys.explain.compare import Comparison, SharedSequence, compare
from gvoys.explain.page import Prediction, write_page

__all__ = [
    "Comparison",
    "Explanation",
    "Prediction",
    "SequenceShare",
    "SharedSequence",
    "compare",
    "write_page",
]
