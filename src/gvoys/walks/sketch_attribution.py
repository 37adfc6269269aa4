"""Whose walks make up a sum that is linear in sketches: every walk is shared by its nodes, or by its edges.

A sketch is a sum over walks. Given its gradient, each walk has a known share of <gradient, sketch>, which goes in equal
parts to its nodes and, apart from that, to its edges. No walk is listed: cost O(length x edges x components), like that
of the sketch itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gvoys._compiled.cpu.sketch_rows import WIDTH
from gvoys.graphs.batch import GraphBatch
from gvoys.walks.sketch import Sketch
from gvoys.walks.walk import Walk

Array = NDArray[np.float64]


def spread_gradients(
    batch: GraphBatch, walk: Walk, sketch: Sketch, exponents: NDArray[np.int64], gradients: ArrayLike
) -> tuple[Array, Array]:
    """Spread a sum that is linear in sketched profiles over the nodes and edges of their walks.

    Summed over groups, the shares of a graph's nodes are those of ``(gradients * values).sum(axis=(1, 2))``, with the
    profiles' `values`. Lengths and iterations without a gradient are not walked.

    Both results are of shape (n_groups, n_nodes or n_entries). The shares are computed on the CPU, whatever the sketch.
    """
    batch, walk = walk.on(batch).labelled_by_structure(batch)
    d, by = sketch.n_components, np.asarray(gradients)
    nodes, entries = (np.zeros((-(-d // WIDTH), count)) for count in (batch.n_nodes, batch.n_entries))
    largest = _largest(by.reshape(len(by), walk.n_lengths, walk.n_iterations, d))  # (n_graphs, n_lengths, n_iterations)
    used: NDArray[np.bool_] = np.any(largest > 0, axis=0)
    if not used.any():
        return nodes, entries
    longest, last = (int(positions.max()) for positions in np.nonzero(used))
    powers = np.frexp(largest.max(axis=(1, 2)))[1]
    scaled = _scaled(by[:, : longest + 1, : (last + 1) * d], -powers)
    walk, on_cpu = replace(walk, max_length=longest, refine=last), replace(sketch, device="cpu")
    for block, (graphs_at_once, _, columns) in on_cpu.sketches(batch, walk, np.ldexp(1.0, exponents)):
        if used[:, columns.start // d].any():
            of_nodes, of_entries = (
                slice(*offsets[[graphs_at_once.start, graphs_at_once.stop]]) for offsets in _offsets(batch)
            )
            block.spread(scaled[graphs_at_once], d, columns.start, nodes[:, of_nodes], entries[:, of_entries])
    for shares, offsets in zip((nodes, entries), _offsets(batch), strict=True):
        shares *= np.ldexp(1.0, np.repeat(powers, np.diff(offsets)))
    return nodes, entries


def _largest(by: NDArray[Any]) -> Array:
    """The largest absolute values of the blocks, and no array of all absolute values."""
    return np.maximum(by.max(axis=3), -by.min(axis=3)).astype(np.float64)


def _scaled(by: NDArray[Any], powers: NDArray[Any]) -> NDArray[np.float32]:
    """Gradients in single precision, each graph's times a power of two: they may be far out of its range."""
    out = np.empty(by.shape, np.float32)
    return np.multiply(by, np.ldexp(1.0, powers)[:, None, None], out=out, casting="unsafe")


def _offsets(batch: GraphBatch) -> tuple[NDArray[Any], NDArray[Any]]:
    return batch.node_offsets, batch.entry_offsets
