"""The manifest of a store: its files, sizes and checksums, with a checksum of its own.

A store is a folder. Without its manifest, which is written last, it is not a store.
"""

from __future__ import annotations

import math
import zlib
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import GraphError, StoreError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.check import check_mirrored
from gvoys.graphs.labels import Labels
from gvoys.io.files import as_path, open_seal, read_json, write_sealed

FORMAT, VERSION = "gvoys store", 1
MANIFEST = "manifest.json"
HEADER = 128  # bytes; enough for any shape, and a multiple of 64 as the format asks for
_CHECKSUM_BYTES = 1 << 24  # that are read at once
_COPIED_NUMBERS = 1 << 21  # that are copied at once
_LABELS = ("node_labels", "edge_labels")
_NEEDED = ("node_offsets", "indptr", "indices")
_ARRAYS: dict[str, tuple[tuple[type, ...], int]] = {  # types and dimensions
    "node_offsets": ((np.int32, np.int64), 1),
    "indptr": ((np.int32, np.int64), 1),
    "indices": ((np.int32,), 1),
    "edge_weights": ((np.float64,), 1),
    "node_attributes": ((np.float64,), 2),
    "edge_attributes": ((np.float64,), 2),
    **dict.fromkeys(_LABELS, ((np.int32,), 1)),
    **{f"{name}_hashes": ((np.uint64,), 1) for name in _LABELS},
}


