"""Label sequences as people write them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.graphs.batch import GraphBatch
from gvoys.walks.walk import Walk

__all__ = ["spell"]

_BONDS = {1.0: "–", 1.5: ":", 2.0: "=", 3.0: "≡"}


def spell(graph: GraphBatch, walk: Walk, nodes: NDArray[np.int64], entries: NDArray[np.int64]) -> str:
    """A walk's labels as people write them: C–C=O for atoms and bonds, a–b for others.

    Parameters
    ----------
    graph : GraphBatch
        The graphs.
    walk : Walk
        Which labels are used.
    nodes : ndarray of shape (length + 1,)
        The nodes of the walk.
    entries : ndarray of shape (length,)
        The entries it goes along.

    Returns
    -------
    str
        The labels.
    """
    names = ["•"] * len(nodes)
    if walk.node_labels and graph.node_labels is not None:
        names = [_name(label) for label in graph.node_labels[nodes].decode()]
    joints = ["–"] * len(entries)
    if walk.edge_labels and graph.edge_labels is not None:
        joints = [_joint(label) for label in graph.edge_labels[entries].decode()]
    return names[0] + "".join(joint + name for joint, name in zip(joints, names[1:], strict=True))


def _name(label: Any) -> str:
    """An atom's element, small if aromatic, with its hydrogens and what else is said of it; or the label itself."""
    if not isinstance(label, tuple) or not label or not isinstance(label[0], str):
        return str(label)
    element, rest = label[0], label[1:]
    if len(rest) >= 2 and isinstance(rest[0], bool) and isinstance(rest[1], int):
        (aromatic, hydrogens), rest = rest[:2], rest[2:]
        element = element.lower() if aromatic else element
        element += "" if not hydrogens else "H" if hydrogens == 1 else f"H{hydrogens}"
    return f"{element}({','.join(map(str, rest))})" if rest else element


def _joint(label: Any) -> str:
    return _BONDS[label] if isinstance(label, float) and label in _BONDS else f"–({label})–"
