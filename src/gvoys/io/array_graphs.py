"""Readers of graphs that are arrays: SciPy and NumPy matrices, PyTorch Geometric, and GraKeL's graphs and tuples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.errors import GraphError
from gvoys.graphs.check import as_floats
from gvoys.io.named_graphs import GraphParts, Names, gather_parts


def check_sparse(matrix: Any) -> None:
    """Check that the arrays of a sparse matrix fit each other: SciPy's compiled code reads wherever indices lead."""
    kind, data = matrix.format, matrix.data
    if kind in ("csr", "csc", "bsr"):
        _check_compressed(matrix)
    elif kind == "coo":
        _check_data(matrix, 1)
        for name, numbers, length in zip(("row", "col"), (matrix.row, matrix.col), matrix.shape, strict=True):
            _check_numbers(name, numbers, length)
            _check_count(name, len(numbers), len(data))
    elif kind == "dia":
        _check_flat("offsets", matrix.offsets)
        _check_data(matrix, 2)
        _check_count("offsets", len(matrix.offsets), len(data))
    elif kind == "lil":
        _check_count("rows", len(matrix.rows), matrix.shape[0])
        _check_count("data", len(data), matrix.shape[0])
        for row, (columns, values) in enumerate(zip(matrix.rows, data, strict=True)):
            _check_count(f"row {row}", len(columns), len(values))


def _check_compressed(matrix: Any) -> None:
    n_rows, n_columns = matrix.shape if matrix.format != "csc" else matrix.shape[::-1]
    if matrix.format == "bsr":
        shape = np.shape(matrix.data)
        if len(shape) != 3 or 0 in shape[1:] or n_rows % shape[1] or n_columns % shape[2]:
            raise GraphError(f"its data has the shape {shape}, which are no blocks of a matrix of shape {matrix.shape}")
        n_rows, n_columns = n_rows // shape[1], n_columns // shape[2]
    else:
        _check_data(matrix, 1)
    indptr, indices = matrix.indptr, matrix.indices
    _check_flat("indptr", indptr)
    _check_flat("indices", indices)
    _check_count("indptr", len(indptr), n_rows + 1)
    _check_count("indices", len(indices), len(matrix.data))
    if indptr[0] != 0 or indptr[-1] > len(indices):
        raise GraphError(f"its indptr goes from {indptr[0]} to {indptr[-1]}, and there are {len(indices)} entries")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        row = int(np.argmax(falls))
        raise GraphError(f"its indptr falls from {indptr[row]} to {indptr[row + 1]}; it must never fall")
    _check_numbers("indices", indices, n_columns)


def _check_data(matrix: Any, ndim: int) -> None:
    if np.ndim(matrix.data) != ndim:
        raise GraphError(f"its data has the shape {np.shape(matrix.data)}, and should have {ndim} dimension(s)")


def _check_flat(name: str, values: Any) -> None:
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in "iu":
        raise GraphError(f"its {name} must be a flat array of integers")


def _check_count(name: str, count: int, wanted: int) -> None:
    if count != wanted:
        raise GraphError(f"its {name} has {count} items and should have {wanted}")


def _check_numbers(name: str, numbers: NDArray[Any], length: int) -> None:
    _check_flat(name, numbers)
    for number in (numbers.min(), numbers.max()) if len(numbers) else ():
        if not 0 <= number < length:
            raise GraphError(f"its {name} has the number {number}, which is not among 0 to {length - 1}")


def is_matrix(graph: Any) -> bool:
    """Recognise a sparse matrix or a two-dimensional numeric array."""
    return sp.issparse(graph) or (isinstance(graph, np.ndarray) and graph.ndim == 2 and graph.dtype.kind in "biuf")


def read_matrix(graph: Any, names: Names) -> GraphParts:
    """Read one adjacency matrix; the entries come out sorted, in linear time."""
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise GraphError(f"an adjacency matrix must be square, not of shape {graph.shape}")
    if graph.dtype.kind not in "biuf":
        raise GraphError(f"an adjacency matrix must hold real numbers, not {graph.dtype}")
    if sp.issparse(graph):
        check_sparse(graph)
        if graph.dtype.kind in "biu" and graph.dtype.itemsize < 4:
            graph = graph.astype(np.float64)  # repeated entries add up, past the range of small integers
    matrix = sp.csr_array(graph)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    weights = matrix.data.astype(np.float64, copy=False)
    if (weights == 0).any():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
        weights = matrix.data.astype(np.float64, copy=False)
    return GraphParts(
        n_nodes=matrix.shape[0],
        rows=np.repeat(np.arange(matrix.shape[0], dtype=matrix.indices.dtype), np.diff(matrix.indptr)),
        columns=matrix.indices,
        directed=names.directed,
        both_ways=True,
        weights=None if (weights == 1).all() else weights,
        named=False,
    )


def is_pyg(graph: Any) -> bool:
    """Recognise a PyG graph by its attributes."""
    return hasattr(graph, "edge_index") and hasattr(graph, "num_nodes")


def read_pyg(graph: Any, names: Names) -> GraphParts:
    """Read one `Data`, whose tensors have a row per node or edge; each distinct row of a label tensor is a label."""
    if hasattr(graph, "num_graphs"):
        raise GraphError("it is a PyG Batch of several graphs; pass batch.to_data_list()")
    index = _as_array(graph.edge_index)
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        raise GraphError(f"edge_index must be integers of shape (2, n_edges), not {index.dtype} of shape {index.shape}")
    n_nodes, n_edges = int(graph.num_nodes), index.shape[1]
    if names.weight == "weight" and getattr(graph, "weight", None) is None:  # PyG has a name of its own
        names = replace(names, weight="edge_weight")
    if names.edge_label == names.node_label:  # one object holds the tensors of nodes and edges: these are the nodes'
        names = replace(names, edge_label=None)
    node_column = partial(_pyg_column, graph, n_nodes, "nodes")
    edge_column = partial(_pyg_column, graph, n_edges, "edges")
    return gather_parts(names, n_nodes, (index[0], index[1]), True, names.directed, node_column, edge_column)


