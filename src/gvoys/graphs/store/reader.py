"""Opening a store: a GraphBatch whose arrays are mapped from the files."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import StoreError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import Labels
from gvoys.graphs.store.columns import HEADER, npy_header
from gvoys.graphs.store.manifest import checksum_file, read_manifest
from gvoys.graphs.store.values import decode_value

__all__ = ["open_store"]


def open_store(path: str | PathLike[str], verify: bool = True) -> GraphBatch:
    """The graphs of a store, mapped into memory: nothing is read before it is used, and slices share the files.

    Parameters
    ----------
    path : a folder that `write_store` made.
    verify : read all files once and compare their checksums, about a second per gigabyte. Sizes are always compared.

    A folder that is no store, unfinished, truncated or damaged is refused by name.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    arrays = {name: _map(folder, name, about, verify) for name, about in manifest["arrays"].items()}
    labels = {}
    for name, about in manifest["values"].items():
        file = folder / f"{name}_values.json"
        _check(file, about, verify, 0)
        values = tuple(map(decode_value, json.loads(file.read_bytes())))
        labels[name] = Labels(arrays[name], arrays[f"{name}_hashes"], values)
    return GraphBatch(
        arrays["node_offsets"],
        arrays["indptr"],
        arrays["indices"],
        manifest["directed"],
        arrays.get("edge_weights"),
        labels.get("edge_labels"),
        labels.get("node_labels"),
        arrays.get("node_attributes"),
    )


def _map(folder: Path, name: str, about: dict[str, Any], verify: bool) -> NDArray[Any]:
    file = folder / f"{name}.npy"
    _check(file, about, verify, HEADER)
    shape, kind = tuple(about["shape"]), np.dtype(about["dtype"])
    with file.open("rb") as content:
        if content.read(HEADER) != npy_header(kind, shape):
            raise StoreError(f"{file} is damaged: its header does not fit; write the store again")
    if not np.prod(shape):
        return np.empty(shape, kind)
    return np.memmap(file, kind, "r", HEADER, shape).view(np.ndarray)  # a plain array, as kernels know it


def _check(file: Path, about: dict[str, Any], verify: bool, skip: int) -> None:
    if not file.is_file():
        raise StoreError(f"the store lacks its file {file}; write it again")
    size = file.stat().st_size
    if size != about["bytes"]:
        raise StoreError(f"{file} has {size:,} bytes and should have {about['bytes']:,}; write the store again")
    if verify and checksum_file(file, skip) != about["crc32"]:
        raise StoreError(f"{file} is damaged: its checksum does not fit; write the store again")
