"""Rows of a source, before and after they are graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import NDArray

from gvoys.graphs.batch import GraphBatch

_LONGEST = 100  # characters of a row that are kept of one that was skipped


class Skipped(NamedTuple):
    """A row that gave no graph.

    Parameters
    ----------
    row : int
        Number of the row, from 1; of a text file, the number of its line.
    text : str
        The SMILES or line, or its beginning; empty where the row is no text.
    reason : str
        Why it gave no graph.
    """

    row: int
    text: str
    reason: str

    @classmethod
    def of(cls, row: int, item: Any, reason: str) -> Skipped:
        """A skipped row, with what stood in it cut to a readable length.

        Parameters
        ----------
        row : int
            Number of the row, from 1.
        item : object
            What stood in the row.
        reason : str
            Why it gave no graph.

        Returns
        -------
        Skipped
            The row.
        """
        text = item.decode(errors="replace") if isinstance(item, bytes) else item if isinstance(item, str) else ""
        text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        return cls(row, text if text.isascii() else text.encode(errors="replace").decode(), reason)


@dataclass(frozen=True)
class Graphs:
    """Graphs with what their source says about them.

    Attributes
    ----------
    batch : GraphBatch
        The graphs.
    ids : list of str
        Id of each graph: as the source gives it, or the number of its row.
    columns : dict of str to array
        One value per graph by name of the column: numbers (nan where missing) if all values are, else strings.
    rows : list of int
        Row of each graph, from 1; of a text file, its line.
    skipped : list of Skipped
        Rows that gave no graph, in their order.
    y : array of shape (n_graphs,) or (n_graphs, n_targets), or None
        The target; of a TU dataset its classes unless you named another. None where there is no target.
    smiles : list of str or None
        SMILES of each graph; None if the graphs do not come from SMILES.
    """

    batch: GraphBatch
    ids: list[str]
    columns: dict[str, NDArray[Any]]
    rows: list[int]
    skipped: list[Skipped]
    y: NDArray[Any] | None = None
    smiles: list[str] | None = None

    def take(self, places: NDArray[Any]) -> Graphs:
        """Some of the graphs.

        Parameters
        ----------
        places : ndarray of int
            Their places.

        Returns
        -------
        Graphs
            These graphs in this order, and the same skipped rows.
        """
        return Graphs(
            self.batch[places],
            [self.ids[place] for place in places],
            {name: values[places] for name, values in self.columns.items()},
            [self.rows[place] for place in places],
            self.skipped,
            None if self.y is None else self.y[places],
            None if self.smiles is None else [self.smiles[place] for place in places],
        )


@dataclass(frozen=True)
class Chunk:
    """A stretch of a source."""

    index: int
    begin: int  # in bytes or rows
    end: int
    row: int = 1  # at which it begins
    group: int = 0  # of rows in a Parquet file


@dataclass(frozen=True)
class Records:
    """Rows that are not graphs yet, with a number, an id and what `GraphSource.build` makes a graph of."""

    rows: list[int]
    ids: list[str]
    items: Sequence[Any]
    skipped: list[Skipped] = field(default_factory=list)  # already
    columns: Mapping[str, Any] = field(default_factory=dict)

    def skip(self, place: int, reason: str) -> Skipped:
        """Return the row of a place as skipped."""
        return Skipped.of(self.rows[place], self.items[place], reason)

    @classmethod
    def joined(cls, parts: Sequence[Records]) -> Records:
        """Return the rows of all parts; a single part as it is, so that a range of graphs stays one."""
        if len(parts) == 1:
            return parts[0]
        names = parts[0].columns if parts else {}
        return cls(
            [row for part in parts for row in part.rows],
            [name for part in parts for name in part.ids],
            [item for part in parts for item in part.items],
            [each for part in parts for each in part.skipped],
            {name: [value for part in parts for value in part.columns[name]] for name in names},
        )
