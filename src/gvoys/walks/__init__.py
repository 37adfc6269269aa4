"""Walks: what is counted, the methods that count, and their profiles."""

from gvoys.walks.closed_walks import ClosedWalks, closed_walk_totals, closed_walks
from gvoys.walks.combined import Combined, CombinedProfiles
from gvoys.walks.dense import DenseProfiles
from gvoys.walks.method import Method
from gvoys.walks.methods import Moments
from gvoys.walks.profiles import Profiles
from gvoys.walks.sampled import SampledWalks
from gvoys.walks.sequences import Sequences
from gvoys.walks.sketch import Sketch
from gvoys.walks.sparse import SparseProfiles
from gvoys.walks.structure import structural_labels
from gvoys.walks.walk import Walk

__all__ = [
    "ClosedWalks",
    "Combined",
    "CombinedProfiles",
    "DenseProfiles",
    "Method",
    "Moments",
    "Profiles",
    "SampledWalks",
    "Sequences",
    "Sketch",
    "SparseProfiles",
    "Walk",
    "closed_walk_totals",
    "closed_walks",
    "structural_labels",
]
