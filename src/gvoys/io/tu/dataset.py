"""Datasets in the format of the TU collection (Morris et al. 2020), read from a zip or a folder, never unpacked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DatasetError, GraphError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.tu.archive import Archive, open_archive
from gvoys.io.tu.numbers import parse_table

_EMPTY_GRAPHS = 1_000_000  # that may lie between others in a dataset without classes


def dataset_name(path: Path) -> str:
    """The name of the dataset in a zip or folder."""
    return os.path.basename(os.path.abspath(path)) if path.is_dir() else path.stem  # "." has a name, links keep theirs


def read_tu(path: Path, weight_column: int | None = None) -> tuple[GraphBatch, NDArray[Any] | None]:
    """Read graphs and their classes or targets from a zip or folder; a column of edge attributes may give weights.

    Several label columns become tuples; labels and classes keep the numbers of the file.
    """
    with open_archive(path, dataset_name(path)) as archive:
        return _read(archive, weight_column)


def _read(archive: Archive, weight_column: int | None) -> tuple[GraphBatch, NDArray[Any] | None]:
    indicator = _required(archive, "graph_indicator", integers=True)[:, 0]
    edges = _required(archive, "A", integers=True, columns=2)
    y = _targets(archive)
    sizes = _graph_sizes(archive, indicator, y)
    _check_ends(archive, edges, indicator)
    try:
        batch = GraphBatch.from_arrays(
            edges - 1,
            sizes,
            node_labels=_labels(archive, "node_labels", len(indicator)),
            edge_labels=_labels(archive, "edge_labels", len(edges)),
            edge_weights=_weights(archive, weight_column, len(edges)),
            node_attributes=_optional(archive, "node_attributes", len(indicator)),
        )
    except GraphError as error:
        raise DatasetError(f"{archive.path}: {error}") from None
    return batch, y


def _required(archive: Archive, part: str, **how: Any) -> NDArray[Any]:
    text = archive.read(part)
    if text is None:
        raise DatasetError(f"{archive.path}: there is no file {archive.file_name(part)}, which every dataset has")
    return parse_table(text, archive.file_name(part), **how)


def _optional(archive: Archive, part: str, n_rows: int, **how: Any) -> NDArray[Any] | None:
    text = archive.read(part)
    if text is None:
        return None
    table = parse_table(text, archive.file_name(part), **how)
    if len(table) != n_rows:
        where = f"{archive.file_name(part)}, line {min(len(table), n_rows) + 1}"
        raise DatasetError(f"{where}: the file has {len(table)} lines and should have {n_rows}")
    return table


def _labels(archive: Archive, part: str, n_rows: int) -> NDArray[Any] | None:
    table = _optional(archive, part, n_rows)
    return None if table is None else _as_integers(table)


def _as_integers(table: NDArray[Any]) -> NDArray[Any]:
    if not np.isfinite(table).all() or np.abs(table).max(initial=0.0) > 2**53:
        return table
    whole = table.astype(np.int64)
    return whole if (whole == table).all() else table


def _weights(archive: Archive, column: int | None, n_rows: int) -> NDArray[Any] | None:
    table = _optional(archive, "edge_attributes", n_rows)
    if column is None:
        return None
    width = 0 if table is None else table.shape[1]
    if table is None or not isinstance(column, (int, np.integer)) or not 0 <= column < width:
        raise DatasetError(f"{archive.path}: weight_column={column}, but there are {width} columns of edge attributes")
    return table[:, column]


def _targets(archive: Archive) -> NDArray[Any] | None:
    for part in ("graph_labels", "graph_attributes"):
        text = archive.read(part)
        if text is not None:
            table = parse_table(text, archive.file_name(part))
            table = _as_integers(table) if part == "graph_labels" else table
            return table[:, 0] if table.shape[1] == 1 else table
    return None


def _graph_sizes(archive: Archive, indicator: NDArray[np.int64], y: NDArray[Any] | None) -> NDArray[np.int64]:
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
        beyond_graph = f"graph {indicator[beyond[0]]}, but only {n_graphs} graphs have a class"
        raise DatasetError(f"{where}, line {beyond[0] + 1}: {beyond_graph}")
    return np.bincount(indicator - 1, minlength=n_graphs)


def _check_ends(archive: Archive, edges: NDArray[np.int64], indicator: NDArray[np.int64]) -> None:
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