def npy_header(kind: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the first bytes of a .npy file, always as many."""
    header = repr({"descr": kind.str, "fortran_order": False, "shape": shape}).encode()
    padded = header.ljust(HEADER - 11) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded


class ArrayFile:
    """A .npy file to which rows are appended, of `width` numbers each or, with None, of one."""

    def __init__(self, path: Path, kind: Any, width: int | None = None) -> None:
        self.path, self.kind, self.width = path, np.dtype(kind), width
        self.length = self._checksum = 0
        self._file = path.open("wb")
        self._file.write(b" " * HEADER)

    def append(self, values: NDArray[Any]) -> None:
        """Append rows."""
        data = np.ascontiguousarray(values, self.kind)
        view = data.data.cast("B") if data.size else b""
        self._file.write(view)
        self._checksum = zlib.crc32(view, self._checksum)
        self.length += len(data)

    def fill(self, length: int, value: float) -> None:
        """Append rows of one value, for those that came before the array did."""
        for begin in range(0, length, _COPIED_NUMBERS):
            self.append(np.full(min(_COPIED_NUMBERS, length - begin), value, self.kind))

    def finish(self, kind: Any = None) -> dict[str, Any]:
        """Write the header, and the numbers anew if they are to have another type; return the entry of the manifest."""
        if kind not in (None, self.kind):
            return self._convert(kind)
        shape = (self.length,) if self.width is None else (self.length, self.width)
        self._file.seek(0)
        self._file.write(npy_header(self.kind, shape))
        self.close()
        return {"bytes": self.path.stat().st_size, "crc32": self._checksum, "dtype": self.kind.str, "shape": shape}

    def _convert(self, kind: Any) -> dict[str, Any]:
        self.close()
        numbers = np.memmap(self.path, self.kind, "r", HEADER, (self.length,))
        other = ArrayFile(self.path.with_suffix(".converted"), kind)
        try:
            for begin in range(0, self.length, _COPIED_NUMBERS):
                other.append(numbers[begin : begin + _COPIED_NUMBERS])
            about = other.finish()
        finally:
            del numbers  # a mapped file cannot be replaced on every system
            other.close()
        other.path.replace(self.path)
        return about

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def checksum_file(path: Path, skip: int = 0) -> int:
    """Return the CRC-32 of a file after its first `skip` bytes: it finds any flipped bit and nearly all damage."""
    value = 0
    with path.open("rb") as file:
        file.seek(skip)
        while block := file.read(_CHECKSUM_BYTES):
            value = zlib.crc32(block, value)
    return value


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """Write the manifest, complete with format, version and checksum."""
    write_sealed(folder / MANIFEST, {"format": FORMAT, "version": VERSION, **content})


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a manifest, or raise StoreError if the folder is not a store that this version can read."""
    if not folder.is_dir():
        raise StoreError(f"there is no store {folder}; a store is a folder that gvoys.write_store makes")
    file = folder / MANIFEST
    if not file.is_file():
        raise StoreError(f"{folder} is not a store, or one whose writing was interrupted: it has no {MANIFEST}")
    content = read_json(file)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StoreError(f"{file} is not the manifest of a store; write the store again")
    if content.get("version") != VERSION:
        raise StoreError(f"{file} has version {content.get('version')!r}; this gvoys reads version {VERSION}")
    body = open_seal(content)
    fault = "its checksum does not fit" if body is None else _find_fault(body)
    if body is None or fault:
        raise StoreError(f"{file} is damaged: {fault}; write the store again")
    return body


def _find_fault(content: dict[str, Any]) -> str | None:
    """Return the first fault of a manifest, or None; its checksum only shows that it is unchanged."""
    arrays, values = content.get("arrays"), content.get("values")
    if type(content.get("directed")) is not bool or not isinstance(arrays, dict) or not isinstance(values, dict):
        return "it must say whether graphs are directed, and name arrays and values"
    missing = [name for name in _NEEDED if name not in arrays]
    missing += [name for label in values for name in (label, f"{label}_hashes") if name not in arrays]
    if missing:
        return f"it has no array {missing[0]!r}"
    for name, about in (*arrays.items(), *values.items()):
        if not isinstance(about, dict) or not all(type(about.get(what)) is int for what in ("bytes", "crc32")):
            return f"it does not say the size and checksum of {name!r}"
    for name, about in arrays.items():
        if name not in _ARRAYS or not _has_shape(about, *_ARRAYS[name]):
            return f"there can be no array {name!r} of type {about.get('dtype')!r} and shape {about.get('shape')!r}"
        if name.removesuffix("_hashes") in _LABELS and name.removesuffix("_hashes") not in values:
            return f"{name!r} has no values"
    return None


def _has_shape(about: dict[str, Any], kinds: tuple[type, ...], ndim: int) -> bool:
    """Return whether an array has one of the types, of this machine's byte order, and fits its file."""
    shape, kind = about.get("shape"), about.get("dtype")
    if kind not in [np.dtype(allowed).str for allowed in kinds] or not isinstance(shape, list) or len(shape) != ndim:
        return False
    if not all(type(length) is int and 0 <= length < 2**48 for length in shape):
        return False
    return bool(about["bytes"] == HEADER + math.prod(shape) * np.dtype(kind).itemsize)


# -- labels


def encode_label(value: Any) -> Any:
    """Return a label as JSON, or its text where JSON lacks the type; kernels read the hashes that are stored too."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, tuple):
        return {"tuple": [encode_label(item) for item in value]}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return value if _is_plain(value) else {"text": repr(value)}


def decode_label(value: Any) -> Any:
    """Return the label that `encode_label` was given; raise ValueError for what it never writes."""
    if _is_plain(value):
        return value
    match value:
        case {"tuple": list(items)} if len(value) == 1:
            return tuple(decode_label(item) for item in items)
        case {"bytes": str(text)} if len(value) == 1:
            return bytes.fromhex(text)
        case {"text": str(text)} if len(value) == 1:
            return text
    raise ValueError


def _is_plain(value: Any) -> bool:
    return value is None or type(value) in (bool, int, float, str)


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
    _check(file, about, verify, 0)
    values = read_json(file)
    with suppress(ValueError, RecursionError):
        if isinstance(values, list):
            return tuple(map(decode_label, values))  # the batch compares their number with the hashes
    raise StoreError(f"{file} is damaged: it is not a list of labels; write the store again")


def _check(file: Path, about: dict[str, Any], verify: bool, skip: int) -> None:
    if not file.is_file():
        raise StoreError(f"the store lacks its file {file}; write it again")
    size = file.stat().st_size
    if size != about["bytes"]:
        raise StoreError(f"{file} has {size:,} bytes and should have {about['bytes']:,}; write the store again")
    if verify and checksum_file(file, skip) != about["crc32"]:
        raise StoreError(f"{file} is damaged: its checksum does not fit; write the store again")
