"""Other forms of graphs: normalised, refined, without a node, as edges; and weights of starts and stops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys.errors import GraphError, ParameterError
from gvoys.graphs.batch import PER_EDGE, PER_NODE, GraphBatch
from gvoys.graphs.check import as_floats
from gvoys.graphs.entries import stable_order, take
from gvoys.graphs.labels import Labels, combine_hashes
from gvoys.graphs.ranges import read_only

ENDS = ("uniform", "ones")  # weights that have a name
_IN = np.uint64(0x13198A2E03707344)  # tells the neighbours before a node from those after it


def normalized_weights(batch: GraphBatch, how: str) -> NDArray[np.float64]:
    """Weights of a normalised adjacency matrix; isolated nodes keep empty rows."""
    if how not in ("row", "symmetric"):
        raise ParameterError(f'normalized takes "row" or "symmetric", not {how!r}')
    rows, weights = batch.rows(), batch.weights()
    outgoing = _degrees(batch, rows, weights)
    if how == "row":
        return weights / outgoing[rows]
    columns = batch.columns()
    return weights / np.sqrt(outgoing[rows] * _degrees(batch, columns, weights)[columns])


def _degrees(batch: GraphBatch, nodes: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    degrees: NDArray[np.float64] = np.bincount(nodes, weights, minlength=batch.n_nodes).astype(np.float64)
    bad = np.flatnonzero(degrees[nodes] <= 0)
    if bad.size:
        node = int(nodes[bad[0]])
        graph = int(batch.node_graphs()[node])
        raise GraphError(
            f"graph {graph}: node {node - int(batch.node_offsets[graph])} has edges but a weighted degree of "
            f"{degrees[node]:g}; only positive degrees can be normalised"
        )
    return degrees


def without_each_node(batch: GraphBatch) -> GraphBatch:
    """Every graph as often as it has nodes, each time without one of them."""
    copies = batch[np.repeat(np.arange(len(batch)), batch.graph_sizes)]
    within = np.arange(batch.n_nodes) - np.repeat(batch.node_offsets[:-1], batch.graph_sizes)
    kept = np.ones(copies.n_nodes, bool)
    kept[copies.node_offsets[:-1] + within] = False
    rows, columns = copies.rows(), copies.columns()
    stay = kept[rows] & kept[columns]
    numbers = np.cumsum(kept) - 1
    offsets = np.concatenate([[0], np.cumsum(copies.graph_sizes - 1)])
    degrees = np.bincount(numbers[rows[stay]], minlength=int(kept.sum()))
    first = np.repeat(offsets[:-1], np.diff(copies.entry_offsets))[stay]
    chosen = {name: take(getattr(copies, name), stay) for name in PER_EDGE}
    chosen |= {name: take(getattr(copies, name), kept) for name in PER_NODE}
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    indices = (numbers[columns[stay]] - first).astype(np.int32)
    return GraphBatch._adopt(offsets, indptr, indices, copies.directed, **chosen)


def compute_endpoint(batch: GraphBatch, what: Any, name: str) -> NDArray[np.float64]:
    """Weights of the nodes that walks start from or stop at."""
    if isinstance(what, str) and what == "ones":
        return np.ones(batch.n_nodes)
    if isinstance(what, str) and what == "uniform":
        return np.repeat(1.0 / np.maximum(batch.graph_sizes, 1), batch.graph_sizes)
    expected = f'{name} must be "uniform", "ones" or an array of {batch.n_nodes} numbers, one per node'
    try:
        values = as_floats(what, name)
    except GraphError:
        raise ParameterError(f"{expected}, not {what!r}") from None
    if values.shape != (batch.n_nodes,):
        raise ParameterError(f"{expected}, not of shape {values.shape}")
    if not np.isfinite(values).all():
        raise ParameterError(f"{expected}; its entry {int(np.argmin(np.isfinite(values)))} is not finite")
    return values


def edges_of(batch: GraphBatch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Edges of graphs, each undirected one once."""
    rows = batch.rows() - np.repeat(batch.node_offsets[:-1], np.diff(batch.entry_offsets))
    entries = np.flatnonzero((rows <= batch.indices) | batch.directed)
    return np.column_stack([rows[entries], batch.indices[entries]]).astype(np.int64), entries


def reverse_entries(batch: GraphBatch) -> NDArray[np.int64]:
    """Find the entries x -> u for each entry u -> x, in one pass."""
    out = np.empty((batch.n_entries, 2), np.int64)
    cursors = batch.indptr[:-1].astype(np.int64)
    _find(*(read_only(array) for array in (batch.node_offsets, batch.indptr, batch.indices)), cursors, out)
    return out


@kernel()
def _find(node_offsets: Any, indptr: Any, indices: Any, cursors: Any, out: Any) -> None:  # pragma: no cover
    """Rows are sorted and u only grows, so that the search in each row x goes on where it stopped the last time."""
    for g in range(len(node_offsets) - 1):
        first, last = np.int64(node_offsets[g]), np.int64(node_offsets[g + 1])
        for node in range(first, last):
            u, e, end = node - first, np.int64(indptr[node]), np.int64(indptr[node + 1])
            while e < end:
                x = indices[e]
                begin, stop = cursors[first + x], np.int64(indptr[first + x + 1])
                while begin < stop and indices[begin] < u:
                    begin += 1
                cursors[first + x] = begin
                after = begin
                while after < stop and indices[after] == u:
                    after += 1
                while e < end and indices[e] == x:
                    out[e, 0], out[e, 1] = begin, after
                    e += 1


def refinement_rounds(batch: GraphBatch, rounds: int, node_labels: bool, edge_labels: bool) -> Iterator[GraphBatch]:
    """Yield the batch itself, then the batch after each Weisfeiler–Lehman iteration."""
    yield batch
    used = {"node_labels": node_labels, "edge_labels": edge_labels}
    seen = batch._with(**{name: getattr(batch, name) if is_used else None for name, is_used in used.items()})
    for _ in range(rounds):
        seen = refine_labels(seen)
        yield seen


def refine_labels(batch: GraphBatch) -> GraphBatch:
    """Hash each node's label with the multiset of (edge label, neighbour's label), per direction."""
    hashes = np.zeros(batch.n_nodes, np.uint64) if batch.node_labels is None else batch.node_labels.hashed
    edge = np.zeros(batch.n_entries, np.uint64) if batch.edge_labels is None else batch.edge_labels.hashed
    rows, columns = batch.rows(), batch.columns()
    neighbour_sums = _sums(combine_hashes(hashes[columns], edge), batch.indptr)
    if batch.directed:
        order = stable_order(columns)
        pointers = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=batch.n_nodes))])
        before = combine_hashes(hashes[rows] ^ _IN, edge)[order]
        neighbour_sums = combine_hashes(neighbour_sums, _sums(before, pointers))
    return batch._with(node_labels=Labels.from_hashes(combine_hashes(hashes, neighbour_sums)))


def _sums(values: NDArray[np.uint64], pointers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Sum the values between pointers modulo 2^64."""
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
    return running[pointers[1:]] - running[pointers[:-1]]
