"""What a store is made of: its files, their sizes and checksums, in a manifest with a checksum of its own.

A store is a folder. Without its manifest, which is written last, it is not a store.
"""

from __future__ import annotations

import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from gvoys.errors import StoreError
from gvoys.io.sealed import open_seal, read_json, write_sealed
from gvoys.io.store.arrays import HEADER

FORMAT, VERSION = "gvoys store", 1
MANIFEST = "manifest.json"
_BLOCK = 1 << 24
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


def checksum_file(path: Path, skip: int = 0) -> int:
    """CRC-32 of a file after its first `skip` bytes: it finds any flipped bit and nearly any other damage."""
    value = 0
    with path.open("rb") as file:
        file.seek(skip)
        while block := file.read(_BLOCK):
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
    """What is wrong with a manifest, whose checksum only says that it is as it was written."""
    arrays, values = content.get("arrays"), content.get("values")
    if type(content.get("directed")) is not bool or not isinstance(arrays, dict) or not isinstance(values, dict):
        return "it must say whether graphs are directed, and name arrays and values"
    missing = [name for name in _NEEDED if name not in arrays]
    missing += [name for label in values for name in (label, f"{label}_hashes") if name not in arrays]
    if missing:
        return f"it has no array {missing[0]!r}"
    for name, about in (*arrays.items(), *values.items()):
        if not _is_described(about):
            return f"it does not say the size and checksum of {name!r}"
    for name, about in arrays.items():
        if name not in _ARRAYS or not _has_shape(about, *_ARRAYS[name]):
            return f"there can be no array {name!r} of type {about.get('dtype')!r} and shape {about.get('shape')!r}"
        if name.removesuffix("_hashes") in _LABELS and name.removesuffix("_hashes") not in values:
            return f"{name!r} has no values"
    return None


def _is_described(about: Any) -> bool:
    return isinstance(about, dict) and all(type(about.get(what)) is int for what in ("bytes", "crc32"))


def _has_shape(about: dict[str, Any], kinds: tuple[type, ...], ndim: int) -> bool:
    """Whether an array has one of the types, of this machine's byte order, and fits its file."""
    shape, kind = about.get("shape"), about.get("dtype")
    if kind not in [np.dtype(each).str for each in kinds] or not isinstance(shape, list) or len(shape) != ndim:
        return False
    if not all(type(length) is int and 0 <= length < 2**48 for length in shape):
        return False
    return bool(about["bytes"] == HEADER + math.prod(shape) * np.dtype(kind).itemsize)


# -- labels


def encode_label(value: Any) -> Any:
    """A label as JSON; of a type that JSON does not have, the text is kept. Kernels read hashes, stored beside."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, tuple):
        return {"tuple": [encode_label(item) for item in value]}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return value if _is_plain(value) else {"text": repr(value)}


def decode_label(value: Any) -> Any:
    """The label that `encode_label` was given; ValueError for what it never writes."""
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
