"""What every reader returns for one graph, and the names it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError, LabelError

__all__ = ["MISSING", "GraphParts", "Names", "collect", "missing_names", "numeric"]

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
        raise LabelError(f"{missing} of {len(values)} {of_what} have no {name!r}; give it to all of them or to none")
    return values


def numeric(values: Any, what: str) -> NDArray[np.float64]:
    """Values as float64; refuse what is not a number."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise GraphError(f"{what} must be real numbers of one shape") from None


def missing_names(wanted: Sequence[str], columns: dict[str, Any]) -> None:
    """Refuse an attribute that was asked for and that no node has."""
    for name in wanted:
        if columns[name] is None:
            raise GraphError(f"no node has the attribute {name!r} that node_attributes asks for")