def _as_array(tensor: Any) -> NDArray[Any]:
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


def _pyg_column(graph: Any, count: int, of_what: str, name: str) -> NDArray[Any] | None:
    values = getattr(graph, name, None)
    if values is None:
        return None
    values = _as_array(values)
    if len(values) != count:
        raise GraphError(f"{name!r} has {len(values)} rows for {count} {of_what}; give one for each")
    return values


# GraKeL's tuples are (edges or adjacency, node labels, edge labels), the last two optional. Edges are {u: [v, …]},
# {u: {v: weight}}, {(u, v): weight}, or (u, v) or (u, v, weight) each; an undirected one is listed in both directions.
def is_grakel(graph: Any) -> bool:
    """Recognise a graph, or a tuple or list of one to three members that begins with edges or a matrix."""
    if _is_grakel_graph(graph):
        return True
    if not isinstance(graph, (tuple, list)) or not 1 <= len(graph) <= 3:
        return False
    return sp.issparse(graph[0]) or isinstance(graph[0], (Mapping, set, frozenset, list, tuple, np.ndarray))


def read_grakel(graph: Any, names: Names) -> GraphParts:
    """Read one graph or tuple; node labels that are vectors become node attributes."""
    edges, node_labels, edge_labels = _members(graph) if _is_grakel_graph(graph) else (*graph, None, None)[:3]
    if _holds_matrix(edges):
        parts = read_matrix(edges if sp.issparse(edges) else np.asarray(edges), names)
        nodes: list[Any] = list(range(parts.n_nodes))
    else:
        parts, nodes = _read_edges(edges, node_labels, names)
    parts = _with_node_labels(parts, nodes, node_labels)
    if not edge_labels:
        return parts
    pairs = zip(parts.rows.tolist(), parts.columns.tolist(), strict=True)
    try:
        return replace(parts, edge_labels=[edge_labels[nodes[u], nodes[v]] for u, v in pairs])
    except KeyError as missing:
        raise GraphError(f"edge {missing} has no label; give one to each edge, in both directions") from None


def _is_grakel_graph(graph: Any) -> bool:
    return hasattr(graph, "edge_dictionary") and hasattr(graph, "adjacency_matrix")


def _members(graph: Any) -> tuple[Any, Any, Any]:
    """Return the members of a tuple for a graph, which holds a matrix, or edges by those nodes that have some."""
    if graph.edge_dictionary is not None:
        alone = sorted(set(graph.vertices) - set(graph.edge_dictionary), key=repr)
        return {**graph.edge_dictionary, **{node: {} for node in alone}}, graph.node_labels or None, graph.edge_labels
    return graph.adjacency_matrix, graph.index_node_labels or None, graph.index_edge_labels


def _holds_matrix(edges: Any) -> bool:
    is_square = isinstance(edges, list) and all(isinstance(row, list) and len(row) == len(edges) for row in edges)
    return sp.issparse(edges) or isinstance(edges, np.ndarray) or (is_square and bool(edges))


def _read_edges(edges: Any, node_labels: Any, names: Names) -> tuple[GraphParts, list[Any]]:
    triples = list(_triples(edges))
    named = node_labels if isinstance(node_labels, Mapping) else ()
    sources = edges if isinstance(edges, Mapping) and not any(isinstance(key, tuple) for key in edges) else ()
    nodes = dict.fromkeys(chain(named, sources, (node for u, v, _ in triples for node in (u, v))))
    number = {node: i for i, node in enumerate(nodes)}
    weights = as_floats([weight for _, _, weight in triples], "edge weights", flat=True)
    parts = GraphParts(
        n_nodes=len(number),
        rows=np.fromiter((number[u] for u, _, _ in triples), np.int64, len(triples)),
        columns=np.fromiter((number[v] for _, v, _ in triples), np.int64, len(triples)),
        directed=names.directed,
        both_ways=True,
        weights=None if (weights == 1).all() else weights,
        named=False,
    )
    return parts, list(nodes)


def _triples(edges: Any) -> Iterator[tuple[Any, Any, Any]]:
    for edge in edges.items() if isinstance(edges, Mapping) else edges:
        if not isinstance(edges, Mapping):
            u, v, *weight = edge
            yield u, v, weight[0] if weight else 1.0
        elif isinstance(edge[0], tuple):
            (u, v), weight = edge
            yield u, v, weight
        else:
            u, targets = edge
            pairs: Iterable[Any] = targets.items() if isinstance(targets, Mapping) else ((v, 1.0) for v in targets)
            yield from ((u, v, weight) for v, weight in pairs)


def _with_node_labels(parts: GraphParts, nodes: list[Any], labels: Any) -> GraphParts:
    if labels is None or (not len(labels) and nodes):
        return parts
    if len(labels) != len(nodes):
        raise GraphError(f"{len(labels)} node labels for {len(nodes)} nodes; give one for each")
    try:
        values = [labels[node] for node in nodes] if isinstance(labels, Mapping) else list(labels)
    except KeyError as missing:
        raise GraphError(f"node {missing} has no label; give one to each node") from None
    if values and all(isinstance(value, (list, np.ndarray)) for value in values):
        return replace(parts, node_attributes=as_floats(values, "node attributes"))
    return replace(parts, node_labels=values)
