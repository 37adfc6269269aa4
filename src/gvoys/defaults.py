"""Every default of the walks, in one table: one row for each thing that people call."""

from typing import Any, NamedTuple

__all__ = [
    "CLASSIFIER",
    "COLUMNS_OF_FILES",
    "DECAY_OF_FILES",
    "FILES",
    "KERNEL",
    "LEARNED_SERIES",
    "PAGE",
    "REGRESSOR",
    "SAMPLED",
    "SEARCH",
    "Defaults",
]


class Defaults(NamedTuple):
    """Defaults of the options of walks.

    Parameters
    ----------
    max_length : int
        Longest walk.
    n_components : int or "auto", default=512
        Width of a sketch, or number of walkers per node.
    ends : {"uniform", "ones"}, default="uniform"
        Weight of each node as the start and the end of a walk.
    refine : int or "auto", default=0
        Number of Weisfeiler–Lehman iterations.
    backtrack : bool or "auto", default=True
        Whether walks may backtrack.
    """

    max_length: int
    n_components: Any = 512
    ends: str = "uniform"
    refine: Any = 0
    backtrack: Any = True


KERNEL = Defaults(8)  # RandomWalkKernel, RandomWalkFeatures, profiles
SAMPLED = Defaults(8, n_components=100)  # the paper's voyagers, of which few components are many walkers
CLASSIFIER = Defaults(6, n_components="auto", ends="ones", refine="auto", backtrack="auto")
REGRESSOR = Defaults(5, n_components=1024, ends="ones", refine="auto", backtrack=False)  # and its kernel for GPyTorch
LEARNED_SERIES = Defaults(7, ends="ones")
FILES = Defaults(6)  # gvoys embed, gvoys kernel
PAGE = Defaults(6)  # gvoys explore
SEARCH = Defaults(5, n_components="auto", ends="ones", backtrack="auto")  # Index, gvoys search

DECAY_OF_FILES = 1 / 16  # whatever the graphs, so that the features of any two runs compare
COLUMNS_OF_FILES = 2**20  # of hashed sequences: an error of at most 0.14 % of sqrt(K(G, G) K(H, H)), typically far less
