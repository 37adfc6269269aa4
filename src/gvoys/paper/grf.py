"""Graph random features: one sparse vector per node of one graph, whose dot products are entries of sum_i mu_i A^i.

    phi(u) = 1 / n_walks * sum over walkers from u and over l of f_l * load / (1 - p_halt)^l, where the walker is then

(Reid et al. 2023, the general class). E phi(u)^T = row u of sum_l f_l A^l, and walks of different nodes are
independent, so that E <phi(u), phi(x)> = (sum_i mu_i A^i)(u, x) for u != x on undirected graphs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import prange
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys._kernels.cpu.voyagers.crossing import drop_anchors
from gvoys._kernels.cpu.voyagers.steps import backward, forward, graph_keys, halting_length, neighbour, step_bits
from gvoys.graphs.batch import GraphBatch
from gvoys.walks.voyagers import WalkConfig

__all__ = ["compute_grf"]

_VISITS = 1 << 22  # of walkers at nodes that are held at once


def compute_grf(
    graph: GraphBatch, deposits: NDArray[np.float64], config: WalkConfig, scale: float = 1.0, *, against: bool = False
) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Graph random features of the nodes of one graph.

    Parameters
    ----------
    graph : GraphBatch
        A batch of one graph.
    deposits : ndarray of shape (n_lengths,)
        The factors f_l * scale^l.
    config : WalkConfig
        How many walkers are sampled, and what they share.
    scale : float, default=1.0
        Divide adjacency matrices by this number.
    against : bool, default=False
        Whether to walk against the edges, for the right-hand factor of a directed graph.

    Returns
    -------
    features : csr_array of shape (n_nodes, n_anchors)
        The features.
    anchors : ndarray of shape (n_anchors,)
        The nodes that the columns stand for.
    """
    ahead = forward(graph, edge_labels=False)
    key = graph_keys(graph, ahead, False, config.seed, config.replicate)[0]
    anchors = np.ones(graph.n_nodes, np.bool_)
    if config.n_anchors is not None:  # the same for all replicates, so that products of their features are unbiased
        drop_anchors(graph_keys(graph, ahead, False, config.seed, 0)[0], 0, config.n_anchors, anchors)
    adjacency = (backward(graph, ahead) if against else ahead).arrays
    factors = deposits * config.halting_factors(len(deposits)) / config.n_walks
    blocks = []
    for begin in range(0, graph.n_nodes, _rows_at_once(config)):
        nodes = np.arange(begin, min(begin + _rows_at_once(config), graph.n_nodes))
        blocks.append(_rows(nodes, key, int(against), adjacency, factors, config, 1.0 / scale, anchors))
    features = sp.csr_array(sp.vstack(blocks)) if blocks else sp.csr_array((0, 0))
    chosen = np.flatnonzero(anchors)
    if len(chosen) < graph.n_nodes:
        features = features[:, chosen] * np.sqrt(graph.n_nodes / len(chosen))
    return features, chosen


def _rows_at_once(config: WalkConfig) -> int:
    """Nodes whose walkers' visits are kept before they are added up."""
    return max(int(_VISITS * config.p_halt / config.n_walks), 1)


def _rows(
    nodes: NDArray[np.int64],
    key: NDArray[np.uint64],
    side: int,
    adjacency: Any,
    factors: NDArray[np.float64],
    config: WalkConfig,
    inverse: float,
    anchors: NDArray[np.bool_],
) -> sp.csr_array:
    """Features of some nodes, (n, n_nodes)."""
    lengths = np.empty((len(nodes), config.n_walks), np.int64)
    _draw_lengths(nodes, key, len(factors) - 1, config.p_halt, side, lengths)
    ends = np.cumsum(lengths.sum(axis=1) + config.n_walks)
    columns, values = np.zeros(int(ends[-1]), np.int32), np.zeros(int(ends[-1]))
    _fill(nodes, key, side, lengths, ends, adjacency, factors, inverse, anchors, columns, values)
    rows = sp.csr_array((values, columns, np.concatenate([[0], ends])), shape=(len(nodes), len(anchors)))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


@kernel(parallel=True)
def _draw_lengths(nodes: Any, key: Any, limit: Any, p_halt: Any, side: Any, out: Any) -> None:  # pragma: no cover
    for index in prange(len(out)):
        i = np.int64(index)
        for w in range(out.shape[1]):
            out[i, w] = halting_length(limit, p_halt, key, nodes[i], w, side)


@kernel(parallel=True)
def _fill(
    nodes: Any, key: Any, side: Any, lengths: Any, ends: Any, adjacency: Any, factors: Any, inverse: Any, anchors: Any,
    columns: Any, values: Any,
) -> None:  # pragma: no cover  # fmt: skip
    indptr, indices, weights, _ = adjacency
    for index in prange(len(lengths)):
        i = np.int64(index)
        u = nodes[i]
        slot = ends[i - 1] if i else np.int64(0)
        for w in range(lengths.shape[1]):
            c, load = u, 1.0
            r0 = r1 = r2 = r3 = np.uint64(0)
            for step in range(lengths[i, w] + 1):
                if anchors[c]:
                    columns[slot] = c
                    values[slot] = load * factors[step]
                    slot += 1
                row = np.int64(indptr[c])
                degree = np.int64(indptr[c + 1]) - row
                if degree == 0:
                    break
                if step & 3 == 0:
                    r0, r1, r2, r3 = step_bits(key, u, w, side, step)
                e = neighbour(r0, row, degree)
                r0, r1, r2 = r1, r2, r3
                load *= degree * inverse
                if len(weights):
                    load *= weights[e]
                c = np.int64(indices[e])
