"""Inputs that are graphs already: stores, which are mapped, and TU datasets, which are read as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from gvoys.datasets.tu import load_tu
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.store import open_store
from gvoys.graphs.store.manifest import checksum_file
from gvoys.pipeline.inputs.base import Chunk, Input, Records, Rejection, digest_file

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

        def build(places: Sequence[int]) -> tuple[GraphBatch, list[Rejection]]:
            return (part if len(places) == len(part) else part[list(places)]), []

        return Records(lines, [str(line) for line in lines], build)


class StoreInput(_BatchInput):
    """Checksums are compared where the run begins, not in every chunk."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        open_store(path)

    def batch(self) -> GraphBatch:
        return _mapped(self.path)

    def identity(self) -> dict[str, Any]:
        return {"name": self.path.name, "graphs": self.size, "manifest": checksum_file(self.path / "manifest.json")}


@lru_cache(maxsize=4)
def _mapped(path: Path) -> GraphBatch:
    return open_store(path, verify=False)


class TuInput(_BatchInput):
    """NAME.zip or NAME/, held in memory."""

    def batch(self) -> GraphBatch:
        stamp = self.path.stat().st_mtime_ns
        return _loaded(self.path, stamp)

    def identity(self) -> dict[str, Any]:
        files = sorted(self.path.iterdir()) if self.path.is_dir() else [self.path]
        return {"name": self.path.name, "blake2b": [digest_file(file) for file in files if file.is_file()]}


@lru_cache(maxsize=1)
def _loaded(path: Path, stamp: int) -> GraphBatch:
    return load_tu(path.stem, path.parent)[0]
