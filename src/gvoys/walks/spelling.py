"""Label sequences as people write them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry.labels import label_text
from gvoys.walks.walk import Walk

_MANY = 6  # neighbours that are spelled
_BONDS = {1.0: "–", 1.5: ":", 2.0: "=", 3.0: "≡"}


def spell(graph: GraphBatch, walk: Walk, nodes: NDArray[np.int64], entries: NDArray[np.int64]) -> str:
    """A walk's labels as people write them: C–C=O for atoms and bonds, a–b for others."""
    names = ["•"] * len(nodes)
    if walk.node_labels and graph.node_labels is not None:
        names = [label_text(label) for label in graph.node_labels[nodes].decode()]
    joints = ["–"] * len(entries)
    if walk.edge_labels and graph.edge_labels is not None:
        joints = [_joint(label) for label in graph.edge_labels[entries].decode()]
    return names[0] + "".join(joint + name for joint, name in zip(joints, names[1:], strict=True))


def spell_neighbours(graph: GraphBatch, walk: Walk, node: int) -> str:
    """A node's label with those of its neighbours: C(–C)(–O)(=O); of many the first ones."""
    entries = np.arange(graph.indptr[node], graph.indptr[node + 1])
    first = graph.node_offsets[np.searchsorted(graph.node_offsets, node, "right") - 1]
    name = spell(graph, walk, np.array([node]), entries[:0])
    steps = (spell(graph, walk, np.array([node, first + graph.indices[k]]), np.array([k])) for k in entries)
    surroundings = sorted(step.removeprefix(name) for step in steps)
    more = "…" if len(surroundings) > _MANY else ""
    return name + "".join(f"({item})" for item in surroundings[:_MANY]) + more


def _joint(label: Any) -> str:
    return _BONDS[label] if isinstance(label, float) and label in _BONDS else f"–({label})–"
