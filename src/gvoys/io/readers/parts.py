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
    """Where labels, weights and attributes are found, and how to read formats that do not say their direction.

    Parameters
    ----------
    node_label, edge_label, weight : str or None
        Names of the attributes; None reads none.
    node_attributes : tuple of str
        Names of real node attributes.
    directed : bool
        Whether formats that do not say it are read as directed.
    edge_attributes : tuple of str, default=()
        Names of real edge attributes.
    """

    node_label: str | None
    edge_label: str | None
    weight: str | None
    node_attributes: tuple[str, ...]
    directed: bool
    edge_attributes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GraphParts:
    """One graph as a reader returns it.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    rows, columns : array of int
        Ends of each entry, numbered from 0.
    directed : bool
        Whether the graph is directed.
    both_ways : bool
        Whether an undirected edge is listed in both directions already.
    weights, edge_labels : sequence or None
        One value per entry.
    node_labels, node_attributes : sequence or None
        One value, or one row of numbers, per node.
    edge_attributes : array or None
        One row of numbers per entry.
    named : bool
        Whether the format finds labels and weights by name.
    """

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
    """The values of one attribute.

    Parameters
    ----------
    values : list
        One value per node or edge; MISSING where there is none.
    name : str
        Name of the attribute, for the message.
    of_what : str
        "nodes" or "edges", for the message.

    Returns
    -------
    list or None
        All values, or None where no item has the attribute.

    Raises
    ------
    GraphError
        If some items have it and others do not.
    """
    missing = sum(value is MISSING for value in values)
    if missing == len(values):
        return None
    if missing:
        raise GraphError(f"{missing} of {len(values)} {of_what} have no {name!r}; give it to all of them or to none")
    return values


def stack_attributes(columns: dict[str, Any], count: int, kind: str = "node") -> NDArray[np.float64] | None:
    """Attributes of nodes or edges side by side.

    Parameters
    ----------
    columns : dict
        Values of each attribute, numbers or vectors, by name.
    count : int
        Number of nodes or edges.
    kind : {"node", "edge"}, default="node"
        What has them, for the message.

    Returns
    -------
    array of shape (count, n_attributes) or None
        The attributes; None where none are asked for.

    Raises
    ------
    GraphError
        If no node or edge has an attribute that is asked for.
    """
    if not columns or not count:
        return None
    for name, values in columns.items():
        if values is None:
            raise GraphError(f"no {kind} has the attribute {name!r} that {kind}_attributes asks for")
    blocks = [as_floats(values, f"{kind} attribute {name!r}") for name, values in columns.items()]
    return np.hstack([block.reshape(count, -1) for block in blocks])
