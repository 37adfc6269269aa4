"""Walks drawn from the start distribution: a kernel value at a cost that does not grow with the graphs.

Walkers start where the start weights say and step to neighbours drawn uniformly, so that a graph is read only where
they go. A walker at length i stands for the walk behind it, with a load that divides out the probability of it. Two
graphs' kernel value at length i is the sum over all pairs of walkers, one on each graph, whose label sequences agree:
n walkers on each make n^2 pairs. Those of one graph are independent of those of the other, so that the mean is K_i.

Walkers come in batches. Each pair of batches, one of each graph, is an estimate by itself, and the spread of these
gives the error: pairs that share a batch go together, as in an analysis of variance with two factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys._compiled.arguments import Adjacency, SignedLabels, frozen
from gvoys._compiled.cpu.randomness import WALK
from gvoys._compiled.cpu.voyager_steps import forward
from gvoys._compiled.cpu.voyager_visits import DrawnWalkers, move_walkers, place_walkers
from gvoys.graphs.batch import GraphBatch
from gvoys.walks.spread import widened
from gvoys.walks.walk import Walk

BATCHES = 32

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One graph, as walkers see it."""

    graph: GraphBatch  # A batch of one graph
    walk: Walk  # labels, and where walks start and stop
    key: NDArray[np.uint64]  # of the random bits
    scale: float  # number that weights are divided by

    def start(self, first: int, n_walkers: int) -> _Crowd:
        """Walkers at their starts; those of another `first` are others."""
        return _Crowd(self, first, n_walkers)


class _Crowd:
    """Walkers of one graph under way."""

    def __init__(self, side: Side, first: int, n_walkers: int) -> None:
        graph, walk = side.graph, side.walk
        self._key, self._first, self._inverse = side.key, first, 1.0 / side.scale
        self._adjacency = _adjacency(graph, walk.edge_labels)
        self._labels = _labels(graph, walk)
        start, stop = walk.start, walk.stop
        self._stop = stop if isinstance(stop, str) else np.asarray(stop, np.float64)
        self._n_nodes = graph.n_nodes
        labelled = walk.node_labels or walk.edge_labels
        self.walkers = DrawnWalkers(
            np.zeros(n_walkers, np.int64), np.ones(n_walkers), np.zeros(n_walkers if labelled else 0, np.uint64)
        )
        self._place(start)

    def _place(self, start: Any) -> None:
        given = not isinstance(start, str)
        cumulative = np.cumsum(np.abs(start)) if given else np.empty(0)
        total = float(cumulative[-1]) if given else 1.0 if start == "uniform" else float(self._n_nodes)
        if total == 0.0:
            self.walkers.loads[:] = 0.0
            return
        generator = np.random.Generator(np.random.Philox(key=self._key, counter=[0, 0, self._first, WALK]))
        shifts = generator.random(BATCHES)
        labels = self._labels
        place_walkers(shifts, cumulative, total, labels.codes, labels.hashes, self._n_nodes, self.walkers)
        self.walkers.loads[:] = total * np.sign(np.asarray(start)[self.walkers.nodes]) if given else total

    def move(self, step: int, n_alive: int) -> None:
        """One step of the first walkers."""
        move_walkers(self._key, self._first, step, n_alive, self._inverse, self._adjacency, self._labels, self.walkers)

    def contributions(self, n_alive: int) -> Array:
        """Return what walks that end here add, (n_alive,)."""
        loads = self.walkers.loads[:n_alive]
        if isinstance(self._stop, str):
            return loads / self._n_nodes if self._stop == "uniform" else loads
        return np.asarray(loads * self._stop[self.walkers.nodes[:n_alive]])


def _adjacency(graph: GraphBatch, edge_labels: bool) -> Adjacency:
    """The arrays of the graph themselves: a copy would read all of it."""
    if not edge_labels:
        return forward(graph, False)
    codes = np.empty(0, np.int32) if graph.edge_labels is None else graph.edge_labels.codes
    return forward(graph, False)._replace(edge_codes=frozen(codes))


def _labels(graph: GraphBatch, walk: Walk) -> SignedLabels:
    none = np.empty(0, np.int32), np.empty(0, np.uint64)
    nodes, edges = (
        none if not used or labels is None else (labels.codes, labels.hashes)
        for used, labels in ((walk.node_labels, graph.node_labels), (walk.edge_labels, graph.edge_labels))
    )
    return SignedLabels(frozen(nodes[0]), frozen(nodes[1]), frozen(edges[1]))


class DrawnValue(NamedTuple):
    """A kernel value with its standard error."""

    value: float  # the estimate
    stderr: float  # its standard error
    sizes: Array  # mu_i times the root mean squares of what one walker of each graph adds at length i


def compare_drawn(sides: tuple[Side, Side], mu: Array, counts: NDArray[np.int64], first: int) -> DrawnValue:
    """Compare two graphs by sampled walks."""
    one, other = (side.start(first, int(counts[0])) for side in sides)
    pairs, sizes = np.zeros((BATCHES, BATCHES)), np.zeros(len(mu))
    for i, count in enumerate(counts.tolist()):
        if i:
            one.move(i - 1, count)
            other.move(i - 1, count)
        added = [crowd.contributions(count) for crowd in (one, other)]
        sizes[i] = mu[i] * float(np.prod([np.sqrt(np.mean(weights * weights)) for weights in added]))
        pairs += mu[i] * _products(one.walkers.hashes[:count], other.walkers.hashes[:count], *added)
    return DrawnValue(float(pairs.mean()), _standard_error(pairs), sizes)


def _products(hashes: Any, others: Any, added: Array, theirs: Array) -> Array:
    """Sums over pairs of walkers that agree, for each pair of batches, over their numbers of pairs."""
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
