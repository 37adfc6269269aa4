"""From a trained machine to weights of label sequences: what each adds to a decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import UnsupportedError
from gvoys.estimators.learning.balance import BalancedProfiles
from gvoys.estimators.learning.base_kernels import BaseKernel, Pairs
from gvoys.estimators.learning.decisions import SupportVectors
from gvoys.estimators.learning.profiler import Profiler
from gvoys.graphs.batch import GraphBatch
from gvoys.walks import SparseProfiles
from gvoys.walks.attribution import spread_weights
from gvoys.walks.sparse import Counts

__all__ = ["Explainer", "Explanation"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_AT_ONCE = 64  # graphs whose weights of all fitted sequences are in memory

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Explanation:
    """Why a decision is what it is.

    Parameters
    ----------
    decision : float
        The decision, of which the parts below are made: for the second of two classes, or for `of` among several, the
        sum of its decisions against each other class.
    baseline : float
        The decision on a graph without walks.
    of : object
        The class that the decision is for.
    nodes : ndarray of shape (n_nodes,)
        The share of every node; they add up to decision - baseline.
    edges : ndarray of shape (n_edges, 2)
        The ends of every edge.
    edge_shares : ndarray of shape (n_edges,)
        The share of every edge; they add up to what walks of length 1 and more add.
    lengths : ndarray of shape (n_iterations, max_length + 1)
        The share of every Weisfeiler–Lehman iteration and walk length.
    """

    decision: float
    baseline: float
    of: Any
    nodes: Array
    edges: NDArray[np.int64]
    edge_shares: Array
    lengths: Array


@dataclass(frozen=True)
class Explainer:
    """Explains decisions sum_j w_j k(G, G_j) + b on graphs whose label sequences are counted.

    By integrated gradients along the ray from the empty profile to that of the graph. On the way, at t x, a kernel of
    the distance d to x_j grows by g (x_j - t x), with g = -k'(d) / d, so that feature s gets x_s (c_j x_js - c_j' x_s)
    with the integrals c_j of g and c_j' of t g over t: linear in the profile, like the linear kernel itself.
    """

    profiler: Profiler
    kernel: BaseKernel
    fitted: BalancedProfiles
    vectors: SupportVectors
    classes: NDArray[Any]

    def __post_init__(self) -> None:
        _counted(self.fitted)  # which refuses before any work

    def explain(self, batch: GraphBatch, graphs: BalancedProfiles) -> list[Explanation]:
        """Of graphs with their profiles."""
        counts = _counted(graphs)
        pairs = graphs.pairs(self.fitted)
        begin, end = _at_start(self.kernel, pairs), self.kernel.gram(pairs)
        decided = self.vectors.decide(end)
        codes = decided.argmax(axis=1) if decided.ndim == 2 else np.ones(len(decided), np.int64)
        weights, intercepts = self.vectors.linear(len(self.fitted), codes)
        others, own = _rates(self.kernel, pairs, end - begin)
        of_counts = self._weights_of_counts(graphs, weights * others, (weights * own).sum(axis=1))
        batch = self.profiler.labelled(batch)
        nodes, entries = spread_weights(batch, self.profiler.by_labels, counts, of_counts)
        lengths = _by_length(counts, of_counts)
        baselines = (weights * begin).sum(axis=1) + intercepts
        decisions = (weights * end).sum(axis=1) + intercepts
        return [
            Explanation(
                float(decisions[g]),
                float(baselines[g]),
                self.classes[codes[g]],
                nodes[batch.node_offsets[g] : batch.node_offsets[g + 1]],
                *_by_edge(batch[g], entries[batch.entry_offsets[g] : batch.entry_offsets[g + 1]]),
                lengths[:, :, g],
            )
            for g in range(len(batch))
        ]

    def _weights_of_counts(self, graphs: BalancedProfiles, others: Array, own: Array) -> list[list[Array]]:
        """What one more of each count would add, by iteration and length."""
        counts, known = _counted(graphs), _counted(self.fitted)
        found: list[list[Array]] = [[] for _ in range(counts.n_iterations)]
        for length in range(counts.n_lengths):
            ours, of_fitted = graphs.factors(length), others * self.fitted.factors(length)
            for r, own_weights in enumerate(found):
                own_weights.append(_of_block(counts.blocks[r][length], known.blocks[r][length], ours, of_fitted, own))
        return found


def _counted(graphs: BalancedProfiles) -> SparseProfiles:
    if graphs.balance.attributes is not None:
        raise UnsupportedError(
            "explanations know of labels alone, and the model uses attributes; fit it with attribute_bandwidth=None"
        )
    if not isinstance(graphs.profiles.labels, SparseProfiles):
        raise UnsupportedError(
            "explanations need label sequences that are counted, and the model sketches some; fit it with "
            "method='sequences'"
        )
    return graphs.profiles.labels


def _of_block(ours: Counts, theirs: Counts, factors: Array, others: Array, own: Array) -> Array:
    """x_s = factor * count, and its weight is sum_j others_j count_js - own x_s, in the order of the listing."""
    pointers, keys, values = ours.listing
    graphs = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
    out = -own[graphs] * factors[graphs] * values
    if len(theirs.keys):
        places = np.minimum(np.searchsorted(theirs.keys, keys), len(theirs.keys) - 1)
        known = theirs.keys[places] == keys
        for first in range(0, len(factors), _AT_ONCE):
            sums = others[first : first + _AT_ONCE] @ theirs.matrix
            some = np.flatnonzero(known & (graphs >= first) & (graphs < first + _AT_ONCE))
            out[some] += sums[graphs[some] - first, places[some]]
    return out * factors[graphs]


def _at_start(kernel: BaseKernel, pairs: Pairs) -> Array:
    """Kernel values of the empty profile."""
    empty = Pairs(np.zeros_like(pairs.inner), np.zeros_like(pairs.left), pairs.right)
    return kernel.gram(empty)


def _rates(kernel: BaseKernel, pairs: Pairs, steps: Array) -> tuple[Array, Array]:
    """c and c' of every pair, scaled so that together they make up the step of the kernel's value."""
    if kernel.name == "linear":
        return np.full(pairs.inner.shape, 1.0 / kernel.unit**2), np.zeros(pairs.inner.shape)
    others, own = np.zeros(pairs.inner.shape), np.zeros(pairs.inner.shape)
    for s, weight in zip((_NODES + 1.0) / 2.0, _WEIGHTS / 2.0, strict=True):
        t = 1.0 - s**2  # more of them near the end, where the graph may be near a fitted one
        there = Pairs(t * pairs.inner, t**2 * pairs.left, pairs.right)
        slope = 2.0 * s * weight * kernel.slope(there)
        others += slope
        own += t * slope
    made = others * pairs.inner - own * pairs.left[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(np.abs(made) > 1e-300, steps / made, 1.0)
    return others * scale, own * scale


def _by_length(counts: SparseProfiles, weights: list[list[Array]]) -> Array:
    """(n_iterations, n_lengths, n_graphs)."""
    out = np.zeros((counts.n_iterations, counts.n_lengths, len(counts)))
    for r, of_lengths in enumerate(weights):
        for length, own in enumerate(of_lengths):
            pointers, _, values = counts.blocks[r][length].listing
            graphs = np.repeat(np.arange(len(counts)), np.diff(pointers))
            out[r, length] = np.bincount(graphs, own * values, minlength=len(counts))
    return out


def _by_edge(graph: GraphBatch, shares: Array) -> tuple[NDArray[np.int64], Array]:
    """Ends and shares of the edges of one graph; both directions of an undirected edge together."""
    rows, columns = graph.rows(), graph.columns()
    if graph.directed:
        return np.column_stack([rows, columns]), shares
    ends = np.column_stack([np.minimum(rows, columns), np.maximum(rows, columns)])
    edges, places = np.unique(ends, axis=0, return_inverse=True)
    return edges, np.bincount(places.ravel(), shares, minlength=len(edges)).astype(np.float64, copy=False)
