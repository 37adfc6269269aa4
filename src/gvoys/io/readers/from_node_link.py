"""Node-link dictionaries, as networkx and D3 write them: {"nodes": [{"id": …}], "links": [{…}]}."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gvoys.errors import GraphError
from gvoys.io.readers.parts import MISSING, GraphParts, Names, collect, stack_attributes

_EDGES = ("links", "edges")


def matches(graph: Any) -> bool:
    """Recognise a dictionary of nodes and links.

    Parameters
    ----------
    graph : object
        Anything.

    Returns
    -------
    bool
        Whether `read` can read it.
    """
    return isinstance(graph, Mapping) and "nodes" in graph and any(name in graph for name in _EDGES)


def read(graph: Any, names: Names) -> GraphParts:
    """Read one node-link dictionary; lists among its labels become tuples.

    Parameters
    ----------
    graph : dict
        Nodes and links.
    names : Names
        How to read it.

    Returns
    -------
    GraphParts
        The graph.
    """
    nodes = _items(graph["nodes"], "nodes")
    edges = _items(next((graph[name] for name in _EDGES if name in graph), None), "links")
    number = {_hashable(node.get("id", place)): place for place, node in enumerate(nodes)}
    if len(number) < len(nodes):
        raise GraphError("two nodes have the same id")
    ends = [_ends(edge, number) for edge in edges]
    pairs = np.array(ends, np.int64).reshape(-1, 2)
    return GraphParts(
        n_nodes=len(nodes),
        rows=pairs[:, 0],
        columns=pairs[:, 1],
        directed=bool(graph.get("directed", False)),
        both_ways=False,
        weights=_column(edges, names.weight, "links"),
        edge_labels=_column(edges, names.edge_label, "links"),
        node_labels=_column(nodes, names.node_label, "nodes"),
        node_attributes=stack_attributes(
            {name: _column(nodes, name, "nodes") for name in names.node_attributes}, len(nodes)
        ),
        edge_attributes=stack_attributes(
            {name: _column(edges, name, "links") for name in names.edge_attributes}, len(edges), "edge"
        ),
    )


def first_node(graph: Any) -> Any:
    """What the first node says of itself.

    Parameters
    ----------
    graph : dict
        The graph.

    Returns
    -------
    dict or None
        Its attributes; None if the graph has no nodes.
    """
    return next(iter(_items(graph["nodes"], "nodes")), None)


def _items(items: Any, what: str) -> list[Any]:
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, Mapping) for item in items):
        raise GraphError(f"{what} must be a list of dictionaries")
    return list(items)


def _ends(edge: Any, number: dict[Any, int]) -> tuple[int, int]:
    try:
        return number[_hashable(edge["source"])], number[_hashable(edge["target"])]
    except KeyError as error:
        raise GraphError(f"a link lacks, or leads to a node that is not among the nodes: {error}") from None


def _column(items: list[Any], name: str | None, of_what: str) -> list[Any] | None:
    if name is None:
        return None
    found = collect([item.get(name, MISSING) for item in items], name, of_what)
    return None if found is None else [_hashable(value) for value in found]


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_hashable(item) for item in value)
    if isinstance(value, dict):
        raise GraphError("a dictionary cannot be a label or an id; use a number, a string or a list of these")
    return value
