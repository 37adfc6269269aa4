"""The face that inputs share: chunks are planned without reading graphs, and read by whoever gets them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.smiles import check_rdkit, read_smiles

__all__ = ["Builder", "Chunk", "Input", "Records", "Skipped", "digest_file", "smiles_builder"]

Skipped = tuple[int, str]  # a line or row, from 1, and the reason


@dataclass(frozen=True)
class Chunk:
    """A stretch of an input: bytes or rows from `begin` to `end`, the first of them at line `line`."""

    index: int
    begin: int
    end: int
    line: int = 1
    where: int = 0  # a row group of a Parquet file


Builder = Callable[[Sequence[int]], tuple[GraphBatch, list[Skipped]]]  # skipped: by place in what was asked for


@dataclass(frozen=True)
class Records:
    """What stands in a chunk: where each graph stands, its id, and how to build some of them."""

    lines: list[int]
    ids: list[str]
    build: Builder
    skipped: list[Skipped] = field(default_factory=list)


def smiles_builder(texts: list[str]) -> Builder:
    """Molecules of some of the texts; without RDKit it is refused here and now, since no row is at fault."""
    check_rdkit()
    return lambda places: read_smiles([texts[place] for place in places])


class Input(ABC):
    """A file of graphs that can be read from any chunk on."""

    unit = "bytes"  # what chunks count

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    @abstractmethod
    def size(self) -> int:
        """How many bytes or rows there are, for a progress bar."""

    @abstractmethod
    def chunks(self, n_rows: int) -> Iterator[Chunk]:
        """Chunks of `n_rows` rows, in order; a function of the file alone."""

    @abstractmethod
    def read(self, chunk: Chunk) -> Records:
        """The records of one chunk."""

    def identity(self) -> dict[str, Any]:
        """What tells this input from others."""
        return {"name": self.path.name, "bytes": self.path.stat().st_size, "blake2b": digest_file(self.path)}


def digest_file(path: Path) -> str:
    """A digest of all bytes of a file, about a second per gigabyte."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
