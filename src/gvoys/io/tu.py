"""Datasets in the format of the TU collection (Morris et al. 2020), read from a zip or a folder, never unpacked."""

from __future__ import annotations

import codecs
import lzma
import os
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DatasetError, GraphError
from gvoys.graphs.batch import GraphBatch

LARGEST = 8 * 2**30  # bytes of text in one dataset; the largest of the collection has about 2 GiB
_UNPACKED_BYTES = 32 * 2**20  # bytes of text that a zip of any size may hold
_UNPACKED_RATIO = 25  # and how many times its own size besides; the zips of the collection hold 5 to 10 times theirs
_EMPTY_GRAPHS = 1_000_000  # that may lie between others in a dataset without classes
_SECTION = re.compile(r"(node|edge|class) labels\b", re.IGNORECASE)
_END = re.compile(r"===|component [1-9]", re.IGNORECASE)  # the first of several components names labels well enough
_ENTRY = re.compile(r"\s*(\d{1,18})\s+(\S+)\s*$")
_ZIP_ERRORS = (  # what a damaged zip makes the standard library raise
    *(zipfile.BadZipFile, EOFError, OSError, RuntimeError, ValueError),
    *(IndexError, struct.error, zlib.error, lzma.LZMAError),
)


def dataset_name(path: Path) -> str:
    """Return the name of the dataset in a zip or folder."""
    return os.path.basename(os.path.abspath(path)) if path.is_dir() else path.stem  # "." has a name, links keep theirs


def read_tu(path: Path, weight_column: int | None = None) -> tuple[GraphBatch, NDArray[Any] | None]:
    """Read graphs and their classes or targets from a zip or folder; a column of edge attributes may give weights."""
    with _open_archive(path) as archive:
        indicator = archive.read_required("graph_indicator")[:, 0]
        edges = archive.read_required("A", columns=2)
        n_nodes, n_edges = len(indicator), len(edges)
        y = _read_targets(archive)
        sizes = _graph_sizes(archive, indicator, y)
        _check_ends(archive, edges, indicator)
        try:
            batch = GraphBatch.from_arrays(
                edges - 1,
                sizes,
                node_labels=_as_integers(archive.read_table("node_labels", n_nodes)),
                edge_labels=_as_integers(archive.read_table("edge_labels", n_edges)),
                edge_weights=_read_weights(archive, weight_column, n_edges),
                node_attributes=archive.read_table("node_attributes", n_nodes),
            )
        except GraphError as error:
            raise DatasetError(f"{archive.path}: {error}") from None
    return batch, y


# -- files


class _Archive(NamedTuple):
    """The files NAME_part.txt of one dataset; parts are "A", "graph_indicator" and so on."""

    path: Path
    name: str
    read_file: Callable[[str], bytes | None]  # the bytes of a file, None where there is none of this name

    def file_name(self, part: str) -> str:
        return f"{self.name}_{part}.txt"

    def read_table(self, part: str, n_rows: int | None = None) -> NDArray[Any] | None:
        """Read a table of numbers; None where there is no such file."""
        file = self.file_name(part)
        text = self.read_file(file)
        table = None if text is None else parse_table(text, file)
        if table is not None and n_rows not in (None, len(table)):
            where = f"{file}, line {min(len(table), n_rows or 0) + 1}"
            raise DatasetError(f"{where}: the file has {len(table)} lines and should have {n_rows}")
        return table

    def read_required(self, part: str, columns: int | None = None) -> NDArray[np.int64]:
        """Read a table of integers that every dataset has."""
        file = self.file_name(part)
        text = self.read_file(file)
        if text is None:
            raise DatasetError(f"{self.path}: there is no file {file}, which every dataset has")
        return parse_table(text, file, integers=True, columns=columns)


@contextmanager
def _open_archive(path: Path) -> Iterator[_Archive]:
    """Open NAME.zip or NAME/; raise DatasetError if it is damaged, too large, or names files outside itself."""
    name = dataset_name(path)
    if path.is_dir():
        yield _Archive(path, name, partial(_read_from_folder, path))
        return
    try:
        content = zipfile.ZipFile(path)
    except _ZIP_ERRORS as error:
        raise DatasetError(f"{path} is not a readable zip file ({error}); fetch it again") from None
    with content:
        _check_entries(content, path)
        yield _Archive(path, name, partial(_read_from_zip, path, content))


def _read_from_folder(path: Path, name: str) -> bytes | None:
    file = path / name
    if not file.is_file():
        return None
    _check_size(file.stat().st_size, path)
    return file.read_bytes()


