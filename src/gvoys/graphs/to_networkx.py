"""Convert a batch to networkx graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gvoys.errors import MissingDependencyError

if TYPE_CHECKING:
    from gvoys.graphs.batch import GraphBatch


def to_networkx(
    batch: GraphBatch, node_label: str, edge_label: str, weight: str, node_attributes: str, edge_attributes: str
) -> list[Any]:
    """Convert to networkx graphs: the work of `GraphBatch.to_networkx`."""
    try:
        import networkx  # noqa: F401
    except ImportError:
        raise MissingDependencyError("to_networkx needs networkx; install it with: pip install networkx") from None
    names = (node_label, edge_label, weight, node_attributes, edge_attributes)
    return [_one_to_networkx(graph, *names) for graph in batch]


def _one_to_networkx(
    graph: GraphBatch, node_label: str, edge_label: str, weight: str, node_attributes: str, edge_attributes: str
) -> Any:
    import networkx as nx

    rows, columns = graph.rows(), graph.indices
    chosen = np.flatnonzero(rows <= columns) if not graph.directed else np.arange(len(rows))
    pairs = np.column_stack([rows[chosen], columns[chosen]])
    parallel = bool((np.diff(pairs, axis=0) == 0).all(axis=1).any())
    kinds = {
        (False, False): nx.Graph,
        (True, False): nx.DiGraph,
        (False, True): nx.MultiGraph,
        (True, True): nx.MultiDiGraph,
    }
    out = kinds[graph.directed, parallel]()
    nodes: dict[str, list[Any]] = {}
    edges: dict[str, list[Any]] = {}
    if graph.node_labels is not None:
        nodes[node_label] = graph.node_labels.decode()
    if graph.node_attributes is not None:
        nodes[node_attributes] = list(graph.node_attributes)
    if graph.edge_labels is not None:
        edges[edge_label] = graph.edge_labels[chosen].decode()
    if graph.edge_weights is not None:
        edges[weight] = graph.edge_weights[chosen].tolist()
    if graph.edge_attributes is not None:
        edges[edge_attributes] = list(graph.edge_attributes[chosen])
    out.add_nodes_from(zip(range(graph.n_nodes), _facts(nodes, graph.n_nodes), strict=True))
    out.add_edges_from((u, v, fact) for (u, v), fact in zip(pairs.tolist(), _facts(edges, len(pairs)), strict=True))
    return out


def _facts(columns: dict[str, list[Any]], count: int) -> list[dict[str, Any]]:
    return [{name: values[i] for name, values in columns.items()} for i in range(count)]
