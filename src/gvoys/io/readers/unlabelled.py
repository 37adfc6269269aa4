"""Nodes with data under other names than the one that is read as label: it may have been meant as one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from numbers import Integral
from typing import Any

from gvoys.errors import InputWarning
from gvoys.io.readers import from_igraph, from_networkx, from_node_link
from gvoys.io.readers.parts import LABEL

_KEYS = {"id", "name", "_nx_name", "_igraph_index"}  # which tell nodes apart, so that no two are alike
_READERS = (from_networkx, from_igraph, from_node_link)


def warn_unlabelled(graphs: Iterable[Any], remedy: str, used: tuple[str, ...] = ()) -> None:
    """Warn if nodes have no label, but other data that could be one; the first graph with nodes speaks for all."""
    node = _first_node(graphs)
    names = [] if LABEL in node else [name for name in node if name not in used and _can_label(name, node)]
    if names:
        told = f"nodes have {', '.join(map(repr, names))} and no {LABEL!r}: {remedy.format(repr(names[0]))}"
        warnings.warn(told, InputWarning, stacklevel=3)


def _first_node(graphs: Iterable[Any]) -> Mapping[str, Any]:
    for graph in graphs:
        reader = next((reader for reader in _READERS if reader.matches(graph)), None)
        if reader is None:
            break
        with suppress(TypeError, ValueError, LookupError, AttributeError):  # `read` says what is wrong
            node: Mapping[str, Any] | None = reader.first_node(graph)
            if node is not None:
                return node
    return {}


def _can_label(name: Any, node: Any) -> bool:
    return isinstance(name, str) and name not in _KEYS and isinstance(node[name], (str, Integral))