def _read_from_zip(path: Path, content: zipfile.ZipFile, name: str) -> bytes | None:
    entries = [entry for entry in content.infolist() if PurePosixPath(entry.filename).name == name]
    if not entries:
        return None
    if len(entries) > 1:
        where = " and ".join(repr(entry.filename) for entry in entries[:2])
        raise DatasetError(f"{path} holds {name} {len(entries)} times, as {where}; remove all but one")
    try:
        return content.read(entries[0])
    except _ZIP_ERRORS as error:
        raise DatasetError(f"{path}: {entries[0].filename} cannot be read ({error}); fetch the file again") from None


def _check_entries(content: zipfile.ZipFile, path: Path) -> None:
    for entry in content.infolist():
        parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
        if ".." in parts or entry.filename.startswith(("/", "\\")) or ":" in entry.filename:
            raise DatasetError(f"{path}: the entry {entry.filename!r} points outside the archive; do not use this file")
    size, n_bytes = sum(entry.file_size for entry in content.infolist()), path.stat().st_size
    _check_size(size, path)
    if size > _UNPACKED_BYTES + _UNPACKED_RATIO * n_bytes:
        raise DatasetError(
            f"{path}: {size / 2**20:,.0f} MiB of text in a zip of {n_bytes / 2**20:,.1f} MiB, over {_UNPACKED_RATIO} "
            f"times its size and {_UNPACKED_BYTES / 2**20:g} MiB; unpack it and pass the folder"
        )


def _check_size(size: int, path: Path) -> None:
    if size > LARGEST:
        raise DatasetError(f"{path}: {size / 2**30:.1f} GiB of text; one dataset may have {LARGEST / 2**30:g} GiB")


# -- tables


def parse_table(text: bytes, name: str, *, integers: bool = False, columns: int | None = None) -> NDArray[Any]:
    """Parse lines of numbers between commas; raise DatasetError with the first line that does not fit."""
    text = text.removeprefix(codecs.BOM_UTF8)
    text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
    text, kind = text.strip(b"\n \t"), np.int64 if integers else np.float64
    if not text:
        return np.empty((0, columns or 1), kind)
    n_lines = text.count(b"\n") + 1
    width = text[: text.find(b"\n") if n_lines > 1 else len(text)].count(b",") + 1
    values = _parse_numbers(text, kind)
    regular = values is not None and values.size == n_lines * width and _commas_are_regular(text, width)
    if not regular or (columns is not None and width != columns):
        _point_out(text, name, integers, columns or width)
    assert values is not None
    return values.reshape(n_lines, width)


def _parse_numbers(text: bytes, kind: type) -> NDArray[Any] | None:
    """Parse all numbers of a text; None where something else stands in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy warns where it stops short of the end
        try:
            return np.fromstring(text.replace(b",", b" "), dtype=kind, sep=" ")
        except (ValueError, DeprecationWarning):
            return None


def _commas_are_regular(text: bytes, width: int) -> bool:
    raw = np.frombuffer(text + b"\n", np.uint8)
    ends = np.flatnonzero(raw == ord("\n"))
    commas = np.searchsorted(np.flatnonzero(raw == ord(",")), ends)
    return bool((np.diff(commas, prepend=0) == width - 1).all())


def _point_out(text: bytes, name: str, integers: bool, width: int) -> None:
    """Raise for the first line that is not `width` numbers."""
    kind: Any = int if integers else float
    for number, line in enumerate(text.split(b"\n"), start=1):
        cells = line.split(b",")
        shown = line[:60].decode("utf-8", "replace")
        if len(cells) != width:
            raise DatasetError(f"{name}, line {number}: {shown!r} has {len(cells)} columns, expected {width}")
        for cell in cells:
            try:
                kind(cell)
            except ValueError:
                wanted = "an integer" if integers else "a number"
                raise DatasetError(f"{name}, line {number}: {shown!r} is not {wanted} in every column") from None
    raise DatasetError(f"{name}: the file is not a table of numbers")


def _as_integers(table: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return whole numbers as integers, where floats hold them exactly."""
    if table is None or not np.isfinite(table).all() or np.abs(table).max(initial=0.0) > 2**53:
        return table
    whole = table.astype(np.int64)
    return whole if (whole == table).all() else table


