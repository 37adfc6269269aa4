"""Sources that are graphs already: stores, which are mapped, TU datasets, which are read as a whole, and objects."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from gvoys.errors import DatasetError, GraphError, GvoysError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.convert import as_names, build_batch, check_names, read_graph
from gvoys.io.named_graphs import LABEL, Names, find_attributes, warn_unlabelled
from gvoys.io.sources.lines import LinesSource, build_each
from gvoys.io.sources.records import Chunk, Records, Skipped
from gvoys.io.sources.source import FileSource, GraphSource, digest_file, row_chunks
from gvoys.io.store import open_store
from gvoys.io.store.store_reader import checksum_file
from gvoys.io.tu import LabelNames, dataset_name, read_names, read_tu

_LINE_VALUES = 3_000_000  # in a line of JSON, each of which takes some hundred bytes of memory
# the names of fields that `open_graphs` reads; attributes are those that `find_attributes` knows
DEFAULTS: dict[str, Any] = {"node_label": LABEL, "edge_label": "label", "weight": "weight"}
DEFAULTS |= {"node_attributes": None, "edge_attributes": None}
FIRST_GRAPHS = 1000  # graphs among which one must have the fields that are named, and tell the names of columns


class NamedSource(GraphSource):
    """Graphs whose labels, weights and attributes have names."""

    names = Names()

    @abstractmethod
    def first_graphs(self) -> Iterable[Any]:
        """Return the first graphs, as `as_batch` takes them."""

    def find_attributes(self, kind: str) -> Sequence[str]:
        """Return the names of the attributes of nodes or edges that are read where none are named."""
        return ()

    def name_fields(self, given: Mapping[str, Any]) -> None:
        """Choose what is read: fields that are given must be there, and a warning names data that might be labels."""
        chosen = {**DEFAULTS, **given}
        self.names = as_names(**chosen)
        if given:
            self._check_fields()
        for kind in ("node", "edge"):
            if chosen[f"{kind}_attributes"] is None:
                attributes: Any = {f"{kind}_attributes": tuple(self.find_attributes(kind))}
                self.names = replace(self.names, **attributes)
        if self.names.node_label == LABEL:
            remedy = "give node_label={0} or --node-label {0}"
            warn_unlabelled(self.first_graphs(), remedy, self.names.node_attributes)
        read = {name: getattr(self.names, name) for name in DEFAULTS}
        self.fields = {name: list(value) if isinstance(value, tuple) else value for name, value in read.items()}

    def _check_fields(self) -> None:
        """Check that the first graph with edges, or else one with nodes, has the fields that are named."""
        problem: GvoysError | None = None
        for graph in islice(self.first_graphs(), FIRST_GRAPHS):
            try:
                batch = build_batch([read_graph(graph, self.names)])
                check_names(batch, self.names)
            except GvoysError as error:
                problem = problem or error
                continue
            if batch.n_nodes:
                return
        if problem is not None:
            raise DatasetError(f"{self}: {problem}")


class _NumberedSource(GraphSource):
    """Graphs that are numbered; the chunks are ranges of their numbers."""

    def chunks(self, n_rows: int) -> Iterator[Chunk]:
        return row_chunks(self.size, n_rows)

    def records(self, chunk: Chunk, columns: bool = False) -> Records:
        rows = list(range(chunk.begin + 1, chunk.end + 1))
        return Records(rows, list(map(str, rows)), range(chunk.begin, chunk.end))


class _SlicedSource(_NumberedSource):
    """Graphs of one batch."""

    @abstractmethod
    def batch(self) -> GraphBatch:
        """Return all graphs."""

    @property
    def size(self) -> int:
        return len(self.batch())

    def build(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        if isinstance(items, range):  # a slice shares memory, and need not be copied
            return self.batch()[items.start : items.stop], []
        return self.batch()[list(items)], []


class BatchSource(_SlicedSource):
    """Graphs of a batch."""

    def __init__(self, batch: GraphBatch) -> None:
        super().__init__("graphs")
        self._batch = batch

    def batch(self) -> GraphBatch:
        return self._batch


class StoreSource(_SlicedSource, FileSource):
    """A store; checksums are compared where the run begins, sizes in every chunk."""

    # a file that is truncated while a chunk is at work ends the process by a signal: mapped memory cannot say so

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.name = path.name
        open_store(path)

    def batch(self) -> GraphBatch:
        return _mapped(self.path, self._exact_stamps())

    def _files(self) -> list[Path]:
        return [file for file in sorted(self.path.iterdir()) if file.is_file()]

    def identity(self) -> dict[str, Any]:
        return {"name": self.path.name, "graphs": self.size, "manifest": checksum_file(self.path / "manifest.json")}


@lru_cache(maxsize=4)
def _mapped(path: Path, stamps: Any) -> GraphBatch:
    return open_store(path, verify=False)


class TuSource(_SlicedSource, FileSource):
    """A TU dataset, NAME.zip or NAME/, held in memory; its classes or targets are its columns, all by default."""

    def __init__(self, path: Path, target: str | Sequence[str] | None) -> None:
        super().__init__(path)
        self.name = dataset_name(path)
        if path.is_dir() and not any(path.glob("*_A.txt")):
            raise DatasetError(f"{path} is neither a store nor a dataset of the TU collection")
        self.column_names = list(self._columns())
        self._choose(None, target)
        if target is None:
            self.target_names, self._one_target = self.column_names, len(self.column_names) == 1

    def batch(self) -> GraphBatch:
        return self._load()[0]

    def label_names(self) -> LabelNames:
        """Return what the numbers of labels stand for, where the dataset says it."""
        return read_names(self.path)

    def _columns(self) -> dict[str, NDArray[Any]]:
        y = self._load()[1]
        if y is None:
            return {}
        kind, columns = "class" if y.dtype.kind in "iu" else "target", y.reshape(len(y), -1).T
        return {kind if len(columns) == 1 else f"{kind} {k}": column for k, column in enumerate(columns, 1)}

    def records(self, chunk: Chunk, columns: bool = False) -> Records:
        values = self._columns() if columns else {}
        return replace(super().records(chunk), columns={name: y[chunk.begin : chunk.end] for name, y in values.items()})

    def _load(self) -> tuple[GraphBatch, NDArray[Any] | None]:
        return _loaded(self.path, self._exact_stamps())

    def _files(self) -> list[Path]:
        files = sorted(self.path.glob("*.txt")) if self.path.is_dir() else [self.path]
        return [file for file in files if file.is_file()]

    def identity(self) -> dict[str, Any]:
        return {"name": self.path.name, "blake2b": [digest_file(file) for file in self._files()]}


@lru_cache(maxsize=1)
def _loaded(path: Path, stamps: Any) -> tuple[GraphBatch, NDArray[Any] | None]:
    return read_tu(path)


class JsonSource(NamedSource, LinesSource):
    """A file of node-link graphs; what they say under "graph" are their columns."""

    def __init__(self, path: Path, id: str | None, target: str | Sequence[str] | None) -> None:
        super().__init__(path)
        first_graph: dict[str, Any] = next(self.first_graphs(), {})
        attributes = first_graph.get("graph")
        self.column_names = list(attributes) if isinstance(attributes, dict) else []
        if self.column_names:
            self._choose(id, target)

    def first_graphs(self) -> Iterator[Any]:
        first = next(self.chunks(FIRST_GRAPHS), None)
        for line in [] if first is None else self._lines(first):
            with suppress(GraphError):
                yield _parse_json(self._decode(line))

    def find_attributes(self, kind: str) -> Sequence[str]:
        known = (find_attributes(graph, kind, self.names) for graph in self.first_graphs())
        return next((names for names in known if names is not None), [])

    def _options(self) -> dict[str, Any]:
        return {"fields": self.fields}

    def _records(self, rows: list[int], texts: list[str], skipped: list[Skipped], columns: bool) -> Records:
        names = self.column_names if columns else self._needed
        if not names:
            return Records(rows, [str(row) for row in rows], texts, skipped)
        attributes = [_attributes(text) for text in texts]
        columns_of_lines = {name: [line.get(name) for line in attributes] for name in names}
        return self._select(Records(rows, [], texts, skipped, columns_of_lines))

    def build(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        return build_each(items, lambda text: read_graph(_parse_json(text), self.names))


class ObjectsSource(_NumberedSource, NamedSource):
    """Graphs of other libraries, and molecules: anything that `as_batch` reads, each for itself."""

    def __init__(self, graphs: Sequence[Any]) -> None:
        super().__init__("graphs")
        self._items = graphs

    def first_graphs(self) -> Sequence[Any]:
        return self._items

    @property
    def size(self) -> int:
        return len(self._items)

    def records(self, chunk: Chunk, columns: bool = False) -> Records:
        return replace(super().records(chunk), items=self._items[chunk.begin : chunk.end])

    def build(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        return build_each(items, self._read)

    def _read(self, graph: Any) -> Any:
        if graph is None:  # what RDKit makes of a SMILES that it cannot read
            raise GraphError("there is no graph, but None")
        return read_graph(graph, self.names)


def _parse_json(text: str) -> Any:
    if len(text) > _LINE_VALUES and sum(map(text.count, ",[{")) > _LINE_VALUES:
        raise GraphError(f"the line has over {_LINE_VALUES:,} values; a store takes larger graphs")
    try:
        graph = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise GraphError(f"the line is not JSON ({error})") from None
    if not isinstance(graph, dict) or "nodes" not in graph:
        raise GraphError('the line is not a graph; {"nodes": [{"id": …}], "links": [{"source": …, "target": …}]} is')
    return graph


def _attributes(text: str) -> dict[str, Any]:
    """Return what a line says of its graph."""
    attributes = None
    with suppress(GraphError):  # which `build` says
        attributes = _parse_json(text).get("graph")
    return attributes if isinstance(attributes, dict) else {}
