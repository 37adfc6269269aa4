"""Graphs in graph6 and sparse6, one line of printable characters each (McKay's formats, as nauty writes them)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._jit import kernel
from gvoys.errors import GraphError
from gvoys.io.readers.parts import GraphParts

__all__ = ["read_graph6"]

_HEADERS = (">>graph6<<", ">>sparse6<<")
_LARGEST = 10_000_000  # nodes of a graph in one line; a store takes larger ones


def read_graph6(line: str) -> GraphParts:
    """Read one graph in graph6 or sparse6.

    Parameters
    ----------
    line : str
        The line; one that begins with a colon is sparse6.

    Returns
    -------
    GraphParts
        The graph.

    Raises
    ------
    GraphError
        If the line is malformed or the graph is too large for one line.
    """
    for header in _HEADERS:
        line = line.removeprefix(header)
    sparse = line.startswith(":")
    if line.startswith(("&", ";")):
        raise GraphError("digraph6 and incremental sparse6 are not read; use graph6 or sparse6")
    try:
        digits = np.frombuffer(line.encode("ascii"), np.uint8)[1 if sparse else 0 :]
    except UnicodeEncodeError:
        digits = np.zeros(1, np.uint8)
    if not digits.size or digits.min() < 63 or digits.max() > 126:
        raise GraphError("not graph6 or sparse6: characters from ? to ~ are expected")
    n, rest = _size(digits - 63)
    rows, columns = _sparse(n, rest) if sparse else _dense(n, rest)
    return GraphParts(n, rows, columns, directed=False, both_ways=False)


def _size(digits: NDArray[np.uint8]) -> tuple[int, NDArray[np.uint8]]:
    """The number of nodes, in one, three or six digits of six bits, and the digits after it."""
    begin = 0 if digits[0] < 63 else 2 if digits[1:2].tolist() == [63] else 1
    end = begin + (1, 3, 6)[begin]
    if len(digits) < end:
        raise GraphError("the line ends before the number of nodes does")
    n = int.from_bytes(np.packbits(_bits(digits[begin:end])).tobytes(), "big") >> (-6 * (end - begin)) % 8
    if n > _LARGEST:
        raise GraphError(f"a graph of {n:,} nodes; in a line there may be {_LARGEST:,}, a store takes more")
    return n, digits[end:]


def _bits(digits: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.unpackbits(digits[:, None], axis=1)[:, 2:].ravel()


def _dense(n: int, digits: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The upper triangle column by column, a bit each."""
    expected = -(-n * (n - 1) // 12)
    if len(digits) != expected:
        raise GraphError(f"{n} nodes take {expected} characters in graph6 and the line has {len(digits)}")
    place = np.flatnonzero(_bits(digits)[: n * (n - 1) // 2])
    column = ((1.0 + np.sqrt(1.0 + 8.0 * place)) / 2.0).astype(np.int64)
    column -= column * (column - 1) // 2 > place  # where the root was rounded up
    return place - column * (column - 1) // 2, column


def _sparse(n: int, digits: NDArray[np.uint8]) -> tuple[Any, Any]:
    """Steps of one bit and one node's number each."""
    width = max((n - 1).bit_length(), 1)
    steps = _bits(digits)
    steps = steps[: len(steps) - len(steps) % (width + 1)].reshape(-1, width + 1)
    numbers = steps[:, 1:].astype(np.int64) @ (1 << np.arange(width - 1, -1, -1, dtype=np.int64))
    pairs = _follow(n, steps[:, 0].copy(), numbers, np.empty((len(steps), 2), np.int64))
    return pairs[:, 0], pairs[:, 1]


@kernel()
def _follow(n: int, onward: Any, numbers: Any, pairs: Any) -> Any:  # pragma: no cover
    """A step onward takes the next node; a number above the node is the node to go to, any other is its neighbour."""
    node, count = 0, 0
    for step in range(len(numbers)):
        if onward[step]:
            node += 1
        if numbers[step] >= n or node >= n:
            break
        if numbers[step] > node:
            node = numbers[step]
        else:
            pairs[count, 0], pairs[count, 1] = numbers[step], node
            count += 1
    return pairs[:count]
