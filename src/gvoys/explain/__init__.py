"""What a kernel value or a prediction is made of, in label sequences that people can read, and a page to look at."""

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
