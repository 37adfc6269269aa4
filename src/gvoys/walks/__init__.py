"""From a batch of graphs to profiles, in NumPy and Numba."""

from gvoys.walks.profiles import compute_gram, profiles

__all__ = ["compute_gram", "profiles"]
