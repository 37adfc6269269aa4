"""Text files with one graph per line: SMILES, graph6 and sparse6, node-link JSON."""

from __future__ import annotations

import json
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from gvoys.errors import DatasetError, GraphError, GvoysError, InputWarning
from gvoys.graphs.batch import GraphBatch
from gvoys.io.convert import build_batch, read_graph
from gvoys.io.graph6 import claimed_nodes, read_graph6
from gvoys.io.readers.from_node_link import find_attributes
from gvoys.io.smiles import check_rdkit
from gvoys.io.sources.base import FileSource
from gvoys.io.sources.columns import line_text
from gvoys.io.sources.ends import BOM, blocks_of_lines, line_ends, split_lines
from gvoys.io.sources.molecules import MoleculeSource
from gvoys.io.sources.named import NamedSource
from gvoys.io.sources.records import Chunk, Records, Skipped

_READ = 1 << 20  # bytes at a time, when lines are counted
_HEAVY = 1 << 24  # bytes after which a chunk ends with the line
_LONGEST = 1 << 26  # bytes of a line
_MOST_VALUES = 3_000_000  # in a line of JSON, each of which takes some hundred bytes of memory
_MOST_NODES = 8_000_000  # that lines of graph6 may have together besides one per character
_FIRST = 1000  # lines among which a graph must tell the names of columns


class LinesSource(FileSource):
    """A text file with one row per line, numbered as the lines are; blank lines are no rows."""

    _begin = 0  # the byte at which rows begin
    _takes_any = False  # whether lines may be no UTF-8, as the names of molecules in old files
    _heavy = 1 << 62  # bytes after which a chunk of this format ends with the line, where that is less than for others

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def chunks(self, n_rows: int) -> Iterator[Chunk]:
        begin, row = self._begin, self.first_row
        for index, (end, n_lines) in enumerate(_cuts(self.path, begin, n_rows, min(_HEAVY, self._heavy))):
            yield Chunk(index, begin, end, row)
            begin, row = end, row + n_lines

    def records(self, chunk: Chunk, columns: bool = False) -> Records:
        rows, texts, skipped = [], [], []
        for row, line in enumerate(self._lines(chunk), chunk.row):
            try:
                text = self._decode(line)
            except GraphError as error:
                skipped.append(Skipped.of(row, line, str(error)))
                continue
            if text.strip():
                rows.append(row)
                texts.append(text)
        return self._records(rows, texts, skipped, columns)

    def _decode(self, line: bytes) -> str:
        with suppress(UnicodeDecodeError):
            return line.decode()
        if not self._takes_any:
            raise GraphError("the line is not UTF-8; save the file as UTF-8")
        told = f"{self} is not UTF-8 and is read as Windows-1252; save it as UTF-8 if its names look wrong"
        warnings.warn(told, InputWarning, stacklevel=4)
        with suppress(UnicodeDecodeError):
            return line.decode("cp1252")
        return line.decode("latin-1")  # which reads any byte

    def _lines(self, chunk: Chunk) -> list[bytes]:
        with self.path.open("rb") as file:
            file.seek(chunk.begin)
            lines = split_lines(file.read(chunk.end - chunk.begin))
        if chunk.begin == 0:
            lines[0] = lines[0].removeprefix(BOM)
        return lines

    @abstractmethod
    def _records(self, rows: list[int], texts: list[str], skipped: list[Skipped], columns: bool) -> Records:
        """What some lines hold."""


class SmilesSource(MoleculeSource, LinesSource):
    """A file without a header: a SMILES on every line, and after a space or tab its id."""

    _takes_any = True

    def _records(self, rows: list[int], texts: list[str], skipped: list[Skipped], columns: bool) -> Records:
        check_rdkit()  # where it is missing, no row is at fault
        kept, ids, items = [], [], []
        for row, text in zip(rows, texts, strict=True):
            smiles, *name = text.split(None, 1)
            if text.startswith("\t"):  # a cell without a SMILES, and its id
                skipped.append(Skipped.of(row, text, "the SMILES is empty"))
                continue
            try:
                ids.append(line_text(name[0], "the id") if name else str(row))
            except GraphError as error:
                skipped.append(Skipped.of(row, text, str(error)))
                continue
            kept.append(row)
            items.append(smiles)
        return Records(kept, ids, items, skipped)


