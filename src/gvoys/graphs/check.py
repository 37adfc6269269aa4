"""Check a GraphBatch before a compiled loop reads it, since compiled code does not check indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError
from gvoys.graphs.labels import Labels
from gvoys.graphs.ranges import NONE, first_above, first_bad_entry, first_fall, first_not_finite

if TYPE_CHECKING:
    from gvoys.graphs.batch import GraphBatch

_INT32 = np.iinfo(np.int32)
_LAYOUT: Any = ("C", "A", "E")  # contiguous, aligned, a plain array: what kernels are compiled for


# -- types and shapes


def as_fields(batch: GraphBatch) -> dict[str, Any]:
    """The fields of a batch in the types that kernels take: as they are, or converted where no value changes."""
    check_directed(batch.directed)
    fields: dict[str, Any] = {name: _as_pointers(getattr(batch, name), name) for name in ("node_offsets", "indptr")}
    fields |= {"indices": _as_int32(batch.indices, "indices"), "directed": bool(batch.directed)}
    n_nodes, n_entries = len(fields["indptr"]) - 1, len(fields["indices"])
    if batch.edge_weights is not None:
        fields["edge_weights"] = _as_reals(batch.edge_weights, "edge_weights", 1, n_entries)
    for name, count in (("node_attributes", n_nodes), ("edge_attributes", n_entries)):
        if getattr(batch, name) is not None:
            fields[name] = _as_reals(getattr(batch, name), name, 2, count)
    for name, count in (("edge_labels", n_entries), ("node_labels", n_nodes)):
        if getattr(batch, name) is not None:
            fields[name] = as_labels(getattr(batch, name), name, count)
    return fields


def check_directed(directed: Any) -> None:
    """Check a direction: an array or a word would be taken for True."""
    if not isinstance(directed, (bool, np.bool_)):
        raise GraphError(f"directed must be True or False, not {directed!r}")


def as_labels(labels: Any, name: str, count: int) -> Labels:
    """Check that there are `count` labels whose codes lie within their table; gives them in the types of kernels."""
    if not isinstance(labels, Labels):
        raise GraphError(f"{name} must be Labels, not {type(labels).__name__!r}; GraphBatch.from_arrays takes values")
    codes, hashes = _as_int32(labels.codes, f"the codes of {name}"), _as_hashes(labels.hashes, name)
    if len(codes) != count:
        raise GraphError(f"{name} has {len(codes)} codes and should have {count}")
    if not hasattr(labels.values, "__len__") or len(labels.values) != len(hashes):
        raise GraphError(f"{name} must have one value for each of its {len(hashes)} hashes")
    bad = first_above(codes, len(hashes))
    if bad != NONE:
        raise GraphError(f"{name}: code {codes[bad]} at place {bad} is not among 0 to {len(hashes) - 1}")
    same = codes is labels.codes and hashes is labels.hashes
    return labels if same else Labels(codes, hashes, labels.values)


def copied(value: Any) -> Any:
    """Copy a field of a batch to memory that nobody else can write."""
    if isinstance(value, Labels):
        return Labels(value.codes.copy(), value.hashes.copy(), tuple(value.values))
    return value.copy() if isinstance(value, np.ndarray) else value


def _array(values: Any, name: str, ndim: int, kinds: str, wanted: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        raise GraphError(f"{name} must be {wanted}") from None
    if array.ndim != ndim or (array.dtype.kind not in kinds and (array.size or array.dtype.kind == "O")):
        raise GraphError(f"{name} must be {wanted}, not {array.dtype} of shape {array.shape}")
    return array


def _plain(array: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    """The array itself where kernels take it as it is, else a copy that they take."""
    if type(array) is np.ndarray and array.dtype == kind and array.flags.c_contiguous and array.flags.aligned:
        return array
    return np.require(array, kind, _LAYOUT)


def _as_pointers(values: Any, name: str) -> NDArray[Any]:
    array = _array(values, name, 1, "iu", "a flat array of integers")
    if not array.size:
        raise GraphError(f"{name} is empty; it starts with 0, also where there is no graph")
    if array.dtype == np.uint64 and array.max() > np.uint64(np.iinfo(np.int64).max):
        raise GraphError(f"{name} has the number {array.max()}, which no array is long enough for")
    kind = array.dtype.newbyteorder("=")
    return _plain(array, kind if kind in (np.int32, np.int64) else np.dtype(np.int64))


def _as_int32(values: Any, name: str) -> NDArray[np.int32]:
    array = _array(values, name, 1, "iu", "a flat array of integers")
    if array.size and array.dtype.newbyteorder("=") != np.int32:
        for extreme in (array.min(), array.max()):
            if not _INT32.min <= extreme <= _INT32.max:
                raise GraphError(f"{name} must be 32-bit integers, and {extreme} is not")
    return _plain(array, np.dtype(np.int32))


def _as_hashes(values: Any, name: str) -> NDArray[np.uint64]:
    array = _array(values, f"the table of {name}", 1, "u", "a flat array of 64-bit hashes, uint64")
    return _plain(array, np.dtype(np.uint64))


def _as_reals(values: Any, name: str, ndim: int, count: int) -> NDArray[np.float64]:
    array = _array(values, name, ndim, "biuf", f"real numbers, an array of {ndim} dimension{'s' * (ndim > 1)}")
    if len(array) != count:
        raise GraphError(f"{name} has {len(array)} rows and should have {count}")
    return _plain(array, np.dtype(np.float64))


# -- values


def check_structure(batch: GraphBatch) -> None:
    """Check that every number of a batch of the right types is within its range.

    One pass over each array at the speed of memory, in memory that does not grow with the entries. That an undirected
    batch is symmetric is not checked here, but by `check_mirrored`.
    """
    _check_pointers(batch.node_offsets, "node_offsets", batch.n_nodes, "nodes", "graph {place}: ")
    _check_pointers(batch.indptr, "indptr", batch.n_entries, "entries", "{node}: ", batch.node_offsets)
    entry = first_bad_entry(batch.node_offsets, batch.indptr, batch.indices)
    if entry != NONE:
        raise GraphError(_describe_entry(batch, entry))
    if batch.edge_weights is not None and (entry := first_not_finite(batch.edge_weights)) != NONE:
        node = int(np.searchsorted(batch.indptr, entry, side="right")) - 1
        edge = f"{_name(batch.node_offsets, node)} to node {batch.indices[entry]}"
        raise GraphError(f"{edge}: the weight is {batch.edge_weights[entry]}; weights must be finite")
    if batch.node_attributes is not None and (bad := first_not_finite(batch.node_attributes)) != NONE:
        node = bad // batch.node_attributes.shape[1]
        raise GraphError(f"{_name(batch.node_offsets, node)}: an attribute is not finite")
    if batch.edge_attributes is not None and (bad := first_not_finite(batch.edge_attributes)) != NONE:
        node = int(np.searchsorted(batch.indptr, bad // batch.edge_attributes.shape[1], side="right")) - 1
        raise GraphError(f"{_name(batch.node_offsets, node)}: an attribute of an edge is not finite")


def _check_pointers(
    pointers: NDArray[Any], name: str, count: int, of_what: str, where: str, offsets: NDArray[Any] | None = None
) -> None:
    if pointers[0] != 0:
        raise GraphError(f"{name} must start at 0, not at {pointers[0]}")
    if (bad := first_fall(pointers)) != NONE:
        named = where.format(place=bad, node="" if offsets is None else _name(offsets, bad))
        raise GraphError(f"{named}{name} falls from {pointers[bad]} to {pointers[bad + 1]}; it must never fall")
    if pointers[-1] != count:
        raise GraphError(f"{name} ends at {pointers[-1]} and there are {count} {of_what}; the two must be equal")


def _describe_entry(batch: GraphBatch, entry: int) -> str:
    node = int(np.searchsorted(batch.indptr, entry, side="right")) - 1
    graph = int(np.searchsorted(batch.node_offsets, node, side="right")) - 1
    size, column = int(batch.node_offsets[graph + 1] - batch.node_offsets[graph]), int(batch.indices[entry])
    named = _name(batch.node_offsets, node)
    if not 0 <= column < size:
        return f"{named} has an entry that leads to node {column}, but the nodes are numbered 0 to {size - 1}"
    return f"{named} has entries out of order: {column} after {batch.indices[entry - 1]}; sort the entries of each node"


def _name(offsets: NDArray[Any], node: int) -> str:
    graph = int(np.searchsorted(offsets, node, side="right")) - 1
    return f"graph {graph}: node {node - int(offsets[graph])}"
