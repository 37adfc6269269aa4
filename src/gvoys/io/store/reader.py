"""Opening a store: a GraphBatch whose arrays are mapped from the files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError, StoreError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import Labels
from gvoys.graphs.symmetry import check_mirrored
from gvoys.io.files import as_path
from gvoys.io.sealed import read_json
from gvoys.io.store.arrays import HEADER, npy_header
from gvoys.io.store.manifest import checksum_file, decode_label, read_manifest


def open_store(path: str | PathLike[str], verify: bool = True) -> GraphBatch:
    """Open a store: its graphs are mapped into memory, nothing is copied, and slices share the files.

    Sizes and headers are always compared, and all arrays are read once, at the speed of memory or of the disk, to check
    that every number is within its range.

    Parameters
    ----------
    path : str or path-like
        A folder that `write_store` made.
    verify : bool, default=True
        Whether to compare checksums and check that undirected graphs have each edge in both directions, together about
        a second per gigabyte.

    Returns
    -------
    GraphBatch
        The graphs.

    Raises
    ------
    StoreError
        If the folder is not a store, or one that is unfinished, truncated or damaged; the message names the file.
    """
    folder = as_path(path)
    try:
        return _open(folder, verify)
    except GraphError as error:
        raise StoreError(f"the graphs in {folder} are damaged: {error}; write the store again") from None
    except OSError as error:
        raise StoreError(f"the store {folder} cannot be read: {error.strerror or error}") from None


def _open(folder: Path, verify: bool) -> GraphBatch:
    manifest = read_manifest(folder)
    arrays = {name: map_array(folder / f"{name}.npy", about, verify) for name, about in manifest["arrays"].items()}
    labels = {}
    for name, about in manifest["values"].items():
        values = _read_values(folder / f"{name}_values.json", about, verify)
        labels[name] = Labels(arrays[name], arrays[f"{name}_hashes"], values)
    batch = GraphBatch._adopt(
        arrays["node_offsets"],
        arrays["indptr"],
        arrays["indices"],
        manifest["directed"],
        arrays.get("edge_weights"),
        labels.get("edge_labels"),
        labels.get("node_labels"),
        arrays.get("node_attributes"),
        arrays.get("edge_attributes"),
    )
    if verify:
        check_mirrored(batch)
    return batch


def map_array(file: Path, about: dict[str, Any], verify: bool) -> NDArray[Any]:
    """Map an array into memory, read-only, that is as a manifest says; `verify` compares its checksum."""
    _check(file, about, verify, HEADER)
    shape, kind = tuple(about["shape"]), np.dtype(about["dtype"])
    with file.open("rb") as content:
        if content.read(HEADER) != npy_header(kind, shape):
            raise StoreError(f"{file} is damaged: its header does not fit; write the store again")
    if 0 in shape:
        return np.empty(shape, kind)
    return np.memmap(file, kind, "r", HEADER, shape).view(np.ndarray)  # a plain array, as kernels know it


def _read_values(file: Path, about: dict[str, Any], verify: bool) -> tuple[Any, ...]:
    """What the labels were; how many, the batch compares with their hashes."""
    _check(file, about, verify, 0)
    values = read_json(file)
    try:
        if isinstance(values, list):
            return tuple(map(decode_label, values))
    except (ValueError, RecursionError):
        pass
    raise StoreError(f"{file} is damaged: it is not a list of labels; write the store again")


def _check(file: Path, about: dict[str, Any], verify: bool, skip: int) -> None:
    if not file.is_file():
        raise StoreError(f"the store lacks its file {file}; write it again")
    size = file.stat().st_size
    if size != about["bytes"]:
        raise StoreError(f"{file} has {size:,} bytes and should have {about['bytes']:,}; write the store again")
    if verify and checksum_file(file, skip) != about["crc32"]:
        raise StoreError(f"{file} is damaged: its checksum does not fit; write the store again")
