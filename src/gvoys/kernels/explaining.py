"""Shares of nodes from weights of fitted graphs, for predictions sum_j w_j k(G, G_j).

A kernel of profiles is followed along the ray from the empty profile to that of the graph (integrated gradients). Its
average gradient there is linear in the profiles, sum_j others_j x_j - own x, and so every walk has a weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cpu.attribution_cpu import FittedCounts, weigh_sequences
from gvoys._compiled.cpu.distances import rates_along_rays
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.transform import edges_of, reverse_entries
from gvoys.kernels.base_kernels import SAME, Pairs
from gvoys.kernels.explanation import Candidate, Counted, Explanation, Largest, merged
from gvoys.walks import DenseProfiles, Sketch, SparseProfiles, Walk
from gvoys.walks.attribution import spread_gradients, spread_weights
from gvoys.walks.sparse import Counts
from gvoys.walks.structure import in_layer

Array = NDArray[np.float64]


class Gradient(NamedTuple):
    """The average gradient of a function of profiles, sum_j others_j x_j - own x."""

    others: Array  # (n_new, n_fitted)
    own: Array  # (n_new,)


class Block(NamedTuple):
    """The gradient by one iteration and length; coordinates are numbers of a profile times the factor of the graph."""

    gradient: Gradient
    factors: Array  # (n_new,)
    of_fitted: Array  # (n_fitted,)


Blocks = Callable[[int, int], Block]  # of (iteration, length)


class Step(NamedTuple):
    """Sums over fitted graphs along rays."""

    gradient: Gradient
    begin: Array  # (n_new,), of empty profiles
    end: Array  # (n_new,)


def along_ray(kind: str, weights: Array, pairs: Pairs, unit: float = 1.0, same: float = SAME) -> Step:
    """The sum over fitted graphs of weight times base kernel, along rays."""
    if kind == "linear":
        others = weights / unit**2
        return Step(Gradient(others, np.zeros(len(others))), np.zeros(len(others)), _rows(others, pairs.inner))
    others, values, begin, end = rates_along_rays(kind, *pairs.arrays, unit, same)
    return Step(Gradient(weights * others, _rows(weights, values)), _rows(weights, begin), _rows(weights, end))


def _rows(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def weights_of_counts(new: SparseProfiles, fitted: SparseProfiles, blocks: Blocks) -> list[list[Array]]:
    """Return what one more of each count would add, by iteration and length, in the order of `Counts.listing`."""
    return [
        [_of_block(left, right, blocks(r, i)) for i, (left, right) in enumerate(zip(*rows, strict=True))]
        for r, rows in enumerate(zip(new.blocks, fitted.blocks, strict=True))
    ]


def _of_block(ours: Counts, theirs: Counts, block: Block) -> Array:
    pointers, keys, values = ours.listing
    columns = theirs.by_sequence
    scaled = columns.data * block.of_fitted[columns.indices]
    out = np.empty(len(keys))
    known = FittedCounts(columns.indptr, columns.indices, scaled)
    weigh_sequences((pointers, keys, values), theirs.table, known, block.gradient, block.factors, out)
    return out


@dataclass
class Attribution:
    """Shares of nodes, entries, lengths and label sequences of some graphs, as they add up."""

    batch: GraphBatch  # the graphs
    n_sequences: int  # number of label sequences that are named of each graph
    nodes: Array = field(init=False)
    variances: Array = field(init=False)
    entries: Array = field(init=False)
    lengths: Array = field(init=False)
    sequences: list[list[Candidate]] = field(init=False)
    counted: list[Counted] = field(init=False)

    def __post_init__(self) -> None:
        self.nodes, self.variances = np.zeros((2, self.batch.n_nodes))
        self.entries = np.zeros(self.batch.n_entries)
        self.lengths = np.zeros((0, 0, len(self.batch)))
        self.sequences = [[] for _ in range(len(self.batch))]
        self.counted = []

    def add_counts(self, counted: Counted) -> None:
        """Spread weights of counts over walks, later: only together they tell the largest shares."""
        self.counted.append(counted)

    def _spread_counted(self) -> None:
        """All counts, now that the sequences with the largest shares can be told."""
        if not self.counted:
            return
        count = 2 * self.n_sequences  # twice, since most are there in both directions
        largest, by_block = Largest.of(self.counted, len(self.batch), count)
        for item, result, shares, counts, values in zip(self.counted, *largest, by_block, strict=True):
            self._add_lengths(values)
            spread = spread_weights(item.batch, item.walk, item.counts, item.weights, result)
            self.nodes += spread.nodes
            self.entries += spread.entries
            columns = [column.tolist() for column in (result.graphs, shares, counts, result.iterations)]
            for way, g, share, times, iteration in zip(spread.walks, *columns, strict=True):
                self.sequences[g].append(Candidate(share, times, iteration, item.layer, item.walk, way))
        self.counted = []

    def add_gradients(self, batch: GraphBatch, walk: Walk, sketch: Sketch, made: DenseProfiles, by: Array) -> None:
        """Spread a gradient by sketches over walks; its spread over groups of components tells the error."""
        products = (by * made.values).reshape(len(made), made.n_lengths, made.n_iterations, -1).sum(axis=3)
        nodes, entries = spread_gradients(batch, walk, sketch, made.exponents, by)
        if len(nodes) > 1:
            self.variances += len(nodes) * nodes.var(axis=0, ddof=1)
        self.nodes += nodes.sum(axis=0)
        self.entries += entries.sum(axis=0)
        self._add_lengths(products.transpose(2, 1, 0))

    def _add_lengths(self, shares: Array) -> None:
        grown = np.zeros((*np.maximum(self.lengths.shape[:2], shares.shape[:2]), len(self.batch)))
        for item in (self.lengths, shares):
            grown[: item.shape[0], : item.shape[1]] += item
        self.lengths = grown

    def explanations(self, ends: tuple[Array, Array], of: Sequence[Any], unit: float = 1.0) -> list[Explanation]:
        """One for each graph."""
        self._spread_counted()
        edges, offsets, edge_shares = _edges(self.batch, unit * self.entries)
        nodes, errors = unit * self.nodes, unit * np.sqrt(self.variances)
        # labels of the fine layer are hashes, and those as given are the nearest that people can read
        layers = {item.layer for values in self.sequences for item in values}
        shown = {layer: in_layer(self.batch, "coarse" if layer == "coarse" else "given") for layer in layers}
        result = []
        for g, graph in enumerate(self.batch):
            values, ends_of = slice(*self.batch.node_offsets[g : g + 2]), slice(*offsets[g : g + 2])
            named = [item.named(shown, g, unit) for item in self.sequences[g]]
            result.append(
                Explanation(
                    decision=float(ends[1][g]),
                    baseline=float(ends[0][g]),
                    of=of[g],
                    nodes=nodes[values],
                    node_errors=errors[values],
                    edges=edges[ends_of],
                    edge_shares=edge_shares[ends_of],
                    lengths=unit * self.lengths[:, :, g],
                    sequences=merged(named, self.n_sequences),
                    graph=graph,
                )
            )
        return result


def _edges(batch: GraphBatch, shares: Array) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Ends of the edges within their graphs, where each graph's begin, and shares: of both directions together."""
    ends, entries = edges_of(batch)
    values = shares[entries]
    if not batch.directed:
        twice = ends[:, 0] < ends[:, 1]  # loops are there once
        first = reverse_entries(batch)[:, 0]
        forth = entries[twice]
        values[twice] += shares[
            first[forth] + forth - first[first[forth]]
        ]  # the first of parallel edges with the first
    return ends, np.searchsorted(entries, batch.entry_offsets), values
