"""What every reader returns for one graph, and the names it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError
from gvoys.graphs.numbers import as_floats

MISSING = object()
LABEL = "label"  # the name that is read unless another is given


@dataclass(frozen=True)
class Names:
    """Where labels, weights and attributes are found, and how to read formats that do not say their direction."""

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
