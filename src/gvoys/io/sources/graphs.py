"""Sources that are graphs already: stores, which are mapped, TU datasets, which are read as a whole, and objects."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from gvoys.errors import DatasetError, GraphError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.convert import read_graph
from gvoys.io.sources.base import FileSource, GraphSource, digest_file, file_stamps, row_chunks
from gvoys.io.sources.lines import build_each
from gvoys.io.sources.named import NamedSource
from gvoys.io.sources.records import Chunk, Records
from gvoys.io.store import open_store
from gvoys.io.store.manifest import checksum_file
from gvoys.io.tu import LabelNames, dataset_name, read_names, read_tu


class _NumberedSource(GraphSource):
    """Graphs of which any can be had by its place."""

    @abstractmethod
    def batch(self) -> GraphBatch:
        """All graphs."""

    @property
    def size(self) -> int:
        return len(self.batch())

    def chunks(self, n_rows: int) -> Iterator[Chunk]:
        return row_chunks(self.size, n_rows)

    def records(self, chunk: Chunk, columns: bool = False) -> Records:
        rows = list(range(chunk.begin + 1, chunk.end + 1))
        return Records(rows, [str(row) for row in rows], range(chunk.begin, chunk.end))

    def build(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        if isinstance(items, range):  # a slice shares memory, and need not be copied
            return self.batch()[items.start : items.stop], []
        return self.batch()[list(items)], []


class BatchSource(_NumberedSource):
    """Graphs of a batch."""

    def __init__(self, batch: GraphBatch) -> None:
        super().__init__("graphs")
        self._batch = batch

    def batch(self) -> GraphBatch:
        return self._batch


class StoreSource(_NumberedSource, FileSource):
    """A store; checksums are compared where the run begins, sizes in every chunk.

    A file that is truncated while a chunk is at work ends the process by a signal: memory that is mapped cannot say so.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.name = path.name
        open_store(path)

    def batch(self) -> GraphBatch:
        return _mapped(self.path, _inodes(self._files()), file_stamps(self._files()))

    def _files(self) -> list[Path]:
        return [file for file in sorted(self.path.iterdir()) if file.is_file()]

    def identity(self) -> dict[str, Any]:
        return {"name": self.path.name, "graphs": self.size, "manifest": checksum_file(self.path / "manifest.json")}


@lru_cache(maxsize=4)
def _mapped(path: Path, inodes: Any, stamps: Any) -> GraphBatch:
    return open_store(path, verify=False)


class TuSource(_NumberedSource, FileSource):
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
        return _loaded(self.path, _inodes(self._files()), file_stamps(self._files()))

    def _files(self) -> list[Path]:
        found = sorted(self.path.glob("*.txt")) if self.path.is_dir() else [self.path]
        return [file for file in found if file.is_file()]

    def identity(self) -> dict[str, Any]:
        return {"name": self.path.name, "blake2b": [digest_file(file) for file in self._files()]}


@lru_cache(maxsize=1)
def _loaded(path: Path, inodes: Any, stamps: Any) -> tuple[GraphBatch, NDArray[Any] | None]:
    return read_tu(path)


def _inodes(files: list[Path]) -> tuple[int, ...]:
    """What changes when a file is replaced by another of the same size and time."""
    return tuple(file.stat().st_ino for file in files)


class ObjectsSource(NamedSource):
    """Graphs of other libraries, and molecules: anything that `as_batch` reads, each for itself."""

    def __init__(self, graphs: Sequence[Any]) -> None:
        super().__init__("graphs")
        self._items = graphs

    def first_graphs(self) -> Sequence[Any]:
        return self._items

    @property
    def size(self) -> int:
        return len(self._items)

    def chunks(self, n_rows: int) -> Iterator[Chunk]:
        return row_chunks(self.size, n_rows)

    def records(self, chunk: Chunk, columns: bool = False) -> Records:
        rows = list(range(chunk.begin + 1, chunk.end + 1))
        return Records(rows, [str(row) for row in rows], self._items[chunk.begin : chunk.end])

    def build(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        return build_each(items, self._read)

    def _read(self, graph: Any) -> Any:
        if graph is None:  # what RDKit makes of a SMILES that it cannot read
            raise GraphError("there is no graph, but None")
        return read_graph(graph, self.names)
