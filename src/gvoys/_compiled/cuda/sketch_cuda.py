"""The sketch on the GPU: which graphs take which path, as many at a time as there is memory for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from gvoys._compiled.arguments import Attributes, Ends, Labels
from gvoys._compiled.cpu.randomness import EDGE, compose_maps, number_pairs, sign_table
from gvoys._compiled.cpu.sketch_rows import WIDTH
from gvoys._compiled.cuda import sketch_generic_cuda as general
from gvoys._compiled.cuda.device import (
    DeviceGraphs,
    cupy_module,
    empty_on_device,
    ends_on_device,
    for_numba,
    graphs_on_device,
    to_device,
    to_host,
)
from gvoys._compiled.cuda.moments_cuda import node_blocks
from gvoys._compiled.cuda.sketch_small_cuda import Turns, is_small, pack_turns, prepare_small_graphs
from gvoys._compiled.random_maps import SketchBlock, WalkOptions

STATE_BYTES = 1 << 32  # of states that are held at once on the generic path
OUTPUT_BYTES = 1 << 32  # of profiles that are held at once; a collection may be larger than the device's memory
_SHARE_NODES = 1024  # whose share of a profile is one sum


class GpuSketch(SketchBlock):
    """The sketch of one block of graphs, by the GPU's kernels."""

    @staticmethod
    def is_fast(walk: WalkOptions) -> bool:
        """Return whether CuPy, which compiles the fast path, is there and attributes are not compared."""
        return cupy_module() is not None and SketchBlock.is_fast(walk)

    def fill(self, out: NDArray[np.float32]) -> None:
        at_once = max(OUTPUT_BYTES // (4 * out.shape[1] * out.shape[2]), 1)
        for first in range(0, len(out), at_once):
            part = out[first : first + at_once]
            block = self if len(part) == len(out) else self._take(np.arange(first, first + len(part)))
            profiles = empty_on_device(part.shape, np.float32)
            block.fill_on_device(profiles)
            to_host(profiles, part)

    def fill_on_device(self, out: Any) -> None:
        """Compute all groups, and leave them on the device."""
        super().fill(out)

    def _fill_whole(self, out: Any, norm: np.float32) -> None:
        small = is_small(self)
        if small.any():
            self.prepare(np.flatnonzero(small), norm, out)()
        large = np.flatnonzero(~small)
        if large.size:
            rest, target = self._take(large), for_numba(out)
            for group in range(out.shape[2] // WIDTH):
                rest._walk_all(group, WIDTH, norm, large, group * WIDTH, target)

    def prepare(self, small: NDArray[Any], norm: np.float32, out: Any) -> Callable[[], None]:
        """Copy what small graphs need to the device."""
        return prepare_small_graphs(self, small, self._turns(out.shape[2] // WIDTH, out.shape[1]), norm, out)

    def _turns(self, n_groups: int, n_steps: int) -> Turns:
        """The maps of nodes, then those of entries: that of the entry's label and then of its node's label."""
        nodes, codes = self._bits(n_groups, n_steps), self.codes.astype(np.int32, copy=False)
        table = pack_turns(*nodes)
        if self.edges is None:
            return Turns(codes, np.zeros(1, np.int32), table)
        entry_codes, pairs = number_pairs(codes[self.batch.rows()], self.edges[0], len(self.edges[1]))
        groups = np.arange(self.first_group, self.first_group + n_groups)
        signs, draws = sign_table(self.seed, EDGE, groups, n_steps, self.edges[1])
        # as if one step earlier, from where the second map of a pair is taken
        edges = np.roll(signs, -1, axis=1), np.roll((draws % WIDTH).astype(np.uint8), -1, axis=1)
        composed = pack_turns(*compose_maps(pairs, nodes, edges))
        return Turns(codes, len(self.labels) + entry_codes, np.concatenate([table, composed], axis=2))

    # -- every option

    def _general(self, group: int, n_steps: int, width: int) -> Any:
        out = empty_on_device((len(self.batch), n_steps, width), np.float32)
        # real and imaginary parts are as many coordinates as there are components, of half as many frequencies
        norm = np.sqrt(2.0) if self._mixed else 1.0
        self._walk_all(group, width, norm, np.arange(len(self.batch)), 0, for_numba(out))
        return to_host(out) if cupy_module() is None else out

    def _walk_all(self, group: int, width: int, norm: Any, graphs: NDArray[Any], first: int, out: Any) -> None:
        """One group of all graphs, as many at a time as there is memory for, into out[graphs, :, first:]."""
        per_edge = 0 if self.walk.backtrack else -(-self.batch.n_entries // max(self.batch.n_nodes, 1))
        per_node = 8 * width * (2 + 3 * per_edge)  # the states of _walk
        blocks = self.batch.blocks(max(STATE_BYTES // per_node, 1))
        for block in blocks:
            part = self if len(blocks) == 1 else self._take(np.arange(block.start, block.stop))
            part._walk(group, width, norm, graphs[block], first, out)

    @cached_property
    def _graphs(self) -> tuple[DeviceGraphs, general.Arcs, Ends]:
        """The graphs on the device, the same for all groups."""
        reverse = self._reverse()
        entries = to_device(np.zeros((1, 2), np.int64) if reverse is None else reverse)
        arcs = general.Arcs(entries, reverse is not None)
        return graphs_on_device(self.batch, np.float32), arcs, ends_on_device(self.ends)

    def _walk(self, group: int, width: int, norm: Any, graphs: NDArray[Any], first: int, out: Any) -> None:
        blocks = node_blocks(self.batch.node_offsets, _SHARE_NODES)
        begins, lasts, pointers, targets = map(to_device, (blocks.begins, blocks.ends, blocks.pointers, graphs))
        n_blocks = len(blocks.begins)
        sums = cuda.device_array((max(n_blocks, 1), width), np.float64)
        steps = self._steps(group, out.shape[1], width // 2 if self._mixed else width)
        for t in range(out.shape[1]):
            if n_blocks:
                general.add_up_blocks[n_blocks, width](begins, lasts, self._graphs[2].start, next(steps), sums)
            general.add_up_graphs[len(self.batch), width](targets, pointers, sums, t, first, norm, out)

    def _steps(self, group: int, n_steps: int, width: int) -> Iterator[Any]:
        """States of all nodes after 0, 1, … steps, as real numbers."""
        graphs, arcs, ends = self._graphs
        nodes = Labels(*map(to_device, self._node_maps(group, n_steps, width)))
        edges = self._edges_on_device(group, n_steps, width)
        phases = self._attribute_maps(group, n_steps, width)
        attributes = None if phases is None else Attributes(*map(to_device, phases))
        states, grid = self._states(width), (self.batch.n_nodes, width)
        for t in range(n_steps):
            maps = nodes._replace(signs=nodes.signs[t], shifts=nodes.shifts[t])
            along = edges._replace(signs=edges.signs[t], shifts=edges.shifts[t])
            arguments = (t, graphs, arcs, maps, along, ends, states)
            if attributes is None:
                general.step_of_nodes[grid](*arguments)
                yield states.y
            else:
                mixed = attributes._replace(omega=attributes.omega[t], mixing=attributes.mixing[t])
                general.step_with_attributes[grid](*arguments, mixed)
                yield states.y.view(np.float32)
            states = general.States(states.y, states.x, states.next_others, states.others, states.arriving)

    def _edges_on_device(self, group: int, n_steps: int, width: int) -> general.EdgeMaps:
        maps = self._edge_maps(group, n_steps, width) if self.batch.n_entries else None
        labelled = maps is not None
        if maps is None:
            nothing = (np.zeros((n_steps, 1, width), np.float32), np.zeros((n_steps, 1), np.int64))
            maps = Labels(np.zeros(1, np.int32), *nothing)
        codes, signs, shifts = map(to_device, maps)
        return general.EdgeMaps(codes, signs, shifts, labelled)

    def _states(self, width: int) -> general.States:
        kind = np.complex64 if self._mixed else np.float32
        n_arcs = 1 if self.walk.backtrack else max(self.batch.n_entries, 1)
        rows = (max(self.batch.n_nodes, 1),) * 2 + (n_arcs,) * 3
        return general.States(*(cuda.device_array((n, width), kind) for n in rows))
