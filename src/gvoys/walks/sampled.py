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

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.arguments import Adjacency, Ends, SignedLabels, WalkedGraphs, Walkers, frozen
from gvoys._compiled.cpu.voyager_steps import DISTRIBUTIONS, backward, forward, graph_keys, node_offsets, signed_labels
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.walks.dense import DenseProfiles, PairedProfiles
from gvoys.walks.method import Cost, Support, WalkMethod, backend
from gvoys.walks.profiles import Profiles
from gvoys.walks.sketch import N_COMPONENTS
from gvoys.walks.walk import Walk

_STARTS = 4096  # nodes of a graph, for each component of `SampledWalks`


@dataclass(frozen=True)
class WalkConfig:
    """Number of walkers, and what they share."""

    n_components: int  # number of independent repetitions
    n_walks: int = 1  # number of walkers per node, side and component
    p_halt: float = 0.2  # probability of halting at each step; 0 lets all walkers reach the longest length
    n_anchors: int | None = None
    share_signs: bool = False
    share_halting: bool = True  # whether a walker halts at the same step on all graphs
    signs: str | None = "rademacher"  # distribution of g; None means g = 1
    seed: int = 0  # seed of all random bits
    replicate: int = 0  # which independent draw of walks and anchors. Replicates have g, z and shared coins in common
    n_starts: int = 0  # number of nodes of a larger graph that walkers start from, drawn anew for each component

    @property
    def step_factor(self) -> float:
        """Factor that divides out the probability of going on for one step."""
        return float((1.0 - self.p_halt) ** (-0.5 if self.share_halting else -1.0))

    def halting_factors(self, n_lengths: int) -> NDArray[np.float64]:
        """Factors that divide out the probability of still walking, at most 1e150, which no walker reaches."""
        with np.errstate(over="ignore"):
            return np.minimum(np.power(self.step_factor, np.arange(n_lengths)), 1e150)

    def walkers(self, factors: NDArray[np.float64], signs: str | None) -> Walkers:
        """Return the walkers as kernels take them."""
        return Walkers(
            np.uint64(self.seed),
            self.n_walks,
            self.p_halt,
            -1 if self.n_anchors is None else self.n_anchors,
            self.share_signs,
            self.share_halting,
            -1 if signs is None else DISTRIBUTIONS.index(signs),
            factors * self.halting_factors(len(factors)),
            self.n_starts,
        )


@dataclass(frozen=True)
class SampledWalks(WalkMethod):
    """Unbiased profiles by one-sided walks of fixed length, one walker per node and component.

    Of graphs with over 4096 nodes, each component draws 4096 nodes to start from, all over the graph: its time does not
    grow with the graph, and what labels cost in variance, which only components reduce, is the same.
    """

    name: ClassVar[str] = "voyagers"
    feature_type: ClassVar[Any] = np.float32
    n_components: int = N_COMPONENTS  # walkers per node
    seed: int = 0
    device: str = "cpu"
    replicates: tuple[int, ...] = (0,)  # independent draws; products of two are unbiased even for a graph with itself

    @property
    def width(self) -> int:
        return self.n_components

    def adds_up(self, walk: Walk) -> Support:
        if walk.labelled:
            return Support(True)
        return Support(
            False, "lengths='summed' needs labels, since walks without them have no signs; use lengths='stacked'"
        )

    def supports(self, walk: Walk, batch: GraphBatch) -> Support:
        if walk.sampled:
            return Support(True)
        return Support(False, "sampled walks cannot use refine, backtrack=False or attributes; use method='sketch'")

    def cost(self, walk: Walk, batch: GraphBatch) -> Cost:
        numbers = float(len(self.replicates) * self.n_components)
        starts = float(np.minimum(batch.graph_sizes, _STARTS).sum())
        return Cost(numbers * walk.longest * starts, 8.0 * len(batch) * walk.n_lengths * numbers)

    def _collect(self, made: Any, exponents: NDArray[np.int64], batch: GraphBatch, walk: Walk) -> Profiles:
        parts = [DenseProfiles(part, exponents) for part in np.split(made, len(self.replicates), axis=1)]
        return PairedProfiles(*parts) if len(parts) == 2 else parts[0]

    def _compute(self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], out: NDArray[Any] | None) -> Any:
        config = WalkConfig(self.n_components, p_halt=0.0, seed=self.seed, n_starts=_STARTS)
        parts = [
            compute_walks(batch, walk, scales, replace(config, replicate=replicate), self.device)
            for replicate in self.replicates
        ]
        out = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
        bad = ~np.isfinite(out).all(axis=(1, 2))
        if bad.any():
            raise ParameterError(
                f"graph {int(np.argmax(bad))}: its walks of length {walk.max_length} leave the range of float64; pass "
                "scale=2**k near its spectral radius, and the same scale to compute_gram"
            )
        return out


def compute_voyagers(
    batch: GraphBatch,
    walk: Walk,
    scales: NDArray[np.float64],
    config: WalkConfig,
    deposits: NDArray[np.float64],
    device: str = "cpu",
) -> NDArray[np.float64]:
    """Return the features of Algorithm 1, with factors sqrt(f_l) * scale^l as deposits up to the longest walk."""
    graphs, ahead, labels, ends = _walked(batch, walk, scales, config)
    walkers = config.walkers(deposits, config.signs)
    sample = backend(device).voyagers
    out = sample(graphs, ahead, backward(batch, ahead), labels, ends, walkers, config.n_components)
    # walkers that share their signs interfere on purpose, so that all n_walks^2 pairs of them count
    pairs = config.n_walks**2 if config.share_signs else config.n_walks
    out /= pairs * np.sqrt(config.n_components)
    return out


def compute_walks(
    batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], config: WalkConfig, device: str = "cpu"
) -> NDArray[np.float64]:
    """Return profiles by one-sided walks, every length kept apart, (n_graphs, n_lengths, n_components)."""
    graphs, ahead, labels, ends = _walked(batch, walk, scales, config)
    if not walk.node_labels and config.n_walks > 1 and not config.share_signs:
        # walkers with signs of their own must have some, or their products with each other would count
        labels = signed_labels(batch, walk.node_labels, walk.edge_labels, signed=True)
    walkers = config.walkers(np.ones(walk.n_lengths), signs=None)
    out = backend(device).one_sided_walks(graphs, ahead, labels, ends, walkers, config.n_components)
    out /= (config.n_walks if config.share_signs else np.sqrt(config.n_walks)) * np.sqrt(config.n_components)
    return out


def _walked(
    batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], config: WalkConfig
) -> tuple[WalkedGraphs, Adjacency, SignedLabels, Ends]:
    """The graphs with the keys of their walks, along the edges, their labels, and where walks start and stop."""
    ahead = forward(batch, walk.edge_labels)
    labels = signed_labels(batch, walk.node_labels, walk.edge_labels, signed=walk.node_labels)
    keys = graph_keys(batch, ahead, labels, config.seed, config.replicate)
    start, stop = map(frozen, walk.ends(batch))
    return WalkedGraphs(node_offsets(batch), keys), ahead, labels, Ends(start, stop, 1.0 / scales)
