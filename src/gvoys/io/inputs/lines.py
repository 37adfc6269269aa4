"""Text files with one graph per line: SMILES, graph6 and sparse6, node-link JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gvoys.errors import DatasetError, GraphError, GvoysError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.convert import as_batch, build_batch
from gvoys.io.graph6 import read_graph6
from gvoys.io.inputs.base import Builder, Chunk, Input, Records, Skipped, smiles_builder

__all__ = ["GRAPH6", "JSON", "SMILES", "LinesInput", "decode_line"]

SMILES = {".smi", ".smiles"}
GRAPH6 = {".g6", ".s6", ".graph6", ".sparse6"}
JSON = {".jsonl", ".ndjson"}

_READ = 1 << 20  # bytes at a time, when lines are counted
_HEAVY = 1 << 24  # bytes after which a chunk ends with the line
_LONGEST = 1 << 28  # bytes of a line


class LinesInput(Input):
    """A text file with one graph per line; in a line of SMILES the second word is the id.

    Parameters
    ----------
    path : Path
        The file.
    """

    first_line = 1

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def chunks(self, n_rows: int) -> Iterator[Chunk]:
        begin, line, index = self._first_byte(), self.first_line, 0
        for end, n_lines in _cuts(self.path, begin, n_rows):
            yield Chunk(index, begin, end, line)
            begin, line, index = end, line + n_lines, index + 1

    def _first_byte(self) -> int:
        return 0

    def read(self, chunk: Chunk) -> Records:
        with self.path.open("rb") as file:
            file.seek(chunk.begin)
            lines = file.read(chunk.end - chunk.begin).split(b"\n")
        if chunk.begin == 0:
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        return self._records([(chunk.line + place, line) for place, line in enumerate(lines) if line.strip()])

    def _records(self, lines: list[tuple[int, bytes]]) -> Records:
        kept, ids, texts, skipped = [], [], [], []
        for number, line in lines:
            try:
                text = decode_line(line)
            except GraphError as error:
                skipped.append((number, str(error)))
                continue
            words = text.split(None, 1) if self.path.suffix.lower() in SMILES else [text.strip()]
            if not any(words):
                continue
            kept.append(number)
            ids.append(words[1].strip() if len(words) > 1 else str(number))
            texts.append(words[0])
        return Records(kept, ids, self._builder(texts), skipped)

    def _builder(self, texts: list[str]) -> Builder:
        suffix = self.path.suffix.lower()
        if suffix in SMILES:
            return smiles_builder(texts)
        build = _graph6 if suffix in GRAPH6 else _node_link
        return lambda places: build([texts[place] for place in places])


def decode_line(line: bytes) -> str:
    """A line as text, without its end.

    Parameters
    ----------
    line : bytes
        The line.

    Returns
    -------
    str
        The text.

    Raises
    ------
    GraphError
        If it is not UTF-8.
    """
    try:
        return line.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise GraphError("the line is not UTF-8") from None


def _cuts(path: Any, begin: int, n_rows: int) -> Iterator[tuple[int, int]]:
    """Where chunks end, and how many lines they have, in memory that does not depend on the file."""
    first, place, held = begin, begin, 0  # where this chunk begins, how far was read, lines so far
    latest = begin  # where the line begins that is being read
    with path.open("rb") as file:
        file.seek(begin)
        while block := file.read(_READ):
            ends = place + 1 + np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
            used = 0
            while used < len(ends):
                heavy = int(np.searchsorted(ends, first + _HEAVY))  # the line that passes the limit is the last
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


def _graph6(texts: Sequence[str]) -> tuple[GraphBatch, list[Skipped]]:
    return _each(texts, read_graph6, build_batch)


def _node_link(texts: Sequence[str]) -> tuple[GraphBatch, list[Skipped]]:
    return _each(texts, _parse_json, as_batch)


def _each(texts: Sequence[str], read: Callable[[str], Any], build: Any) -> tuple[GraphBatch, list[Skipped]]:
    read_ones, skipped = [], []
    for place, text in enumerate(texts):
        try:
            read_ones.append(read(text))
        except GvoysError as error:
            skipped.append((place, str(error)))
    return build(read_ones), skipped


def _parse_json(text: str) -> Any:
    try:
        graph = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise GraphError(f"the line is not JSON ({error})") from None
    if not isinstance(graph, dict) or "nodes" not in graph:
        raise GraphError('the line is not a graph; {"nodes": [{"id": …}], "links": [{"source": …, "target": …}]} is')
    return graph
