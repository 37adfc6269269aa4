"""python-igraph graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gvoys.io.readers.parts import MISSING, GraphParts, Names, collect, stack_attributes


def matches(graph: Any) -> bool:
    """Recognise an igraph graph without importing igraph."""
    return hasattr(graph, "vs") and hasattr(graph, "es") and hasattr(graph, "get_edgelist")


def read(graph: Any, names: Names) -> GraphParts:
    """Read one igraph graph; igraph fills attributes that were never set with None, read here as missing."""
    edges = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    return GraphParts(
        n_nodes=graph.vcount(),
        rows=edges[:, 0],
        columns=edges[:, 1],
        directed=graph.is_directed(),
        both_ways=False,
        weights=_column(graph.es, names.weight, "edges"),
        edge_labels=_column(graph.es, names.edge_label, "edges"),
        node_labels=_column(graph.vs, names.node_label, "nodes"),
        node_attributes=stack_attributes(
            {name: _column(graph.vs, name, "nodes") for name in names.node_attributes}, graph.vcount()
        ),
        edge_attributes=stack_attributes(
            {name: _column(graph.es, name, "edges") for name in names.edge_attributes}, len(edges), "edge"
        ),
    )


def first_node(graph: Any) -> Any:
    """Return the data of the first node; None if the graph has no nodes."""
    return graph.vs[0].attributes() if graph.vcount() else None


def _column(sequence: Any, name: str | None, of_what: str) -> list[Any] | None:
    if name is None or name not in sequence.attributes():
        return None
    return collect([MISSING if value is None else value for value in sequence[name]], name, of_what)
