"""What a kernel value is made of, in label sequences that people can read."""

from gvoys.explain.compare import Comparison, SharedSequence, compare

__all__ = ["Comparison", "SharedSequence", "compare"]
