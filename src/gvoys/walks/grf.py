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

from gvoys.graphs.batch import GraphBatch
from gvoys.kernels import kernel
from gvoys.threads import start_threads
from gvoys.walks.voyagers import Crew
from gvoys.walks.voyagers.crossing import drop_anchors
from gvoys.walks.voyagers.steps import backward, forward, graph_keys, halting_length, neighbour, walk_words

__all__ = ["compute_grf"]


def compute_grf(
    graph: GraphBatch, deposits: NDArray[np.float64], crew: Crew, scale: float = 1.0, *, against: bool = False
) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Features (n_nodes, n_anchors) of a batch of one, and the nodes that are the anchors.

    `deposits` is f_l * scale^l. `against` walks against the edges, for the right-hand factor of a directed graph.
    """
    ahead = forward(graph, edge_labels=False)
    keys = graph_keys(graph, ahead, False, crew.seed, crew.copy)
    anchors = np.ones(graph.n_nodes, np.bool_)
    if crew.n_anchors is not None:
        drop_anchors(keys[0], 0, crew.n_anchors, anchors)
    terrain = backward(graph, ahead) if against else ahead
    limit, side = len(deposits) - 1, int(against)
    start_threads()
    lengths = np.empty((graph.n_nodes, crew.n_walks), np.int64)
    _draw_lengths(keys[0], limit, crew.p_halt, side, lengths)
    ends = np.cumsum(lengths.sum(axis=1) + crew.n_walks)
    columns, values = (np.zeros(int(ends[-1]) if len(ends) else 0, kind) for kind in (np.int32, np.float64))
    factors = deposits * crew.halting_factors(len(deposits)) / crew.n_walks
    _fill(keys[0], side, lengths, ends, terrain.arrays, factors, 1.0 / scale, anchors, columns, values)
    chosen = np.flatnonzero(anchors)
    shape = (graph.n_nodes, graph.n_nodes)
    features = sp.csr_array((values, columns, np.concatenate([[0], ends])), shape=shape)
    features.sum_duplicates()
    features.eliminate_zeros()
    if len(chosen) < graph.n_nodes:
        features = features[:, chosen] * np.sqrt(graph.n_nodes / len(chosen))
    return features, chosen


@kernel(parallel=True)
def _draw_lengths(key: Any, limit: Any, p_halt: Any, side: Any, out: Any) -> None:  # pragma: no cover
    for node in prange(len(out)):
        u = np.int64(node)
        for w in range(out.shape[1]):
            out[u, w] = halting_length(limit, p_halt, key, u, w, side)


@kernel(parallel=True)
def _fill(
    key: Any, side: Any, lengths: Any, ends: Any, terrain: Any, factors: Any, inverse: Any, anchors: Any, columns: Any,
    values: Any,
) -> None:  # pragma: no cover  # fmt: skip
    indptr, indices, weights, _ = terrain
    for node in prange(len(lengths)):
        u = np.int64(node)
        slot = ends[u - 1] if u else np.int64(0)
        for w in range(lengths.shape[1]):
            c, load = u, 1.0
            r0 = r1 = r2 = r3 = np.uint64(0)
            for step in range(lengths[u, w] + 1):
                if anchors[c]:
                    columns[slot] = c
                    values[slot] = load * factors[step]
                    slot += 1
                row = np.int64(indptr[c])
                degree = np.int64(indptr[c + 1]) - row
                if degree == 0:
                    break
                if step & 3 == 0:
                    r0, r1, r2, r3 = walk_words(key, u, w, side, step)
                e = neighbour(r0, row, degree)
                r0, r1, r2 = r1, r2, r3
                load *= degree * inverse
                if len(weights):
                    load *= weights[e]
                c = np.int64(indices[e])
