"""GraKeL's graphs, and its tuples: (edges or adjacency, node labels, edge labels), the last two optional.

Edges are a dictionary {u: [v, …]}, {u: {v: weight}} or {(u, v): weight}, or an iterable of (u, v) or
(u, v, weight); an undirected edge is listed in both directions, as GraKeL itself expects. Node labels that are
vectors are read as node attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from gvoys.errors import GraphError
from gvoys.graphs.numbers import as_floats
from gvoys.io.readers import from_matrix
from gvoys.io.readers.parts import GraphParts, Names


def matches(graph: Any) -> bool:
    """Recognise a graph, or a tuple or list of one to three members that begins with edges or a matrix."""
    if _is_graph(graph):
        return True
    if not isinstance(graph, (tuple, list)) or not 1 <= len(graph) <= 3:
        return False
    return sp.issparse(graph[0]) or isinstance(graph[0], (Mapping, set, frozenset, list, tuple, np.ndarray))


def read(graph: Any, names: Names) -> GraphParts:
    """Read one graph or tuple."""
    edges, node_labels, edge_labels = _members(graph) if _is_graph(graph) else (*graph, None, None)[:3]
    if _is_matrix(edges):
        parts = from_matrix.read(edges if sp.issparse(edges) else np.asarray(edges), names)
        nodes: list[Any] = list(range(parts.n_nodes))
    else:
        parts, nodes = _read_edges(edges, node_labels, names)
    parts = _with_node_labels(parts, nodes, node_labels)
    return parts if not edge_labels else _with_edge_labels(parts, nodes, edge_labels)


def _is_graph(graph: Any) -> bool:
    return hasattr(graph, "edge_dictionary") and hasattr(graph, "adjacency_matrix")


def _members(graph: Any) -> tuple[Any, Any, Any]:
    """Return the members of a tuple for a graph, which holds a matrix, or edges by those nodes that have some."""
    if graph.edge_dictionary is not None:
        alone = sorted(set(graph.vertices) - set(graph.edge_dictionary), key=repr)
        return {**graph.edge_dictionary, **{node: {} for node in alone}}, graph.node_labels or None, graph.edge_labels
    return graph.adjacency_matrix, graph.index_node_labels or None, graph.index_edge_labels


def _is_matrix(edges: Any) -> bool:
    if sp.issparse(edges) or isinstance(edges, np.ndarray):
        return True
    return (
        isinstance(edges, list)
        and bool(edges)
        and all(isinstance(row, list) and len(row) == len(edges) for row in edges)
    )


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


def _with_edge_labels(parts: GraphParts, nodes: list[Any], labels: Mapping[Any, Any]) -> GraphParts:
    pairs = zip(parts.rows.tolist(), parts.columns.tolist(), strict=True)
    try:
        return replace(parts, edge_labels=[labels[nodes[u], nodes[v]] for u, v in pairs])
    except KeyError as missing:
        raise GraphError(f"edge {missing} has no label; give one to each edge, in both directions") from None
