"""Node-link dictionaries, as networkx and D3 write them: {"nodes": [{"id": …}], "links": [{…}]}."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gvoys.errors import GraphError
from gvoys.io.readers.parts import MISSING, GraphParts, Names, collect, stack_attributes

_EDGES = ("links", "edges")
_ITEMS = {"node": ("nodes",), "edge": _EDGES}
_KEYS = {"id", "key", "name", "source", "target"}


def matches(graph: Any) -> bool:
    """Recognise a dictionary of nodes and links."""
    return isinstance(graph, Mapping) and "nodes" in graph and any(name in graph for name in _EDGES)


def read(graph: Any, names: Names) -> GraphParts:
    """Read one node-link dictionary; lists among its labels become tuples."""
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
    """Return the data of the first node; None if the graph has no nodes."""
    return next(iter(_items(graph["nodes"], "nodes")), None)


def find_attributes(graph: Any, kind: str, names: Names) -> list[str] | None:
    """Return the names of fields that hold a number or vector in every node or link; None where there is none of these.

    A field of whole numbers may hold labels, so that it is read only where it is named.
    """
    try:
        items = _items(next((graph[name] for name in _ITEMS[kind] if name in graph), None), kind)
    except GraphError:  # which `read` says
        return None
    if not items:
        return None
    used = _KEYS | ({names.node_label} if kind == "node" else {names.edge_label, names.weight})
    return [name for name in items[0] if name not in used and _are_real([item.get(name) for item in items])]


def _are_real(values: list[Any]) -> bool:
    vectors = [value if isinstance(value, (list, tuple)) else [value] for value in values]
    numbers = [number for vector in vectors for number in vector]
    return (
        len({len(vector) for vector in vectors}) == 1
        and all(type(number) in (int, float) and abs(number) < math.inf for number in numbers)
        and any(type(value) is not int for value in values)
        and bool(numbers)
    )


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
