"""Sampled walks: graph voyagers (Algorithm 1 of Choromanski et al. 2025, corrected), and one-sided walks.

Algorithm 1 makes one number per graph and component, (v^T C)(D^T w), in O(nodes x walks / p_halt) time and O(nodes)
memory. Walkers start at every node, along the edges (C) and against them (D), and leave deposits at the nodes they
visit; the two are multiplied and summed over nodes. C and D are never stored.

    deposit at length l  =  load * g(l) * sqrt(f_l),   load = product over steps of degree * weight * z(label, step)

g, z and the coins that halt walkers are shared by all graphs and independent between C and D; the walks themselves
are independent. With f * f = mu the product of two graphs' numbers has the mean K = sum_i mu_i K_i.

One-sided walks need no f, no g and no second side: what has come through by length l is weighted by `stop` and kept
for that length, so that mu is free until the Gram matrix is formed. They have less variance for the same number
of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._kernels.cpu.voyagers.crossing import sample_both_sides, sample_one_side
from gvoys._kernels.cpu.voyagers.signs import DISTRIBUTIONS
from gvoys._kernels.cpu.voyagers.steps import backward, forward, frozen, graph_keys
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import local_codes
from gvoys.threads import balanced_chunks, n_threads

__all__ = ["DISTRIBUTIONS", "WalkConfig", "check_replicate", "compute_voyagers", "compute_walks"]


@dataclass(frozen=True)
class WalkConfig:
    """How many walkers are sampled, and what they share.

    Parameters
    ----------
    n_components : int
        Number of independent repetitions.
    n_walks : int, default=1
        Number of walkers per node, side and component.
    p_halt : float, default=0.2
        Probability of halting at each step; 0 lets all walkers reach the longest length.
    n_anchors : int or None, default=None
        Number of nodes of each graph that take deposits, drawn anew for each component, the same for C and D; None
        means all nodes.
    share_signs : bool, default=False
        Whether all walkers of a component have the same g and z, and the same halting coins if those are shared; else
        every walker has its own, as the paper recommends.
    share_halting : bool, default=True
        Whether a walker halts at the same step on all graphs. A step is then weighted by 1 / sqrt(1 - p_halt), since
        one coin decides for both graphs of a pair; otherwise by 1 / (1 - p_halt).
    signs : {"rademacher", "gaussian", "uniform"} or None, default="rademacher"
        Distribution of g; None means g = 1.
    seed : int, default=0
        Seed of all random bits.
    replicate : int, default=0
        Which independent draw of walks and anchors. Replicates have g, z and shared coins in common.
    """

    n_components: int
    n_walks: int = 1
    p_halt: float = 0.2
    n_anchors: int | None = None
    share_signs: bool = False
    share_halting: bool = True
    signs: str | None = "rademacher"
    seed: int = 0
    replicate: int = 0

    @property
    def step_factor(self) -> float:
        """Factor that divides out the probability of going on for one step."""
        return float((1.0 - self.p_halt) ** (-0.5 if self.share_halting else -1.0))

    def halting_factors(self, n_lengths: int) -> NDArray[np.float64]:
        """Factors that divide out the probability of still walking, at most 1e150, which no walker reaches.

        Parameters
        ----------
        n_lengths : int
            Number of lengths.

        Returns
        -------
        ndarray of shape (n_lengths,)
            The factors.
        """
        with np.errstate(over="ignore"):
            return np.minimum(np.power(self.step_factor, np.arange(n_lengths)), 1e150)


def check_replicate(replicate: Any) -> int:
    """Check the number of a replicate, which is part of a Philox counter."""
    if not isinstance(replicate, (int, np.integer)) or isinstance(replicate, bool) or not 0 <= replicate < 256:
        raise ParameterError(f"replicate must be an integer from 0 to 255, not {replicate!r}")
    return int(replicate)


def compute_voyagers(
    batch: GraphBatch,
    deposits: NDArray[np.float64],
    config: WalkConfig,
    start: NDArray[np.float64],
    stop: NDArray[np.float64],
    *,
    node_labels: bool,
    edge_labels: bool,
    scale: float = 1.0,
) -> NDArray[np.float64]:
    """Features of Algorithm 1.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    deposits : ndarray of shape (n_lengths,)
        The factors sqrt(f_l) * scale^l up to the longest walk.
    config : WalkConfig
        How many walkers are sampled, and what they share.
    start : ndarray of shape (n_nodes,)
        Start weights.
    stop : ndarray of shape (n_nodes,)
        Stop weights.
    node_labels : bool
        Whether node labels are used.
    edge_labels : bool
        Whether edge labels are used.
    scale : float, default=1.0
        Divide adjacency matrices by this number.

    Returns
    -------
    ndarray of shape (n_graphs, n_components)
        The features.
    """
    ahead = forward(batch, edge_labels)
    out = np.empty((len(batch), config.n_components))
    factors = deposits * config.halting_factors(len(deposits))
    sample_both_sides(
        np.uint64(config.seed), _chunks(batch, config), frozen(batch.node_offsets.astype(np.int64)),
        graph_keys(batch, ahead, node_labels, config.seed, config.replicate), ahead.arrays,
        backward(batch, ahead).arrays,
        *_labels(batch, node_labels, edge_labels, node_labels), frozen(start), frozen(stop), factors,
        1.0 / scale, -1 if config.signs is None else DISTRIBUTIONS.index(config.signs), config.n_walks, config.p_halt,
        -1 if config.n_anchors is None else config.n_anchors, config.share_signs, config.share_halting, out,
    )  # fmt: skip
    # walkers that share their signs interfere on purpose, so that all n_walks^2 pairs of them count
    pairs = config.n_walks**2 if config.share_signs else config.n_walks
    out /= pairs * np.sqrt(config.n_components)
    return out


def compute_walks(
    batch: GraphBatch,
    max_length: int,
    config: WalkConfig,
    start: NDArray[np.float64],
    stop: NDArray[np.float64],
    *,
    node_labels: bool,
    edge_labels: bool,
    scale: float = 1.0,
) -> NDArray[np.float64]:
    """Profiles by one-sided walks, every length kept apart.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    max_length : int
        Longest walk.
    config : WalkConfig
        How many walkers are sampled, and what they share.
    start : ndarray of shape (n_nodes,)
        Start weights.
    stop : ndarray of shape (n_nodes,)
        Stop weights.
    node_labels : bool
        Whether node labels are used.
    edge_labels : bool
        Whether edge labels are used.
    scale : float, default=1.0
        Divide adjacency matrices by this number.

    Returns
    -------
    ndarray of shape (n_graphs, max_length + 1, n_components)
        The profiles.
    """
    ahead = forward(batch, edge_labels)
    out = np.empty((len(batch), max_length + 1, config.n_components))
    # walkers with signs of their own must have some, or their products with each other would count
    signed = node_labels or (config.n_walks > 1 and not config.share_signs)
    sample_one_side(
        np.uint64(config.seed), _chunks(batch, config), frozen(batch.node_offsets.astype(np.int64)),
        graph_keys(batch, ahead, node_labels, config.seed, config.replicate), ahead.arrays,
        *_labels(batch, node_labels, edge_labels, signed), frozen(start), frozen(stop),
        config.halting_factors(max_length + 1),
        1.0 / scale, config.n_walks, config.p_halt, config.share_signs, config.share_halting, out,
    )  # fmt: skip
    out /= (config.n_walks if config.share_signs else np.sqrt(config.n_walks)) * np.sqrt(config.n_components)
    return out


def _chunks(batch: GraphBatch, config: WalkConfig) -> NDArray[np.int64]:
    """Components are tasks of their own; where they are few, the graphs are shared out too."""
    return balanced_chunks(batch.graph_sizes, -(-4 * n_threads() // config.n_components))


def _labels(batch: GraphBatch, node_labels: bool, edge_labels: bool, signed: bool) -> tuple[NDArray[Any], ...]:
    """Node codes (none where nodes have no sign), and the hashes of node and edge labels."""
    codes, hashes = local_codes(batch.node_labels if node_labels else None, batch.n_nodes)
    edge_hashes = local_codes(batch.edge_labels if edge_labels else None, batch.n_entries)[1]
    seen = codes.astype(np.int32) if signed else np.empty(0, np.int32)
    return frozen(seen), frozen(hashes), frozen(edge_hashes)
