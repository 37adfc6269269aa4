"""Walk moments of small graphs: a thread takes graph after graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from gvoys._jit import kernel
from gvoys._kernels.cpu.matvec import dot, row_sum

__all__ = ["moments_of_small"]


@kernel(parallel=True)
def moments_of_small(
    graphs: Any,
    chunks: Any,
    node_offsets: Any,
    indptr: Any,
    indices: Any,
    weights: Any,
    start: Any,
    stop: Any,
    factors: Any,
    mirrored: bool,
    out: Any,
) -> None:  # pragma: no cover
    """Moments v^T (factor A)^i w of `graphs`, each on one thread, into out, (n_graphs, n_lengths)."""
    for chunk in prange(len(chunks) - 1):
        chosen = graphs[chunks[np.int64(chunk)] : chunks[np.int64(chunk) + 1]]
        room = 0
        for g in chosen:
            if node_offsets[g + 1] - node_offsets[g] > room:
                room = node_offsets[g + 1] - node_offsets[g]
        x = np.empty(room)
        y = np.empty(room)
        for g in chosen:
            first = np.int64(node_offsets[g])
            n = np.int64(node_offsets[g + 1]) - first
            factor = factors[g]
            v = start[first : first + n]
            x[:n] = stop[first : first + n]
            if not mirrored:
                out[g, 0] = dot(v, x, 0, n)
            i = 0
            while i < out.shape[1]:
                if mirrored:
                    out[g, i] = dot(x, x, 0, n)
                i += 1
                if i == out.shape[1]:
                    break
                for u in range(n):
                    y[u] = factor * row_sum(indptr[first + u], indptr[first + u + 1], indices, weights, x)
                if mirrored:
                    out[g, i] = dot(x, y, 0, n)
                    i += 1
                else:
                    out[g, i] = dot(v, y, 0, n)
                x, y = y, x
