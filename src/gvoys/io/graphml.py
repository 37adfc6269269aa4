"""GraphML as node-link dictionaries, by the parser of Python, which is not let near a document type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from gvoys.errors import GraphError

_TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("int", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    "boolean": lambda text: text.strip().lower() in ("true", "1"),
}


class _Builder(TreeBuilder):
    """What builds the tree of a document without a document type."""

    def doctype(self, *_: Any) -> None:
        """Stop where entities might be declared, which a few bytes can make gigabytes of."""
        raise GraphError("it declares a document type, which may hold anything; remove it")


def read_graphml(data: bytes) -> list[dict[str, Any]]:
    """Return the graphs of a document; data of a graph itself are under "graph", as in other node-link dictionaries."""
    try:
        parser = XMLParser(target=_Builder())
        parser.feed(data)
        root = parser.close()
    except (ParseError, ValueError, LookupError) as error:
        if isinstance(error, GraphError):
            raise
        raise GraphError(f"it is not XML ({error})") from None
    fields = {key.get("id"): key for key in _children(root, "key")}
    graphs = [_read_graph(graph, fields) for graph in _children(root, "graph")]
    if not graphs:
        raise GraphError("it holds no <graph>")
    return graphs


def _read_graph(graph: Element, fields: dict[Any, Element]) -> dict[str, Any]:
    directed = graph.get("edgedefault") == "directed"
    nodes, links = list(_children(graph, "node")), list(_children(graph, "edge"))
    for node in nodes:
        if next(_children(node, "graph"), None) is not None:
            raise GraphError("it has a <graph> within a node, which is not read; write graphs side by side")
    if next(_children(graph, "hyperedge"), None) is not None:
        raise GraphError("a <hyperedge> is not read; write edges of two nodes")
    if any(link.get("directed", str(directed)).lower() != str(directed).lower() for link in links):
        raise GraphError("it has directed and undirected edges; write edges of one kind")
    return {
        "directed": directed,
        "graph": _data(graph, "graph", fields),
        "nodes": [_data(node, "node", fields) | {"id": node.get("id")} for node in nodes],
        "links": [_data(link, "edge", fields) | {end: link.get(end) for end in ("source", "target")} for link in links],
    }


def _data(item: Element, kind: str, fields: dict[Any, Element]) -> dict[Any, Any]:
    """Return what a graph, node or edge says of itself, with the defaults of its kind."""
    texts = {
        key: default.text
        for key, field in fields.items()
        for default in _children(field, "default")
        if field.get("for", "all") in (kind, "all")
    }
    texts |= {each.get("key"): each.text for each in _children(item, "data")}
    return {
        fields[key].get("attr.name", key): _value(fields[key], text or "")
        for key, text in texts.items()
        if key in fields
    }


def _value(field: Element, text: str) -> Any:
    kind = field.get("attr.type", "string")
    try:
        return _TYPES.get(kind, str)(text)
    except ValueError:
        name = field.get("attr.name", field.get("id"))
        raise GraphError(f"{text[:100]!r} is not of type {kind}, which {name!r} has") from None


def _children(item: Element, tag: str) -> Iterator[Element]:
    """Yield the children of a name, in whatever namespace."""
    return (child for child in item if isinstance(child.tag, str) and child.tag.rpartition("}")[2] == tag)
