"""networkx graphs: Graph, DiGraph, MultiGraph, MultiDiGraph."""

from __future__ import annotations

from typing import Any

import numpy as np

from gvoys.io.readers.parts import MISSING, GraphParts, Names, collect, stack_attributes


def matches(graph: Any) -> bool:
    """Recognise a networkx graph without importing networkx."""
    return hasattr(graph, "is_multigraph") and hasattr(graph, "adj")


def read(graph: Any, names: Names) -> GraphParts:
    """Read one networkx graph; parallel edges of a multigraph stay apart until the batch merges them."""
    nodes = dict(graph.nodes(data=True))
    number = dict(zip(nodes, range(len(nodes)), strict=True))
    edges = list(graph.edges(data=True))
    facts = [fact for _, _, fact in edges]
    return GraphParts(
        n_nodes=len(nodes),
        rows=np.fromiter((number[u] for u, _, _ in edges), np.int64, len(edges)),
        columns=np.fromiter((number[v] for _, v, _ in edges), np.int64, len(edges)),
        directed=graph.is_directed(),
        both_ways=False,
        weights=_column(facts, names.weight, "edges"),
        edge_labels=_column(facts, names.edge_label, "edges"),
        node_labels=_column(list(nodes.values()), names.node_label, "nodes"),
        node_attributes=stack_attributes(
            {name: _column(list(nodes.values()), name, "nodes") for name in names.node_attributes}, len(nodes)
        ),
        edge_attributes=stack_attributes(
            {name: _column(facts, name, "edges") for name in names.edge_attributes}, len(edges), "edge"
        ),
    )


def first_node(graph: Any) -> Any:
    """Return the data of the first node; None if the graph has no nodes."""
    return next((data for _, data in graph.nodes(data=True)), None)


def _column(facts: list[dict[str, Any]], name: str | None, of_what: str) -> list[Any] | None:
    if name is None:
        return None
    return collect([fact.get(name, MISSING) for fact in facts], name, of_what)
