"""The interface of sources: chunks are planned without reading graphs, and read by whichever worker gets them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gvoys.errors import DatasetError, GraphError, GvoysError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry.parse import Chemistry
from gvoys.io.smiles import read_smiles
from gvoys.io.sources.records import Chunk, Graphs, Records, Skipped, as_values, cell_text, check_present, find_columns

_ALL_ROWS = 1 << 62  # more than any source has


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
        What a molecule's graph contains; None for other graphs.
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
        records = Records.joined([self.records(chunk, columns=True) for chunk in self.chunks(_ALL_ROWS)])
        if not records.rows:
            raise self.no_graph(records.skipped)
        graphs = self._graphs(records)
        if not len(graphs.batch):
            raise self.no_graph(graphs.skipped)
        return graphs

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
        records = records.take(kept)
        columns = {name: as_values(values, self.decimal_comma) for name, values in records.columns.items()}
        targets = [columns[name] for name in self.target_names]
        y = None if not targets else targets[0] if self._one_target else np.column_stack(targets)
        smiles = list(records.items) if self.has_smiles else None
        return Graphs(batch, records.ids, columns, records.rows, sorted([*records.skipped, *skipped]), y, smiles)

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
        kept = [row for row in range(len(records.rows)) if row not in bad]
        return batch, kept, [records.skip(row, reason) for row, reason in unread]

    def _build_alike(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        """Build graphs one by one, which is slow, where some graph does not go with the others."""
        batches, unread = [], []
        first: GraphBatch | None = None  # those that tell what the others must have: up to the first with an edge
        for position, item in enumerate(items):
            try:
                one, bad = self.build([item])
                joined = one if first is None else GraphBatch.concatenate([first, one])
            except GvoysError as error:
                reason = str(error).removeprefix("graph 0: ")  # the number among those that were read together
                unread.append((position, reason.replace("batch 1", "it").replace("batch 0", "the first graph")))
                continue
            unread += [(position, reason) for _, reason in bad]
            batches.append(one)  # without a graph, if it was bad
            first = joined if first is None or not first.n_entries else first
        return GraphBatch.concatenate(batches) if batches else self.build([])[0], unread

    def no_graph(self, skipped: Sequence[Skipped]) -> DatasetError:
        """Make the error for a source from which no graph can be read.

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
        """Return the options of reading that are not the defaults, by name."""
        return {}

    @property
    def _needed(self) -> list[str]:
        return [*self.target_names, *([] if self._id_name is None else [self._id_name])]

    def _select(self, records: Records) -> Records:
        """Skip rows without a target or an id, and give the others their ids."""
        kept, ids, id_name = [], [], self._id_name
        for position, row in enumerate(records.rows):
            try:
                number = str(row - self.first_row + 1)
                text = number if id_name is None else cell_text(records.columns[id_name][position], id_name)
                for name in self.target_names:
                    check_present(records.columns[name][position], name)
            except GraphError as error:
                records.skipped.append(records.skip(position, str(error)))
                continue
            kept.append(position)
            ids.append(text)
        return records.take(kept, ids)


class FileSource(GraphSource):
    """A file or folder of graphs."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.stem)
        self.path = path
        self._stamps = self._file_stamps()

    def __str__(self) -> str:
        return self.path.name

    def _files(self) -> list[Path]:
        """Return the files that hold the graphs."""
        return [self.path]

    def _file_stamps(self) -> list[tuple[str, int, int]]:
        """Return what changes when a file does: name, time in nanoseconds and size of each."""
        return [(file.name, (stat := file.stat()).st_mtime_ns, stat.st_size) for file in self._files()]

    def _exact_stamps(self) -> tuple[Any, ...]:
        """Return stamps that change also when a file is replaced by one of equal size and time."""
        return (*self._file_stamps(), *(file.stat().st_ino for file in self._files()))

    def has_changed(self) -> bool:
        """Return whether a file is gone or has another size or time than when it was opened, not another inode."""
        try:
            return self._file_stamps() != self._stamps
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


def row_chunks(size: int, n_rows: int) -> Iterator[Chunk]:
    """Yield chunks of so many rows, in order."""
    for index, begin in enumerate(range(0, size, n_rows)):
        yield Chunk(index, begin, min(begin + n_rows, size), begin + 1)


def digest_file(path: Path) -> str:
    """Return a digest of all bytes of a file, about a second per gigabyte."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


class MoleculeSource(GraphSource):
    """Molecules from SMILES; `chemistry` may be set until graphs are read."""

    has_smiles = True
    chemistry: Chemistry = Chemistry()

    def build(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        return read_smiles(items, self.chemistry)

    def _options(self) -> dict[str, Any]:
        return {"chemistry": self.chemistry.as_dict()} if self.chemistry != Chemistry() else {}
