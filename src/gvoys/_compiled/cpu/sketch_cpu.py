"""The sketch on the CPU: which walks take which path; threads share the graphs, or one graph where it is large."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.arguments import Attributes, Graphs, Labels, Maps, PairedAttributes, Tasks, frozen
from gvoys._compiled.cpu.sketch_arcs import number_rows, sketch_arcs, sketch_arcs_of_large
from gvoys._compiled.cpu.sketch_backward import Gradients, SketchShares, spread_group
from gvoys._compiled.cpu.sketch_generic import sketch_group, sketch_group_of_large
from gvoys._compiled.cpu.sketch_large import Cuts, cut_graph
from gvoys._compiled.cpu.sketch_nodes import sketch_nodes, sketch_nodes_of_large
from gvoys._compiled.cpu.sketch_rows import WIDTH
from gvoys._compiled.random_maps import SketchBlock, is_plain
from gvoys.threads import balanced_chunks, n_threads

LARGE_GRAPH = 1 << 18  # nodes and entries from which the threads share one graph
BLOCK_ITEMS = 1 << 14  # nodes and entries that a thread takes at a time in a large graph
PIECE_ENTRIES = 512  # that a thread takes at a time of a node with more of them
RANDOM_TABLE_BYTES = 1 << 28  # past which a graph's groups are done one after the other

# options that are not used, in the types of those that are: one kernel serves all
_NO_REVERSE = np.empty((0, 2), np.int64)
_NO_LABELS = Labels(frozen(np.empty(0, np.int32)), np.empty((0, 0, 0), np.float32), np.empty((0, 0), np.int64))
_NO_FLOATS = np.empty((0, 0, 0), np.float32)
_NO_ATTRIBUTES = PairedAttributes(
    np.empty((0, 0)), np.empty((0, 0, 0)), _NO_FLOATS, _NO_FLOATS, np.empty((0, 0, 0), np.uint32)
)


class CpuSketch(SketchBlock):
    """The sketch of one block of graphs, by the CPU's kernels."""

    def _graphs(self, unweighted: NDArray[np.float32] | None = None, reverse: Any = None) -> Graphs:
        """Graphs for kernels that know weights of one at compile time (None), or that ask at run time."""
        batch, weights = self.batch, unweighted if self.weights is None else self.weights
        return Graphs(batch.node_offsets, batch.indptr, batch.indices.view(np.uint32), weights, *self.ends, reverse)

    @cached_property
    def _work(self) -> NDArray[np.int64]:
        return np.diff(self.batch.entry_offsets) + self.batch.graph_sizes

    @cached_property
    def _cuts(self) -> list[tuple[int, Cuts]]:
        """The graphs that all threads share."""
        large = np.flatnonzero(self._work > LARGE_GRAPH).tolist()
        return [(graph, cut_graph(self._graphs(), graph, BLOCK_ITEMS, PIECE_ENTRIES)) for graph in large]

    def _run(self, small: Callable[..., None], large: Callable[..., None], *arguments: Any) -> None:
        """Take small graphs in chunks of about equal work, then each large one."""
        chosen = np.flatnonzero(self._work <= LARGE_GRAPH)
        small(Tasks(chosen, balanced_chunks(self._work[chosen], 8 * n_threads())), *arguments)
        for graph, cuts in self._cuts:
            large(graph, cuts, *arguments)

    def _fill_whole(self, out: NDArray[np.float32], norm: np.float32) -> None:
        n_groups, n_steps = out.shape[2] // WIDTH, out.shape[1]
        n_pairs = 0 if is_plain(self.walk) else self.n_pairs
        per_group = n_steps * (20 * len(self.labels) + 17 * n_pairs)  # bytes; none for graphs without nodes
        at_once = max(RANDOM_TABLE_BYTES // max(per_group, 1), 1)
        for first in range(0, n_groups, at_once):
            part = out[:, :, first * WIDTH : (first + at_once) * WIDTH]
            target = part if part.flags.c_contiguous else np.empty(part.shape, np.float32)
            self._fill_groups(first, norm, target)
            if target is not part:
                part[:] = target

    def _fill_groups(self, first: int, norm: np.float32, out: NDArray[np.float32]) -> None:
        shape = (out.shape[2] // WIDTH, out.shape[1], first)
        nodes = Labels(self.codes, *self._bits(*shape))
        if is_plain(self.walk):
            self._run(sketch_nodes, sketch_nodes_of_large, self._graphs(), nodes, norm, out)
        else:
            entries = Labels(self.entry_codes, *self._entry_bits(*shape))
            graphs = self._graphs(np.ones(1, np.float32))
            self._run(sketch_arcs, sketch_arcs_of_large, graphs, self._arcs, nodes, entries, norm, out)

    @cached_property
    def _arcs(self) -> Any:
        return number_rows(self._graphs(), self._reverse())

    def _general(self, group: int, n_steps: int, width: int) -> NDArray[np.float32]:
        out = np.empty((len(self.batch), n_steps, width // 2 * 2 if self._mixed else width), np.float32)
        maps = self._maps(group, n_steps, width)
        self._run(sketch_group, sketch_group_of_large, self._general_graphs, *maps, out)
        if not self._mixed:
            return out
        # real and imaginary parts are as many coordinates as there are components, of half as many frequencies
        pairs = out.reshape(len(out), n_steps, 2, -1).transpose(0, 1, 3, 2).reshape(out.shape)
        return pairs * np.float32(np.sqrt(2.0))

    @cached_property
    def _general_graphs(self) -> Graphs:
        reverse = self._reverse()
        return self._graphs(np.empty(0, np.float32), _NO_REVERSE if reverse is None else reverse)

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
        tasks = Tasks(np.arange(len(self.batch)), balanced_chunks(self._work, 8 * n_threads()))
        for group, begin in enumerate(range(0, n_components, WIDTH)):
            width = min(WIDTH, n_components - begin)
            maps, shares = self._maps(group, gradients.shape[1], width), SketchShares(nodes[group], entries[group])
            spread_group(tasks, self._general_graphs, *maps, Gradients(gradients, first + begin, width, norm), shares)


def _with_partners(maps: Attributes | None) -> PairedAttributes:
    """The maps of attributes, whose rotations are weights of each coordinate and of its partner."""
    if maps is None:
        return _NO_ATTRIBUTES
    width = maps.omega.shape[2]
    strides = 1 << maps.mixing[:, :, 0, width:].astype(np.int64)
    coordinates = np.arange(width)
    partners = coordinates ^ strides
    paired, first = partners < width, np.minimum(coordinates, partners)
    cos, sin = (np.take_along_axis(maps.mixing[:, :, part], first, axis=2) for part in range(2))
    cosines = np.where(paired, cos, np.float32(1.0))
    sines = np.where(paired, np.where(coordinates < partners, -sin, sin), np.float32(0.0))
    partners = np.where(paired, partners, coordinates).astype(np.uint32)
    return PairedAttributes(maps.values, maps.omega, cosines, sines, partners)
