"""Checks of single parameters: used as given, or an error that says what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError


def is_auto(value: Any) -> bool:
    """Whether a choice is left to us; an array that is compared with a word has no truth value."""
    return isinstance(value, str) and value == "auto"


def check_length(max_length: Any) -> int:
    """Check the longest walk, an integer of at least 0 that fits into a Philox counter."""
    if not isinstance(max_length, (int, np.integer)) or isinstance(max_length, bool) or not 0 <= max_length < 2**16:
        raise ParameterError(f"max_length must be an integer of at least 0 and below 65536, not {max_length!r}")
    return int(max_length)


def check_count(value: Any, name: str, least: int = 1) -> int:
    """Check that a value is an integer of at least `least`."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name} must be an integer of at least {least}, not {value!r}")
    return int(value)


def check_nodes(nodes: Any, n_nodes: int, repeats: bool = False) -> NDArray[np.int64]:
    """Check numbers of nodes from 0, or one True or False for each node; `repeats` allows a node more than once."""
    try:
        given = np.asarray(nodes)
    except ValueError:
        given = np.empty((0, 0))
    if given.dtype.kind == "b" and given.shape == (n_nodes,):
        given = np.flatnonzero(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ParameterError("nodes must be a flat list of node numbers, or one True or False for each node")
    given = given.astype(np.int64)
    outside = np.flatnonzero((given < 0) | (given >= n_nodes))
    if outside.size:
        raise ParameterError(f"there is no node {given[outside[0]]}; the graph has nodes 0 to {n_nodes - 1}")
    if not repeats and len(np.unique(given)) < len(given):
        twice = np.flatnonzero(np.bincount(given) > 1)[0]
        raise ParameterError(f"node {twice} comes more than once; give each node once, with the mean of its values")
    return given


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


def check_replicate(replicate: Any) -> int:
    """Check the number of a replicate, which is part of a Philox counter."""
    if not isinstance(replicate, (int, np.integer)) or isinstance(replicate, bool) or not 0 <= replicate < 256:
        raise ParameterError(f"replicate must be an integer from 0 to 255, not {replicate!r}")
    return int(replicate)


def check_scale(scale: Any) -> float:
    """Check that a scale is a positive number."""
    if not isinstance(scale, (int, float, np.integer, np.floating)) or not 0 < scale < np.inf:
        raise ParameterError(f"scale must be a positive number, not {scale!r}")
    return float(scale)


def check_seed(seed: Any) -> int:
    """Check a seed of 64 bits."""
    if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise ParameterError(f"random_state must be an integer from 0 to 2^64 - 1, not {seed!r}")
    return int(seed)
