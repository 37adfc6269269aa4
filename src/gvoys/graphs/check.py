"""Check arrays and a GraphBatch before a compiled loop reads it, since compiled code does not check indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys.errors import GraphError
from gvoys.graphs.entries import ROUNDING
from gvoys.graphs.labels import Labels
from gvoys.graphs.ranges import (
    NONE,
    each_stretch,
    first_above,
    first_bad_entry,
    first_fall,
    first_not_finite,
    read_only,
    shared_cuts,
)

if TYPE_CHECKING:
    from gvoys.graphs.batch import GraphBatch

_NO_EDGE, _DIFFERS = 1, 2
_SMALLER, _LARGER, _CODE = (np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7))

_INT32 = np.iinfo(np.int32)
_LAYOUT: Any = ("C", "A", "E")  # contiguous, aligned, a plain array: what kernels are compiled for


# -- types and shapes


def as_fields(batch: GraphBatch) -> dict[str, Any]:
    """Return the fields of a batch in the types that kernels take, if no value changes."""
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
    """Check that every number of a batch of the right types is within its range; `check_mirrored` checks symmetry."""
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


def as_array(values: Any) -> NDArray[Any]:
    """Convert values to an array, so that its shape can be checked."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.empty((1,) * 5, object)


def as_floats(values: Any, what: str, *, flat: bool = False) -> NDArray[np.float64]:
    """A copy of real numbers as float64."""
    try:
        array = np.array(values)
        if array.dtype.kind not in "biuf" and not (array.size == 0 or array.dtype.kind == "O"):
            raise TypeError
        numbers = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise GraphError(f"{what} must be real numbers of one shape") from None
    if flat and numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if flat and numbers.ndim != 1:
        raise GraphError(f"{what} must be one number each, not of shape {numbers.shape}")
    return numbers


_NO_CODES, _NO_WEIGHTS = read_only(np.empty(0, np.int32)), read_only(np.empty(0))


def check_mirrored(batch: GraphBatch) -> None:
    """Check that each entry of an undirected batch has its mirror, of equal label and weight."""
    # the hashes of entries with u < v and of those with u > v add up to the same number; only where they do not are
    # entries compared one by one: weights may differ by rounding, and the edge that has no mirror is to be named
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
    # a cursor per node stands at its first entry that no row before has mirrored; columns are sorted, so that row u
    # must be at the cursor of v, and all entries of u below u are behind its cursor when its turn comes
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
