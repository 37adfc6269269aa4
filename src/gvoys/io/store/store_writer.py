"""Writing a store, graph after graph or row after row, in memory that does not grow with it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from os import PathLike
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError, StoreError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.check import as_floats
from gvoys.graphs.entries import index_type
from gvoys.graphs.labels import Labels
from gvoys.io.convert import as_batch
from gvoys.io.files import as_path, lock_beside, locked, move_in_place, partial_name, remove_left_over
from gvoys.io.store.store_reader import ArrayFile, checksum_file, encode_label, write_manifest

_COLUMNS = ("edge_weights", "edge_labels", "node_labels", "node_attributes", "edge_attributes")


def write_store(graphs: Any, path: str | PathLike[str]) -> None:
    """Write graphs to a new folder that `open_store` maps into memory.

    Parameters
    ----------
    graphs : list of graphs, GraphBatch or iterator
        Anything that `as_batch` takes, or an iterator over such, which is written piece by piece: memory holds one
        piece at a time.
    path : str or path-like
        A folder that does not exist yet. It appears when it is complete.

    Raises
    ------
    StoreError
        If the folder exists already.
    ParameterError
        If another run is writing it.
    GraphError
        If some graphs have labels, attributes or directions and others have not.

    Examples
    --------
    >>> import gvoys as gv, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "molecules"
    >>> gv.write_store(gv.datasets.molecules(50), folder)
    >>> len(gv.open_store(folder))
    50
    """
    pieces = graphs if isinstance(graphs, Iterator) else iter([graphs])
    with StoreWriter(path) as writer:
        for piece in pieces:
            writer.add(as_batch(piece))


class StoreWriter:
    """Write a store step by step, in a ``with`` block; an error inside leaves nothing behind.

    `add` takes batches; `add_rows` and `end_graph` take one graph of any size by blocks of its rows.

    Parameters
    ----------
    path : str or path-like
        A folder that does not exist yet. It appears when the block ends.

    Raises
    ------
    StoreError
        If the folder exists already.
    ParameterError
        If another run is writing it.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = as_path(path)
        self._check_new()
        self._folder = partial_name(self.path)
        self.directed: bool | None = None
        self._arrays: dict[str, ArrayFile] = {}
        self._labels: dict[str, dict[int, tuple[int, Any]]] = {}  # hash to code and value
        self._graph_nodes = 0  # of the graph that rows are being added to
        self._largest = -1  # node that its entries lead to

    def _check_new(self) -> None:
        with self._explain_errors():
            if self.path.exists() or not self.path.name:
                raise StoreError(f"{self.path} exists already; choose another folder, or remove it first")

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"the store {self.path} cannot be written: {error.strerror or error}") from None

    def __enter__(self) -> StoreWriter:
        with self._explain_errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as cleanup:  # what is to be undone, also where this fails half-way
            cleanup.enter_context(locked(lock_beside(self.path), self.path))
            self._check_new()
            remove_left_over(self.path)
            cleanup.callback(self._discard)
            with self._explain_errors():
                self._folder.mkdir(parents=True, exist_ok=True)
            for name in ("node_offsets", "indptr"):
                self._array(name, np.int64).append(np.zeros(1))
            self._array("indices", np.int32)
            self._held = cleanup.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        with self._held:
            if kind is None:
                self._finish()

    def _discard(self) -> None:
        """Remove what was not given its name."""
        for array in self._arrays.values():
            with suppress(OSError):  # a full disk, which was said already
                array.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    # -- graphs in

    def add(self, batch: GraphBatch) -> None:
        """Add complete graphs.

        Parameters
        ----------
        batch : GraphBatch
            The graphs.

        Raises
        ------
        StoreError
            If a graph is being added by rows.
        GraphError
            If the graphs differ from those before in labels, attributes or direction.
        """
        if self._graph_nodes:
            raise StoreError("a graph is being added by rows; end it before others are added")
        if not len(batch):
            return
        nodes = self.n_nodes
        columns = {name: getattr(batch, name) for name in _COLUMNS}
        self._append_rows(np.diff(batch.indptr), batch.indices, batch.directed, columns)
        self._arrays["node_offsets"].append(nodes + batch.node_offsets[1:].astype(np.int64))

    def add_rows(
        self,
        degrees: NDArray[Any],
        indices: NDArray[Any],
        *,
        directed: bool = False,
        edge_weights: NDArray[Any] | None = None,
        edge_labels: Any = None,
        node_labels: Any = None,
    ) -> None:
        """Add some more nodes of one graph.

        An undirected edge stands in the rows of both its ends, parallel ones in the same order. That is not checked
        here, but by `open_store`.

        Parameters
        ----------
        degrees : array of int, shape (n_rows,)
            Number of entries of each node.
        indices : array of int
            Nodes that the entries lead to, sorted within each node.
        directed : bool, default=False
            Whether the graph is directed.
        edge_weights : array or None, default=None
            One weight per entry.
        edge_labels : sequence or None, default=None
            One label per entry.
        node_labels : sequence or None, default=None
            One label per node.

        Raises
        ------
        GraphError
            If the arrays do not fit together.
        """
        degrees, indices = _check_counts(degrees, "degrees"), _check_counts(indices, "indices")
        if len(indices) != int(degrees.sum()):
            raise GraphError(f"the degrees add up to {int(degrees.sum())} and there are {len(indices)} entries")
        _check_sorted(degrees, indices, self._graph_nodes)
        weights = None if edge_weights is None else as_floats(edge_weights, "edge_weights", flat=True)
        for name, values, count in (
            ("edge_weights", weights, len(indices)),
            ("edge_labels", edge_labels, len(indices)),
            ("node_labels", node_labels, len(degrees)),
        ):
            if values is not None and len(values) != count:
                raise GraphError(f"{name} has {len(values)} values and should have {count}")
        if weights is not None and not np.isfinite(weights).all():
            raise GraphError("edge_weights must be finite")
        edges, nodes = (None if values is None else Labels.from_values(values) for values in (edge_labels, node_labels))
        columns = {"edge_weights": weights, "edge_labels": edges, "node_labels": nodes}
        self._append_rows(degrees, indices, directed, columns)
        self._graph_nodes += len(degrees)
        self._largest = max(self._largest, int(indices.max(initial=-1)))

    def end_graph(self) -> None:
        """End the graph whose rows were added.

        Raises
        ------
        GraphError
            If an entry leads to a node that the graph does not have.
        """
        if self._largest >= self._graph_nodes:
            raise GraphError(f"an entry leads to node {self._largest}, and the graph has {self._graph_nodes} nodes")
        self._largest = -1
        self._arrays["node_offsets"].append(np.array([self.n_nodes]))
        self._graph_nodes = 0

    @property
    def n_nodes(self) -> int:
        """Number of nodes so far."""
        return self._arrays["indptr"].length - 1

    @property
    def n_entries(self) -> int:
        """Number of adjacency entries so far."""
        return self._arrays["indices"].length

    def _append_rows(
        self, degrees: NDArray[Any], indices: NDArray[Any], directed: bool, columns: dict[str, Any]
    ) -> None:
        if self.directed not in (None, directed):
            raise GraphError("directed and undirected graphs do not go into one store; make them alike first")
        counts = {"edge": (self.n_entries, len(indices)), "node": (self.n_nodes, len(degrees))}
        for name in _COLUMNS[1:]:
            before, count = counts[name[:4]]
            if count and before and (columns.get(name) is not None) != (name in self._arrays):
                what = name.replace("_", " ")
                raise GraphError(f"some of the graphs have {what} and others have none; give {what} to all or to none")
        self.directed = directed
        self._append_weights(columns["edge_weights"], len(indices))
        for name in _COLUMNS[1:]:
            values = columns.get(name)
            if values is not None and counts[name[:4]][1]:
                append = self._append_labels if isinstance(values, Labels) else self._append_attributes
                append(name, values)
        self._arrays["indptr"].append(self.n_entries + np.cumsum(degrees, dtype=np.int64))
        self._arrays["indices"].append(indices)

    def _append_weights(self, weights: NDArray[Any] | None, count: int) -> None:
        if weights is not None and "edge_weights" not in self._arrays:
            self._array("edge_weights", np.float64).fill(self.n_entries, 1.0)
        if "edge_weights" in self._arrays:
            self._arrays["edge_weights"].append(np.ones(count) if weights is None else weights)

    def _append_attributes(self, name: str, attributes: NDArray[Any]) -> None:
        width, what = attributes.shape[1], name.replace("_", " ")
        array = self._arrays.get(name) or self._array(name, np.float64, width)
        if array.width != width:
            raise GraphError(f"the graphs have {array.width} and {width} {what}; give all the same number")
        array.append(attributes)

    def _append_labels(self, name: str, labels: Labels) -> None:
        """Append codes into the store's table of labels, which grows with new ones."""
        table = self._labels.setdefault(name, {})
        for key, value in zip(labels.hashes.tolist(), labels.values, strict=True):
            table.setdefault(key, (len(table), value))
        codes = np.array([table[key][0] for key in labels.hashes.tolist()], np.int32)
        array = self._arrays.get(name) or self._array(name, np.int32)
        array.append(codes[labels.codes])

    def _array(self, name: str, kind: Any, width: int | None = None) -> ArrayFile:
        self._arrays[name] = ArrayFile(self._folder / f"{name}.npy", kind, width)
        return self._arrays[name]

    # -- the end

    def _finish(self) -> None:
        if self._graph_nodes:
            raise StoreError("the last graph was not ended; call end_graph() after its rows")
        for name, table in self._labels.items():
            self._array(f"{name}_hashes", np.uint64).append(np.fromiter(table, np.uint64, len(table)))
        # offsets are counted in 64 bits, and kept as batches in memory have them
        kinds = {"node_offsets": index_type(self.n_nodes), "indptr": index_type(self.n_entries)}
        arrays = {name: array.finish(kinds.get(name)) for name, array in self._arrays.items()}
        values = {}
        for name, table in self._labels.items():
            file = self._folder / f"{name}_values.json"
            file.write_text(json.dumps([encode_label(value) for _, value in table.values()]))
            values[name] = {"bytes": file.stat().st_size, "crc32": checksum_file(file)}
        write_manifest(self._folder, {"directed": bool(self.directed), "arrays": arrays, "values": values})
        if self.path.exists():
            raise StoreError(f"{self.path} was made by someone else in the meantime; choose another folder")
        move_in_place(self._folder, self.path)


def _check_counts(values: Any, name: str) -> NDArray[Any]:
    """Return flat integers of at least 0 that 32 bits hold."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise GraphError(f"{name} must be a flat array of integers, not {array.dtype} of shape {array.shape}")
    if array.size and (array.min() < 0 or array.max() >= 2**31):
        raise GraphError(f"{name} must lie between 0 and 2^31 - 1")
    return array


def _check_sorted(degrees: NDArray[Any], indices: NDArray[Any], nodes_before: int) -> None:
    """Check that entries fall only where a row begins."""
    ends = np.cumsum(degrees, dtype=np.int64)
    falls = np.flatnonzero(indices[1:] < indices[:-1]) + 1
    rows = np.searchsorted(ends, falls, side="right")
    inside = falls != ends[rows] - degrees[rows]
    if inside.any():
        node = nodes_before + int(rows[np.argmax(inside)])
        raise GraphError(f"node {node} has entries out of order; sort the entries of each node")
