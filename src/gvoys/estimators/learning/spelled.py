"""The label sequences with the largest shares in a prediction, spelled so that people can read them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys.estimators.learning.explanation import SequenceShare
from gvoys.graphs.batch import GraphBatch
from gvoys.walks import SparseProfiles, Walk
from gvoys.walks.attribution import Found
from gvoys.walks.spelling import spell

__all__ = ["Candidate", "Rows", "merged"]

Array = NDArray[np.float64]


class Rows(NamedTuple):
    """All counted sequences of some graphs with their shares."""

    found: Found
    shares: Array
    counts: Array

    @classmethod
    def of(cls, counts: SparseProfiles, weights: list[list[Array]]) -> Rows:
        """From the weight of each count."""
        parts = []
        for r, row in enumerate(weights):
            for i, own in enumerate(row):
                pointers, keys, values = counts.blocks[r][i].listing
                graphs = np.repeat(np.arange(len(counts)), np.diff(pointers))
                parts.append((graphs, np.full(len(keys), r), np.full(len(keys), i), keys, own * values, values))
        if not parts:
            return cls(Found.none(), np.empty(0), np.empty(0))
        graphs, iterations, lengths, keys, shares, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        return cls(Found(graphs, iterations, lengths, keys), shares, values)

    def by_block(self, shape: tuple[int, int, int]) -> Array:
        """Sums of shares, (n_iterations, n_lengths, n_graphs)."""
        place = np.ravel_multi_index((self.found.iterations, self.found.lengths, self.found.graphs), shape)
        return np.asarray(np.bincount(place, self.shares, minlength=int(np.prod(shape))).reshape(shape), np.float64)

    def largest(self, count: int) -> Rows:
        """Those with the largest shares of each graph, by graph."""
        if not count:
            return Rows(Found.none(), np.empty(0), np.empty(0))
        sizes = np.abs(self.shares)
        order = np.lexsort([-sizes, self.found.graphs])
        graphs = self.found.graphs[order]
        kept = order[(np.arange(len(order)) - np.searchsorted(graphs, graphs) < count) & (sizes[order] > 0)]
        return Rows(self.found.take(kept), self.shares[kept], self.counts[kept])


@dataclass(frozen=True)
class Candidate:
    """A sequence that may be named, with the nodes and entries of one of its walks."""

    share: float
    count: float
    iteration: int
    layer: str
    walk: Walk
    way: tuple[NDArray[np.int64], NDArray[np.int64]]

    def named(self, batch: GraphBatch, graph: int, unit: float) -> SequenceShare:
        """Spelled by the labels that the user knows, whatever the layer; nodes are numbered within the graph."""
        nodes, entries = self.way
        spelled = spell(batch, self.walk, nodes, entries)
        if not batch.directed:
            spelled = min(spelled, spell(batch, self.walk, nodes[::-1], entries[::-1]))
        within = tuple((nodes - batch.node_offsets[graph]).tolist())
        return SequenceShare(spelled, unit * self.share, self.count, within, self.iteration, self.layer)


def merged(candidates: list[Candidate], count: int) -> list[Candidate]:
    """The largest ones, the largest first; a sequence and the same backwards are one.

    In undirected graphs they have the same share, by which they are known.
    """
    found: dict[Any, Candidate] = {}
    for each in candidates:
        key = (each.layer, each.iteration, len(each.way[0]), f"{each.share:.9g}", f"{each.count:.9g}")
        other = found.get(key)
        if other is not None:
            each = replace(other, share=other.share + each.share, count=other.count + each.count)
        found[key] = each
    return sorted(found.values(), key=lambda each: -abs(each.share))[:count]
