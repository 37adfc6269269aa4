"""Inputs that are graphs already: stores, which are mapped, and TU datasets, which are read as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from gvoys.errors import DatasetError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.inputs.base import Chunk, Input, Records, Skipped, digest_file
from gvoys.io.store import open_store
from gvoys.io.store.manifest import checksum_file
from gvoys.io.tu import read_tu

__all__ = ["StoreInput", "TuInput"]


class _BatchInput(Input):
    unit = "rows"

    def batch(self) -> GraphBatch:
        """All graphs."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        return len(self.batch())

    def chunks(self, n_rows: int) -> Iterator[Chunk]:
        for index, begin in enumerate(range(0, self.size, n_rows)):
            yield Chunk(index, begin, min(begin + n_rows, self.size), begin + 1)

    def read(self, chunk: Chunk) -> Records:
        part = self.batch()[chunk.begin : chunk.end]
        lines = list(range(chunk.begin + 1, chunk.end + 1))

        def build(places: Sequence[int]) -> tuple[GraphBatch, list[Skipped]]:
            return (part if len(places) == len(part) else part[list(places)]), []

        return Records(lines, [str(line) for line in lines], build)


class StoreInput(_BatchInput):
    """A store; checksums are compared where the run begins, not in every chunk.

    Parameters
    ----------
    path : Path
        Folder of the store.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        open_store(path)

    def batch(self) -> GraphBatch:
        return _mapped(self.path, _stamps([self.path / "manifest.json"]))

    def identity(self) -> dict[str, Any]:
        return {"name": self.path.name, "graphs": self.size, "manifest": checksum_file(self.path / "manifest.json")}


@lru_cache(maxsize=4)
def _mapped(path: Path, stamps: Any) -> GraphBatch:
    return open_store(path, verify=False)


def _stamps(files: list[Path]) -> Any:
    """What changes when a file does."""
    return tuple(
        (file.name, *(getattr(file.stat(), f"st_{what}") for what in ("ino", "mtime_ns", "size"))) for file in files
    )


class TuInput(_BatchInput):
    """A TU dataset, NAME.zip or NAME/, held in memory.

    Parameters
    ----------
    path : Path
        The zip or folder.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        if path.is_dir() and not any(path.glob("*_A.txt")):
            raise DatasetError(f"{path} is neither a store nor a dataset of the TU collection")

    def batch(self) -> GraphBatch:
        return _loaded(self.path, _stamps(self._files()))

    def _files(self) -> list[Path]:
        found = sorted(self.path.glob("*.txt")) if self.path.is_dir() else [self.path]
        return [file for file in found if file.is_file()]

    def identity(self) -> dict[str, Any]:
        return {"name": self.path.name, "blake2b": [digest_file(file) for file in self._files()]}


@lru_cache(maxsize=1)
def _loaded(path: Path, stamps: Any) -> GraphBatch:
    return read_tu(path)[0]
