"""Whether an undirected batch has each edge in both directions: one pass in order, in memory O(n_nodes) at most.

Each entry u -> v is hashed with its label and weight, the smaller end first. The hashes of entries with u < v and of
those with u > v then add up to the same number, but for a chance of 2^-64. Only where they do not, entries are compared
one by one: weights may differ by rounding, and the edge that has no mirror is to be named.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys.errors import GraphError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.entries import ROUNDING
from gvoys.graphs.ranges import each_stretch, read_only, shared_cuts

_NO_CODES, _NO_WEIGHTS = read_only(np.empty(0, np.int32)), read_only(np.empty(0))
_NO_EDGE, _DIFFERS = 1, 2
_SMALLER, _LARGER, _CODE = (np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7))


def check_mirrored(batch: GraphBatch) -> None:
    """Check that each entry of an undirected batch has its mirror, of equal label and weight.

    Parallel edges stand in the same order in the rows of both ends. Directed batches pass.
    """
    if batch.directed or not batch.n_entries or not _is_suspicious(batch):
        return
    cursors = batch.indptr[:-1].astype(np.int64)
    faults = np.zeros((len(batch), 3), np.int64)
    _compare(*_arrays(batch), ROUNDING, cursors, faults)
    bad = np.flatnonzero(faults[:, 0])
    if bad.size:
        fault, node, column = faults[bad[0]].tolist()
        why = "has no edge back" if fault == _NO_EDGE else "and the edge back differ in weight or label"
        raise GraphError(f"graph {bad[0]}: edge ({node}, {column}) {why}, and the graphs are undirected")


def _is_suspicious(batch: GraphBatch) -> bool:
    sums = each_stretch(_signed_sum, shared_cuts(batch.indptr), *_arrays(batch))
    return sum(int(part) for part in sums) % 2**64 != 0


def _arrays(batch: GraphBatch) -> tuple[NDArray[Any], ...]:
    codes = _NO_CODES if batch.edge_labels is None else read_only(batch.edge_labels.codes)
    weights = _NO_WEIGHTS if batch.edge_weights is None else read_only(batch.edge_weights)
    return batch.node_offsets.astype(np.int64), read_only(batch.indptr), read_only(batch.indices), codes, weights


@kernel()
def _signed_sum(
    offsets: Any, indptr: Any, indices: Any, codes: Any, weights: Any, begin: int, end: int
) -> Any:  # pragma: no cover
    """Hashes of the entries of some nodes, plus above the diagonal and minus below it, modulo 2^64."""
    total = np.uint64(0)
    graph = np.searchsorted(offsets, begin, side="right") - 1
    bits = weights.view(np.uint64)
    for u in range(begin, end):
        while offsets[graph + 1] <= u:
            graph += 1
        for e in range(np.uint64(indptr[u]), np.uint64(indptr[u + 1])):
            v = offsets[graph] + indices[e]
            x = np.uint64(min(u, v)) * _SMALLER + np.uint64(max(u, v)) * _LARGER
            if len(codes):
                x += np.uint64(codes[e]) * _CODE
            if len(bits):
                x += _mixed(bits[e])
            # a factor of 1, 0 or 2^64 - 1, since which of them comes next cannot be foretold
            total += _mixed(x) * (np.uint64(v > u) - np.uint64(v < u))
    return total


@kernel(inline="always")
def _mixed(x: Any) -> Any:  # pragma: no cover
    """The finaliser of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel()
def _compare(
    offsets: Any, indptr: Any, indices: Any, codes: Any, weights: Any, rounding: float, cursors: Any, faults: Any
) -> None:  # pragma: no cover
    for graph in range(len(faults)):
        fault, node, column = _compare_graph(
            offsets[graph], offsets[graph + 1], indptr, indices, codes, weights, rounding, cursors
        )
        faults[graph, 0], faults[graph, 1], faults[graph, 2] = fault, node, column


@kernel()
def _compare_graph(
    first: Any, last: Any, indptr: Any, indices: Any, codes: Any, weights: Any, rounding: float, cursors: Any
) -> Any:  # pragma: no cover
    """Walk rows in order. A cursor per node stands at its first entry that no row before has mirrored.

    Columns are sorted, so that row u must find itself at the cursor of v, and all of its own entries below u are behind
    its cursor when its turn comes.
    """
    for u in range(first, last):
        for e in range(cursors[u], np.int64(indptr[u + 1])):
            v = first + indices[e]
            if v < u:
                return _NO_EDGE, u - first, v - first
            if v == u:
                continue
            mirror = cursors[v]
            if mirror >= indptr[v + 1] or first + indices[mirror] > u:
                return _NO_EDGE, u - first, v - first
            if first + indices[mirror] < u:
                return _NO_EDGE, v - first, np.int64(indices[mirror])
            if len(codes) and codes[e] != codes[mirror]:
                return _DIFFERS, u - first, v - first
            if len(weights) and abs(weights[e] - weights[mirror]) > rounding * abs(weights[e]):
                return _DIFFERS, u - first, v - first
            cursors[v] = mirror + 1
    return 0, 0, 0
