"""The profile of labelled graphs as an unbiased sketch, O(length x edges x components).

    h_u^0     = w_u R_{0,label(u)} e / sqrt(d),   e all ones
    h_u^{t+1} = R_{t+1,label(u)} * sum over neighbours x of u of A(u,x) h_x^t
    H_i       = sum_u v_u h_u^i

R_{t,label} is a random cyclic shift followed by random signs, a pure function of (seed, group, t, label). It is
orthogonal, so that walks with equal labels pick up no noise, and the kernel's variance grows linearly with the
length. Groups of 128 coordinates are sketches of their own; the spread over groups is the error bar (groups of 64 take
a quarter longer, for the same variance). The first vector is dense: with a single coordinate rare collisions would
carry all of the variance, and the spread over groups would not show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.arguments import Ends
from gvoys._compiled.cpu.sketch_rows import WIDTH
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.ranges import NONE, first_not_finite
from gvoys.graphs.transform import refinement_rounds
from gvoys.walks.dense import DenseProfiles, ResidentProfiles
from gvoys.walks.growth import choose_exponents
from gvoys.walks.method import Cost, Support, WalkMethod, backend
from gvoys.walks.profiles import rounding
from gvoys.walks.walk import Walk

N_COMPONENTS = 512  # of a sketch, or walkers per node, unless something else is asked for
_TABLE_BYTES = 1 << 25  # of random bits at once


@dataclass(frozen=True)
class Sketch(WalkMethod):
    """Unbiased profiles of fixed width, for every kind of walk."""

    name: ClassVar[str] = "sketch"
    feature_type: ClassVar[Any] = np.float32
    n_components: int = N_COMPONENTS  # of one walk length and iteration
    seed: int = 0
    device: str = "cpu"
    first_group: int = 0  # number of the first group of 128 components; other groups are independent

    @property
    def width(self) -> int:
        return self.n_components

    def adds_up(self, walk: Walk) -> Support:
        return Support(True)

    def supports(self, walk: Walk, batch: GraphBatch) -> Support:
        if walk.attributed and self.n_components % 2:
            return Support(False, f"n_components must be even with attribute_bandwidth, not {self.n_components}")
        if walk.edge_attribute_bandwidth is not None and self.device != "cpu":
            return Support(False, "edge attributes have no kernel for a GPU yet; use device='cpu'")
        return Support(True, "a sketch's width does not depend on the graphs")

    def cost(self, walk: Walk, batch: GraphBatch) -> Cost:
        numbers = float(walk.n_iterations * self.n_components)
        return Cost(walk.longest * batch.n_entries * numbers, 4.0 * len(batch) * walk.n_lengths * numbers)

    def _collect(self, made: Any, exponents: NDArray[np.int64], batch: GraphBatch, walk: Walk) -> DenseProfiles:
        return DenseProfiles(made, exponents, walk.n_iterations, rounding(batch, walk.longest))

    def profile(self, batch: GraphBatch, walk: Walk, out: NDArray[Any] | None = None) -> DenseProfiles:
        if out is not None or not backend(self.device).keeps(int(self.cost(walk, batch).bytes)):
            made: DenseProfiles = super().profile(batch, walk, out)
            return made
        walk = self.resolve(walk, batch)
        exponents = choose_exponents(batch, walk.longest)
        values = self.compute_on_device(batch, walk, np.ldexp(1.0, exponents))
        return ResidentProfiles(values, exponents, walk.n_iterations, rounding(batch, walk.longest))

    def compute_on_device(self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64]) -> Any:
        """Walk the graphs like `compute`, and leave the result on the GPU."""
        from gvoys._compiled.cuda.device import all_finite, empty_on_device, to_host

        batch, walk = self.prepare(walk, batch)
        out = empty_on_device(self._shape(batch, walk), np.float32)
        for block, target in self.sketches(batch, walk, scales):
            block.fill_on_device(out[target])
        if not all_finite(out):
            _check_finite(to_host(out))
        return out

    def _compute(self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], out: NDArray[Any] | None) -> Any:
        if out is None:
            out = backend(self.device).empty(self._shape(batch, walk), np.float32)
        for block, target in self.sketches(batch, walk, scales):
            block.fill(out[target])
        _check_finite(out)
        return out

    def _shape(self, batch: GraphBatch, walk: Walk) -> tuple[int, int, int]:
        return len(batch), walk.n_lengths, walk.n_iterations * self.n_components

    def sketches(self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64]) -> Iterator[tuple[Any, Any]]:
        """Yield blocks of graphs that have their labels, and the part of the result that is theirs."""
        kernels, d = backend(self.device), self.n_components
        start, stop, factors = (array.astype(np.float32) for array in (*walk.ends(batch), 1.0 / scales))
        labelled = refinement_rounds(batch, walk.refine, walk.node_labels, walk.edge_labels)
        for round_, graphs in enumerate(labelled):
            once = walk.in_iteration(round_)
            per_label = _bytes_per_label(walk.n_lengths, d, kernels.sketch.is_fast(walk))
            for block in _split_by_labels(graphs, once, per_label):
                nodes = slice(*batch.node_offsets[[block.start, block.stop]].tolist())
                ends = Ends(start[nodes], stop[nodes], factors[block])
                target = (block, slice(None), slice(round_ * d, (round_ + 1) * d))
                yield kernels.sketch(graphs[block], once, ends, self.seed, self.first_group), target


def _check_finite(out: NDArray[np.float32]) -> None:
    """Check that profiles are finite at all lengths: float32 may overflow at a length and be in range at the next."""
    bad = first_not_finite(out)
    if bad != NONE:
        graph, length, _ = np.unravel_index(bad, out.shape)
        raise ParameterError(
            f"graph {graph}: its walks of length {length} are too many, or its weights too large, for float32; "
            "pass scale=2**k near its spectral radius, and the same scale to compute_gram"
        )


def _bytes_per_label(n_steps: int, n_components: int, fast: bool) -> int:
    """Count the bytes of random bits per label or pair of labels."""
    # all whole groups at once on the fast path, and one expanded group on the generic path
    n_groups, rest = divmod(n_components, WIDTH) if fast else (0, n_components)
    return n_steps * (37 * n_groups + (5 * WIDTH if rest else 0))


def _split_by_labels(batch: GraphBatch, walk: Walk, per_label: int) -> list[slice]:
    """Split into consecutive graphs whose labels' random bits, and those of pairs of labels, fit into the table."""
    most = max(_TABLE_BYTES // per_label, 1)
    used = [batch.node_labels if walk.node_labels else None, batch.edge_labels if walk.edge_labels else None]
    n_labels, n_edge_labels = (1 if labels is None else len(labels.hashes) for labels in used)
    if n_labels * n_edge_labels <= most:
        return batch.blocks(max(batch.n_nodes, 1))
    return batch.blocks(most, with_entries=n_edge_labels > 1)
