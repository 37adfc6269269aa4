"""The interface of inputs: chunks are planned without reading graphs, and read by whichever worker gets them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gvoys.graphs.batch import GraphBatch
from gvoys.io.smiles import check_rdkit, read_smiles

__all__ = ["Builder", "Chunk", "Input", "Records", "Skipped", "digest_file", "smiles_builder"]

Skipped = tuple[int, str]  # a line or row, from 1, and the reason


@dataclass(frozen=True)
class Chunk:
    """A stretch of an input.

    Parameters
    ----------
    index : int
        Number of the chunk.
    begin, end : int
        Bytes or rows from `begin` to `end`.
    line : int, default=1
        Line or row, from 1, at which it begins.
    where : int, default=0
        Row group of a Parquet file.
    """

    index: int
    begin: int
    end: int
    line: int = 1
    where: int = 0  # a row group of a Parquet file


Builder = Callable[[Sequence[int]], tuple[GraphBatch, list[Skipped]]]  # skipped: by place in what was asked for


@dataclass(frozen=True)
class Records:
    """The rows of a chunk.

    Parameters
    ----------
    lines : list of int
        Line or row of each graph, from 1.
    ids : list of str
        Id of each graph.
    build : callable
        Builds the graphs at some places of `lines`; returns the batch, and place and reason of those it skips.
    skipped : list of (int, str)
        Line and reason of each row that was skipped already.
    """

    lines: list[int]
    ids: list[str]
    build: Builder
    skipped: list[Skipped] = field(default_factory=list)


def smiles_builder(texts: list[str]) -> Builder:
    """A builder of molecules.

    Parameters
    ----------
    texts : list of str
        SMILES strings.

    Returns
    -------
    callable
        The `build` of `Records`.

    Raises
    ------
    MissingDependencyError
        If RDKit is not installed: no row is at fault.
    """
    check_rdkit()
    return lambda places: read_smiles([texts[place] for place in places])


class Input(ABC):
    """A file of graphs that can be read from any chunk on.

    Parameters
    ----------
    path : Path
        The file or folder.

    Attributes
    ----------
    unit : {"bytes", "rows"}
        What chunks count.
    """

    unit = "bytes"  # what chunks count

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of bytes or rows, for a progress bar."""

    @abstractmethod
    def chunks(self, n_rows: int) -> Iterator[Chunk]:
        """Split the input into chunks; they depend on the file alone.

        Parameters
        ----------
        n_rows : int
            Number of rows of a chunk.

        Yields
        ------
        Chunk
            The chunks, in order.
        """

    @abstractmethod
    def read(self, chunk: Chunk) -> Records:
        """Read the records of one chunk.

        Parameters
        ----------
        chunk : Chunk
            The chunk.

        Returns
        -------
        Records
            Its rows.
        """

    def identity(self) -> dict[str, Any]:
        """What distinguishes this input from others.

        Returns
        -------
        dict
            Name, size and digest, for JSON.
        """
        return {"name": self.path.name, "bytes": self.path.stat().st_size, "blake2b": digest_file(self.path)}


def digest_file(path: Path) -> str:
    """A digest of all bytes of a file, about a second per gigabyte.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        The digest.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
