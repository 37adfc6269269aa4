"""The sketch on the GPU: which graphs take which path, and the tables that the kernels read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from importlib import resources
from itertools import cycle
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from gvoys._kernels.cpu.randomness import EDGE, NODE, sign_table
from gvoys.errors import ParameterError, UnsupportedError
from gvoys.gpu import general
from gvoys.gpu.blocks import node_blocks
from gvoys.gpu.device import check_cuda, cupy_module, to_device
from gvoys.gpu.small import bytes_of_block, sketch_small_graphs
from gvoys.graphs.arcs import reverse_entries
from gvoys.graphs.endpoints import compute_endpoint
from gvoys.io.convert import as_batch
from gvoys.walks.checks import check_count, check_length, check_seed, choose_labels
from gvoys.walks.sketch import WIDTH, Sketch

__all__ = ["GpuSketch", "launches_in_cuda_c", "sketch_on_device"]

_ALIKE = 0.87  # graphs of a bucket have at least this share of the nodes of its largest, which sets its memory
_STREAMS = 16
_NODES_PER_WARP = 6
_MOST_WARPS = 16
# bytes of shared memory that a block may have, and room in it for entries; numba alone asks for no more than 48 KiB
_SHARED, _SHARED_BY_NUMBA = 220 * 1024, 48 * 1024
_ENTRIES = 4096
_STATES = 1 << 32  # bytes of states that are held at once on the generic path
_OUTPUT = 1 << 32  # bytes of profiles that are held at once; a collection may be larger than the device's memory
_NODES = 1024  # whose share of a profile is one sum


class GpuSketch(Sketch):
    """The sketch of one block of graphs, by the GPU's kernels.

    Parameters
    ----------
    batch : GraphBatch
        The graphs.
    start : ndarray of shape (n_nodes,)
        Start weights.
    stop : ndarray of shape (n_nodes,)
        Stop weights.
    node_labels : bool
        Whether node labels are used.
    edge_labels : bool
        Whether edge labels are used.
    backtrack : bool
        Whether walks may backtrack.
    bandwidth : float or None
        Bandwidth of node attributes; None ignores them.
    seed : int
        Seed of all random bits.
    first_group : int
        Number of the first group.
    factor : float32
        Factor of adjacency matrices, 1 / scale.
    """

    def _fill_plain(self, out: NDArray[np.float32], norm: np.float32) -> None:
        at_once = max(_OUTPUT // (4 * out.shape[1] * out.shape[2]), 1)
        for first in range(0, len(out), at_once):
            part = out[first : first + at_once]
            some = self if len(part) == len(out) else self._of(np.arange(first, first + len(part)))
            made = some.plain_on_device(part.shape, norm)
            if part.flags.c_contiguous:
                made.copy_to_host(part)
            else:
                part[:] = made.copy_to_host()

    def plain_on_device(self, shape: tuple[int, ...], norm: np.float32) -> Any:
        """Sketch whole groups of labelled walks, and leave them on the device.

        Parameters
        ----------
        shape : tuple of int
            Shape of the result, (n_graphs, n_steps, n_groups * 128).
        norm : float32
            Factor of every component.

        Returns
        -------
        device array of the given shape
            The sketch.
        """
        batch, n_steps, n_groups = self.batch, shape[1], shape[2] // WIDTH
        out = cuda.device_array(shape, np.float32)
        groups = np.arange(self.first_group, self.first_group + n_groups)
        signs, places = sign_table(self.seed, NODE, groups, n_steps, self.labels)
        entries = np.diff(batch.entry_offsets)
        in_cuda_c = cupy_module() is not None
        most = _ENTRIES if in_cuda_c else _ENTRIES // 8
        room = (_SHARED if in_cuda_c else _SHARED_BY_NUMBA) - 4 * most
        small = (bytes_of_block(batch.graph_sizes, 0, _warps(batch.graph_sizes)) <= room) & (entries <= most)
        launches = launches_in_cuda_c if in_cuda_c else _launches_by_numba
        launches(self, np.flatnonzero(small), signs, (places % WIDTH).astype(np.uint8), norm, out)()
        large = np.flatnonzero(~small)
        if large.size:
            rest = self._of(large)
            for group in range(n_groups):
                rest._walk_all(group, WIDTH, norm, large, group * WIDTH, out)
        return out

    def _of(self, graphs: NDArray[Any]) -> GpuSketch:
        """The same for some of the graphs."""
        nodes = np.isin(self.batch.node_graphs(), graphs)
        return GpuSketch(
            self.batch[graphs], self.start[nodes], self.stop[nodes], self.node_labels, self.edges is not None,
            self.backtrack, self.bandwidth, self.seed, self.first_group, self.factor,
        )  # fmt: skip

    # -- every option

    def _general(self, group: int, n_steps: int, width: int) -> NDArray[np.float32]:
        out = cuda.device_array((len(self.batch), n_steps, width), np.float32)
        # real and imaginary parts are as many coordinates as there are components, of half as many frequencies
        norm = np.sqrt(2.0) if self.bandwidth is not None else 1.0
        self._walk_all(group, width, norm, np.arange(len(self.batch)), 0, out)
        return np.asarray(out.copy_to_host())

    def _walk_all(self, group: int, width: int, norm: Any, graphs: NDArray[Any], first: int, out: Any) -> None:
        """One group of all graphs, as many at a time as there is memory for, into out[graphs, :, first:]."""
        per_edge = 0 if self.backtrack else -(-self.batch.n_entries // max(self.batch.n_nodes, 1))
        per_node = 8 * width * (2 + 3 * per_edge)  # the arrays of _walk
        blocks = self.batch.blocks(max(_STATES // per_node, 1))
        for block in blocks:
            some = self if len(blocks) == 1 else self._of(np.arange(block.start, block.stop))
            some._walk(group, width, norm, graphs[block], first, out)

    @cached_property
    def _graph(self) -> tuple[Any, ...]:
        """The graphs on the device, as the steps take them."""
        batch = self.batch
        reverse = None if self.backtrack else reverse_entries(batch)
        return (
            to_device(batch.indptr), to_device(batch.indices),
            to_device(np.repeat(batch.node_offsets[:-1], batch.graph_sizes)),
            to_device(np.empty(0, np.float32) if self.weights is None else self.weights), self.weights is not None,
            to_device(np.zeros((1, 2), np.int64) if reverse is None else reverse), reverse is not None,
        )  # fmt: skip

    @cached_property
    def _ends(self) -> tuple[Any, ...]:
        return to_device(self.stop), to_device(self.start), to_device(self.codes)

    def _walk(self, group: int, width: int, norm: Any, graphs: NDArray[Any], first: int, out: Any) -> None:
        batch, n, n_steps = self.batch, self.batch.n_nodes, out.shape[1]
        mixed = self.bandwidth is not None
        n_coordinates = width // 2 if mixed else width
        kind = np.complex64 if mixed else np.float32
        groups = np.array([self.first_group + group])
        labelled = self.edges is not None and batch.n_entries > 0
        edges = self.edges if labelled else (np.empty(0, np.int32), np.zeros(1, np.uint64))
        assert edges is not None
        tables: list[Any] = [
            *self._expanded(NODE, groups, n_steps, self.labels if n else np.zeros(1, np.uint64), n_coordinates)
        ]
        tables += self._expanded(EDGE, groups, n_steps, edges[1], n_coordinates)
        signs, shifts, edge_signs, edge_shifts = (to_device(table) for table in tables)
        frequencies = [
            to_device(array) for array in self._frequencies(groups, n_steps, n_coordinates) if array is not None
        ]
        x, y = (cuda.device_array((max(n, 1), n_coordinates), kind) for _ in range(2))
        n_arcs = 1 if self.backtrack else max(batch.n_entries, 1)
        others, next_others, arriving = (cuda.device_array((n_arcs, n_coordinates), kind) for _ in range(3))
        blocks = node_blocks(batch, _NODES)[1:]
        n_blocks = len(blocks[0])
        begins, ends, pointers = (to_device(array) for array in blocks)
        sums = cuda.device_array((max(n_blocks, 1), width), np.float64)
        stop, start, codes = self._ends
        edge_codes, places = to_device(edges[0]), to_device(graphs)
        for t in range(n_steps):
            labels = (codes, signs[t], shifts[t], edge_codes, edge_signs[t], edge_shifts[t], labelled)
            states = (stop, self.factor, x, y, others, next_others, arriving)
            if n and mixed:
                attended = (frequencies[0], frequencies[1][t], frequencies[2][t])
                general.step_with_attributes[n, n_coordinates](t, *self._graph, *labels, *attended, *states)
            elif n:
                general.step_of_nodes[n, n_coordinates](t, *self._graph, *labels, *states)
            if n:
                numbers = y.view(np.float32) if mixed else y
                general.add_up_blocks[n_blocks, width](begins, ends, start, numbers, sums)
            general.add_up_graphs[len(batch), width](places, pointers, sums, t, first, norm, out)
            x, y, others, next_others = y, x, next_others, others


def sketch_on_device(
    graphs: Any,
    max_length: int = 8,
    n_components: int = 512,
    *,
    start: Any = "uniform",
    stop: Any = "uniform",
    labels: str | None = "auto",
    random_state: int = 0,
    scale: float = 1.0,
) -> Any:
    """Sketch of labelled graphs as by ``profiles(graphs, "sketch", …)``, left on the GPU.

    Parameters
    ----------
    graphs : GraphBatch or list of graphs
        The graphs, as `as_batch` takes them.
    max_length : int, default=8
        Longest walk that is counted, at least 0.
    n_components : int, default=512
        Width of the sketch, a multiple of 128.
    start : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the start of a walk: 1 / n, 1, or one number per node of all graphs.
    stop : {"uniform", "ones"} or array-like, default="uniform"
        Weight of each node as the end of a walk, like `start`.
    labels : {"auto", "node"} or None, default="auto"
        Labels that two walks must share; "auto" uses node labels if the graphs have them.
    random_state : int, default=0
        Seed; the result is a pure function of it, the graphs and the parameters.
    scale : float, default=1.0
        Divide adjacency matrices by this number.

    Returns
    -------
    device array of shape (n_graphs, max_length + 1, n_components)
        The sketch. It has ``__cuda_array_interface__``: ``cupy.asarray(made)`` and
        ``torch.as_tensor(made, device="cuda")`` share its memory.

    Notes
    -----
    For the other options of `profiles` use ``profiles(…, device="cuda")``, which copies the result to the host.
    """
    batch, length = as_batch(graphs), check_length(max_length)
    node, edge = choose_labels(batch, labels)
    if edge:
        raise UnsupportedError("sketch_on_device cannot use edge labels; use profiles(…, device='cuda')")
    if check_count(n_components, "n_components") % WIDTH:
        raise ParameterError(f"n_components must be a multiple of {WIDTH} here, not {n_components}")
    check_cuda()
    v, w = (compute_endpoint(batch, *end).astype(np.float32) for end in ((start, "start"), (stop, "stop")))
    work = GpuSketch(batch, v, w, node, False, True, None, check_seed(random_state), 0, np.float32(1.0 / scale))
    return work.plain_on_device((len(batch), length + 1, n_components), np.float32(1.0 / np.sqrt(n_components)))


# -- small graphs with node labels


def _buckets(sketch: GpuSketch, graphs: NDArray[Any]) -> list[tuple[NDArray[np.int32], int, int, int]]:
    """Graphs of about the same size, the largest first: they, their most nodes, most entries, and warps per block."""
    sizes, entries = sketch.batch.graph_sizes, np.diff(sketch.batch.entry_offsets)
    left = graphs[np.argsort(-sizes[graphs], kind="stable")]
    found = []
    while len(left):
        room = max(int(sizes[left[0]]), 1)
        count = int(np.searchsorted(-sizes[left], -_ALIKE * room, side="right")) or 1
        part, left = left[:count], left[count:]
        found.append((part.astype(np.int32), room, int(entries[part].max()), int(_warps(room))))
    return found


def _warps(n_nodes: Any) -> Any:
    """Warps that share a graph of so many nodes."""
    return np.clip(-(-n_nodes // _NODES_PER_WARP), 2, _MOST_WARPS)


def _launches_by_numba(
    sketch: GpuSketch, graphs: NDArray[Any], signs: NDArray[Any], shifts: NDArray[Any], norm: np.float32, out: Any
) -> Callable[[], None]:
    """Copy everything to the device; the function that is returned launches the kernels."""
    batch = sketch.batch
    bits = _lane_bits(signs)
    turns = (bits * np.array([1, 2, 4, 8], np.uint8)[:, None]).sum(axis=-2).astype(np.uint8)
    arrays = (
        to_device(batch.node_offsets), to_device(batch.indptr), to_device(batch.indices),
        to_device(np.empty(0, np.float32) if sketch.weights is None else sketch.weights), sketch.weights is not None,
        to_device(sketch.codes), len(sketch.labels), to_device(turns.ravel()), to_device(shifts.ravel()),
        to_device(sketch.start), to_device(sketch.stop), sketch.factor, norm, out,
    )  # fmt: skip
    buckets = [(to_device(part), len(part), *rest) for part, *rest in _buckets(sketch, graphs)]

    def launch() -> None:
        for part, count, room, n_entries, warps in buckets:
            grid = (count, out.shape[2] // WIDTH)
            size = bytes_of_block(room, n_entries, warps)
            sketch_small_graphs[grid, (32, warps), 0, size](part, room, *arrays)

    return launch


def launches_in_cuda_c(
    sketch: GpuSketch, graphs: NDArray[Any], signs: NDArray[Any], shifts: NDArray[Any], norm: np.float32, out: Any
) -> Callable[[], None]:
    """The same for the twin in CUDA C."""
    cupy, batch = cupy_module(), sketch.batch
    assert cupy is not None
    kernel = _compiled(sketch.weights is not None)
    arrays = (
        cupy.asarray(batch.node_offsets, np.int32), cupy.asarray(batch.indptr, np.int32), cupy.asarray(batch.indices),
        cupy.asarray(np.zeros(1, np.float32) if sketch.weights is None else sketch.weights),
        cupy.asarray(sketch.codes, np.int32), cupy.asarray(_turns(signs, shifts)),
        cupy.asarray(sketch.start), cupy.asarray(sketch.stop), np.float32(sketch.factor), np.float32(norm),
        cupy.asarray(out),
    )  # fmt: skip
    buckets = [(cupy.asarray(part), *rest) for part, *rest in _buckets(sketch, graphs)]

    def launch() -> None:
        main = cupy.cuda.get_current_stream()
        ready = main.record()
        for stream, (part, room, n_entries, warps) in zip(cycle(_streams()), buckets, strict=False):
            stream.wait_event(ready)  # buckets run side by side, so that none waits for another's last blocks
            with stream:
                sizes = (np.int32(room), np.int32(out.shape[1]), np.int32(len(sketch.labels)))
                grid, block = (len(part), out.shape[2] // WIDTH), (32, warps)
                size = bytes_of_block(room, n_entries, warps)
                kernel(grid, block, (part, *sizes, *arrays), shared_mem=size)
        for stream in _streams():
            main.wait_event(stream.record())

    return launch


@cache
def _streams() -> list[Any]:
    cupy = cupy_module()
    assert cupy is not None
    return [cupy.cuda.Stream(non_blocking=True) for _ in range(_STREAMS)]


@cache
def _compiled(weighted: bool) -> Any:
    cupy = cupy_module()
    assert cupy is not None
    source = (resources.files("gvoys.gpu") / "small.cu").read_text()
    options = (f"-DWEIGHTED={int(weighted)}", f"-DMOST_THREADS={32 * _MOST_WARPS}", "-DLEAST_BLOCKS=1")
    kernel = cupy.RawKernel(source, "sketch_small", options=options)
    kernel.max_dynamic_shared_size_bytes = _SHARED
    return kernel


def _lane_bits(signs: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Bit l of each of the four 32-bit words of a sign vector, (…, 4, 32)."""
    return np.unpackbits(signs.view(np.uint8), axis=-1, bitorder="little").reshape(*signs.shape[:-1], 4, 32)


def _turns(signs: NDArray[np.uint64], shifts: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """What `small.cu` reads for each lane: four signs, and where its first coordinate stood before the shift."""
    bits = _lane_bits(signs).astype(np.uint16)
    places = (4 * np.arange(32) - 4 * shifts[..., None].astype(np.int64)) % 512
    weights = np.array([1 << 15, 1 << 14, 1 << 13, 1 << 12], np.uint16)
    return ((bits * weights[:, None]).sum(axis=-2) + places).astype(np.uint16).ravel()
