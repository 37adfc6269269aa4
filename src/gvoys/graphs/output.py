"""Convert a batch to networkx graphs, or to a small table of HTML, which notebooks show."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from gvoys.errors import MissingDependencyError
from gvoys.graphs.labels import Labels

if TYPE_CHECKING:
    from gvoys.graphs.batch import GraphBatch

_N_SHOWN = 3  # labels that are given as examples
_LONGEST_SHOWN = 40  # characters of one


def to_networkx(
    batch: GraphBatch, node_label: str, edge_label: str, weight: str, node_attributes: str, edge_attributes: str
) -> list[Any]:
    """Convert to networkx graphs: the work of `GraphBatch.to_networkx`."""
    try:
        import networkx as nx
    except ImportError:
        raise MissingDependencyError("to_networkx needs networkx; install it with: pip install networkx") from None
    names = {"node_labels": node_label, "node_attributes": node_attributes}
    names |= {"edge_labels": edge_label, "edge_weights": weight, "edge_attributes": edge_attributes}
    return [_one_to_networkx(graph, names, nx) for graph in batch]


def _one_to_networkx(graph: GraphBatch, names: dict[str, str], nx: Any) -> Any:
    rows, columns = graph.rows(), graph.indices
    chosen = np.flatnonzero(rows <= columns) if not graph.directed else np.arange(len(rows))
    pairs = np.column_stack([rows[chosen], columns[chosen]])
    parallel = bool((np.diff(pairs, axis=0) == 0).all(axis=1).any())
    kinds = ((nx.Graph, nx.MultiGraph), (nx.DiGraph, nx.MultiDiGraph))
    out = kinds[graph.directed][parallel]()
    nodes: dict[str, list[Any]] = {}
    edges: dict[str, list[Any]] = {}
    for field, name in names.items():
        values = getattr(graph, field)
        if values is not None:
            columns_of, values = (nodes, values) if field.startswith("node") else (edges, values[chosen])
            labelled = isinstance(values, Labels)
            columns_of[name] = values.decode() if labelled else values.tolist() if values.ndim == 1 else list(values)
    out.add_nodes_from(zip(range(graph.n_nodes), _facts(nodes, graph.n_nodes), strict=True))
    out.add_edges_from((u, v, fact) for (u, v), fact in zip(pairs.tolist(), _facts(edges, len(pairs)), strict=True))
    return out


def _facts(columns: dict[str, list[Any]], count: int) -> list[dict[str, Any]]:
    return [{name: values[i] for name, values in columns.items()} for i in range(count)]


def as_html(batch: GraphBatch) -> str:
    """Describe a batch: the work of ``GraphBatch._repr_html_``."""
    rows = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in _describe(batch))
    return f"<table><caption>GraphBatch</caption><tbody>{rows}</tbody></table>"


def _describe(batch: GraphBatch) -> list[tuple[str, str]]:
    rows = [
        ("graphs", f"{len(batch):,}"),
        ("nodes", _with_mean(batch.n_nodes, len(batch))),
        ("edges", _with_mean(batch.n_edges, len(batch))),
        ("directed", "yes" if batch.directed else "no"),
        ("weighted", "no" if batch.edge_weights is None else "yes"),
        ("node labels", _with_examples(batch.node_labels)),
        ("edge labels", _with_examples(batch.edge_labels)),
    ]
    attributes = batch.node_attributes
    return [*rows, ("node attributes", "none" if attributes is None else str(attributes.shape[1]))]


def _with_mean(count: int, n_graphs: int) -> str:
    return f"{count:,} ({count / n_graphs:.1f} per graph)" if n_graphs else f"{count:,}"


def _with_examples(labels: Labels | None) -> str:
    if labels is None:
        return "none"
    shown = [repr(labels.values[i]) for i in range(min(_N_SHOWN, len(labels.hashes)))]
    shown = [text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…" for text in shown]
    return f"{len(labels.hashes):,}, such as {', '.join(shown)}" if shown else "0"
