"""Settings of the walks, checked once, for profiles and estimators alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gvoys.errors import DivergenceError, ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import LABEL_CHOICES
from gvoys.graphs.spectrum import AT_FIRST, early_growth, max_degree, spectral_radius
from gvoys.series import Series

__all__ = [
    "METHODS",
    "Settings",
    "check_anchors",
    "check_count",
    "check_flag",
    "check_halting",
    "check_length",
    "check_scale",
    "check_seed",
    "check_settings",
    "choose_labels",
    "choose_scale",
    "choose_truncation",
    "growth_constant",
    "power_of_two",
    "walk_rate",
]

METHODS = ("moments", "sequences", "sketch", "voyagers")


@dataclass(frozen=True)
class Settings:
    """How graphs are walked; the same for all graphs that are compared.

    Parameters
    ----------
    start : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the start of a walk: 1 / n, 1, or one number per node of all graphs.
    stop : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the end of a walk, like `start`.
    node_labels : bool, default=False
        Whether node labels are used.
    edge_labels : bool, default=False
        Whether edge labels are used.
    refine : int, default=0
        Number of Weisfeiler–Lehman iterations.
    backtrack : bool, default=True
        Whether walks may backtrack; False counts non-backtracking walks only.
    attribute_bandwidth : float or None, default=None
        Compare node attributes by ``exp(-|a - b|^2 / (2 bandwidth^2))``; None ignores them.
    seed : int, default=0
        Seed of all random bits.
    scale : float, default=1.0
        Divide adjacency matrices by this number.
    device : {"cpu", "cuda"}, default="cpu"
        Where profiles are computed.
    """

    start: Any = "uniform"
    stop: Any = "uniform"
    node_labels: bool = False
    edge_labels: bool = False
    refine: int = 0
    backtrack: bool = True
    attribute_bandwidth: float | None = None
    seed: int = 0
    scale: float = 1.0
    device: str = "cpu"

    @property
    def plain(self) -> bool:
        """Whether moments are enough: no labels or attributes are used, and walks may backtrack."""
        return not (self.node_labels or self.edge_labels or self.refine or self.attribute_bandwidth) and self.backtrack

    def check_sampled(self) -> None:
        """Raise UnsupportedError for settings that sampled walks cannot use."""
        if self.refine or not self.backtrack or self.attribute_bandwidth is not None:
            raise UnsupportedError(
                "sampled walks cannot use refine, backtrack=False or node attributes; use method='sketch'"
            )


def choose_labels(batch: GraphBatch, labels: Any) -> tuple[bool, bool]:
    """Choose whether node and edge labels are used.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    labels : {"auto", "node", "edge", "both"} or None
        The choice; "auto" uses node labels if the batch has them.

    Returns
    -------
    tuple of (bool, bool)
        Whether node labels, and whether edge labels are used.
    """
    if isinstance(labels, str) and labels == "auto":
        return batch.node_labels is not None, False
    if labels is not None and (not isinstance(labels, str) or labels not in LABEL_CHOICES):
        raise ParameterError(f'labels must be "auto", "node", "edge", "both" or None, not {labels!r}')
    wanted = LABEL_CHOICES[labels]
    for kind, used, held in (("node", wanted[0], batch.n_nodes), ("edge", wanted[1], batch.n_entries)):
        if used and held and getattr(batch, f"{kind}_labels") is None:
            raise UnsupportedError(
                f"labels={labels!r}, but the graphs have no {kind} labels; pass labels=None or add the labels"
            )
    return wanted


def check_length(max_length: Any) -> int:
    """Check the longest walk, an integer of at least 0 that fits into a Philox counter."""
    if not isinstance(max_length, (int, np.integer)) or isinstance(max_length, bool) or not 0 <= max_length < 2**16:
        raise ParameterError(f"max_length must be an integer of at least 0 and below 65536, not {max_length!r}")
    return int(max_length)


def check_count(value: Any, name: str) -> int:
    """Check that a value is an integer of at least 1."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise ParameterError(f"{name} must be an integer of at least 1, not {value!r}")
    return int(value)