class Graph6Source(LinesSource):
    """A file of graph6 or sparse6."""

    _heavy = 1 << 19  # a character holds up to six edges, of some hundred bytes of memory each

    def _records(self, rows: list[int], texts: list[str], skipped: list[Skipped], columns: bool) -> Records:
        return Records(rows, [str(row) for row in rows], [text.strip() for text in texts], skipped)

    def graphs_of(self, records: Records) -> tuple[GraphBatch, list[int], list[Skipped]]:
        try:
            _check_nodes(records.items)
        except GraphError as error:
            what = f"rows {records.rows[0]} to {records.rows[-1]}"
            raise DatasetError(f"{self}, {what}: {error}; read fewer rows at a time") from None
        return super().graphs_of(records)

    def build(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        _check_nodes(items)
        return build_each(items, read_graph6)


def _check_nodes(lines: Sequence[str]) -> None:
    """Lines each of which is read for itself may still be too many: nodes without edges cost no character."""
    total = sum(map(claimed_nodes, lines))
    if len(lines) > 1 and total > _MOST_NODES + sum(map(len, lines)):
        raise GraphError(f"{len(lines):,} graphs of {total:,} nodes together, most of which have no edges")


class JsonSource(NamedSource, LinesSource):
    """A file of node-link graphs; what they say under "graph" are their columns."""

    def __init__(self, path: Path, id: str | None, target: str | Sequence[str] | None) -> None:
        super().__init__(path)
        self.column_names = list(_attributes(next(self.first_graphs(), {})))
        if self.column_names:
            self._choose(id, target)

    def first_graphs(self) -> Iterator[Any]:
        first = next(self.chunks(_FIRST), None)
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
        said = [_attributes_of_line(text) for text in texts]
        return self._select(rows, texts, {name: [each.get(name) for each in said] for name in names}, skipped)

    def build(self, items: Sequence[Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
        return build_each(items, lambda text: read_graph(_parse_json(text), self.names))


def _cuts(path: Any, begin: int, n_rows: int, n_bytes: int) -> Iterator[tuple[int, int]]:
    """Where chunks end, and how many lines they have, in memory that does not depend on the file."""
    first, place, held = begin, begin, 0  # where this chunk begins, how far was read, lines so far
    latest = begin  # where the line begins that is being read
    with path.open("rb") as file:
        file.seek(begin)
        for block in blocks_of_lines(file, _READ):
            ends = place + line_ends(block)
            used = 0
            while used < len(ends):
                heavy = int(np.searchsorted(ends, first + n_bytes))  # the line that passes the limit is the last
                last = min(used + n_rows - held, heavy + 1)
                if last > len(ends):
                    held += len(ends) - used
                    break
                yield int(ends[last - 1]), held + last - used
                first, used, held = int(ends[last - 1]), last, 0
            place, latest = place + len(block), int(ends[-1]) if len(ends) else latest
            if place - latest > _LONGEST:
                raise DatasetError(f"{path.name} has a line of over {_LONGEST / 2**20:g} MiB, at byte {latest}")
    if place > first:
        yield place, held + 1


def build_each(items: Sequence[Any], read: Callable[[Any], Any]) -> tuple[GraphBatch, list[tuple[int, str]]]:
    """Build the graphs that can be read to GraphParts; the place and reason of the others."""
    parts, unread = [], []
    for place, item in enumerate(items):
        try:
            parts.append(read(item))
        except GvoysError as error:
            unread.append((place, str(error)))
    return build_batch(parts), unread


def _parse_json(text: str) -> Any:
    if len(text) > _MOST_VALUES and sum(map(text.count, ",[{")) > _MOST_VALUES:
        raise GraphError(f"the line has over {_MOST_VALUES:,} values; a store takes larger graphs")
    try:
        graph = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise GraphError(f"the line is not JSON ({error})") from None
    if not isinstance(graph, dict) or "nodes" not in graph:
        raise GraphError('the line is not a graph; {"nodes": [{"id": …}], "links": [{"source": …, "target": …}]} is')
    return graph


def _attributes(graph: Any) -> dict[str, Any]:
    found = graph.get("graph")
    return found if isinstance(found, dict) else {}


def _attributes_of_line(text: str) -> dict[str, Any]:
    try:
        return _attributes(_parse_json(text))
    except GraphError:  # which `build` says
        return {}
