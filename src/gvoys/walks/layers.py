"""Labels in layers, from coarse to fine: each tells nodes apart that the one before does not."""

from __future__ import annotations

import numpy as np

from gvoys._compiled.cpu.node_loops import ring_sizes
from gvoys.errors import UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import Labels, combine_hashes, hash_integers

LAYERS = ("coarse", "given", "fine")

_LONGEST_RING = 8


def layers_of(batch: GraphBatch) -> tuple[str, ...]:
    """Return the layers that graphs have: all three where labels are tuples, like those of atoms, else "given"."""
    return LAYERS if _of_molecules(batch) and not batch.directed else ("given",)


def usual_labels(batch: GraphBatch) -> str | None:
    """The labels by which graphs are told apart best: of nodes, and in molecules of bonds too.

    Labels of edges in other collections are as often noise.
    """
    if batch.node_labels is None:
        return None
    return "both" if _of_molecules(batch) and batch.edge_labels is not None else "node"


def _of_molecules(batch: GraphBatch) -> bool:
    """Whether labels are made of several parts, as those of atoms are."""
    labels = batch.node_labels
    return labels is not None and len(labels.values) > 0 and all(isinstance(label, tuple) for label in labels.values)


def in_layer(batch: GraphBatch, layer: str) -> GraphBatch:
    """The graphs with the labels of one layer."""
    if layer == "given" or batch.node_labels is None:
        return batch
    return batch._with(node_labels=_first_parts(batch.node_labels) if layer == "coarse" else _with_rings(batch))


def _first_parts(labels: Labels) -> Labels:
    parts = [label[0] if isinstance(label, tuple) and label else label for label in labels.values]
    table = {part: code for code, part in enumerate(dict.fromkeys(parts))}
    return Labels.from_table(np.array([table[part] for part in parts], np.int64)[labels.codes], list(table))


def _with_rings(batch: GraphBatch) -> Labels:
    if batch.directed:
        raise UnsupportedError('layer "fine" counts rings, which directed graphs do not have; leave it out of layers')
    assert batch.node_labels is not None
    sizes = np.zeros(batch.n_nodes, np.uint64)
    ring_sizes(batch.node_offsets, batch.indptr, batch.columns(), _LONGEST_RING, sizes)
    degrees = np.diff(batch.indptr).astype(np.uint64)
    ring_hashes = combine_hashes(hash_integers(degrees), hash_integers(sizes))
    hashes, codes = np.unique(combine_hashes(batch.node_labels.hashed, ring_hashes), return_inverse=True)
    return Labels(codes.astype(np.int32), hashes, hashes)
