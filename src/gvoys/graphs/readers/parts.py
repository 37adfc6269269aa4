"""What every reader returns for one graph, and the names it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError
from gvoys.graphs.numbers import as_floats

__all__ = ["MISSING", "GraphParts", "Names", "collect", "stack_attributes"]

MISSING = object()


@dataclass(frozen=True)
class Names:
    """Where labels, weights and attributes are found, and how to read formats that do not say their direction."""

    node_label: str | None
    edge_label: str | None
    weight: str | None
    node_attributes: tuple[str, ...]
    directed: bool


@dataclass(frozen=True)
class GraphParts:
    """One graph: entries numbered from 0, and one value per entry or node where there are any."""

    n_nodes: int
    rows: NDArray[Any]
    columns: NDArray[Any]
    directed: bool
    both_ways: bool  # an undirected edge is listed in both directions already
    weights: Any = None
    edge_labels: Any = None
    node_labels: Any = None
    node_attributes: Any = None
    named: bool = True  # the format finds labels and weights by name


def collect(values: list[Any], name: str, of_what: str) -> list[Any] | None:
    """The values of one attribute: all, or None where no item has it. A partly given attribute is refused."""
    missing = sum(value is MISSING for value in values)
    if missing == len(values):
        return None
    if missing:
        raise GraphError(f"{missing} of {len(values)} {of_what} have no {name!r}; give it to all of them or to none")
    return values


def stack_attributes(columns: dict[str, Any], n_nodes: int) -> NDArray[np.float64] | None:
    """Node attributes side by side, numbers or vectors; one that was asked for and that no node has is refused."""
    if not columns or not n_nodes:
        return None
    for name, values in columns.items():
        if values is None:
            raise GraphError(f"no node has the attribute {name!r} that node_attributes asks for")
    blocks = [as_floats(values, f"node attribute {name!r}") for name, values in columns.items()]
    return np.hstack([block.reshape(n_nodes, -1) for block in blocks])
