"""The sketch on the CPU: threads share the graphs, or one graph where it is large."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys._kernels.arguments import Graphs, Labels, Maps, Tasks
from gvoys._kernels.cpu.sketch.lanes import WIDTH
from gvoys._kernels.cpu.sketch.nodes import sketch_large_graph, sketch_small_graphs
from gvoys._kernels.cpu.sketch.options import sketch_group, sketch_group_of_large
from gvoys._kernels.sketching import SketchBlock
from gvoys.threads import balanced_chunks, n_threads

__all__ = ["CpuSketch"]

_LARGE = 1 << 17  # nodes from which the threads share one graph
_BLOCK = 1024  # nodes that a thread takes at a time in a large graph


class CpuSketch(SketchBlock):
    """The sketch of one block of graphs, by the CPU's kernels."""

    def _graphs(self, reverse: NDArray[np.int64] | None = None) -> Graphs:
        batch = self.batch
        return Graphs(batch.node_offsets, batch.indptr, batch.indices.view(np.uint32), self.weights, reverse)

    def _tasks(self) -> tuple[Tasks, NDArray[Any]]:
        """Small graphs, in chunks of about equal work, and the large ones."""
        large = self.batch.graph_sizes > _LARGE
        small = np.flatnonzero(~large)
        work = (np.diff(self.batch.entry_offsets) + self.batch.graph_sizes)[small]
        return Tasks(small, balanced_chunks(work, 8 * n_threads())), np.flatnonzero(large)

    def _fill_whole(self, out: NDArray[np.float32], norm: np.float32) -> None:
        labels = Labels(self.codes, *self._bits(out.shape[2] // WIDTH, out.shape[1]))
        target = out if out.flags.c_contiguous else np.empty(out.shape, np.float32)
        arguments = (self._graphs(), labels, self.ends, norm, target)
        small, large = self._tasks()
        sketch_small_graphs(small, *arguments)
        for graph in large:
            sketch_large_graph(int(graph), _BLOCK, *arguments)
        if target is not out:
            out[:] = target

    def _general(self, group: int, n_steps: int, width: int) -> NDArray[np.float32]:
        kind, wide = (np.complex64, np.complex128) if self._mixed else (np.float32, np.float64)
        shape = (group, n_steps, width // 2 if self._mixed else width)
        out = np.empty((len(self.batch), *shape[1:]), kind)
        graphs = self._graphs(self._reverse())
        if graphs.weights is None:
            graphs = graphs._replace(weights=np.empty(0, np.float32))
        maps = Maps(self._node_maps(*shape), self._edge_maps(*shape), self._attribute_maps(*shape))
        rest = (self.ends, np.zeros(shape[2], wide), out)
        small, large = self._tasks()
        sketch_group(small, graphs, *maps, *rest)
        for graph in large:
            sketch_group_of_large(int(graph), _BLOCK, graphs, maps, *rest)
        parts: NDArray[np.float32] = out.view(np.float32)
        # real and imaginary parts are as many coordinates as there are components, of half as many frequencies
        return parts * np.float32(np.sqrt(2.0)) if self._mixed else parts
