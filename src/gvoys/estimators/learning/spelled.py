"""The label sequences with the largest shares in a prediction, spelled so that people can read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cpu.attribution_cpu import largest_shares
from gvoys.estimators.learning.explanation import SequenceShare
from gvoys.graphs.batch import GraphBatch
from gvoys.walks import SparseProfiles, Walk
from gvoys.walks.attribution import Found
from gvoys.walks.spelling import spell, spell_neighbours

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Counted:
    """Counts of some graphs under some labels, and the weight of each in their predictions."""

    batch: GraphBatch  # the graphs as they are walked
    walk: Walk  # how they are walked
    counts: SparseProfiles  # their counts
    weights: list[list[Array]]  # by iteration and length, in the order of `Counts.listing`
    layer: str = "given"  # what their labels are

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """Iterations and lengths."""
        return [(r, i) for r, row in enumerate(self.weights) for i in range(len(row))]

    def shares(self) -> Iterator[tuple[NDArray[np.int64], Array]]:
        """Where the shares of each graph begin, and the shares, block by block."""
        for r, i in self.blocks:
            pointers, _, values = self.counts.blocks[r][i].listing
            yield pointers, self.weights[r][i] * values


class Largest(NamedTuple):
    """The sequences with the largest shares of each graph, over several counts."""

    found: list[Found]  # for each of the counts
    shares: list[Array]
    counts: list[Array]

    @classmethod
    def of(cls, counted: list[Counted], n_graphs: int, count: int) -> tuple[Largest, list[Array]]:
        """At most so many of each graph; and of each counts sums of shares, (n_iterations, n_lengths, n_graphs)."""
        parts = [(owners, *block) for owners, item in enumerate(counted) for block in item.blocks]
        listed = [part_values for item in counted for part_values in item.shares()]
        begins = np.cumsum([0, *(len(shares) for _, shares in listed)])
        pointers = np.array(
            [first + part_values for first, (part_values, _) in zip(begins[:-1], listed, strict=True)], np.int64
        )
        shares = np.concatenate([shares for _, shares in listed])
        best = np.empty((n_graphs, count), np.int64)
        largest_shares(pointers.reshape(len(parts), n_graphs + 1), shares, best)
        graphs, _ = np.nonzero(best >= 0)
        kept = best[best >= 0]
        owners = np.searchsorted(begins, kept, "right") - 1
        views, iterations, lengths = np.array(parts, np.int64)[owners].T if len(kept) else np.empty((3, 0), np.int64)
        result = cls([], [], [])
        for view, item in enumerate(counted):
            part_values = np.flatnonzero(views == view)
            entries = [item.counts.blocks[r][i].listing for r, i in item.blocks]
            first = sum(len(other.blocks) for other in counted[:view])
            indices = kept[part_values] - begins[owners[part_values]]
            rows = list(zip((owners[part_values] - first).tolist(), indices.tolist(), strict=True))
            keys = np.array([entries[block][1][index] for block, index in rows], np.uint64)
            values = np.array([entries[block][2][index] for block, index in rows], np.float64)
            result.found.append(Found(graphs[part_values], iterations[part_values], lengths[part_values], keys))
            result.shares.append(shares[kept[part_values]])
            result.counts.append(np.ldexp(values, lengths[part_values] * item.counts.exponents[graphs[part_values]]))
        return result, [_by_block(item) for item in counted]


def _by_block(counted: Counted) -> Array:
    """Sums of the shares, (n_iterations, n_lengths, n_graphs)."""
    counts = counted.counts
    out = np.zeros((counts.n_iterations, counts.n_lengths, len(counts)))
    for (r, i), (pointers, shares) in zip(counted.blocks, counted.shares(), strict=True):
        out[r, i] = np.bincount(np.repeat(np.arange(len(counts)), np.diff(pointers)), shares, minlength=len(counts))
    return out


@dataclass(frozen=True)
class Candidate:
    """A sequence that may be named, with the nodes and entries of one of its walks."""

    share: float
    count: float
    iteration: int
    layer: str
    walk: Walk
    way: tuple[NDArray[np.int64], NDArray[np.int64]]

    def named(self, batches: dict[str, GraphBatch], graph: int, unit: float) -> SequenceShare:
        """Spelled by the labels that people know; nodes are numbered within the graph."""
        nodes, entries = self.way
        batch = batches[self.layer]
        spelled = spell(batch, self.walk, nodes, entries)
        if not batch.directed:
            spelled = min(spelled, spell(batch, self.walk, nodes[::-1], entries[::-1]))
        if self.iteration and len(nodes) == 1:
            spelled = spell_neighbours(batch, self.walk, int(nodes[0]))
        within = tuple((nodes - batch.node_offsets[graph]).tolist())
        return SequenceShare(spelled, unit * self.share, self.count, within, self.iteration, self.layer)


def merged(named: list[SequenceShare], count: int) -> list[SequenceShare]:
    """The largest ones, the largest first; a sequence and the same backwards are one.

    In undirected graphs they are spelled alike and have the same share, by which they are known.
    """
    result: dict[Any, SequenceShare] = {}
    for index, each in enumerate(named):
        alone = index if len(each.nodes) == 1 else -1  # a single label has no other direction
        key = (alone, each.layer, each.iteration, each.spelled, f"{each.share:.9g}", f"{each.count:.9g}")
        other = result.get(key)
        if other is not None:
            each = replace(other, share=other.share + each.share, count=other.count + each.count)
        result[key] = each
    return sorted(result.values(), key=lambda each: -abs(each.share))[:count]
