"""Build a GraphBatch from arrays or other batches, vectorised over all graphs at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gvoys.errors import GraphError
from gvoys.graphs.batch import PER_EDGE, PER_NODE, GraphBatch
from gvoys.graphs.check import as_array, as_floats, as_labels, check_directed, copied
from gvoys.graphs.entries import Entries, check_entries, index_type, merge_equal, row_pointers
from gvoys.graphs.labels import Labels

# -- arrays in


def batch_from_arrays(
    edges: ArrayLike,
    graph_sizes: ArrayLike,
    node_labels: Any,
    edge_labels: Any,
    edge_weights: ArrayLike | None,
    node_attributes: ArrayLike | None,
    directed: bool,
    edge_attributes: ArrayLike | None = None,
) -> GraphBatch:
    """Build a batch from arrays: the work of `GraphBatch.from_arrays`."""
    check_directed(directed)
    sizes = check_sizes(graph_sizes)
    try:
        entries = _entries(sizes, edges, edge_labels, edge_weights, edge_attributes, bool(directed))
        return assemble(entries, sizes, bool(directed), node_labels, node_attributes)
    except MemoryError:
        raise GraphError(f"{int(sizes.sum()):,} nodes need more memory than there is; a store takes more") from None


def _entries(
    sizes: NDArray[np.int64], edges: Any, edge_labels: Any, edge_weights: Any, edge_attributes: Any, directed: bool
) -> Entries:
    """Sorted entries, both directions of an undirected edge."""
    pairs = _check_edges(edges)
    labels = _labels(edge_labels, "edge_labels", len(pairs), "edges")
    weights = None if edge_weights is None else as_floats(edge_weights, "edge_weights", flat=True)
    if weights is not None:
        _check_length("edge_weights", weights, len(pairs), "edges")
    attributes = _rows_of_reals(edge_attributes, "edge_attributes", len(pairs), "edges")
    entries = Entries(pairs[:, 0], pairs[:, 1], weights, labels, attributes)
    check_entries(entries, sizes)
    small = index_type(int(sizes.sum()))
    entries = replace(entries, rows=entries.rows.astype(small), columns=entries.columns.astype(small))
    if not directed:
        entries = entries.mirrored(np.ones(len(entries), bool))
    return merge_equal(entries, sizes)


def check_sizes(graph_sizes: ArrayLike) -> NDArray[np.int64]:
    """Check the numbers of nodes."""
    sizes = as_array(graph_sizes)
    if sizes.ndim != 1 or (sizes.size and sizes.dtype.kind not in "iu"):
        raise GraphError(f"graph_sizes must be a flat array of integers, not {sizes.dtype} of shape {sizes.shape}")
    if sizes.size and sizes.min() < 0:
        graph = int(np.argmin(sizes))
        raise GraphError(f"graph {graph}: its size is {sizes[graph]}; a graph has zero nodes or more")
    if sizes.size and sizes.max() >= 2**31:  # indices are 32-bit
        graph = int(np.argmax(sizes))
        raise GraphError(f"graph {graph}: its size is {sizes[graph]}; a graph has at most 2^31 - 1 nodes")
    return sizes.astype(np.int64)


def _check_edges(edges: ArrayLike) -> NDArray[np.int64]:
    pairs = as_array(edges)
    if pairs.size == 0:
        return np.empty((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise GraphError(f"edges must be integers of shape (n_edges, 2), not {pairs.dtype} of shape {pairs.shape}")
    return pairs.astype(np.int64, copy=False)


def _check_length(name: str, values: Any, expected: int, of_what: str) -> Any:
    if isinstance(values, (Mapping, Set)) or not hasattr(values, "__len__") or getattr(values, "ndim", 1) == 0:
        raise GraphError(
            f"{name} must be a list or an array of one value for each of the {of_what}, not {type(values).__name__!r}"
        )
    if len(values) != expected:
        raise GraphError(f"{name} has {len(values)} values for {expected} {of_what}; give one for each")
    return values


# -- the last step


def assemble(
    entries: Entries, sizes: NDArray[np.int64], directed: bool, node_labels: Any, node_attributes: Any
) -> GraphBatch:
    """Make the batch from sorted, merged entries."""
    total = int(sizes.sum())
    node_offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(index_type(total))
    indptr = row_pointers(entries, total).astype(index_type(len(entries)))
    counts = np.diff(indptr[node_offsets])
    # numbered within the graph, so that slices need no renumbering; a single graph has 2^31 nodes at most
    indices = (entries.columns - np.repeat(node_offsets[:-1], counts)).astype(np.int32)
    return GraphBatch._of_checked(
        node_offsets,
        indptr,
        indices,
        directed,
        entries.weights,
        entries.labels,
        _labels(node_labels, "node_labels", total, "nodes"),
        _node_attributes(node_attributes, sizes),
        entries.attributes,
    )


def _labels(labels: Any, name: str, count: int, of_what: str) -> Labels | None:
    if labels is None or isinstance(labels, Labels):
        return copied(labels if labels is None else as_labels(labels, name, count))
    return Labels.from_values(_check_length(name, labels, count, of_what))


def _node_attributes(attributes: Any, sizes: NDArray[np.int64]) -> NDArray[np.float64] | None:
    values = _rows_of_reals(attributes, "node_attributes", int(sizes.sum()), "nodes")
    if values is None:
        return None
    bad = ~np.isfinite(values).all(axis=1)
    if bad.any():
        node = int(np.argmax(bad))
        graph = int(np.searchsorted(np.cumsum(sizes), node, side="right"))
        raise GraphError(f"graph {graph}: a node attribute is not finite; attributes must be real numbers")
    return values


def _rows_of_reals(given: Any, name: str, count: int, of_what: str) -> NDArray[np.float64] | None:
    """One row for each node or edge; a flat array is one column."""
    if given is None:
        return None
    values = np.atleast_1d(as_floats(given, name))
    _check_length(name, values, count, of_what)
    return values.reshape(len(values), -1) if values.size else values.reshape(len(values), 0)


# -- batches in


def concatenate_batches(batches: Sequence[GraphBatch]) -> GraphBatch:
    """Join batches: the work of `GraphBatch.concatenate`."""
    if not isinstance(batches, Iterable):
        raise GraphError(f"concatenate takes a list of GraphBatches, not {type(batches).__name__!r}")
    batches = list(batches)
    for index, batch in enumerate(batches):
        if not isinstance(batch, GraphBatch):
            raise GraphError(f"part {index} is a {type(batch).__name__!r}, not a GraphBatch; convert it with as_batch")
    if not batches:
        return batch_from_arrays([], np.empty(0, np.int64), None, None, None, None, False)
    check_joinable(batches)
    nodes, entries = ([getattr(b, name) for b in batches] for name in ("n_nodes", "n_entries"))
    weighted = any(batch.edge_weights is not None for batch in batches)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([b.graph_sizes for b in batches]))])
    indptr = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(b.indptr) for b in batches]))])
    return GraphBatch._of_checked(
        offsets.astype(index_type(sum(nodes))),
        indptr.astype(index_type(sum(entries))),
        np.concatenate([batch.indices for batch in batches]),
        batches[0].directed,
        np.concatenate([batch.weights() for batch in batches]) if weighted else None,
        join_values("edge labels", [b.edge_labels for b in batches], entries, Labels.concatenate, "batch"),
        join_values("node labels", [b.node_labels for b in batches], nodes, Labels.concatenate, "batch"),
        join_values("node attributes", [b.node_attributes for b in batches], nodes, join_attributes, "batch"),
        join_values("edge attributes", [b.edge_attributes for b in batches], entries, join_edge_attributes, "batch"),
    )


def check_joinable(batches: Sequence[GraphBatch]) -> None:
    """Check that batches go together, without joining them."""
    if len({batch.directed for batch in batches}) > 1:
        raise GraphError("directed and undirected batches cannot be joined; make the undirected ones directed first")
    for kind, names in (("n_nodes", PER_NODE), ("n_entries", PER_EDGE)):
        counts = [getattr(batch, kind) for batch in batches]
        for name in names:
            if name != "edge_weights":  # those that are missing are ones
                values = [getattr(batch, name) for batch in batches]
                join_values(name.replace("_", " "), values, counts, lambda parts: None, "batch")


def join_values(
    what: str, parts: list[Any], counts: Sequence[int], join: Callable[[list[Any]], Any], noun: str = "graph"
) -> Any:
    """Join the labels or attributes of several parts: all parts that have nodes or edges give values, or none does."""
    nonempty = [index for index, count in enumerate(counts) if count]
    given = [index for index in nonempty if parts[index] is not None]
    if not given:
        return None
    if len(given) < len(nonempty):
        without = next(index for index in nonempty if parts[index] is None)
        raise GraphError(
            f"{noun} {without} has no {what} and {noun} {given[0]} has; give {what} to all graphs or to none"
        )
    return join([parts[index] for index in given])


def join_attributes(parts: list[NDArray[np.float64]], kind: str = "node") -> NDArray[np.float64]:
    """Stack attributes of nodes or edges."""
    widths = sorted({part.shape[1] for part in parts})
    if len(widths) > 1:
        raise GraphError(f"the graphs have different numbers of {kind} attributes, {widths}; give all the same")
    return np.concatenate(parts)


join_edge_attributes = partial(join_attributes, kind="edge")
