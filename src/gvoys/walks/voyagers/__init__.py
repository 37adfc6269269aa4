"""Sampled walks: graph voyagers (Algorithm 1 of Choromanski et al. 2025, corrected), and one-sided walks.

Algorithm 1 makes one number per graph and component, (v^T C)(D^T w), in O(nodes x walks / p_halt) time and O(nodes)
memory. Walkers set out from every node along the edges (C) and against them (D) and leave deposits where they come
by; the two meet in the sum over nodes. C and D are never stored.

    deposit at length l  =  load * g(l) * sqrt(f_l),   load = product over steps of degree * weight * z(label, step)

g, z and the coins that halt walkers are shared by all graphs and independent between C and D; the walks themselves
are independent. With f * f = mu the product of two graphs' numbers has the mean K = sum_i mu_i K_i.

One-sided walks need no f, no g and no second side: what has come through by length l is weighted by `stop` and kept
for that length, so that mu is free until profiles meet. They have less variance for the same number of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import local_codes
from gvoys.threads import balanced_chunks, n_threads
from gvoys.walks.voyagers.crossing import sail_both_ways, sail_one_way
from gvoys.walks.voyagers.signs import DISTRIBUTIONS
from gvoys.walks.voyagers.steps import backward, forward, frozen, graph_keys

__all__ = ["DISTRIBUTIONS", "Crew", "check_copy", "compute_voyagers", "compute_walks"]


@dataclass(frozen=True)
class Crew:
    """How many walkers set out, and what they share.

    n_walks : walkers per node, side and component.
    p_halt : chance of halting at every step; 0 lets all walk on to the longest length.
    n_anchors : nodes of each graph that take deposits, drawn anew for each component, the same for C and D.
    share_signs : all walkers of a component have the same g and z, and the same coins where coins are shared; else
        every walker has its own, as the paper recommends.
    share_halting : a walker halts at the same step on all graphs. A step then weighs 1 / sqrt(1 - p_halt), since one
        coin decides for both graphs of a pair; it weighs 1 / (1 - p_halt) where each graph's walker tosses its own.
    signs : the distribution of g; None means g = 1.
    copy : which independent draw of walks and anchors. Copies have g, z and shared coins in common.
    """

    n_components: int
    n_walks: int = 1
    p_halt: float = 0.2
    n_anchors: int | None = None
    share_signs: bool = False
    share_halting: bool = True
    signs: str | None = "rademacher"
    seed: int = 0
    copy: int = 0

    @property
    def step_factor(self) -> float:
        """What divides out the chance of going on for one step."""
        return float((1.0 - self.p_halt) ** (-0.5 if self.share_halting else -1.0))

    def halting_factors(self, n_lengths: int) -> NDArray[np.float64]:
        """What divides out the chance of still walking at each length; no walker comes as far as 1e150."""
        with np.errstate(over="ignore"):
            return np.minimum(np.power(self.step_factor, np.arange(n_lengths)), 1e150)


def check_copy(copy: Any) -> int:
    """The number of a copy, which is part of a random word's name."""
    if not isinstance(copy, (int, np.integer)) or isinstance(copy, bool) or not 0 <= copy < 256:
        raise ParameterError(f"copy must be an integer from 0 to 255, not {copy!r}")
    return int(copy)


def compute_voyagers(
    batch: GraphBatch,
    deposits: NDArray[np.float64],
    crew: Crew,
    start: NDArray[np.float64],
    stop: NDArray[np.float64],
    *,
    node_labels: bool,
    edge_labels: bool,
    scale: float = 1.0,
) -> NDArray[np.float64]:
    """Algorithm 1, (n_graphs, n_components); `deposits` is sqrt(f_l) * scale^l up to the longest walk."""
    ahead = forward(batch, edge_labels)
    out = np.empty((len(batch), crew.n_components))
    factors = deposits * crew.halting_factors(len(deposits))
    sail_both_ways(
        np.uint64(crew.seed), _chunks(batch, crew), frozen(batch.node_offsets.astype(np.int64)),
        graph_keys(batch, ahead, node_labels, crew.seed, crew.copy), ahead.arrays, backward(batch, ahead).arrays,
        *_labels(batch, node_labels, edge_labels, node_labels), frozen(start), frozen(stop), factors,
        1.0 / scale, -1 if crew.signs is None else DISTRIBUTIONS.index(crew.signs), crew.n_walks, crew.p_halt,
        -1 if crew.n_anchors is None else crew.n_anchors, crew.share_signs, crew.share_halting, out,
    )  # fmt: skip
    # walkers that share their signs interfere on purpose, so that all n_walks^2 pairs of them count
    pairs = crew.n_walks**2 if crew.share_signs else crew.n_walks
    out /= pairs * np.sqrt(crew.n_components)
    return out


def compute_walks(
    batch: GraphBatch,
    max_length: int,
    crew: Crew,
    start: NDArray[np.float64],
    stop: NDArray[np.float64],
    *,
    node_labels: bool,
    edge_labels: bool,
    scale: float = 1.0,
) -> NDArray[np.float64]:
    """One-sided walks with every length kept apart, (n_graphs, max_length + 1, n_components)."""
    ahead = forward(batch, edge_labels)
    out = np.empty((len(batch), max_length + 1, crew.n_components))
    # walkers with signs of their own must have some, or their products with each other would count
    signed = node_labels or (crew.n_walks > 1 and not crew.share_signs)
    sail_one_way(
        np.uint64(crew.seed), _chunks(batch, crew), frozen(batch.node_offsets.astype(np.int64)),
        graph_keys(batch, ahead, node_labels, crew.seed, crew.copy), ahead.arrays,
        *_labels(batch, node_labels, edge_labels, signed), frozen(start), frozen(stop),
        crew.halting_factors(max_length + 1),
        1.0 / scale, crew.n_walks, crew.p_halt, crew.share_signs, crew.share_halting, out,
    )  # fmt: skip
    out /= (crew.n_walks if crew.share_signs else np.sqrt(crew.n_walks)) * np.sqrt(crew.n_components)
    return out


def _chunks(batch: GraphBatch, crew: Crew) -> NDArray[np.int64]:
    """Components are tasks of their own; where they are few, the graphs are shared out too."""
    return balanced_chunks(batch.graph_sizes, -(-4 * n_threads() // crew.n_components))


def _labels(batch: GraphBatch, node_labels: bool, edge_labels: bool, signed: bool) -> tuple[NDArray[Any], ...]:
    """Node codes (none where nodes have no sign), and the hashes of node and edge labels."""
    codes, hashes = local_codes(batch.node_labels if node_labels else None, batch.n_nodes)
    edge_hashes = local_codes(batch.edge_labels if edge_labels else None, batch.n_entries)[1]
    seen = codes.astype(np.int32) if signed else np.empty(0, np.int32)
    return frozen(seen), frozen(hashes), frozen(edge_hashes)