def _read_weights(archive: _Archive, column: int | None, n_rows: int) -> NDArray[Any] | None:
    table = archive.read_table("edge_attributes", n_rows)
    if column is None:
        return None
    width = 0 if table is None else table.shape[1]
    if table is None or not isinstance(column, (int, np.integer)) or not 0 <= column < width:
        raise DatasetError(f"{archive.path}: weight_column={column}, but there are {width} columns of edge attributes")
    return table[:, column]


def _read_targets(archive: _Archive) -> NDArray[Any] | None:
    table = _as_integers(archive.read_table("graph_labels"))
    table = archive.read_table("graph_attributes") if table is None else table
    return table if table is None or table.shape[1] > 1 else table[:, 0]


def _graph_sizes(archive: _Archive, indicator: NDArray[np.int64], y: NDArray[Any] | None) -> NDArray[np.int64]:
    """Count nodes per graph; the indicator must name the graphs 1, 2, … in order."""
    where = archive.file_name("graph_indicator")
    if indicator.size and indicator.min() < 1:
        line = int(np.argmin(indicator)) + 1
        raise DatasetError(f"{where}, line {line}: graph {indicator.min()}, but graphs are numbered from 1")
    backwards = np.flatnonzero(np.diff(indicator) < 0)
    if backwards.size:
        raise DatasetError(
            f"{where}, line {backwards[0] + 2}: graph {indicator[backwards[0] + 1]} after graph "
            f"{indicator[backwards[0]]}; the nodes of a graph must follow each other"
        )
    n_graphs = int(indicator.max(initial=0)) if y is None else len(y)
    if n_graphs > _EMPTY_GRAPHS + len(indicator) and y is None:
        raise DatasetError(f"{where}: {n_graphs:,} graphs with {len(indicator):,} nodes, and no classes to count them")
    beyond = np.flatnonzero(indicator > n_graphs)
    if beyond.size:
        line, graph = beyond[0] + 1, indicator[beyond[0]]
        raise DatasetError(f"{where}, line {line}: graph {graph}, but only {n_graphs} graphs have a class")
    return np.bincount(indicator - 1, minlength=n_graphs)


def _check_ends(archive: _Archive, edges: NDArray[np.int64], indicator: NDArray[np.int64]) -> None:
    where, n_nodes = archive.file_name("A"), len(indicator)
    outside = np.flatnonzero(((edges < 1) | (edges > n_nodes)).any(axis=1))
    if outside.size:
        u, v = edges[outside[0]]
        raise DatasetError(f"{where}, line {outside[0] + 1}: edge {u}, {v}, but the nodes are numbered 1 to {n_nodes}")
    apart = np.flatnonzero(indicator[edges[:, 0] - 1] != indicator[edges[:, 1] - 1])
    if apart.size:
        u, v = edges[apart[0]]
        raise DatasetError(
            f"{where}, line {apart[0] + 1}: edge {u}, {v} joins graphs {indicator[u - 1]} and {indicator[v - 1]}"
        )


# -- names of labels


@dataclass(frozen=True)
class LabelNames:
    """Names of node and edge labels, by their numbers."""

    nodes: dict[int, str] = field(default_factory=dict)
    edges: dict[int, str] = field(default_factory=dict)


_MUTAG = LabelNames(  # GraKeL's copy of the dataset comes without its notes
    dict(enumerate(("C", "N", "O", "F", "I", "Cl", "Br"))), dict(enumerate(("aromatic", "single", "double", "triple")))
)


def read_names(path: Path) -> LabelNames:
    """Read the names of labels from the notes in a dataset's zip or folder; empty where these give none."""
    with _open_archive(path) as archive:
        notes = archive.read_file(archive.file_name("label_readme")) or archive.read_file("README.txt")
    names = parse_names(notes.decode("utf-8", "replace")) if notes else LabelNames()
    return _MUTAG if archive.name == "MUTAG" and not names.nodes else names


def parse_names(notes: str) -> LabelNames:
    """Find the lines of a number and a name below a line that begins with "Node labels" or "Edge labels".

    >>> parse_names("Node labels:\\n\\n  0  C\\n  1  N\\n\\nEdge labels:\\n  0  single\\n")
    LabelNames(nodes={0: 'C', 1: 'N'}, edges={0: 'single'})
    """
    sections: dict[str, dict[int, str]] = {"node": {}, "edge": {}, "class": {}}
    section = "class"
    for line in notes.splitlines():
        if head := _SECTION.match(line):
            section = head[1].lower()
        elif _END.match(line):
            section = "class"
        elif entry := _ENTRY.match(line):
            sections[section][int(entry[1])] = entry[2]
    return LabelNames(sections["node"], sections["edge"])
