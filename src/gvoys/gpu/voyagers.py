"""Sampled walks on the GPU: what walkers share is drawn on the CPU, the walks themselves on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, prange
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys._kernels.cpu.randomness import WALK_EDGE, WALK_NODE
from gvoys._kernels.cpu.voyagers.crossing import drop_anchors
from gvoys._kernels.cpu.voyagers.signs import fill_lengths, fill_signs
from gvoys._kernels.cpu.voyagers.steps import Adjacency, backward, forward, graph_keys, halting_length
from gvoys.gpu.blocks import THREADS, node_blocks
from gvoys.gpu.device import to_device
from gvoys.gpu.walkers import walk
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import local_codes
from gvoys.walks.voyagers import DISTRIBUTIONS, WalkConfig

__all__ = ["compute_voyagers", "compute_walks"]

_HELD = 1 << 28  # bytes of sums, or of what lies at nodes, that are held at once


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
    signed = node_labels or (config.n_walks > 1 and not config.share_signs)
    ahead = forward(batch, edge_labels)
    graphs_on_device = _DeviceGraphs(batch, ahead, config, node_labels, edge_labels, signed, scale)
    factors = config.halting_factors(max_length + 1)
    graphs, begins, _, pointers = node_blocks(batch, THREADS)
    out = np.zeros((len(batch), max_length + 1, config.n_components))
    filled = np.flatnonzero(batch.graph_sizes)
    loads, ends = to_device(start), to_device(stop)
    at_once = _at_once(config, 8 * len(begins) * (max_length + 1) * config.n_walks)
    for first in range(0, config.n_components if len(begins) else 0, at_once):
        components = range(first, min(first + at_once, config.n_components))
        sums = to_device(np.zeros((len(components) * config.n_walks, len(begins), max_length + 1)))
        graphs_on_device.sample_walks(
            components, 0, ahead, factors, -1, loads, ends, None, (graphs, begins), sums, None
        )
        by_graph = np.add.reduceat(sums.copy_to_host(), pointers[filled], axis=1)
        by_component = by_graph.reshape(len(components), config.n_walks, len(filled), -1).sum(axis=1)
        out[filled[:, None], :, np.array(components)] = by_component.transpose(1, 0, 2)
    out /= (config.n_walks if config.share_signs else np.sqrt(config.n_walks)) * np.sqrt(config.n_components)
    return out


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
    graphs_on_device = _DeviceGraphs(batch, ahead, config, node_labels, edge_labels, node_labels, scale)
    factors = deposits * config.halting_factors(len(deposits))
    distribution = -1 if config.signs is None else DISTRIBUTIONS.index(config.signs)
    graphs, begins, _, _ = node_blocks(batch, THREADS)
    out = np.zeros((len(batch), config.n_components))
    filled = np.flatnonzero(batch.graph_sizes)
    at_once = _at_once(config, 24 * batch.n_nodes)
    sides = ((0, ahead, to_device(start)), (1, backward(batch, ahead), to_device(stop)))
    for first in range(0, config.n_components if len(begins) else 0, at_once):
        components = range(first, min(first + at_once, config.n_components))
        anchors = graphs_on_device.anchors(components)
        gathered = []
        for side, adjacency, loads in sides:
            here = to_device(np.zeros((len(components), batch.n_nodes)))
            graphs_on_device.sample_walks(
                components, side, adjacency, factors, distribution, loads, None, anchors, (graphs, begins), None, here
            )
            gathered.append(here.copy_to_host())
        products = np.add.reduceat(gathered[0] * gathered[1], batch.node_offsets[filled], axis=1)
        out[filled[:, None], np.array(components)] = products.T
    if config.n_anchors is not None:
        fewer = batch.graph_sizes > config.n_anchors
        out[fewer] *= (batch.graph_sizes[fewer] / max(config.n_anchors, 1))[:, None]
    out /= (config.n_walks**2 if config.share_signs else config.n_walks) * np.sqrt(config.n_components)
    return out


def _at_once(config: WalkConfig, n_bytes: int) -> int:
    """Components at a time, of `n_bytes` each; a grid has 65,535 rows at most."""
    return max(min(_HELD // max(n_bytes, 1), 65_535 // config.n_walks), 1)


class _DeviceGraphs:
    """The graphs on the device, and the tables that walkers share."""

    def __init__(
        self,
        batch: GraphBatch,
        ahead: Adjacency,
        config: WalkConfig,
        node_labels: bool,
        edge_labels: bool,
        signed: bool,
        scale: float,
    ) -> None:
        self.batch, self.config, self.signed, self.inverse = batch, config, signed, 1.0 / scale
        self.edge_labels = edge_labels
        codes, self.hashes = local_codes(batch.node_labels if node_labels else None, batch.n_nodes)
        self.edge_hashes = local_codes(batch.edge_labels if edge_labels else None, batch.n_entries)[1]
        self.codes = to_device(codes, np.int32)
        self.keys = graph_keys(batch, ahead, node_labels, config.seed, config.replicate)
        self.offsets = to_device(batch.node_offsets, np.int64)
        self.device_keys = to_device(self.keys)

    def anchors(self, components: range) -> NDArray[np.bool_] | None:
        """Which nodes take deposits, for each component; None for all."""
        if self.config.n_anchors is None:
            return None
        out = np.ones((len(components), self.batch.n_nodes), np.bool_)
        _drop(components.start, self.keys, self.batch.node_offsets.astype(np.int64), self.config.n_anchors, out)
        return out

    def sample_walks(
        self,
        components: range,
        side: int,
        adjacency: Adjacency,
        factors: NDArray[np.float64],
        distribution: int,
        loads: Any,
        ends: Any,
        anchors: NDArray[np.bool_] | None,
        blocks: tuple[NDArray[Any], NDArray[Any]],
        sums: Any,
        gathered: Any,
    ) -> None:
        """Sample the walks of some components from every node."""
        config = self.config
        first_walker, n_walkers = components.start * config.n_walks, len(components) * config.n_walks
        holders = np.arange(first_walker, first_walker + n_walkers, config.n_walks if config.share_signs else 1)
        signs = np.empty((len(holders), len(self.hashes), 2), np.uint64)
        edge_signs = np.empty((len(holders), len(self.edge_hashes), 2), np.uint64)
        deposits, lengths = np.zeros((len(holders), len(factors))), np.empty(len(holders), np.int64)
        shared_coins = config.p_halt if config.share_halting else 0.0
        _hold(
            np.uint64(config.seed), side, holders, self.hashes, self.edge_hashes, distribution, factors, shared_coins,
            signs, edge_signs, deposits, lengths,
        )  # fmt: skip
        apart, nothing = sums is not None, np.zeros((1, 1))
        walk[(len(blocks[1]), n_walkers), THREADS](
            np.uint64(config.seed), to_device(np.stack(blocks, axis=1).astype(np.int64)), self.offsets,
            self.device_keys, to_device(adjacency.indptr), to_device(adjacency.indices), to_device(adjacency.weights),
            len(adjacency.weights) > 0, to_device(adjacency.edge_codes), to_device(edge_signs),
            to_device(self.edge_hashes), self.edge_labels,
            self.codes, to_device(signs), to_device(self.hashes), self.signed, loads,
            loads if ends is None else ends, to_device(deposits), to_device(lengths),
            0.0 if config.share_halting else config.p_halt, first_walker, config.n_walks, config.share_signs, side,
            self.inverse, to_device(np.ones((1, 1), np.bool_) if anchors is None else anchors), anchors is not None,
            apart, sums if apart else to_device(nothing[None]), to_device(nothing) if apart else gathered,
        )  # fmt: skip
        cuda.synchronize()


@kernel(parallel=True)
def _hold(
    seed: Any, side: Any, holders: Any, hashes: Any, edge_hashes: Any, distribution: Any, factors: Any, p_halt: Any,
    signs: Any, edge_signs: Any, deposits: Any, lengths: Any,
) -> None:  # pragma: no cover  # fmt: skip
    """Signs, deposits and shared lengths of walkers, as `_cross` draws them on the CPU."""
    limit = np.int64(len(factors) - 1)
    for index in prange(len(holders)):
        i = np.int64(index)
        coins = np.array([seed, np.uint64(0)])
        lengths[i] = limit if p_halt == 0 else halting_length(limit, p_halt, coins, 0, holders[i], side)
        fill_signs(seed, WALK_NODE, side, holders[i], hashes, signs[i])
        fill_signs(seed, WALK_EDGE, side, holders[i], edge_hashes, edge_signs[i])
        fill_lengths(seed, side, holders[i], distribution, factors, deposits[i, : lengths[i] + 1])


@kernel(parallel=True)
def _drop(first: Any, keys: Any, offsets: Any, n_anchors: Any, out: Any) -> None:  # pragma: no cover
    for index in prange(len(out)):
        i = np.int64(index)
        for g in range(len(keys)):
            drop_anchors(keys[g], first + i, n_anchors, out[i, offsets[g] : offsets[g + 1]])
