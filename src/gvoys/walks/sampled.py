"""Sampled walks: graph voyagers (Algorithm 1 of Choromanski et al. 2025, corrected), and one-sided walks.

Algorithm 1 makes one number per graph and component, (v^T C)(D^T w), in O(nodes x walks / p_halt) time. Walkers start
at every node, along the edges (C) and against them (D), and leave deposits at the nodes they visit:

    deposit at length l  =  load * g(l) * sqrt(f_l),   load = product over steps of degree * weight * z(label, step)

g, z and the coins that halt walkers are shared by all graphs and independent between C and D. With f * f = mu the
product of two graphs' numbers has the mean K = sum_i mu_i K_i. One-sided walks need no f, no g and no second side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys._compiled.arguments import Adjacency, Ends, SignedLabels, WalkedGraphs, Walkers, frozen
from gvoys._compiled.cpu.randomness import WALK
from gvoys._compiled.cpu.voyager_steps import DISTRIBUTIONS, backward, forward, graph_keys, node_offsets, signed_labels
from gvoys._compiled.cpu.voyager_visits import DrawnWalkers, move_walkers, place_walkers
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.walks.dense import DenseProfiles, PairedProfiles
from gvoys.walks.method import Cost, Support, WalkMethod, backend
from gvoys.walks.profiles import Profiles, widened
from gvoys.walks.sketch import N_COMPONENTS
from gvoys.walks.walk import Walk

BATCHES = 32

_N_STARTS = 4096  # nodes of a graph, for each component of `SampledWalks`


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
    """Unbiased profiles by one-sided walks of fixed length, one walker per node (at most 4096) and component."""

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
        starts = float(np.minimum(batch.graph_sizes, _N_STARTS).sum())
        return Cost(numbers * walk.longest * starts, 8.0 * len(batch) * walk.n_lengths * numbers)

    def _collect(self, made: Any, exponents: NDArray[np.int64], batch: GraphBatch, walk: Walk) -> Profiles:
        parts = [DenseProfiles(part, exponents) for part in np.split(made, len(self.replicates), axis=1)]
        return PairedProfiles(*parts) if len(parts) == 2 else parts[0]

    def _compute(self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], out: NDArray[Any] | None) -> Any:
        config = WalkConfig(self.n_components, p_halt=0.0, seed=self.seed, n_starts=_N_STARTS)
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
    """Return the graphs with the keys of their walks, their adjacency and labels, and where walks start and stop."""
    ahead = forward(batch, walk.edge_labels)
    labels = signed_labels(batch, walk.node_labels, walk.edge_labels, signed=walk.node_labels)
    keys = graph_keys(batch, ahead, labels, config.seed, config.replicate)
    start, stop = map(frozen, walk.ends(batch))
    return WalkedGraphs(node_offsets(batch), keys), ahead, labels, Ends(start, stop, 1.0 / scales)


Array = NDArray[np.float64]


# Drawn walks: a walker's load divides out the probability of its walk. K_i is the mean over all pairs of walkers, one
# on each graph, whose label sequences agree. Each pair of batches of walkers is an estimate; their spread is the error.


@dataclass(frozen=True)
class Side:
    """One graph, as walkers see it."""

    graph: GraphBatch  # a batch of one graph
    walk: Walk  # labels, and where walks start and stop
    key: NDArray[np.uint64]  # of the random bits
    scale: float  # number that weights are divided by


class _Walkers:
    """State of all walkers on one graph; those of another `first` are others."""

    def __init__(self, side: Side, first: int, n_walkers: int) -> None:
        graph, walk = side.graph, side.walk
        self._key, self._first, self._inverse = side.key, first, 1.0 / side.scale
        self._adjacency = forward(graph, False)  # the arrays of the graph themselves: a copy would read all of it
        if walk.edge_labels:
            codes = np.empty(0, np.int32) if graph.edge_labels is None else graph.edge_labels.codes
            self._adjacency = self._adjacency._replace(edge_codes=frozen(codes))
        none = np.empty(0, np.int32), np.empty(0, np.uint64)
        nodes, edges = (
            none if not used or labels is None else (labels.codes, labels.hashes)
            for used, labels in ((walk.node_labels, graph.node_labels), (walk.edge_labels, graph.edge_labels))
        )
        self._labels = SignedLabels(frozen(nodes[0]), frozen(nodes[1]), frozen(edges[1]))
        self._stop = walk.stop if isinstance(walk.stop, str) else np.asarray(walk.stop, np.float64)
        self._n_nodes = graph.n_nodes
        labelled = walk.node_labels or walk.edge_labels
        self.walkers = DrawnWalkers(
            np.zeros(n_walkers, np.int64), np.ones(n_walkers), np.zeros(n_walkers if labelled else 0, np.uint64)
        )
        self._place(walk.start)

    def _place(self, start: Any) -> None:
        given = not isinstance(start, str)
        cumulative = np.cumsum(np.abs(start)) if given else np.empty(0)
        total = float(cumulative[-1]) if given else 1.0 if start == "uniform" else float(self._n_nodes)
        if total == 0.0:
            self.walkers.loads[:] = 0.0
            return
        generator = np.random.Generator(np.random.Philox(key=self._key, counter=[0, 0, self._first, WALK]))
        shifts = generator.random(BATCHES)
        place_walkers(shifts, cumulative, total, *self._labels[:2], self._n_nodes, self.walkers)
        self.walkers.loads[:] = total * np.sign(np.asarray(start)[self.walkers.nodes]) if given else total

    def move(self, step: int, n_alive: int) -> None:
        """Move the first walkers by one step."""
        move_walkers(self._key, self._first, step, n_alive, self._inverse, self._adjacency, self._labels, self.walkers)

    def contributions(self, n_alive: int) -> Array:
        """Return what walks that end here add, (n_alive,)."""
        loads = self.walkers.loads[:n_alive]
        if isinstance(self._stop, str):
            return loads / self._n_nodes if self._stop == "uniform" else loads
        return np.asarray(loads * self._stop[self.walkers.nodes[:n_alive]])


class DrawnValue(NamedTuple):
    """A kernel value with its standard error."""

    value: float  # the estimate
    stderr: float  # its standard error
    sizes: Array  # mu_i times the root mean squares of what one walker of each graph adds at length i


def compare_drawn(sides: tuple[Side, Side], mu: Array, counts: NDArray[np.int64], first: int) -> DrawnValue:
    """Compare two graphs by sampled walks."""
    one, other = (_Walkers(side, first, int(counts[0])) for side in sides)
    pairs, sizes = np.zeros((BATCHES, BATCHES)), np.zeros(len(mu))
    for i, count in enumerate(counts.tolist()):
        if i:
            one.move(i - 1, count)
            other.move(i - 1, count)
        added = [walkers.contributions(count) for walkers in (one, other)]
        sizes[i] = mu[i] * float(np.prod([np.sqrt(np.mean(weights * weights)) for weights in added]))
        pairs += mu[i] * _sum_pairs(one.walkers.hashes[:count], other.walkers.hashes[:count], *added)
    return DrawnValue(float(pairs.mean()), _standard_error(pairs), sizes)


def _sum_pairs(hashes: Any, others: Any, added: Array, theirs: Array) -> Array:
    """Average over all pairs of walkers what those that agree add, for each pair of batches."""
    size = len(added) // BATCHES
    if not len(hashes):
        means = [weights.reshape(size, BATCHES).mean(axis=0) for weights in (added, theirs)]
        return np.outer(*means)
    known, codes = np.unique(hashes, return_inverse=True)
    positions = np.minimum(np.searchsorted(known, others), len(known) - 1)
    shared = known[positions] == others
    batches = np.tile(np.arange(BATCHES), size)
    shape = (BATCHES, len(known))
    left_matrix = sp.csr_array(sp.coo_array((added, (batches, codes)), shape=shape))
    matched = sp.csr_array(sp.coo_array((theirs[shared], (batches[shared], positions[shared])), shape=shape))
    return np.asarray((left_matrix @ matched.T).toarray()) / size**2


def _standard_error(pairs: Array) -> float:
    """Return the standard error of the mean over all pairs of batches, which share rows and columns."""
    rows, columns, mean = pairs.mean(axis=1), pairs.mean(axis=0), pairs.mean()
    n = len(pairs)
    of_rows, of_columns = n * rows.var(ddof=1), n * columns.var(ddof=1)
    rest = ((pairs - rows[:, None] - columns + mean) ** 2).sum() / (n - 1) ** 2
    variance = max(of_rows + of_columns - rest, of_rows, of_columns) / n**2
    return float(widened(np.sqrt(variance), n))
