"""Random maps on any device, for the labels and attributes of one block of graphs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from gvoys._compiled.arguments import Attributes, Ends, Labels, frozen
from gvoys._compiled.cpu.randomness import (
    EDGE,
    EDGE_MIXING,
    EDGE_OMEGA,
    MIXING,
    NODE,
    OMEGA,
    Bits,
    compose_maps,
    normal_table,
    number_pairs,
    sign_table,
    uniform_table,
)
from gvoys._compiled.cpu.sketch_rows import WIDTH
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import Labels as LabelsOfGraphs
from gvoys.graphs.labels import local_codes
from gvoys.graphs.transform import reverse_entries

_MIXING_LEVELS = 2


class WalkOptions(Protocol):
    """Options of a walk that a sketch reads."""

    @property
    def node_labels(self) -> bool: ...
    @property
    def edge_labels(self) -> bool: ...
    @property
    def backtrack(self) -> bool: ...
    @property
    def attribute_bandwidth(self) -> Any: ...
    @property
    def edge_attribute_bandwidth(self) -> Any: ...
    @property
    def attributed(self) -> bool: ...


def is_plain(walk: WalkOptions) -> bool:
    """Whether walks use labels of nodes only."""
    return not walk.edge_labels and walk.backtrack and not walk.attributed


class SketchBlock(ABC):
    """The sketch of one block of graphs, by the labels as they are."""

    def __init__(self, batch: GraphBatch, walk: WalkOptions, ends: Ends, seed: int, first_group: int = 0) -> None:
        self.batch, self.walk, self.ends, self.seed, self.first_group = batch, walk, ends, seed, first_group
        self.codes, self.labels = _codes(batch.node_labels if walk.node_labels else None, batch.n_nodes)
        self.edges = _codes(batch.edge_labels, batch.n_entries) if walk.edge_labels else None
        self.weights = None if batch.edge_weights is None else batch.edge_weights.astype(np.float32)

    @staticmethod
    def is_fast(walk: WalkOptions) -> bool:
        """Whether whole groups of these walks take the fast path."""
        return not walk.attributed

    def fill(self, out: NDArray[np.float32]) -> None:
        """Compute all groups; the norm 1 / sqrt(d) weights each by its share of the components."""
        n_components = out.shape[2]
        norm = np.float32(1.0 / np.sqrt(n_components))
        whole = n_components // WIDTH if self.is_fast(self.walk) else 0
        if whole:
            self._fill_whole(out[:, :, : whole * WIDTH], norm)
        for group, begin in enumerate(range(whole * WIDTH, n_components, WIDTH), start=whole):
            width = min(WIDTH, n_components - begin)
            out[:, :, begin : begin + width] = self._general(group, out.shape[1], width) * norm

    @abstractmethod
    def _fill_whole(self, out: NDArray[np.float32], norm: np.float32) -> None:
        """The fast path: whole groups of the walks that `is_fast` names."""

    @abstractmethod
    def _general(self, group: int, n_steps: int, width: int) -> NDArray[np.float32]:
        """The generic path: one group of up to 128 components with every option."""

    @property
    def _mixed(self) -> bool:
        """Whether attributes mix coordinates, which are complex then, and half as many as there are components."""
        return self.walk.attributed

    def _take(self, graphs: NDArray[Any]) -> Self:
        """Return the block of a part of the graphs."""
        nodes = np.isin(self.batch.node_graphs(), graphs)
        ends = Ends(self.ends.start[nodes], self.ends.stop[nodes], self.ends.factors[graphs])
        return type(self)(self.batch[graphs], self.walk, ends, self.seed, self.first_group)

    def _reverse(self) -> NDArray[np.int64] | None:
        return None if self.walk.backtrack else reverse_entries(self.batch)

    # -- random maps

    def _bits(self, n_groups: int, n_steps: int, first: int = 0) -> Bits:
        """Signs of node labels as bits, and shifts, for whole groups from the first on."""
        return self._table(NODE, self.labels, n_groups, n_steps, first)

    @cached_property
    def entry_codes(self) -> NDArray[np.int32]:
        """The code of each entry's pair of labels, its own and that of the node it leads to, (n_entries,)."""
        return self._pairs[0]

    @property
    def n_pairs(self) -> int:
        """Number of codes in `entry_codes`."""
        return self._pairs[1].shape[1]

    def _entry_bits(self, n_groups: int, n_steps: int, first: int = 0) -> Bits:
        """The maps of the pairs in `entry_codes`, like `_bits`; at step 0, which walks no entry, there is none."""
        none = np.zeros((n_groups, n_steps, 1, 2), np.uint64), np.zeros((n_groups, n_steps, 1), np.uint8)
        edges = none if self.edges is None else self._table(EDGE, self.edges[1], n_groups, n_steps, first)
        return compose_maps(self._pairs[1], edges, self._bits(n_groups, n_steps, first))

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        heads = self.codes[self.batch.columns()]
        if self.edges is None:
            labels = np.arange(len(self.labels), dtype=np.int32)
            return frozen(heads), np.stack([np.zeros_like(labels), labels])
        codes, pairs = number_pairs(self.edges[0], heads, len(self.labels))
        return frozen(codes), pairs

    def _table(self, purpose: int, labels: NDArray[np.uint64], n_groups: int, n_steps: int, first: int) -> Bits:
        groups = np.arange(self.first_group + first, self.first_group + first + n_groups)
        signs, draws = sign_table(self.seed, purpose, groups, n_steps, labels)
        return signs, (draws % WIDTH).astype(np.uint8)

    def _node_maps(self, group: int, n_steps: int, width: int) -> Labels:
        return Labels(self.codes, *self._expanded(NODE, group, n_steps, self.labels, width))

    def _edge_maps(self, group: int, n_steps: int, width: int) -> Labels | None:
        if self.edges is None:
            return None
        return Labels(self.edges[0], *self._expanded(EDGE, group, n_steps, self.edges[1], width))

    def _expanded(
        self, purpose: int, group: int, n_steps: int, labels: NDArray[np.uint64], width: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Signs as +-1, (n_steps, n_labels, width), and shifts, (n_steps, n_labels)."""
        signs, draws = sign_table(self.seed, purpose, self._group(group), n_steps, labels)
        bits = np.unpackbits(signs[0].view(np.uint8), axis=-1, bitorder="little").view(np.int8)[..., :width]
        bits *= -2  # in bytes, of which there may be very many
        bits += 1
        return bits.astype(np.float32), (draws[0] % width).astype(np.int64)

    def _attribute_maps(self, *shape: int) -> Attributes | None:
        return self._phases(self.walk.attribute_bandwidth, self.batch.node_attributes, (OMEGA, MIXING), *shape)

    def _edge_attribute_maps(self, *shape: int) -> Attributes | None:
        given = self.batch.edge_attributes
        return self._phases(self.walk.edge_attribute_bandwidth, given, (EDGE_OMEGA, EDGE_MIXING), *shape)

    def _phases(
        self,
        bandwidth: Any,
        given: NDArray[np.float64] | None,
        purposes: tuple[int, int],
        group: int,
        n_steps: int,
        width: int,
    ) -> Attributes | None:
        """Maps of the attributes of nodes or edges, where they are compared."""
        if bandwidth is None or given is None:
            return None
        values, groups = given / np.asarray(bandwidth), self._group(group)
        omega = normal_table(self.seed, purposes[0], groups, n_steps, width * values.shape[1])[0]
        angles = uniform_table(self.seed, purposes[1], groups, n_steps, _MIXING_LEVELS * (width + 1))[0]
        angles = angles.reshape(n_steps, _MIXING_LEVELS, width + 1)
        mixing = np.stack([np.cos(2 * np.pi * angles), np.sin(2 * np.pi * angles)], axis=2).astype(np.float32)
        mixing[..., 0, width] = np.floor(angles[..., width] * max(int(np.log2(width)), 1))  # which bit pairs differ in
        omega = np.ascontiguousarray(omega.reshape(n_steps, width, -1).transpose(0, 2, 1))  # as kernels read it
        return Attributes(values, omega, mixing)

    def _group(self, group: int) -> NDArray[np.int64]:
        return np.array([self.first_group + group])


def _codes(labels: LabelsOfGraphs | None, count: int) -> tuple[NDArray[Any], NDArray[np.uint64]]:
    codes, hashes = local_codes(labels, count)
    return frozen(codes), hashes
