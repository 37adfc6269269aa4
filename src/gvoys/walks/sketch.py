"""The profile of labelled graphs as an unbiased sketch, O(length x edges x components).

    h_u^0     = w_u R_{0,label(u)} e / sqrt(d),   e all ones
    h_u^{t+1} = R_{t+1,label(u)} * sum over neighbours x of u of A(u,x) h_x^t
    H_i       = sum_u v_u h_u^i

R_{t,label} is a random cyclic shift followed by random signs, a pure function of (seed, group, t, label). It is
orthogonal, so that walks with equal labels pick up no noise, and the kernel's variance grows linearly with the
length. Groups of 128 coordinates are sketches of their own; the spread over groups is the error bar.

Why 128: beside groups of 64 it took 0.125 s instead of 0.155 s on NCI1 with 1024 components and length 8 on two
cores, and the variance is the same (2.95 and 2.96 per component at length 10 on random graphs of 40 nodes, degree 5
and four labels); half as many groups still give a reliable error bar. There is no exact prefix (coding short label
sequences without collisions): its table depends on the labels that were fitted, and then a graph's profile would too.
The first vector is dense: with a single coordinate rare collisions would carry all of the variance, and the spread over
groups would not show it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gvoys._kernels.cpu.randomness import EDGE, MIXING, NODE, OMEGA, normal_table, sign_table, uniform_table
from gvoys._kernels.cpu.sketch.lanes import WIDTH
from gvoys._kernels.cpu.sketch.nodes import sketch_large_graph, sketch_small_graphs
from gvoys._kernels.cpu.sketch.options import sketch_group, sketch_group_of_large
from gvoys.errors import ParameterError
from gvoys.graphs.arcs import reverse_entries
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import local_codes
from gvoys.graphs.ranges import NONE, first_not_finite
from gvoys.graphs.refine import refinement_rounds
from gvoys.threads import balanced_chunks, n_threads
from gvoys.walks.dense import DenseProfiles
from gvoys.walks.device import backend, empty_for
from gvoys.walks.growth import choose_exponents
from gvoys.walks.method import Cost, Support, WalkMethod
from gvoys.walks.spread import rounding
from gvoys.walks.walk import Walk

__all__ = ["WIDTH", "Sketch", "SketchBlock"]

_LARGE = 1 << 17  # nodes from which the threads share one graph
_BLOCK = 1024  # nodes that a thread takes at a time in a large graph
_TABLE = 1 << 25  # bytes of random bits that are held at once
_MIXING_LEVELS = 2


@dataclass(frozen=True)
class Sketch(WalkMethod):
    """Unbiased profiles of fixed width, for every kind of walk.

    Parameters
    ----------
    n_components : int, default=512
        Width of the sketch of one walk length and iteration.
    seed : int, default=0
        Seed of all random bits.
    device : {"cpu", "cuda"}, default="cpu"
        Where to compute.
    first_group : int, default=0
        Number of the first group of 128 components; other groups are independent.
    """

    name: ClassVar[str] = "sketch"
    feature_type: ClassVar[Any] = np.float32
    n_components: int = 512
    seed: int = 0
    device: str = "cpu"
    first_group: int = 0

    @property
    def width(self) -> int:
        return self.n_components

    def adds_up(self, walk: Walk) -> Support:
        return Support(True)

    def supports(self, walk: Walk, batch: GraphBatch) -> Support:
        if walk.attribute_bandwidth is not None and self.n_components % 2:
            return Support(False, f"n_components must be even with attribute_bandwidth, not {self.n_components}")
        return Support(True, "a sketch's width does not depend on the graphs")

    def cost(self, walk: Walk, batch: GraphBatch) -> Cost:
        numbers = float(walk.n_iterations * self.n_components)
        return Cost(walk.max_length * batch.n_entries * numbers, 4.0 * len(batch) * walk.n_lengths * numbers)

    def profile(self, batch: GraphBatch, walk: Walk, out: NDArray[Any] | None = None) -> DenseProfiles:
        exponents = choose_exponents(batch, walk.max_length)
        values = self.compute(batch, walk, np.ldexp(1.0, exponents), out)
        return DenseProfiles(values, exponents, walk.n_iterations, rounding(batch, walk.max_length))

    def compute(
        self, batch: GraphBatch, walk: Walk, scales: NDArray[np.float64], out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """Sketch walks on A / scale.

        Parameters
        ----------
        batch : GraphBatch
            The graphs.
        walk : Walk
            What is walked.
        scales : ndarray of shape (n_graphs,)
            Number that each graph's adjacency matrix is divided by.
        out : ndarray or None, default=None
            Array to write to.

        Returns
        -------
        ndarray of shape (n_graphs, n_lengths, n_iterations * n_components)
            The sketch, in float32.
        """
        gpu, d = backend(self.device), self.n_components
        if out is None:
            out = empty_for(self.device, (len(batch), walk.n_lengths, walk.n_iterations * d), np.float32)
        make = SketchBlock if gpu is None else gpu.GpuSketch
        ends = [end.astype(np.float32) for end in walk.ends(batch)]
        factors = (1.0 / scales).astype(np.float32)
        plain = not walk.edge_labels and walk.backtrack and walk.attribute_bandwidth is None
        labelled = refinement_rounds(batch, walk.refine, walk.node_labels, walk.edge_labels)
        for round_, graphs in enumerate(labelled):
            once = replace(walk, node_labels=walk.node_labels or round_ > 0)
            for some in _blocks(graphs, _bytes_per_label(walk.n_lengths, d, plain), once.node_labels):
                nodes = slice(int(batch.node_offsets[some.start]), int(batch.node_offsets[some.stop]))
                block = make(graphs[some], once, ends[0][nodes], ends[1][nodes], factors[some], self)
                block.fill(out[some, :, round_ * d : (round_ + 1) * d])
        _check_finite(out)
        return out


def _check_finite(out: NDArray[np.float32]) -> None:
    """Check that profiles are finite at all lengths: float32 may overflow at a length and be in range at the next."""
    place = first_not_finite(out)
    if place != NONE:
        graph, length, _ = np.unravel_index(place, out.shape)
        raise ParameterError(
            f"graph {graph}: its walks of length {length} are too many, or its weights too large, for float32; "
            "pass scale=2**k near its spectral radius, and the same scale to compute_gram"
        )


def _bytes_per_label(n_steps: int, n_components: int, plain: bool) -> int:
    """Bytes of random bits per label: all groups at once on the fast path, one expanded group on the generic path."""
    return n_steps * (20 * max(n_components // WIDTH, 1) if plain else 5 * WIDTH)


def _blocks(batch: GraphBatch, per_label: int, labelled: bool) -> list[slice]:
    """Consecutive graphs whose labels' random bits fit into the table."""
    most = max(_TABLE // per_label, 1)
    if not labelled or batch.node_labels is None or len(batch.node_labels.hashes) <= most:
        return batch.blocks(max(batch.n_nodes, 1))
    return batch.blocks(most)


class SketchBlock:
    """The sketch of one block of graphs, by the labels as they are.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    walk : Walk
        What is walked.
    start : ndarray of shape (n_nodes,)
        Start weights.
    stop : ndarray of shape (n_nodes,)
        Stop weights.
    factors : ndarray of shape (n_graphs,)
        Factor of each graph's adjacency matrix, 1 / scale.
    method : Sketch
        Seed and groups.
    """

    def __init__(
        self,
        batch: GraphBatch,
        walk: Walk,
        start: NDArray[np.float32],
        stop: NDArray[np.float32],
        factors: NDArray[np.float32],
        method: Sketch,
    ) -> None:
        self.batch, self.walk, self.method = batch, walk, method
        self.start, self.stop, self.factors = start, stop, factors
        self.seed, self.first_group = method.seed, method.first_group
        self.codes, self.labels = local_codes(batch.node_labels if walk.node_labels else None, batch.n_nodes)
        self.edges = local_codes(batch.edge_labels, batch.n_entries) if walk.edge_labels else None
        self.backtrack, self.bandwidth = walk.backtrack, walk.attribute_bandwidth
        self.weights = None if batch.edge_weights is None else batch.edge_weights.astype(np.float32)
        self.indices = batch.indices.view(np.uint32)

    def fill(self, out: NDArray[np.float32]) -> None:
        """Compute all groups; the norm 1 / sqrt(d) weights each by its share of the components.

        Parameters
        ----------
        out : ndarray of shape (n_graphs, n_steps, n_components)
            Array to write to.
        """
        n_components = out.shape[2]
        norm = np.float32(1.0 / np.sqrt(n_components))
        whole = n_components // WIDTH if self._plain() else 0
        if whole:
            self._fill_plain(out[:, :, : whole * WIDTH], norm)
        for group, begin in enumerate(range(whole * WIDTH, n_components, WIDTH), start=whole):
            width = min(WIDTH, n_components - begin)
            out[:, :, begin : begin + width] = self._general(group, out.shape[1], width) * norm

    def _plain(self) -> bool:
        return self.edges is None and self.backtrack and self.bandwidth is None

    def _chunks(self, graphs: NDArray[Any]) -> NDArray[np.int64]:
        work = np.diff(self.batch.entry_offsets) + self.batch.graph_sizes
        return balanced_chunks(work[graphs], 8 * n_threads())

    def _fill_plain(self, out: NDArray[np.float32], norm: np.float32) -> None:
        batch, n_groups = self.batch, out.shape[2] // WIDTH
        groups = np.arange(self.first_group, self.first_group + n_groups)
        signs, places = sign_table(self.seed, NODE, groups, out.shape[1], self.labels)
        tables = (self.codes, len(self.labels), signs.ravel(), (places % WIDTH).astype(np.uint8).ravel())
        graph = (batch.node_offsets, batch.indptr, self.indices, self.weights)
        rest = (self.start, self.stop, self.factors, norm)
        large = batch.graph_sizes > _LARGE
        small = np.flatnonzero(~large)
        target = out if out.flags.c_contiguous else np.empty(out.shape, np.float32)
        sketch_small_graphs(small, self._chunks(small), *graph, *tables, *rest, target)
        for index in np.flatnonzero(large):
            sketch_large_graph(int(index), _BLOCK, *graph, *tables, *rest, target)
        if target is not out:
            out[:] = target

    def _general(self, group: int, n_steps: int, width: int) -> NDArray[np.float32]:
        complex_width = width // 2 if self.bandwidth is not None else width
        kind = np.complex64 if self.bandwidth is not None else np.float32
        groups = np.array([self.first_group + group])
        signs, shifts = self._expanded(NODE, groups, n_steps, self.labels, complex_width)
        edge_codes, edge_signs, edge_shifts = None, None, None
        if self.edges is not None:
            edge_codes = self.edges[0]
            edge_signs, edge_shifts = self._expanded(EDGE, groups, n_steps, self.edges[1], complex_width)
        attributes, omega, mixing = self._frequencies(groups, n_steps, complex_width)
        batch = self.batch
        out = np.empty((len(batch), n_steps, complex_width), kind)
        wide = np.zeros(complex_width, np.complex128 if kind is np.complex64 else np.float64)
        large = batch.graph_sizes > _LARGE
        small = np.flatnonzero(~large)
        arguments = (
            batch.node_offsets, batch.indptr, self.indices, self.weights,
            None if self.backtrack else reverse_entries(batch),
            self.codes, signs, shifts, edge_codes, edge_signs, edge_shifts, attributes, omega, mixing,
            self.start, self.stop, self.factors, wide, out,
        )  # fmt: skip
        sketch_group(small, self._chunks(small), *arguments)
        for graph in np.flatnonzero(large):
            sketch_group_of_large(int(graph), _BLOCK, *arguments)
        parts: NDArray[np.float32] = out.view(np.float32)
        # real and imaginary parts are as many coordinates as there are components, of half as many frequencies
        return parts if self.bandwidth is None else parts * np.float32(np.sqrt(2.0))

    def _expanded(
        self, purpose: int, groups: NDArray[Any], n_steps: int, labels: NDArray[np.uint64], width: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Signs as +-1, (n_steps, n_labels, width), and shifts, (n_steps, n_labels)."""
        signs, places = sign_table(self.seed, purpose, groups, n_steps, labels)
        bits = np.unpackbits(signs[0].view(np.uint8), axis=-1, bitorder="little")[..., :width]
        return 1.0 - 2.0 * bits.astype(np.float32), (places[0] % width).astype(np.int64)

    def _frequencies(self, groups: NDArray[Any], n_steps: int, width: int) -> tuple[Any, Any, Any]:
        if self.bandwidth is None or self.batch.node_attributes is None:
            return None, None, None
        attributes = self.batch.node_attributes / self.bandwidth
        n_attributes = attributes.shape[1]
        omega = normal_table(self.seed, OMEGA, groups, n_steps, width * n_attributes)[0]
        angles = uniform_table(self.seed, MIXING, groups, n_steps, _MIXING_LEVELS * (width + 1))[0]
        angles = angles.reshape(n_steps, _MIXING_LEVELS, width + 1)
        mixing = np.stack([np.cos(2 * np.pi * angles), np.sin(2 * np.pi * angles)], axis=2).astype(np.float32)
        mixing[..., 0, width] = np.floor(angles[..., width] * max(int(np.log2(width)), 1))  # which bit pairs differ in
        return attributes, omega.reshape(n_steps, width, n_attributes), mixing
