"""The fast path by numba-cuda; `small.cu` is its twin in CUDA C, and `small.py` launches them.

One block per (graph, group of 128 components). Lane l of a warp owns the coordinates l, l + 32, l + 64 and l + 96, so
that reading a neighbour's state, shifted or not, touches 32 different banks. The warps of a block share the nodes.
Neighbours are added up in the order of the CPU, so that the states are the same to the bit.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import cuda

_F32, _I32 = numba.float32, numba.int32


@cuda.jit
def sketch_small_graphs(
    chosen: Any, weighted: Any, graphs: Any, labels: Any, ends: Any, norm: Any, out: Any
) -> None:  # pragma: no cover
    """Profiles of the `chosen` graphs (grid x), all groups (grid y), into out, (n_graphs, n_steps, n_groups * 128).

    Block: (32, n_warps).
    """
    state = cuda.shared.array(0, _F32)
    nodes = cuda.shared.array(0, _I32)  # the same memory, for numbers
    one, two, width = np.uint32(1), np.uint32(2), np.uint32(128)
    lane, warp, n_warps = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y), np.uint32(cuda.blockDim.y)
    g, group = np.uint32(chosen[np.uint32(cuda.blockIdx.x)]), np.uint32(cuda.blockIdx.y)
    n_steps = np.uint32(out.shape[1])
    first = np.uint32(graphs.node_offsets[g])
    n = np.uint32(np.uint32(graphs.node_offsets[g + one]) - first)
    base = np.uint32(graphs.indptr[first])
    shares = np.uint32(n * two * width)
    rows = np.uint32(shares + two * n_warps * width)
    entries = np.uint32(rows + two * n)
    thread, n_threads = np.uint32(warp * np.uint32(32) + lane), np.uint32(n_warps * np.uint32(32))
    for u in range(thread, n, n_threads):
        begin = np.uint32(graphs.indptr[first + u])
        length = np.uint32(np.uint32(graphs.indptr[first + u + one]) - begin)
        nodes[rows + two * u] = np.int32(((begin - base) << np.uint32(12)) | length)
        nodes[rows + two * u + one] = np.int32(labels.codes[first + u])
    for e in range(thread, np.uint32(graphs.indptr[first + n]) - base, n_threads):
        nodes[entries + e] = np.int32(np.uint32(graphs.indices[base + e]) * width)
    x, y = np.uint32(0), np.uint32(n * width)
    cuda.syncthreads()
    for t in range(n_steps):
        p0 = p1 = p2 = p3 = np.float32(0.0)
        for u in range(warp, n, n_warps):
            turn = np.uint32(labels.table[group, t, nodes[rows + two * u + one], lane])
            if t == 0:
                s0 = s1 = s2 = s3 = ends.stop[first + u]
            else:
                s0 = s1 = s2 = s3 = np.float32(0.0)
                turned = np.uint32((turn & np.uint32(511)) >> two)  # a place, of four bytes each
                o0 = np.uint32(x + turned)
                o1 = np.uint32(x + ((turned + np.uint32(32)) & np.uint32(127)))
                o2 = np.uint32(x + ((turned + np.uint32(64)) & np.uint32(127)))
                o3 = np.uint32(x + ((turned + np.uint32(96)) & np.uint32(127)))
                row = np.uint32(nodes[rows + two * u])
                begin = np.uint32(entries + (row >> np.uint32(12)))
                for e in range(begin, begin + (row & np.uint32(4095))):
                    source = np.uint32(nodes[e])
                    if weighted:
                        weight = graphs.weights[base + (np.uint32(e) - entries)]
                        s0 += weight * state[source + o0]
                        s1 += weight * state[source + o1]
                        s2 += weight * state[source + o2]
                        s3 += weight * state[source + o3]
                    else:
                        s0 += state[source + o0]
                        s1 += state[source + o1]
                        s2 += state[source + o2]
                        s3 += state[source + o3]
                factor = ends.factors[g]
                s0, s1, s2, s3 = s0 * factor, s1 * factor, s2 * factor, s3 * factor
            s0 = -s0 if turn & np.uint32(0x8000) else s0
            s1 = -s1 if turn & np.uint32(0x4000) else s1
            s2 = -s2 if turn & np.uint32(0x2000) else s2
            s3 = -s3 if turn & np.uint32(0x1000) else s3
            target = np.uint32(y + u * width + lane)
            state[target] = s0
            state[target + np.uint32(32)] = s1
            state[target + np.uint32(64)] = s2
            state[target + np.uint32(96)] = s3
            weight = ends.start[first + u]
            p0, p1, p2, p3 = p0 + weight * s0, p1 + weight * s1, p2 + weight * s2, p3 + weight * s3
        share = np.uint32(shares + ((np.uint32(t) & one) * n_warps + warp) * width + lane)
        state[share] = p0
        state[share + np.uint32(32)] = p1
        state[share + np.uint32(64)] = p2
        state[share + np.uint32(96)] = p3
        cuda.syncthreads()
        for j in range(thread, width, n_threads):  # two sets of shares, so that this needs no barrier behind it
            total = 0.0
            for w in range(n_warps):
                total += state[shares + ((np.uint32(t) & one) * n_warps + w) * width + j]
            out[g, t, group * width + j] = np.float32(total * norm)
        x, y = y, x
