"""Sampled walks on the GPU: what walkers share is drawn on the CPU, the walks themselves on the device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import cuda, prange
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys._kernels.arguments import Adjacency, Ends, SignedLabels, WalkedGraphs, Walkers
from gvoys._kernels.cpu.randomness import WALK_EDGE, WALK_NODE
from gvoys._kernels.cpu.voyagers.crossing import drop_anchors
from gvoys._kernels.cpu.voyagers.signs import fill_lengths, fill_signs
from gvoys._kernels.cpu.voyagers.steps import halting_length
from gvoys._kernels.cuda.arguments import ends_on_device
from gvoys._kernels.cuda.blocks import THREADS, node_blocks
from gvoys._kernels.cuda.device import to_device
from gvoys._kernels.cuda.walkers import Flags, Launch, Shared, StartedGraphs, Target, walk

_SUMS_BYTES = 1 << 28  # of sums, or of what lies at nodes, that are kept at once
_NOTHING = np.zeros((1, 1))


def sample_one_side(
    graphs: WalkedGraphs, ahead: Adjacency, labels: SignedLabels, ends: Ends, walkers: Walkers, n_components: int
) -> NDArray[np.float64]:
    """One-sided walks, summed over walkers, (n_graphs, n_lengths, n_components)."""
    n_lengths, n_walks = len(walkers.factors), walkers.n_walks
    side = _Side(0, graphs, ahead, labels, ends, walkers)
    out = np.zeros((len(graphs.keys), n_lengths, n_components))
    filled = np.flatnonzero(np.diff(graphs.node_offsets))
    for components in _portions(n_components, 8 * side.n_blocks * n_lengths * n_walks, side.n_blocks, walkers):
        sums = to_device(np.zeros((len(components) * n_walks, side.n_blocks, n_lengths)))
        side.sample(components, Target(sums, to_device(_NOTHING), to_device(_NOTHING, np.bool_)), apart=True)
        by_graph = np.add.reduceat(sums.copy_to_host(), side.pointers[filled], axis=1)
        by_component = by_graph.reshape(len(components), n_walks, len(filled), -1).sum(axis=1)
        out[filled[:, None], :, np.array(components)] = by_component.transpose(1, 0, 2)
    return out


def sample_both_sides(
    graphs: WalkedGraphs,
    ahead: Adjacency,
    back: Adjacency,
    labels: SignedLabels,
    ends: Ends,
    walkers: Walkers,
    n_components: int,
) -> NDArray[np.float64]:
    """Algorithm 1: the sum over walkers of (v^T C)(D^T w), (n_graphs, n_components)."""
    offsets, anchored = graphs.node_offsets, walkers.n_anchors >= 0
    turned = Ends(ends.stop, ends.start, ends.factors)
    sides = (_Side(0, graphs, ahead, labels, ends, walkers), _Side(1, graphs, back, labels, turned, walkers))
    out = np.zeros((len(graphs.keys), n_components))
    sizes, n_nodes = np.diff(offsets), int(offsets[-1])
    filled = np.flatnonzero(sizes)
    for components in _portions(n_components, 24 * n_nodes, sides[0].n_blocks, walkers):
        anchors = to_device(_anchors(components, graphs, walkers) if anchored else _NOTHING, np.bool_)
        gathered = []
        for side in sides:
            here = to_device(np.zeros((len(components), n_nodes)))
            side.sample(components, Target(to_device(_NOTHING[None]), here, anchors), apart=False)
            gathered.append(here.copy_to_host())
        products = np.add.reduceat(gathered[0] * gathered[1], offsets[filled], axis=1)
        out[filled[:, None], np.array(components)] = products.T
    if anchored:
        fewer = sizes > walkers.n_anchors
        out[fewer] *= (sizes[fewer] / max(walkers.n_anchors, 1))[:, None]
    return out


def _portions(n_components: int, n_bytes: int, n_blocks: int, walkers: Walkers) -> Iterator[range]:
    """Components that are sampled at once, of `n_bytes` each; a grid has 65,535 rows at most."""
    at_once = max(min(_SUMS_BYTES // max(n_bytes, 1), 65_535 // walkers.n_walks), 1)
    for first in range(0, n_components if n_blocks else 0, at_once):
        yield range(first, min(first + at_once, n_components))


def _anchors(components: range, graphs: WalkedGraphs, walkers: Walkers) -> NDArray[np.bool_]:
    """Mark the nodes that take deposits, for each component."""
    out = np.ones((len(components), int(graphs.node_offsets[-1])), np.bool_)
    _drop(components.start, graphs.keys, graphs.node_offsets, walkers.n_anchors, out)
    return out


class _Side:
    """Graphs on the device, along the edges (side 0) or against them (side 1), and the walkers on them."""

    def __init__(
        self,
        number: int,
        graphs: WalkedGraphs,
        adjacency: Adjacency,
        labels: SignedLabels,
        ends: Ends,
        walkers: Walkers,
    ) -> None:
        starts = np.diff(graphs.node_offsets)
        starts = np.minimum(starts, walkers.n_starts) if walkers.n_starts else starts
        origins = np.concatenate([[0], np.cumsum(starts)])
        blocks = node_blocks(origins, THREADS)
        self.number, self.labels, self.walkers = number, labels, walkers
        self.n_blocks, self.pointers = len(blocks.begins), blocks.pointers
        tasks = np.stack([blocks.graphs, blocks.begins - origins[blocks.graphs]], axis=1)
        self.flags = (len(labels.codes) > 0, len(adjacency.edge_codes) > 0, len(adjacency.weights) > 0)
        self.arguments = (
            StartedGraphs(*map(to_device, (tasks, *graphs))),
            Adjacency(*map(to_device, adjacency)),
            SignedLabels(*map(to_device, labels)),
            ends_on_device(ends),
        )

    def sample(self, components: range, target: Target, apart: bool) -> None:
        """Sample the walks of some components from every node."""
        walkers, n_walks = self.walkers, self.walkers.n_walks
        first, count = components.start * n_walks, len(components) * n_walks
        own_coin = 0.0 if walkers.share_halting else walkers.p_halt
        launch = Launch(walkers.seed, self.number, first, n_walks, walkers.share_signs, own_coin, walkers.n_starts)
        holders = np.arange(first, first + count, n_walks if walkers.share_signs else 1)
        shared = Shared(*map(to_device, _share(self.number, holders, self.labels, walkers)))
        flags = Flags(*self.flags, walkers.n_anchors >= 0 and not apart, apart)
        walk[(self.n_blocks, count), THREADS](*self.arguments, launch, shared, target, flags)
        cuda.synchronize()


def _share(side: int, holders: NDArray[np.int64], labels: SignedLabels, walkers: Walkers) -> Shared:
    """Signs, deposits and shared lengths of walkers, as the CPU's walkers draw them."""
    n, factors = len(holders), walkers.factors
    signs, edge_signs = (np.empty((n, len(hashes), 2), np.uint64) for hashes in (labels.hashes, labels.edge_hashes))
    deposits, lengths = np.zeros((n, len(factors))), np.empty(n, np.int64)
    _fill(side, holders, labels, walkers, signs, edge_signs, deposits, lengths)
    return Shared(signs, edge_signs, deposits, lengths)


@kernel(parallel=True)
def _fill(side, holders, labels, walkers, signs, edge_signs, deposits, lengths):
    seed, p_halt, factors = walkers.seed, walkers.p_halt, walkers.factors
    limit, together = np.int64(len(factors) - 1), walkers.share_halting and p_halt > 0
    for index in prange(len(holders)):
        i = np.int64(index)
        coins = np.array([seed, np.uint64(0)])
        lengths[i] = halting_length(limit, p_halt, coins, 0, holders[i], side) if together else limit
        fill_signs(seed, WALK_NODE, side, holders[i], labels.hashes, signs[i])
        fill_signs(seed, WALK_EDGE, side, holders[i], labels.edge_hashes, edge_signs[i])
        fill_lengths(seed, side, holders[i], walkers.distribution, factors, deposits[i, : lengths[i] + 1])


@kernel(parallel=True)
def _drop(first, keys, offsets, n_anchors, out):
    for index in prange(len(out)):
        i = np.int64(index)
        for g in range(len(keys)):
            drop_anchors(keys[g], first + i, n_anchors, out[i, offsets[g] : offsets[g + 1]])
