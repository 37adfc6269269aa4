"""Graphs in graph6 and sparse6 (McKay's formats, as nauty writes them), and in GraphML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

import numpy as np
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys.errors import GraphError
from gvoys.io.named_graphs import GraphParts

GRAPH6_HEADERS = (">>graph6<<", ">>sparse6<<")
_FREE_NODES = 1_000_000  # nodes that a line of any length may claim: those without edges cost no character
_MOST_EDGES = 2_000_000  # of a graph in one line
_SIZE_CHARACTERS = 8  # characters that tell the number of nodes
_ONES = np.array([bin(digit).count("1") for digit in range(64)], np.uint8)  # bits that are set in each digit
_GRAPHML_TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("int", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    "boolean": lambda text: text.strip().lower() in ("true", "1"),
}


def read_graph6(line: str) -> GraphParts:
    """Read one graph in graph6 or sparse6."""
    line = _without_header(line)
    sparse = line.startswith(":")
    if line.startswith(("&", ";")):
        raise GraphError("digraph6 and incremental sparse6 are not read; use graph6 or sparse6")
    n, digits = _size(_digits(line[1:] if sparse else line))
    if n > _FREE_NODES + len(line):
        raise GraphError(f"a graph of {n:,} nodes in a line of {len(line):,} characters; a store takes so many nodes")
    rows, columns = _sparse(n, digits) if sparse else _dense(n, digits)
    return GraphParts(n, rows, columns, directed=False, both_ways=False)


def claimed_nodes(line: str) -> int:
    """Return the number of nodes that a line announces."""
    line = _without_header(line)
    head = line.removeprefix(":")[:_SIZE_CHARACTERS]
    begin = 2 if head.startswith("~~") else 1 if head.startswith("~") else 0
    n = 0
    for digit in head[begin : begin + (1, 3, 6)[begin]]:
        n = n << 6 | (ord(digit) - 63 & 63)
    return n if n <= _FREE_NODES + len(line) else 0


def _without_header(line: str) -> str:
    for header in GRAPH6_HEADERS:
        line = line.removeprefix(header)
    return line


def _digits(line: str) -> NDArray[np.uint8]:
    try:
        digits = np.frombuffer(line.encode("ascii"), np.uint8)
    except UnicodeEncodeError:
        digits = np.zeros(1, np.uint8)
    if not digits.size or digits.min() < 63 or digits.max() > 126:
        raise GraphError("not graph6 or sparse6: characters from ? to ~ are expected")
    return digits - 63


def _size(digits: NDArray[np.uint8]) -> tuple[int, NDArray[np.uint8]]:
    """Return the number of nodes, from one, three or six digits of six bits, and the digits after it."""
    begin = 0 if digits[0] < 63 else 2 if digits[1:2].tolist() == [63] else 1
    end = begin + (1, 3, 6)[begin]
    if len(digits) < end:
        raise GraphError("the line ends before the number of nodes does")
    n = 0
    for digit in digits[begin:end].tolist():
        n = n << 6 | digit
    return n, digits[end:]


def _dense(n: int, digits: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Read the upper triangle column by column, a bit each."""
    expected = -(-n * (n - 1) // 12)
    if len(digits) != expected:
        raise GraphError(f"{n} nodes take {expected} characters in graph6 and the line has {len(digits)}")
    n_edges = int(_ONES[digits].sum(dtype=np.int64))
    _check_edges(n_edges)
    pairs = _triangle(n, digits, np.empty((n_edges, 2), np.int64))
    return pairs[:, 0], pairs[:, 1]


def _sparse(n: int, digits: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Read steps of one bit and one node's number each; first counted, as most of them may be no edges."""
    width = max((n - 1).bit_length(), 1)
    n_edges = _follow(n, width, digits, np.empty((0, 2), np.int64))
    _check_edges(n_edges)
    pairs = np.empty((n_edges, 2), np.int64)
    _follow(n, width, digits, pairs)
    return pairs[:, 0], pairs[:, 1]


def _check_edges(count: int) -> None:
    if count > _MOST_EDGES:
        raise GraphError(f"a graph of {count:,} edges; in a line there may be {_MOST_EDGES:,}, a store takes more")


@kernel()
def _triangle(n: int, digits: Any, pairs: Any) -> Any:  # pragma: no cover
    """Write the edges whose bits are set; bits after the last column are padding."""
    row, column, count = 0, 1, 0
    for digit in digits:
        for bit in range(5, -1, -1):
            if column < n and digit >> bit & 1:
                pairs[count, 0], pairs[count, 1] = row, column
                count += 1
            row += 1
            if row == column:
                row, column = 0, column + 1
    return pairs[:count]


@kernel()
def _follow(n: int, width: int, digits: Any, pairs: Any) -> int:  # pragma: no cover
    """Follow the steps and write the edges that fit; return their number."""
    # a step onward takes the next node; a number above the node is the node to go to, any other is its neighbour
    node, count = 0, 0
    for step in range(6 * len(digits) // (width + 1)):
        number, first = 0, step * (width + 1)
        for position in range(first, first + width + 1):
            bit = digits[position // 6] >> (5 - position % 6) & 1
            if position == first:
                node += bit
            else:
                number = number << 1 | bit
        if number >= n or node >= n:
            break
        if number > node:
            node = number
        else:
            if count < len(pairs):
                pairs[count, 0], pairs[count, 1] = number, node
            count += 1
    return count


class _Builder(TreeBuilder):
    """Builder of an XML tree that allows no document type."""

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
    texts |= {entry.get("key"): entry.text for entry in _children(item, "data")}
    return {
        fields[key].get("attr.name", key): _value(fields[key], text or "")
        for key, text in texts.items()
        if key in fields
    }


def _value(field: Element, text: str) -> Any:
    kind = field.get("attr.type", "string")
    try:
        return _GRAPHML_TYPES.get(kind, str)(text)
    except ValueError:
        name = field.get("attr.name", field.get("id"))
        raise GraphError(f"{text[:100]!r} is not of type {kind}, which {name!r} has") from None


def _children(item: Element, tag: str) -> Iterator[Element]:
    """Yield the children of a name, in whatever namespace."""
    return (child for child in item if isinstance(child.tag, str) and child.tag.rpartition("}")[2] == tag)
