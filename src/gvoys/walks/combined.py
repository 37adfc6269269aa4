"""Exact counts of short label sequences, a sketch of the others: most of a sketch's variance is in the short ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.transform import refinement_rounds
from gvoys.walks.dense import DenseProfiles
from gvoys.walks.method import Cost, Support, WalkMethod
from gvoys.walks.profiles import Profiles, counted_rounding, gram_with_error, rounding, rounding_floor
from gvoys.walks.sequences import (
    LARGE_BUDGET,
    PER_GRAPH,
    can_count,
    count_lengths,
    entries_back,
    sequences_by_length,
    spread_graphs,
)
from gvoys.walks.sketch import N_COMPONENTS, Sketch
from gvoys.walks.sparse import SparseProfiles
from gvoys.walks.walk import Walk

_SAMPLE_SIZE = 32  # graphs by which lengths are chosen
_STATES = 64  # per entry: states of a step that take about as long as all of a sketch

Array = NDArray[np.float64]


def exact_lengths(batch: GraphBatch, walk: Walk, most: int) -> tuple[int, ...]:
    """Return the length up to which a sample of graphs has at most `most` sequences each; -1 for none."""
    chosen = np.empty(0, np.int64)
    if len(batch):
        degrees = np.diff(batch.indptr).astype(np.float64)
        squares = np.bincount(batch.node_graphs(), degrees**2, minlength=len(batch))  # largest where hubs are
        chosen = np.union1d(spread_graphs(batch, _SAMPLE_SIZE), squares.argmax())
    sample, walk = replace(walk, start="ones", stop="ones").labelled_by_structure(batch[chosen])
    back = entries_back(sample, walk)
    rounds = refinement_rounds(sample, walk.refine, walk.node_labels, walk.edge_labels)
    return tuple(_exact_length(graphs, walk.in_iteration(round_), back, most) for round_, graphs in enumerate(rounds))


def _exact_length(graphs: GraphBatch, walk: Walk, back: NDArray[np.int64], most: int) -> int:
    """Return the length before the first at which there are too many sequences, or states of one graph or of all."""
    budget = _STATES * max(graphs.n_entries, 1)
    alone = 4 * budget // max(len(graphs), 1)
    for length in range(walk.n_lengths):  # again each time, since the last length takes far longer if it is too many
        counts, states, largest = sequences_by_length(graphs, replace(walk, max_length=length), back, alone)
        if counts[-1] > most * len(graphs) or states[-1] > budget or largest[-1] > alone:
            return length - 1
    return walk.longest


@dataclass(frozen=True)
class Combined(WalkMethod):
    """Exact counts of short label sequences and a sketch of longer ones, which is unbiased, with a small error."""

    name: ClassVar[str] = "combined"
    n_components: int = N_COMPONENTS
    seed: int = 0
    device: str = "cpu"  # there is nothing yet for "cuda"
    exact: tuple[int, ...] = ()  # length up to which each iteration is counted; `fitted` chooses it

    def fitted(self, walk: Walk, batch: GraphBatch) -> Combined:
        return replace(self, exact=exact_lengths(batch, self.resolve(walk, batch), self.n_components))

    def supports(self, walk: Walk, batch: GraphBatch) -> Support:
        return can_count(self.name, walk, self.device)

    def fits(self, walk: Walk, batch: GraphBatch) -> Support:
        supported = self.supports(walk, batch)
        if not supported:
            return supported
        lengths = self.exact or self.fitted(walk, batch).exact
        if max(lengths) < 0:
            return Support(False, "graphs have more nodes of different labels than a sketch has components")
        ranges = " and ".join(f"0 … {longest}" for longest in sorted(set(lengths), reverse=True) if longest >= 0)
        return Support(
            True, f"label sequences of lengths {ranges} are few enough to be counted; longer ones are sketched"
        )

    def cost(self, walk: Walk, batch: GraphBatch) -> Cost:
        return Sketch(self.n_components).cost(walk, batch)

    def _compute(self, batch: GraphBatch, walk: Walk, scales: Array, out: NDArray[Any] | None) -> Any:
        back = entries_back(batch, walk)
        sketch = Sketch(self.n_components, self.seed)
        counts, sketches = [], []
        rounds = refinement_rounds(batch, walk.refine, walk.node_labels, walk.edge_labels)
        for longest, (round_, graphs) in zip(self.exact, enumerate(rounds), strict=True):
            once = walk.in_iteration(round_)
            short = replace(once, max_length=max(longest, 0))
            counts.append(count_lengths(graphs, short, scales, LARGE_BUDGET, back, PER_GRAPH)[: longest + 1])
            if longest < walk.longest:
                sketches.append(sketch.compute(graphs, once, scales)[:, longest + 1 :].copy())
            else:
                sketches.append(np.empty((len(batch), 0, self.n_components), np.float32))
        return counts, sketches

    def _collect(self, made: Any, exponents: NDArray[np.int64], batch: GraphBatch, walk: Walk) -> CombinedProfiles:
        counts, sketches = made
        exact = SparseProfiles(counts, exponents, walk.n_lengths)
        return CombinedProfiles(exact, sketches, rounding(batch, walk.longest))


class CombinedProfiles(Profiles):
    """Exact counts of short walks, and sketches of longer ones."""

    def __init__(self, exact: SparseProfiles, sketches: list[NDArray[np.float32]], rounding: Array) -> None:
        super().__init__(exact.exponents, exact.n_iterations, exact.n_lengths)
        self.exact, self.sketches, self.rounding = exact, sketches, rounding

    @property
    def width(self) -> int:
        """Components of one sketched iteration and length."""
        return int(self.sketches[0].shape[2])

    def take(self, graphs: Any) -> CombinedProfiles:
        return CombinedProfiles(
            self.exact.take(graphs), [part[graphs] for part in self.sketches], self.rounding[graphs]
        )

    def joined(self, others: list[CombinedProfiles]) -> CombinedProfiles:
        profiles = [self, *others]
        return CombinedProfiles(
            self.exact.joined([profile.exact for profile in others]),
            [np.concatenate(parts) for parts in zip(*(profile.sketches for profile in profiles), strict=True)],
            np.concatenate([profile.rounding for profile in profiles]),
        )

    def iterations(self, count: int) -> CombinedProfiles:
        return CombinedProfiles(self.exact.iterations(count), self.sketches[:count], self.rounding)

    def sketched(self) -> DenseProfiles:
        """Return the sketches alone, of all lengths: zero where sequences are counted."""
        values = np.zeros((len(self), self.n_lengths, self.n_iterations, self.width), np.float32)
        for iteration, part in enumerate(self.sketches):
            values[:, self._sketched_from(iteration) :, iteration] = part
        return DenseProfiles(values.reshape(len(self), self.n_lengths, -1), self.exponents, self.n_iterations)

    def _sketched_from(self, iteration: int) -> int:
        """Return the first length that is sketched."""
        return self.n_lengths - self.sketches[iteration].shape[1]

    def block(self, iteration: int, length: int) -> Any:
        first = self._sketched_from(iteration)
        if length < first:
            return self.exact.block(iteration, length)
        part = self.sketches[iteration][:, length - first]
        return np.ldexp(part.astype(np.float64), (self.exponents * length)[:, None])

    def _block_gram(self, key: tuple[int, int], other: Any) -> Array:
        if key[1] < self._sketched_from(key[0]):
            return self.exact._block_gram(key, self.exact if other is self else other.exact)
        return super()._block_gram(key, other)

    def features(self, mu: Any) -> sp.csr_array:
        parts = [self.exact.features(mu), sp.csr_array(self._columns(self.roots(mu), 0, self.width))]
        return sp.csr_array(sp.hstack(parts, format="csr"))

    def _columns(self, roots: Array, begin: int, end: int) -> Array:
        """Return some components of every sketched length and iteration, as features."""
        parts = [
            part[..., begin:end] * roots[:, self._sketched_from(iteration) :, iteration, None]
            for iteration, part in enumerate(self.sketches)
            if part.shape[1]
        ]
        flat = [part.reshape(len(self), part.shape[1] * part.shape[2]) for part in parts]
        return np.concatenate(flat, axis=1) if flat else np.empty((len(self), 0))

    def _products(self, mu: Any, right: Any, cosine: bool, error: bool) -> tuple[Any, Any]:
        roots = self.roots(mu), right.roots(mu)
        counted = self.exact.gram(mu, None if right is self else right.exact)
        if not any(part.shape[1] for part in self.sketches):
            return counted, np.zeros(counted.shape)
        K, spread = gram_with_error(
            lambda begin, end: self._columns(roots[0], begin, end),
            None if right is self else lambda begin, end: right._columns(roots[1], begin, end),
            self.width,
            cosine=cosine,
            error=error,
            exact=(counted, self.exact.diagonal(mu), right.exact.diagonal(mu)),
        )
        if error:
            np.hypot(spread, self._rounding_floor(mu, right), out=spread)
        return K, spread

    def _rounding_floor(self, mu: Any, right: CombinedProfiles) -> Array:
        """Return the rounding error of sketch and counts together, which may exceed that of the sketch."""
        sides = self, right
        counted = [side.exact.diagonal(mu) for side in sides]
        sketched = [np.maximum(side.diagonal(mu) - part, 0.0) for side, part in zip(sides, counted, strict=True)]
        in_double = [counted_rounding(side.rounding, side.exact.n_sequences) for side in sides]
        floor = rounding_floor(self.rounding, right.rounding, *sketched)
        floor += rounding_floor(*in_double, *counted)
        return floor

    def _diagonal(self, roots: Array) -> Array:
        columns = self._columns(roots, 0, self.width)
        return np.asarray(self.exact._diagonal(roots) + np.einsum("nw,nw->n", columns, columns))

    def _diagonals(self) -> Array:
        diagonals = self.exact.diagonals().copy()
        for iteration, part in enumerate(self.sketches):
            first = self._sketched_from(iteration)
            squares = np.einsum("nlw,nlw->ln", part, part, dtype=np.float64)
            powers = 2 * np.arange(first, self.n_lengths)[:, None] * self.exponents
            diagonals[iteration, first:] = np.ldexp(squares, powers)
        return diagonals
