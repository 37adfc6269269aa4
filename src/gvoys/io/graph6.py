"""Graphs in graph6 and sparse6, one line of printable characters each (McKay's formats, as nauty writes them)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys.errors import GraphError
from gvoys.io.readers.parts import GraphParts

_HEADERS = (">>graph6<<", ">>sparse6<<")
_FREE = 1_000_000  # nodes that a line of any length may claim: those without edges cost no character
_MOST_EDGES = 2_000_000  # of a graph in one line
_LONGEST_SIZE = 8  # characters that tell the number of nodes
_ONES = np.array([bin(digit).count("1") for digit in range(64)], np.uint8)


def read_graph6(line: str) -> GraphParts:
    """Read one graph in graph6 or sparse6."""
    for header in _HEADERS:
        line = line.removeprefix(header)
    sparse = line.startswith(":")
    if line.startswith(("&", ";")):
        raise GraphError("digraph6 and incremental sparse6 are not read; use graph6 or sparse6")
    n, digits = _size(_digits(line[1:] if sparse else line))
    if n > _FREE + len(line):
        raise GraphError(f"a graph of {n:,} nodes in a line of {len(line):,} characters; a store takes so many nodes")
    rows, columns = _sparse(n, digits) if sparse else _dense(n, digits)
    return GraphParts(n, rows, columns, directed=False, both_ways=False)


def claimed_nodes(line: str) -> int:
    """How many nodes a line says that its graph has."""
    for header in _HEADERS:
        line = line.removeprefix(header)
    head = line.removeprefix(":")[:_LONGEST_SIZE]
    begin = 2 if head.startswith("~~") else 1 if head.startswith("~") else 0
    n = 0
    for digit in head[begin : begin + (1, 3, 6)[begin]]:
        n = n << 6 | (ord(digit) - 63 & 63)
    return n if n <= _FREE + len(line) else 0


def _digits(line: str) -> NDArray[np.uint8]:
    try:
        digits = np.frombuffer(line.encode("ascii"), np.uint8)
    except UnicodeEncodeError:
        digits = np.zeros(1, np.uint8)
    if not digits.size or digits.min() < 63 or digits.max() > 126:
        raise GraphError("not graph6 or sparse6: characters from ? to ~ are expected")
    return digits - 63


def _size(digits: NDArray[np.uint8]) -> tuple[int, NDArray[np.uint8]]:
    """The number of nodes, in one, three or six digits of six bits, and the digits after it."""
    begin = 0 if digits[0] < 63 else 2 if digits[1:2].tolist() == [63] else 1
    end = begin + (1, 3, 6)[begin]
    if len(digits) < end:
        raise GraphError("the line ends before the number of nodes does")
    n = 0
    for digit in digits[begin:end].tolist():
        n = n << 6 | digit
    return n, digits[end:]


def _dense(n: int, digits: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The upper triangle column by column, a bit each."""
    expected = -(-n * (n - 1) // 12)
    if len(digits) != expected:
        raise GraphError(f"{n} nodes take {expected} characters in graph6 and the line has {len(digits)}")
    n_edges = int(_ONES[digits].sum(dtype=np.int64))
    _check_edges(n_edges)
    pairs = _triangle(n, digits, np.empty((n_edges, 2), np.int64))
    return pairs[:, 0], pairs[:, 1]


def _sparse(n: int, digits: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Steps of one bit and one node's number each; first counted, as most of them may be no edges."""
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
    """The places of the bits that are set; bits after the last column are padding."""
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
    """A step onward takes the next node; a number above the node is the node to go to, any other is its neighbour."""
    node, count = 0, 0
    for step in range(6 * len(digits) // (width + 1)):
        number, first = 0, step * (width + 1)
        for place in range(first, first + width + 1):
            bit = digits[place // 6] >> (5 - place % 6) & 1
            if place == first:
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
