"""Labels from the structure of a graph, which tell nodes apart that refinement cannot, and labels in layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cpu.closed_hashes import hash_balls, hash_closed, hash_pairs
from gvoys._compiled.cpu.node_loops import core_numbers, ring_sizes
from gvoys.errors import ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import Labels, combine_hashes, hash_integers
from gvoys.walks.closed_walks import shared_nodes

Hashes = NDArray[np.uint64]
_NO_LABELS: Hashes = np.empty(0, np.uint64)
_LONGEST_RING = 8
LAYERS = ("coarse", "given", "fine")


def usual_structure(batch: GraphBatch) -> str:
    """Return the default structural label of graphs without labels: "core", or "degree" on directed graphs."""
    return "degree" if batch.directed else "core"


def check_structure(structure: Any) -> tuple[str, ...]:
    """Return the names of structures, given as one, several or None."""
    names = () if structure is None else (structure,) if isinstance(structure, str) else structure
    if isinstance(names, Sequence) and all(isinstance(name, str) and name in STRUCTURES for name in names):
        return tuple(names)
    raise ParameterError(f"structure must be None or some of {', '.join(map(repr, STRUCTURES))}, not {structure!r}")


def structural_labels(batch: GraphBatch, structure: Any, max_length: int = 6, *, labelled: bool = False) -> Labels:
    """Label every node by its place in its graph, whatever the other graphs.

    Equal labels mean equal numbers of walks, which are counted modulo two primes of 61 bits. Weights do not count.
    """
    names = check_structure(structure)
    if not names:
        raise ParameterError(f"structure must be one or some of {', '.join(map(repr, STRUCTURES))}, not {structure!r}")
    labels = batch.node_labels.hashed if labelled and batch.node_labels is not None else _NO_LABELS
    parts = [_HASHES[name](batch, max_length, labels) for name in names]
    return Labels.from_hashes(reduce(combine_hashes, [labels, *parts] if len(labels) else parts))


def _hash_cores(batch: GraphBatch, max_length: int, labels: Hashes) -> Hashes:
    cores = np.zeros(batch.n_nodes, np.int64)
    core_numbers(batch.node_offsets, batch.indptr, batch.columns(), cores)
    return hash_integers((np.diff(batch.indptr).astype(np.int64) << 32) | cores)


def _hash(kernel: Any, batch: GraphBatch, labels: Hashes, *options: Any) -> Hashes:
    """Hash every node by a kernel; threads share the nodes."""
    out = np.zeros(batch.n_nodes, np.uint64)
    kernel(shared_nodes(batch), labels, *options, out)
    return out


def _hash_pairs(batch: GraphBatch, max_length: int, labels: Hashes, of_nodes: Hashes) -> Hashes:
    return _hash(hash_pairs, batch, labels, max_length, of_nodes)


_HASHES: dict[str, Callable[[GraphBatch, int, Hashes], Hashes]] = {
    "degree": lambda batch, longest, labels: hash_integers(np.diff(batch.indptr)),
    "core": _hash_cores,
    "closed": lambda batch, longest, labels: _hash(hash_closed, batch, labels, longest),
    "rows": lambda batch, longest, labels: _hash_pairs(batch, longest, labels, np.zeros(batch.n_nodes, np.uint64)),
    "deleted": lambda batch, longest, labels: _hash_pairs(
        batch, longest, labels, _hash(hash_closed, batch, labels, longest)
    ),
    "ball1": lambda batch, longest, labels: _hash(hash_balls, batch, labels, longest, 1),
    "ball2": lambda batch, longest, labels: _hash(hash_balls, batch, labels, longest, 2),
}
STRUCTURES = tuple(_HASHES)
LOCAL = frozenset({"degree", "core"})  # whatever the longest walk


def layers_of(batch: GraphBatch) -> tuple[str, ...]:
    """Return the layers that graphs have: all three where labels are tuples, like those of atoms, else "given"."""
    return LAYERS if _of_molecules(batch) and not batch.directed else ("given",)


def usual_labels(batch: GraphBatch) -> str | None:
    """Return the labels that distinguish graphs best: of nodes, and in molecules of bonds too."""
    if batch.node_labels is None:
        return None
    # labels of edges in other collections are as often noise
    return "both" if _of_molecules(batch) and batch.edge_labels is not None else "node"


def _of_molecules(batch: GraphBatch) -> bool:
    """Whether labels are made of several parts, as those of atoms are."""
    labels = batch.node_labels
    return labels is not None and len(labels.values) > 0 and all(isinstance(label, tuple) for label in labels.values)


def in_layer(batch: GraphBatch, layer: str) -> GraphBatch:
    """Return the graphs with the labels of one layer."""
    labels = batch.node_labels
    if layer == "given" or labels is None:
        return batch
    if layer == "coarse":
        parts = [label[0] if isinstance(label, tuple) and label else label for label in labels.values]
        table = {part: code for code, part in enumerate(dict.fromkeys(parts))}
        codes = np.array([table[part] for part in parts], np.int64)[labels.codes]
        return batch._with(node_labels=Labels.from_table(codes, list(table)))
    if batch.directed:
        raise UnsupportedError('layer "fine" counts rings, which directed graphs do not have; leave it out of layers')
    sizes = np.zeros(batch.n_nodes, np.uint64)
    ring_sizes(batch.node_offsets, batch.indptr, batch.columns(), _LONGEST_RING, sizes)
    degrees = np.diff(batch.indptr).astype(np.uint64)
    ring_hashes = combine_hashes(hash_integers(degrees), hash_integers(sizes))
    return batch._with(node_labels=Labels.from_hashes(combine_hashes(labels.hashed, ring_hashes)))
