"""Readers of graphs whose labels, weights and attributes have names: networkx, igraph and node-link dictionaries."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError, InputWarning
from gvoys.graphs.check import as_floats

MISSING = object()
_IDENTIFIERS = {"id", "name", "_nx_name", "_igraph_index"}  # fields that tell nodes apart, so that no two are alike
LABEL = "label"  # the name that is read unless another is given


@dataclass(frozen=True)
class Names:
    """Names of the fields to read, and the direction of edges in formats that do not say it."""

    node_label: str | None = LABEL
    edge_label: str | None = "label"
    weight: str | None = "weight"
    node_attributes: tuple[str, ...] = ()
    directed: bool = False
    edge_attributes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GraphParts:
    """One graph as a reader returns it: entries with their ends, and a value or a row of numbers for each."""

    n_nodes: int
    rows: NDArray[Any]
    columns: NDArray[Any]
    directed: bool
    both_ways: bool  # an undirected edge is listed in both directions already
    weights: Any = None
    edge_labels: Any = None
    node_labels: Any = None
    node_attributes: Any = None
    edge_attributes: Any = None
    named: bool = True  # the format finds labels and weights by name


def collect(values: list[Any], name: str, of_what: str) -> list[Any] | None:
    """Return the values of one attribute, None where no item has it; raise an error where some are MISSING."""
    missing = sum(value is MISSING for value in values)
    if missing == len(values):
        return None
    if missing:
        raise GraphError(f"{missing} of {len(values)} {of_what} have no {name!r}; give it to all of them or to none")
    return values


def stack_attributes(columns: dict[str, Any], count: int, kind: str = "node") -> NDArray[np.float64] | None:
    """Return attributes of nodes or edges side by side, None where none are asked for."""
    if not columns or not count:
        return None
    for name, values in columns.items():
        if values is None:
            raise GraphError(f"no {kind} has the attribute {name!r} that {kind}_attributes asks for")
    blocks = [as_floats(values, f"{kind} attribute {name!r}") for name, values in columns.items()]
    return np.hstack([block.reshape(count, -1) for block in blocks])


def gather_parts(
    names: Names,
    n_nodes: int,
    ends: tuple[NDArray[Any], NDArray[Any]],
    both_ways: bool,
    directed: bool,
    node_column: Callable[[str], Any],
    edge_column: Callable[[str], Any],
) -> GraphParts:
    """Gather the named fields of one graph; a column is None where no node or edge has the field."""
    return GraphParts(
        n_nodes,
        *ends,
        directed,
        both_ways,
        weights=None if names.weight is None else edge_column(names.weight),
        edge_labels=None if names.edge_label is None else edge_column(names.edge_label),
        node_labels=None if names.node_label is None else node_column(names.node_label),
        node_attributes=stack_attributes({name: node_column(name) for name in names.node_attributes}, n_nodes),
        edge_attributes=stack_attributes(
            {name: edge_column(name) for name in names.edge_attributes}, len(ends[0]), "edge"
        ),
    )


def _collect_field(items: list[Mapping[str, Any]], of_what: str, name: str) -> list[Any] | None:
    return collect([item.get(name, MISSING) for item in items], name, of_what)


def is_networkx(graph: Any) -> bool:
    """Recognise a networkx graph without importing networkx."""
    return hasattr(graph, "is_multigraph") and hasattr(graph, "adj")


def read_networkx(graph: Any, names: Names) -> GraphParts:
    """Read one networkx graph; parallel edges of a multigraph stay apart until the batch merges them."""
    nodes = dict(graph.nodes(data=True))
    number = dict(zip(nodes, range(len(nodes)), strict=True))
    edges = list(graph.edges(data=True))
    rows = np.fromiter((number[u] for u, _, _ in edges), np.int64, len(edges))
    columns = np.fromiter((number[v] for _, v, _ in edges), np.int64, len(edges))
    node_column = partial(_collect_field, list(nodes.values()), "nodes")
    edge_column = partial(_collect_field, [fields for _, _, fields in edges], "edges")
    return gather_parts(names, len(nodes), (rows, columns), False, graph.is_directed(), node_column, edge_column)


def is_igraph(graph: Any) -> bool:
    """Recognise an igraph graph without importing igraph."""
    return hasattr(graph, "vs") and hasattr(graph, "es") and hasattr(graph, "get_edgelist")


def read_igraph(graph: Any, names: Names) -> GraphParts:
    """Read one igraph graph; igraph fills attributes that were never set with None, read here as missing."""
    rows, columns = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2).T
    node_column, edge_column = partial(_igraph_column, graph.vs, "nodes"), partial(_igraph_column, graph.es, "edges")
    return gather_parts(names, graph.vcount(), (rows, columns), False, graph.is_directed(), node_column, edge_column)


def _igraph_column(sequence: Any, of_what: str, name: str) -> list[Any] | None:
    if name not in sequence.attributes():
        return None
    return collect([MISSING if value is None else value for value in sequence[name]], name, of_what)


_EDGES = ("links", "edges")
_ITEMS = {"node": ("nodes",), "edge": _EDGES}
_KEYS = {"id", "key", "name", "source", "target"}


def is_node_link(graph: Any) -> bool:
    """Recognise a dictionary of nodes and links."""
    return isinstance(graph, Mapping) and "nodes" in graph and any(name in graph for name in _EDGES)


def read_node_link(graph: Any, names: Names) -> GraphParts:
    """Read one node-link dictionary; lists among its labels become tuples."""
    nodes = _items(graph["nodes"], "nodes")
    edges = _items(next((graph[name] for name in _EDGES if name in graph), None), "links")
    number = {_hashable(node.get("id", position)): position for position, node in enumerate(nodes)}
    if len(number) < len(nodes):
        raise GraphError("two nodes have the same id")
    rows, columns = np.array([_ends(edge, number) for edge in edges], np.int64).reshape(-1, 2).T
    node_column, edge_column = partial(_node_link_column, nodes, "nodes"), partial(_node_link_column, edges, "links")
    directed = bool(graph.get("directed", False))
    return gather_parts(names, len(nodes), (rows, columns), False, directed, node_column, edge_column)


def find_attributes(graph: Any, kind: str, names: Names) -> list[str] | None:
    """Return the names of fields that hold a number or vector in every node or link; None where none is there."""
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
        and any(type(value) is not int for value in values)  # whole numbers may be labels
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


def _node_link_column(items: list[Mapping[str, Any]], of_what: str, name: str) -> list[Any] | None:
    column = _collect_field(items, of_what, name)
    return None if column is None else [_hashable(value) for value in column]


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_hashable(item) for item in value)
    if isinstance(value, dict):
        raise GraphError("a dictionary cannot be a label or an id; use a number, a string or a list of these")
    return value


def warn_unlabelled(graphs: Iterable[Any], remedy: str, used: tuple[str, ...] = ()) -> None:
    """Warn if nodes have no label, but other data that could be one; the first graph with nodes speaks for all."""
    node = next(_first_nodes(graphs), {})
    names = [name for name in node if isinstance(name, str) and name not in {*_IDENTIFIERS, *used}]
    names = [name for name in names if isinstance(node[name], (str, Integral))]
    if names and LABEL not in node:
        warning = f"nodes have {', '.join(map(repr, names))} and no {LABEL!r}: {remedy.format(repr(names[0]))}"
        warnings.warn(warning, InputWarning, stacklevel=3)


def _first_nodes(graphs: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the data of each graph's first node, up to the first graph that has no named data."""
    for graph in graphs:
        with suppress(TypeError, ValueError, LookupError, AttributeError):  # `read` says what is wrong
            if is_networkx(graph):
                yield from (data for _, data in islice(graph.nodes(data=True), 1))
            elif is_igraph(graph):
                yield from (vertex.attributes() for vertex in islice(graph.vs, 1))
            elif is_node_link(graph):
                yield from _items(graph["nodes"], "nodes")[:1]
            else:
                return
