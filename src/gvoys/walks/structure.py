"""Labels from the structure of a graph: what walks that return to a node see of it, and refinement does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
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


def _degrees(batch: GraphBatch, max_length: int, own: Hashes) -> Hashes:
    return hash_integers(np.diff(batch.indptr))


def _cores(batch: GraphBatch, max_length: int, own: Hashes) -> Hashes:
    cores = np.zeros(batch.n_nodes, np.int64)
    core_numbers(batch.node_offsets, batch.indptr, batch.columns(), cores)
    return hash_integers((np.diff(batch.indptr).astype(np.int64) << 32) | cores)


def _closed(batch: GraphBatch, max_length: int, own: Hashes) -> Hashes:
    return _hashed(hash_closed, batch, own, max_length)


def _rows(batch: GraphBatch, max_length: int, own: Hashes) -> Hashes:
    return _hashed(hash_pairs, batch, own, max_length, np.zeros(batch.n_nodes, np.uint64))


def _deleted(batch: GraphBatch, max_length: int, own: Hashes) -> Hashes:
    return _hashed(hash_pairs, batch, own, max_length, _closed(batch, max_length, own))


def _balls(radius: int, batch: GraphBatch, max_length: int, own: Hashes) -> Hashes:
    return _hashed(hash_balls, batch, own, max_length, radius)


def _hashed(kernel: Any, batch: GraphBatch, own: Hashes, *rest: Any) -> Hashes:
    """Hash every node by a kernel; threads share the nodes."""
    out = np.zeros(batch.n_nodes, np.uint64)
    kernel(shared_nodes(batch), own, *rest, out)
    return out


_HASHES: dict[str, Callable[[GraphBatch, int, Hashes], Hashes]] = {
    "degree": _degrees,
    "core": _cores,
    "closed": _closed,
    "rows": _rows,
    "deleted": _deleted,
    "ball1": partial(_balls, 1),
    "ball2": partial(_balls, 2),
}
STRUCTURES = tuple(_HASHES)
LOCAL = frozenset({"degree", "core"})  # whatever the longest walk


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