def check_flag(value: Any, name: str) -> bool:
    """Check that a value is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def check_anchors(n_anchors: Any) -> int | None:
    """Check the number of anchors; None means all nodes."""
    return None if n_anchors is None else check_count(n_anchors, "n_anchors")


def check_halting(p_halt: Any) -> float:
    """Check the halting probability, which must be far enough from 0 and 1."""
    if not isinstance(p_halt, (float, np.floating)) or not 1e-6 <= p_halt <= 1 - 1e-6:
        raise ParameterError(f"p_halt must lie between 0 and 1 (by 1e-6 at least), not {p_halt!r}")
    return float(p_halt)


def choose_truncation(batch: GraphBatch, series: Series, rtol: float) -> tuple[int, float]:
    """Choose the truncation length of the infinite series, to `rtol` of a bound on it.

    Undirected walks grow at most by the spectral radius per step. Directed ones may grow faster at first, and are
    bounded by the growth of their first steps instead.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    series : Series
        The weights of the walk lengths.
    rtol : float
        Relative truncation error.

    Returns
    -------
    length : int
        Longest walk.
    rate : float
        Largest growth rate of the walks.
    """
    rate = walk_rate(batch)
    constant = growth_constant(batch)
    try:
        length = series.truncation_length(rate**2, rtol / constant)
    except DivergenceError as error:
        if not batch.directed:
            raise
        raise DivergenceError(
            f"{error} (the walks of these directed graphs may multiply by {rate:.6g} at every step)"
        ) from None
    if length >= 2**16:
        raise DivergenceError(f"the infinite series takes walks of {length} steps; lower the decay or set max_length")
    return length, rate


def walk_rate(batch: GraphBatch) -> float:
    """A rate r with |K_i| <= const * r^(2i) for all pairs of the batch."""
    if batch.directed:
        return float(early_growth(batch).max(initial=0.0))
    return float(spectral_radius(batch, 1e-4).max(initial=0.0))


def growth_constant(batch: GraphBatch) -> float:
    """The constant of `walk_rate`: how far K_i may exceed the rate's powers, relative to the endpoints' norms."""
    return AT_FIRST**2 if batch.directed else 1.0


def choose_scale(batch: GraphBatch) -> float:
    """The power of two nearest to the largest spectral radius: it keeps float32 in range and changes no bit."""
    rate = float(spectral_radius(batch, 1e-2).max(initial=0.0)) or max_degree(batch)
    return power_of_two(rate)


def power_of_two(rate: float) -> float:
    """The power of two nearest to a rate, 1 for none."""
    return float(2.0 ** np.round(np.log2(rate))) if rate > 0 else 1.0


def check_scale(scale: Any) -> None:
    """Check that a scale is a positive number."""
    if not isinstance(scale, (int, float, np.integer, np.floating)) or not 0 < scale < np.inf:
        raise ParameterError(f"scale must be a positive number, not {scale!r}")


def check_settings(batch: GraphBatch, settings: Settings) -> Settings:
    """Check that the settings are in range and that the batch has what they need."""
    if not isinstance(settings.refine, (int, np.integer)) or isinstance(settings.refine, bool) or settings.refine < 0:
        raise ParameterError(f"refine must be an integer of at least 0, not {settings.refine!r}")
    check_flag(settings.backtrack, "backtrack")
    bandwidth = settings.attribute_bandwidth
    if bandwidth is not None and not (isinstance(bandwidth, (int, float, np.number)) and 0 < bandwidth < np.inf):
        raise ParameterError(f"attribute_bandwidth must be None or a positive number, not {bandwidth!r}")
    if bandwidth is not None and batch.n_nodes and batch.node_attributes is None:
        raise UnsupportedError(
            "attribute_bandwidth is given, but the graphs have no node attributes; pass attribute_bandwidth=None"
        )
    check_scale(settings.scale)
    check_seed(settings.seed)
    return settings


def check_seed(seed: Any) -> int:
    """Check a seed of 64 bits."""
    if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise ParameterError(f"random_state must be an integer from 0 to 2^64 - 1, not {seed!r}")
    return int(seed)
