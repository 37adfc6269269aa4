"""Graph random features: one sparse vector per node of one graph, whose dot products are entries of sum_i mu_i A^i.

    phi(u) = 1 / n_walks * sum over walkers from u and over l of f_l * load / (1 - p_halt)^l, where the walker is then

(Reid et al. 2023, the general class). E phi(u)^T = row u of sum_l f_l A^l, and walks of different nodes are
independent, so that E <phi(u), phi(x)> = (sum_i mu_i A^i)(u, x) for u != x on undirected graphs.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys._compiled.arguments import Adjacency
from gvoys._compiled.cpu.voyager_steps import backward, forward, graph_keys, signed_labels
from gvoys._compiled.cpu.voyager_visits import Deposits, Origins, draw_lengths, fill_visits
from gvoys._compiled.cpu.voyagers_cpu import drop_anchors
from gvoys.graphs.batch import GraphBatch
from gvoys.walks.voyagers import WalkConfig

_VISITS = 1 << 22  # of walkers at nodes that are held at once


def compute_grf(
    graph: GraphBatch,
    deposits: NDArray[np.float64],
    config: WalkConfig,
    scale: float = 1.0,
    *,
    against: bool = False,
    antithetic: bool = False,
    nodes: NDArray[np.int64] | None = None,
) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Graph random features of the nodes of one graph."""
    ahead = forward(graph, edge_labels=False)
    unsigned = signed_labels(graph, node_labels=False, edge_labels=False, signed=False)
    key = graph_keys(graph, ahead, unsigned, config.seed, config.replicate)[0]
    anchors = np.ones(graph.n_nodes, np.bool_)
    if config.n_anchors is not None:  # the same for all replicates, so that products of their features are unbiased
        drop_anchors(graph_keys(graph, ahead, unsigned, config.seed, 0)[0], 0, config.n_anchors, anchors)
    adjacency = backward(graph, ahead) if against else ahead
    factors = deposits * config.halting_factors(len(deposits)) / config.n_walks
    left = Deposits(factors, 1.0 / scale, anchors)
    blocks = []
    nodes = np.arange(graph.n_nodes) if nodes is None else nodes
    for begin in range(0, len(nodes), _rows_at_once(config)):
        block = nodes[begin : begin + _rows_at_once(config)]
        blocks.append(_rows(block, key, int(against), adjacency, left, config, antithetic))
    features = sp.csr_array(sp.vstack(blocks)) if blocks else sp.csr_array((0, graph.n_nodes))
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
    adjacency: Adjacency,
    deposits: Deposits,
    config: WalkConfig,
    antithetic: bool,
) -> sp.csr_array:
    """Features of some nodes, (n, n_nodes)."""
    lengths = np.empty((len(nodes), config.n_walks), np.int64)
    draw_lengths(nodes, key, len(deposits.factors) - 1, config.p_halt, side, antithetic, lengths)
    ends = np.cumsum(lengths.sum(axis=1) + config.n_walks)
    columns, values = np.zeros(int(ends[-1]), np.int32), np.zeros(int(ends[-1]))
    fill_visits(Origins(nodes, lengths, ends), key, side, adjacency, deposits, columns, values)
    rows = sp.csr_array((values, columns, np.concatenate([[0], ends])), shape=(len(nodes), len(deposits.anchors)))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows
