"""Views of graphs for a Gaussian process: walks by the labels of a layer, and surroundings of nodes.

A view cuts graphs into blocks, and knows the inner products of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.cpu.distances import divide_by_union
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import combine_hashes, hash_integers
from gvoys.kernels.blocks import title_of
from gvoys.kernels.inputs import check_has_labels
from gvoys.walks import Sequences, SparseProfiles, Walk
from gvoys.walks.checks import is_auto
from gvoys.walks.sequences import LARGE_BUDGET, PER_GRAPH
from gvoys.walks.sparse import Counts
from gvoys.walks.structure import LAYERS, in_layer, layers_of

Array = NDArray[np.float64]

_AROUND = 4  # Weisfeiler–Lehman iterations of surroundings
_COUNTING = Sequences(budget=LARGE_BUDGET, per_graph=PER_GRAPH)


class View(Protocol):
    """Graphs cut into blocks."""

    @property
    def layer(self) -> str:
        """Whose labels are compared."""

    @property
    def walk(self) -> Walk:
        """Walk of the view."""

    @property
    def title(self) -> str:
        """The labels that are compared."""

    @property
    def names(self) -> list[str]:
        """Names of the blocks."""

    def profile(self, batch: GraphBatch) -> SparseProfiles:
        """Profile graphs."""

    def grams(self, some: SparseProfiles) -> Iterator[Array]:
        """Inner products of graphs with each other, (n, n), block by block."""

    def weighed(self, weights: Array, left: SparseProfiles, right: SparseProfiles) -> Array:
        """Sum over blocks of weight times inner product, (n_left, n_right)."""

    def sizes(self, weights: Array, some: SparseProfiles) -> Array:
        """Return the weighted products of each graph with itself, (n,)."""


@dataclass(frozen=True)
class Walks:
    """Counts of label sequences; a block is a Weisfeiler–Lehman iteration and walk length."""

    layer: str
    walk: Walk

    @property
    def title(self) -> str:
        """The labels that are compared, as in "both fine"."""
        return _title(self.layer, self.walk)

    @property
    def names(self) -> list[str]:
        """Names of the blocks, such as "both fine walk3" or "both fine round1 walk3"."""
        return [
            f"{self.title}{f' round{r}' if self.walk.refine else ''} walk{i}"
            for r in range(self.walk.n_iterations)
            for i in range(self.walk.n_lengths)
        ]

    def profile(self, batch: GraphBatch) -> SparseProfiles:
        """Exact counts; a graph with very many keeps those of its short walks."""
        check_has_labels(batch, self.walk.node_labels, self.walk.edge_labels)
        made: SparseProfiles = _COUNTING.profile(in_layer(batch, self.layer), self.walk)
        return made

    def grams(self, some: SparseProfiles) -> Iterator[Array]:
        """Yield the products of the counts."""
        return (gram for _, gram in some.each_gram())

    def weighed(self, weights: Array, left: SparseProfiles, right: SparseProfiles) -> Array:
        """One product of all blocks together."""
        return left.gram(self._by_block(weights), None if left is right else right)

    def sizes(self, weights: Array, some: SparseProfiles) -> Array:
        """The same for the diagonal."""
        return np.asarray(weights @ some.diagonals().reshape(len(weights), len(some)))

    def _by_block(self, weights: Array) -> Array:
        return weights.reshape(self.walk.n_iterations, self.walk.n_lengths)


@dataclass(frozen=True)
class Surroundings:
    """The labels of nodes, as given and after each Weisfeiler–Lehman iteration, compared as multisets.

    One block: the number of labels that two graphs share, over the number that either has (min-max or Tanimoto kernel;
    Ralaivola et al. 2005). On atoms it is what circular fingerprints are compared by, without collisions.
    """

    layer: str
    walk: Walk  # of length 0

    @classmethod
    def like(cls, layer: str, walk: Walk, refine: int) -> Surroundings:
        """With the labels of a walk."""
        return cls(layer, replace(walk, max_length=0, refine=refine, start="ones", stop="ones"))

    @property
    def title(self) -> str:
        """The labels that are compared."""
        return _title(self.layer, self.walk)

    @property
    def names(self) -> list[str]:
        """Names of the blocks, such as "both fine surroundings"."""
        return [f"{self.title} surroundings"]

    def profile(self, batch: GraphBatch) -> SparseProfiles:
        """One label as often as it occurs: the first, second, … of its kind, so that products count the shared ones."""
        made = self.counts(in_layer(batch, self.layer))
        return SparseProfiles([[_one_by_one(counts) for counts in row] for row in made.blocks], made.exponents)

    def counts(self, batch: GraphBatch) -> SparseProfiles:
        """Count each label in graphs that have those of the layer."""
        made: SparseProfiles = _COUNTING.profile(batch, self.walk)
        return made

    def grams(self, some: SparseProfiles) -> Iterator[Array]:
        """The one matrix."""
        yield self._shares(some, some)

    def weighed(self, weights: Array, left: SparseProfiles, right: SparseProfiles) -> Array:
        """The one matrix times its weight."""
        shares = self._shares(left, right)
        shares *= weights[0]
        return shares

    def sizes(self, weights: Array, some: SparseProfiles) -> Array:
        """A graph shares all with itself; one without nodes shares nothing."""
        return np.asarray(weights[0] * (self._numbers(some) > 0))

    def _numbers(self, some: SparseProfiles) -> Array:
        return some.diagonals().sum(axis=(0, 1))

    def _shares(self, left: SparseProfiles, right: SparseProfiles) -> Array:
        shares = left.gram(np.ones(1), None if left is right else right)
        divide_by_union(shares, self._numbers(left), self._numbers(right))
        return shares


def _title(layer: str, walk: Walk) -> str:
    labels = title_of(walk)
    return labels if layer == "given" else f"{labels} {layer}"


def _one_by_one(counts: Counts) -> Counts:
    """A count of three as three ones."""
    pointers, keys, values = counts.listing
    times = np.rint(values).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(times)])
    owners = np.arange(ends[-1]) - np.repeat(ends[:-1], times)
    part_values = combine_hashes(np.repeat(keys, times), hash_integers(owners))
    return Counts.listed(ends[pointers], part_values, np.ones(len(part_values)))


def views_of(batch: GraphBatch, given: tuple[Walk, ...], layers: Any) -> tuple[View, ...]:
    """Return walks and surroundings under each layer of labels; "auto" means all layers where labels are tuples."""
    names = layers_of(batch) if is_auto(layers) else layers
    if not isinstance(names, (tuple, list)) or not names or not set(names) <= set(LAYERS):
        raise ParameterError(f'layers must be "auto" or some of {", ".join(map(repr, LAYERS))}, not {layers!r}')
    chosen = [(name, walk) for walk in given for name in (names if walk.node_labels else ("given",))]
    return (
        *(Walks(name, walk) for name, walk in chosen),
        *(Surroundings.like(name, walk, _AROUND) for name, walk in chosen),
    )
