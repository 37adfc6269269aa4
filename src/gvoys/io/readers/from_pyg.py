"""PyTorch Geometric `Data` objects (anything with `edge_index` and `num_nodes`); torch itself is not imported."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError
from gvoys.io.readers.parts import GraphParts, Names, stack_attributes


def matches(graph: Any) -> bool:
    """Recognise a PyG graph by its attributes."""
    return hasattr(graph, "edge_index") and hasattr(graph, "num_nodes")


def read(graph: Any, names: Names) -> GraphParts:
    """Read one `Data`: labels and attributes are its tensors of the given names, one row per node or edge.

    PyG's own name for weights, ``edge_weight``, is found under the default ``weight="weight"`` too. A label
    tensor of several columns (one-hot rows, for one) makes each distinct row a label.
    """
    if hasattr(graph, "num_graphs"):
        raise GraphError("it is a PyG Batch of several graphs; pass batch.to_data_list()")
    index = _array(graph.edge_index)
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        raise GraphError(f"edge_index must be integers of shape (2, n_edges), not {index.dtype} of shape {index.shape}")
    n_nodes = int(graph.num_nodes)
    weights = _tensor(graph, names.weight, index.shape[1], "edges")
    if weights is None and names.weight == "weight":
        weights = _tensor(graph, "edge_weight", index.shape[1], "edges")
    return GraphParts(
        n_nodes=n_nodes,
        rows=index[0],
        columns=index[1],
        directed=names.directed,
        both_ways=True,
        weights=weights,
        # one object holds the tensors of nodes and edges: a name that both share means the nodes'
        edge_labels=None
        if names.edge_label == names.node_label
        else _tensor(graph, names.edge_label, index.shape[1], "edges"),
        node_labels=_tensor(graph, names.node_label, n_nodes, "nodes"),
        node_attributes=stack_attributes(
            {name: _tensor(graph, name, n_nodes, "nodes") for name in names.node_attributes}, n_nodes
        ),
        edge_attributes=stack_attributes(
            {name: _tensor(graph, name, index.shape[1], "edges") for name in names.edge_attributes},
            index.shape[1],
            "edge",
        ),
    )


def _array(tensor: Any) -> NDArray[Any]:
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


def _tensor(graph: Any, name: str | None, count: int, of_what: str) -> NDArray[Any] | None:
    values = None if name is None else getattr(graph, name, None)
    if values is None:
        return None
    values = _array(values)
    if len(values) != count:
        raise GraphError(f"{name!r} has {len(values)} rows for {count} {of_what}; give one for each")
    return values
