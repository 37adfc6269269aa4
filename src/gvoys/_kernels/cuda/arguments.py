"""Arguments of the GPU's kernels, by name.

Kernels cannot take None, as those of the CPU do: flags say what is there. Where nothing is, an array has one element.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gvoys._kernels.arguments import Ends
from gvoys._kernels.cuda.device import to_device
from gvoys.graphs.batch import GraphBatch


class DeviceGraphs(NamedTuple):
    """Graphs on the device, in CSR."""

    node_offsets: Any  # (n_graphs + 1,)
    owners: Any  # (n_nodes,), graph of each node
    indptr: Any  # (n_nodes + 1,)
    indices: Any  # (n_entries,), numbered within the graph
    weights: Any  # (n_entries,) if weighted
    weighted: bool


def graphs_on_device(batch: GraphBatch, kind: Any) -> DeviceGraphs:
    """Copy graphs to the device, their weights in the precision of the kernel."""
    weights = np.empty(0) if batch.edge_weights is None else batch.edge_weights
    return DeviceGraphs(
        to_device(batch.node_offsets),
        to_device(batch.node_graphs(), np.int32),
        to_device(batch.indptr),
        to_device(batch.indices),
        to_device(weights, kind),
        batch.edge_weights is not None,
    )


def ends_on_device(ends: Ends) -> Ends:
    """Copy start and stop weights and factors to the device."""
    return Ends(*map(to_device, ends))
