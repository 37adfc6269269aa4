"""Sampled walks on the GPU: a thread per walker, the same random bits as on the CPU.

A block takes 256 nodes of one graph and one walker from each. Deposits are added up within the block in a fixed order,
and the blocks of a graph in order, so that the same seed gives the same bits; only Algorithm 1, whose deposits gather
at nodes, adds up in the order in which they come.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import cuda

from gvoys._kernels.cpu.randomness import HALT, START, STEP, WALK_EDGE, WALK_NODE
from gvoys._kernels.cpu.randomness import philox as philox_on_cpu
from gvoys._kernels.cpu.randomness import uniform as uniform_on_cpu
from gvoys._kernels.cuda.blocks import THREADS, add_up

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
