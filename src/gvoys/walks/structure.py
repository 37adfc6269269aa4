"""Labels from the structure of a graph: what walks that return to a node see of it, and refinement does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cpu.closed_hashes import hash_balls, hash_closed, hash_pairs
from gvoys._compiled.cpu.node_loops import core_numbers
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import Labels, combine_hashes, hash_integers
from gvoys.walks.shared_nodes import shared_nodes

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
