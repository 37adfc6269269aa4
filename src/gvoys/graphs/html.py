"""A batch as a small table of HTML, which notebooks show."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gvoys.graphs.batch import GraphBatch
    from gvoys.graphs.labels import Labels

_SHOWN = 3  # labels that are given as examples
_LONGEST = 40  # characters of one


def as_html(batch: GraphBatch) -> str:
    """Describe a batch: the work of ``GraphBatch._repr_html_``."""
    rows = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in _rows(batch))
    return f"<table><caption>GraphBatch</caption><tbody>{rows}</tbody></table>"


def _rows(batch: GraphBatch) -> list[tuple[str, str]]:
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
    shown = [_shortened(repr(labels.values[i])) for i in range(min(_SHOWN, len(labels.hashes)))]
    return f"{len(labels.hashes):,}, such as {', '.join(shown)}" if shown else "0"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
