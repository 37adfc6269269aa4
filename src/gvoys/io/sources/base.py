"""The interface of sources: chunks are planned without reading graphs, and read by whichever worker gets them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DatasetError, GraphError, GvoysError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry.options import Chemistry
from gvoys.io.sources.columns import as_values, cell_text, check_present, find_columns
from gvoys.io.sources.records import Chunk, Graphs, Records, Skipped

_ALL = 1 << 62  # rows: more than any source has


class GraphSource(ABC):
    """Graphs that can be read at once, batch by batch, or from any chunk on.

    Parameters
    ----------
    name : str
        Name of the graphs, for titles and messages.

    Attributes
    ----------
    column_names : list of str
        Names of all columns; empty if the source has none.
    target_names : list of str
        Names of the columns to predict.
    has_smiles : bool
        Whether the graphs come from SMILES.
    chemistry : Chemistry or None
        What of a molecule becomes part of its graph; None for other graphs.
    first_row : int
        Number of the first row: 2 where the header of a text file is line 1. Ids of rows count from 1 nevertheless.
    fields : dict
        Names of the labels, weights and attributes that are read, by the options of `open_graphs`; empty for formats
        without such names.
    """

    has_smiles = False
    chemistry: Chemistry | None = None
    fields: Mapping[str, Any] = {}
    first_row = 1
    decimal_comma = False  # whether 1,5 is a number

    def __init__(self, name: str) -> None:
        self.name = name
        self.column_names: list[str] = []
        self.target_names: list[str] = []
        self.temporary: Any = None  # the temporary file that is read, if it is one; it is removed with the source
        self._id_name: str | None = None
        self._one_target = True

    def __str__(self) -> str:
        return self.name

    # -- the whole, or batch by batch

    def read(self) -> Graphs:
        """Read all graphs.

        Returns
        -------
        Graphs
            The graphs with their ids and columns, and the rows that were skipped.

        Raises
        ------
        DatasetError
            If no graph can be read.
        """
        records = Records.joined([self.records(chunk, columns=True) for chunk in self.chunks(_ALL)])
        if not records.rows:
            raise self.no_graph(records.skipped)
        found = self._graphs(records)
        if not len(found.batch):
            raise self.no_graph(found.skipped)
        return found

    def batches(self, n_rows: int = 4096) -> Iterator[Graphs]:
        """Read the graphs in pieces: memory holds one at a time.

        Parameters
        ----------
        n_rows : int, default=4096
            Number of rows of a piece.

        Yields
        ------
        Graphs
            The graphs of some rows.
        """
        for chunk in self.chunks(n_rows):
            yield self._graphs(self.records(chunk, columns=True))

    def _graphs(self, records: Records) -> Graphs:
        batch, kept, skipped = self.graphs_of(records)
        columns = {
            name: as_values(_taken(values, kept), self.decimal_comma) for name, values in records.columns.items()
        }
        return Graphs(
            batch,
            [records.ids[place] for place in kept],
            columns,
            [records.rows[place] for place in kept],
            sorted([*records.skipped, *skipped]),
            self._target(columns),
            [records.items[place] for place in kept] if self.has_smiles else None,
        )

    def _target(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[Any] | None:
        if not self.target_names:
            return None
        values = [columns[name] for name in self.target_names]
        return values[0] if self._one_target else np.column_stack(values)

    # -- from any chunk on

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of bytes or rows, for a progress bar."""

    @abstractmethod
    def chunks(self, n_rows: int) -> Iterator[Chunk]:
        """Split the source into chunks; they depend on its content alone.

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
    def records(self, chunk: Chunk, columns: bool = False) -> Records:
        """Read the rows of one chunk.

        Parameters
        ----------
        chunk : Chunk
            The chunk.
        columns : bool, default=False
            Whether to read all columns, and not only those that graphs need.

        Returns
        -------
        Records
            Its rows.
        """

    @abstractmethod
    def build(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        """Make graphs of what records hold.

        Parameters
        ----------
        items : sequence
            Some of `Records.items`.

        Returns
        -------
        batch : GraphBatch
            The graphs that can be read.
        unread : list of (int, str)
            Place among `items`, and reason, of the others.

        Raises
        ------
        GraphError
            If the graphs do not go together: some have labels or directions and others have none.
        """

    def graphs_of(self, records: Records) -> tuple[GraphBatch, list[int], list[Skipped]]:
        """The graphs of some rows, without those that cannot be read or do not go with the first ones.

        Parameters
        ----------
        records : Records
            The rows.

        Returns
        -------
        batch : GraphBatch
            The graphs.
        kept : list of int
            Place of each graph among the rows.
        skipped : list of Skipped
            The other rows.
        """
        try:
            batch, unread = self.build(records.items)
        except GvoysError:
            batch, unread = self._build_alike(records.items)
        bad = dict(unread)
        kept = [place for place in range(len(records.rows)) if place not in bad]
        return batch, kept, [records.skip(place, reason) for place, reason in unread]

    def _build_alike(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        """One by one: slow, and only where some graph does not go with the others."""
        batches, unread = [], []
        first: GraphBatch | None = None  # those that tell what the others must have: up to the first with an edge
        for place, item in enumerate(items):
            try:
                one, bad = self.build([item])
                joined = one if first is None else GraphBatch.concatenate([first, one])
            except GvoysError as error:
                unread.append((place, _of_one(error)))
                continue
            unread += [(place, reason) for _, reason in bad]
            batches.append(one)  # without a graph, if it was bad
            first = joined if first is None or not first.n_entries else first
        return GraphBatch.concatenate(batches) if batches else self.build([])[0], unread

    def no_graph(self, skipped: Sequence[Skipped]) -> DatasetError:
        """What to raise where no graph can be read.

        Parameters
        ----------
        skipped : sequence of Skipped
            The rows, in their order.

        Returns
        -------
        DatasetError
            The error, with the reason of the first row.
        """
        if not skipped:
            return DatasetError(f"{self} holds no graphs")
        return DatasetError(f"{self} holds no graph that can be read; row {skipped[0].row}: {skipped[0].reason}")

    # -- for those that have columns

    def _choose(self, id: str | None, target: str | Sequence[str] | None) -> None:
        """Find the columns of ids and targets."""
        wanted = [] if target is None else [target] if isinstance(target, str) else list(target)
        self.target_names = find_columns(str(self), self.column_names, wanted, "target")
        self._one_target = target is None or isinstance(target, str)
        self._id_name = None if id is None else find_columns(str(self), self.column_names, [id], "id")[0]

    @property
    def has_ids(self) -> bool:
        """Whether a column holds the ids."""
        return self._id_name is not None

    def _options(self) -> dict[str, Any]:
        """Options of reading that are not the defaults, by name."""
        return {}

    @property
    def _needed(self) -> list[str]:
        return [*self.target_names, *([] if self._id_name is None else [self._id_name])]

    def _select(
        self, rows: Sequence[int], items: Sequence[Any], cells: Mapping[str, Sequence[Any]], skipped: list[Skipped]
    ) -> Records:
        """Skip rows without a target or an id."""
        kept, ids = [], []
        for place, row in enumerate(rows):
            try:
                own = None if self._id_name is None else cell_text(cells[self._id_name][place], self._id_name)
                ids.append(str(row - self.first_row + 1) if own is None else own)
                for name in self.target_names:
                    check_present(cells[name][place], name)
                kept.append(place)
            except GraphError as error:
                del ids[len(kept) :]
                skipped.append(Skipped.of(row, items[place], str(error)))
        columns = {name: [values[place] for place in kept] for name, values in cells.items()}
        return Records([rows[place] for place in kept], ids, [items[place] for place in kept], skipped, columns)


class FileSource(GraphSource):
    """A file or folder of graphs."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.stem)
        self.path = path
        self._stamps = file_stamps(self._files())

    def __str__(self) -> str:
        return self.path.name

    def _files(self) -> list[Path]:
        """The files that hold the graphs."""
        return [self.path]

    def has_changed(self) -> bool:
        """Return whether a file is gone or has another size or time than when it was opened, not another inode."""
        try:
            return file_stamps(self._files()) != self._stamps
        except OSError:
            return True

    def identity(self) -> dict[str, Any]:
        """Return what distinguishes this file from others, for JSON: name, size, digest and options of reading."""
        return {
            "name": self.path.name,
            "bytes": self.path.stat().st_size,
            "blake2b": digest_file(self.path),
            "columns": self._needed,
            **self._options(),
        }


def _taken(values: Any, places: list[int]) -> Any:
    return values[places] if isinstance(values, np.ndarray) else [values[place] for place in places]


def _of_one(error: GvoysError) -> str:
    """What an error says of a graph that was read for itself, or joined to the first ones."""
    return str(error).removeprefix("graph 0: ").replace("batch 1", "it").replace("batch 0", "the first graph")


def row_chunks(size: int, n_rows: int) -> Iterator[Chunk]:
    """Yield chunks of so many rows, in order."""
    for index, begin in enumerate(range(0, size, n_rows)):
        yield Chunk(index, begin, min(begin + n_rows, size), begin + 1)


def file_stamps(files: Sequence[Path]) -> tuple[tuple[str, int, int], ...]:
    """Return what changes when a file does: name, time in nanoseconds and size of each."""
    found = [(file, file.stat()) for file in files]
    return tuple((file.name, stat.st_mtime_ns, stat.st_size) for file, stat in found)


def digest_file(path: Path) -> str:
    """Return a digest of all bytes of a file, about a second per gigabyte."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
