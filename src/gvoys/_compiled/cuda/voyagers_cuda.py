"""Sampled walks on the GPU: what walkers share is drawn on the CPU, the walks themselves on the device."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cuda, prange
from numpy.typing import NDArray

from gvoys._compiled.arguments import Adjacency, Ends, SignedLabels, WalkedGraphs, Walkers
from gvoys._compiled.cpu.randomness import HALT, START, STEP, WALK_EDGE, WALK_NODE
from gvoys._compiled.cpu.randomness import philox as philox_on_cpu
from gvoys._compiled.cpu.randomness import uniform as uniform_on_cpu
from gvoys._compiled.cpu.voyager_steps import fill_lengths, fill_signs, halting_length
from gvoys._compiled.cpu.voyagers_cpu import drop_anchors
from gvoys._compiled.cuda.device import ends_on_device, to_device
from gvoys._compiled.cuda.moments_cuda import THREADS, add_up, node_blocks
from gvoys._jit import kernel

_LOW, _HALF, _ONE = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(1)

uniform = cuda.jit(device=True)(uniform_on_cpu.py_func)
philox = cuda.jit(device=True)(philox_on_cpu.py_func)


class StartedGraphs(NamedTuple):
    """Graphs that walkers start on, block by block."""

    tasks: Any  # (n_blocks, 2), graph and first of the walkers' origins
    node_offsets: Any
    keys: Any  # (n_graphs, 2)


class Launch(NamedTuple):
    """Walkers that are sampled."""

    seed: Any
    side: Any
    first_walker: Any
    n_walks: Any
    share_signs: Any
    p_halt: Any  # 0 where walkers halt together
    n_starts: Any  # of a larger graph, drawn for each walker; 0 for all nodes


class Shared(NamedTuple):
    """Numbers that walkers share on all graphs; holders are walkers, or components where signs are signer."""

    signs: Any  # (n_holders, n_labels, 2)
    edge_signs: Any
    deposits: Any  # (n_holders, n_lengths)
    lengths: Any  # (n_holders,)


class Target(NamedTuple):
    """Where deposits go: by length, or by node."""

    sums: Any  # (n_walkers, n_blocks, n_lengths)
    gathered: Any  # (n_components, n_nodes)
    anchors: Any  # (n_components, n_nodes)


class Flags(NamedTuple):
    """Parts of the graphs and walks that are there."""

    labelled: Any
    edge_labelled: Any
    weighted: Any
    anchored: Any
    apart: Any  # lengths are kept apart


@cuda.jit(device=True)
def _draw(key, g, first, second, purpose, side, count):
    what = (np.uint64(purpose) << np.uint64(28)) | (np.uint64(side) << np.uint64(24)) | np.uint64(count)
    k0, k1 = key[g, 0], key[g, 1]
    return philox(
        np.uint64(first) ^ (k1 & _LOW), np.uint64(second) ^ (k1 >> _HALF), what, np.uint64(0), k0 & _LOW, k0 >> _HALF
    )


@cuda.jit(device=True)
def _halting_length(limit, p_halt, key, g, node, walker, side):
    """Count as on the CPU the steps before a walker halts."""
    reach = np.int64(20.0 / p_halt) + 1
    steps = np.int64(0)
    for attempt in range(limit // reach + 1):
        a, b, _, _ = _draw(key, g, node, walker, HALT, side, attempt)
        more = np.int64(math.log(uniform(a, b)) / math.log1p(-p_halt))
        if more < reach:
            return min(steps + more, limit)
        steps += reach
    return limit


@cuda.jit(device=True)
def _starting_place(key, g, origin, n_starts, n_nodes, walker, side):
    """Pick as on the CPU the node of this number, or one drawn from n_nodes / n_starts consecutive ones."""
    if n_starts == n_nodes:
        return origin
    a, b, _, _ = _draw(key, g, origin, walker, START, side, 0)
    return min(np.int64((origin + uniform(a, b)) * (n_nodes / n_starts)), n_nodes - 1)


@cuda.jit(device=True)
def _parity(signs, hashes, holder, code, step, purpose, signer, launch):
    """1 where the label turns the sign; from the table for the first 128 steps, drawn beyond."""
    if step < 128:
        word = signs[holder, code, step >> 6]
    else:
        what = (np.uint64(purpose) << np.uint64(24)) | (np.uint64(launch.side) << np.uint64(16)) | np.uint64(step >> 7)
        name, seed = hashes[code], launch.seed
        a, b, c, d = philox(name & _LOW, name >> _HALF, np.uint64(signer), what, seed & _LOW, seed >> _HALF)
        word = (c | (d << _HALF)) if step & 64 else (a | (b << _HALF))
    return (word >> np.uint64(step & 63)) & _ONE


@cuda.jit
def walk(graphs, adjacency, labels, ends, launch, shared, target, flags):
    """Walkers (grid y) from blocks of nodes (grid x): their deposits by length into sums[walker, block, length], or,
    where lengths are not kept apart, by node into gathered[component, node].
    """
    shares = cuda.shared.array(THREADS, numba.float64)
    thread, block = np.int64(cuda.threadIdx.x), np.int64(cuda.blockIdx.x)
    row = np.int64(cuda.blockIdx.y)
    walker, side = launch.first_walker + row, launch.side
    component = row // launch.n_walks
    holder = component if launch.share_signs else row
    signer = (walker // launch.n_walks) * launch.n_walks if launch.share_signs else walker
    g, begin = graphs.tasks[block, 0], graphs.tasks[block, 1]
    first, n_nodes = graphs.node_offsets[g], graphs.node_offsets[g + 1] - graphs.node_offsets[g]
    n_starts = launch.n_starts if 0 < launch.n_starts < n_nodes else n_nodes
    origin = begin + thread
    alive = origin < n_starts
    node = first
    if alive:
        node = first + _starting_place(graphs.keys, g, origin, n_starts, n_nodes, walker, side)
    load = ends.start[node] * (n_nodes / n_starts) if alive else 0.0
    longest = shared.lengths[holder]
    mine = longest
    if launch.p_halt > 0.0 and alive:
        mine = _halting_length(longest, launch.p_halt, graphs.keys, g, origin, walker, side)
    d0 = d1 = d2 = d3 = np.uint64(0)
    for step in range(longest + 1):
        if flags.labelled and load != 0.0:
            turned = _parity(shared.signs, labels.hashes, holder, labels.codes[node], step, WALK_NODE, signer, launch)
            load = -load if turned else load
        value = load * shared.deposits[holder, step]
        if flags.apart:
            shares[thread] = value * ends.stop[node]
            add_up(shares, thread)
            if thread == 0:
                target.sums[row, block, step] = shares[0]
            cuda.syncthreads()
        elif value != 0.0 and (not flags.anchored or target.anchors[component, node]):
            cuda.atomic.add(target.gathered, (component, node), value)
        if step == longest:
            break
        if mine <= step:
            load = 0.0
        if load != 0.0:
            if step & 3 == 0:
                d0, d1, d2, d3 = _draw(graphs.keys, g, origin, walker, STEP, side, step >> 2)
            word = d0 if step & 3 == 0 else d1 if step & 3 == 1 else d2 if step & 3 == 2 else d3
            start = np.int64(adjacency.indptr[node])
            degree = np.int64(adjacency.indptr[node + 1]) - start
            if degree > 0:
                entry = start + np.int64((word * np.uint64(degree)) >> _HALF)
                load *= degree * ends.factors[g]
                node = first + adjacency.indices[entry]
                if flags.weighted:
                    load *= adjacency.weights[entry]
                if flags.edge_labelled:
                    code = adjacency.edge_codes[entry]
                    turned = _parity(
                        shared.edge_signs, labels.edge_hashes, holder, code, step, WALK_EDGE, signer, launch
                    )
                    load = -load if turned else load
            else:
                load = 0.0


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
