"""The sketch on the CPU: threads share the graphs, or one graph where it is large."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gvoys._kernels.arguments import Attributes, Graphs, Labels, Maps, PairedAttributes, Tasks, frozen
from gvoys._kernels.cpu.sketch.arcs import Arcs, number_rows
from gvoys._kernels.cpu.sketch.backward import Gradients, SketchShares, spread_group
from gvoys._kernels.cpu.sketch.hubs import Cuts, cut_graph
from gvoys._kernels.cpu.sketch.lanes import WIDTH
from gvoys._kernels.cpu.sketch.large import sketch_arcs_of_large
from gvoys._kernels.cpu.sketch.nodes import sketch_large_graph, sketch_small_graphs
from gvoys._kernels.cpu.sketch.options import sketch_group, sketch_group_of_large
from gvoys._kernels.cpu.sketch.small import sketch_arcs
from gvoys._kernels.sketching import SketchBlock, WalkOptions, is_plain
from gvoys.threads import balanced_chunks, n_threads

_LARGE = 1 << 18  # nodes and entries from which the threads share one graph
_BLOCK = 1 << 14  # nodes and entries that a thread takes at a time in a large graph
_PIECE = 512  # entries that a thread takes at a time of a node with more of them
_TABLE = 1 << 28  # bytes of random bits, past which a graph's groups are done one after the other

# options that are not used, in the types of those that are: one kernel serves all
_NO_WAY = np.empty((0, 2), np.int64)
_NO_LABELS = Labels(frozen(np.empty(0, np.int32)), np.empty((0, 0, 0), np.float32), np.empty((0, 0), np.int64))
_NO_FLOATS = np.empty((0, 0, 0), np.float32)
_NO_ATTRIBUTES = PairedAttributes(
    np.empty((0, 0)), np.empty((0, 0, 0)), _NO_FLOATS, _NO_FLOATS, np.empty((0, 0, 0), np.uint32)
)


class CpuSketch(SketchBlock):
    """The sketch of one block of graphs, by the CPU's kernels."""

    @staticmethod
    def is_fast(walk: WalkOptions) -> bool:
        return not walk.attributed

    def _graphs(self, reverse: NDArray[np.int64] | None = None) -> Graphs:
        batch = self.batch
        return Graphs(batch.node_offsets, batch.indptr, batch.indices.view(np.uint32), self.weights, reverse)

    @cached_property
    def _weighted_graphs(self) -> Graphs:
        """Graphs for kernels that ask at run time whether there are weights, so that half as many are compiled."""
        graphs = self._graphs()
        return graphs if graphs.weights is not None else graphs._replace(weights=np.ones(1, np.float32))

    @cached_property
    def _arcs(self) -> Arcs:
        return number_rows(self._graphs(), self._reverse())

    def _tasks(self) -> tuple[Tasks, list[tuple[int, Cuts]]]:
        """Small graphs, in chunks of about equal work, and the large ones with their cuts."""
        work = np.diff(self.batch.entry_offsets) + self.batch.graph_sizes
        small, large = np.flatnonzero(work <= _LARGE), np.flatnonzero(work > _LARGE).tolist()
        cuts = [(graph, cut_graph(self._graphs(), graph, _BLOCK, _PIECE)) for graph in large]
        return Tasks(small, balanced_chunks(work[small], 8 * n_threads())), cuts

    def _fill_whole(self, out: NDArray[np.float32], norm: np.float32) -> None:
        n_groups, n_steps = out.shape[2] // WIDTH, out.shape[1]
        n_pairs = 0 if is_plain(self.walk) else self.n_pairs
        per_group = n_steps * (20 * len(self.labels) + 17 * n_pairs)  # bytes; none for graphs without nodes
        at_once = max(_TABLE // max(per_group, 1), 1)
        for first in range(0, n_groups, at_once):
            part = out[:, :, first * WIDTH : (first + at_once) * WIDTH]
            target = part if part.flags.c_contiguous else np.empty(part.shape, np.float32)
            self._fill_groups(first, norm, target)
            if target is not part:
                part[:] = target

    def _fill_groups(self, first: int, norm: np.float32, out: NDArray[np.float32]) -> None:
        shape = (out.shape[2] // WIDTH, out.shape[1], first)
        nodes = Labels(self.codes, *self._bits(*shape))
        small, large = self._tasks()
        rest = (self.ends, norm, out)
        if is_plain(self.walk):
            sketch_small_graphs(small, self._graphs(), nodes, *rest)
            for graph, cuts in large:
                sketch_large_graph(graph, cuts, self._graphs(), nodes, *rest)
        else:
            entries = Labels(self.entry_codes, *self._entry_bits(*shape))
            arguments = (self._weighted_graphs, self._arcs, nodes, entries, *rest)
            sketch_arcs(small, *arguments)
            for graph, cuts in large:
                sketch_arcs_of_large(graph, cuts, *arguments)

    def _general(self, group: int, n_steps: int, width: int) -> NDArray[np.float32]:
        out = np.empty((len(self.batch), n_steps, width // 2 * 2 if self._mixed else width), np.float32)
        graphs, maps = self._general_graphs(), self._maps(group, n_steps, width)
        rest = (self.ends, out)
        small, large = self._tasks()
        sketch_group(small, graphs, *maps, *rest)
        for graph, cuts in large:
            sketch_group_of_large(graph, cuts.blocks, graphs, maps, *rest)
        if not self._mixed:
            return out
        # real and imaginary parts are as many coordinates as there are components, of half as many frequencies
        pairs = out.reshape(len(out), n_steps, 2, -1).transpose(0, 1, 3, 2).reshape(out.shape)
        return pairs * np.float32(np.sqrt(2.0))

    def _general_graphs(self) -> Graphs:
        reverse, graphs = self._reverse(), self._graphs()
        weights = np.empty(0, np.float32) if graphs.weights is None else graphs.weights
        return graphs._replace(weights=weights, reverse=_NO_WAY if reverse is None else reverse)

    def _maps(self, group: int, n_steps: int, width: int) -> Maps:
        """The random maps of a group of some components."""
        shape = (group, n_steps, width // 2 if self._mixed else width)
        return Maps(
            self._node_maps(*shape),
            self._edge_maps(*shape) or _NO_LABELS,
            _with_partners(self._attribute_maps(*shape)),
            _with_partners(self._edge_attribute_maps(*shape)),
        )

    def spread(
        self,
        gradients: NDArray[np.float32],
        n_components: int,
        first: int,
        nodes: NDArray[np.float64],
        entries: NDArray[np.float64],
    ) -> None:
        """Add what nodes and entries have of the sum of gradients times sketches, group by group.

        Each graph is walked by one thread. It keeps the states of all steps: (n_steps, n_nodes, 128), and as much for
        each entry in non-backtracking walks.
        """
        norm = np.float32(np.sqrt((2.0 if self._mixed else 1.0) / n_components))
        graphs, n_graphs = self._general_graphs(), len(self.batch)
        work = np.diff(self.batch.entry_offsets) + self.batch.graph_sizes
        tasks = Tasks(np.arange(n_graphs), balanced_chunks(work, 8 * n_threads()))
        for group, begin in enumerate(range(0, n_components, WIDTH)):
            width = min(WIDTH, n_components - begin)
            own = Gradients(gradients, first + begin, width, norm)
            shares = SketchShares(nodes[group], entries[group])
            spread_group(tasks, graphs, *self._maps(group, gradients.shape[1], width), self.ends, own, shares)


def _with_partners(maps: Attributes | None) -> PairedAttributes:
    """The maps of attributes, whose rotations are weights of each coordinate and of its partner."""
    if maps is None:
        return _NO_ATTRIBUTES
    width = maps.omega.shape[2]
    strides = 1 << maps.mixing[:, :, 0, width:].astype(np.int64)
    places = np.arange(width)
    partners = places ^ strides
    paired, first = partners < width, np.minimum(places, partners)
    cosines, sines = (np.take_along_axis(maps.mixing[:, :, part], first, axis=2) for part in range(2))
    own = np.where(paired, cosines, np.float32(1.0))
    other = np.where(paired, np.where(places < partners, -sines, sines), np.float32(0.0))
    partners = np.where(paired, partners, places).astype(np.uint32)
    return PairedAttributes(maps.values, maps.omega, own, other, partners)
