"""What a store is made of: its files, their sizes and checksums, in a manifest with a checksum of its own.

A store is a folder. Without its manifest, which is written last, it is not a store.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from gvoys.errors import StoreError
from gvoys.files import appearing

__all__ = ["FORMAT", "MANIFEST", "VERSION", "checksum_file", "read_manifest", "write_manifest"]

FORMAT, VERSION = "gvoys store", 1
MANIFEST = "manifest.json"
_BLOCK = 1 << 24


def checksum_file(path: Path, skip: int = 0) -> int:
    """CRC-32 of a file's bytes after the first `skip`: it finds any flipped bit and nearly any other damage."""
    value = 0
    with path.open("rb") as file:
        file.seek(skip)
        while block := file.read(_BLOCK):
            value = zlib.crc32(block, value)
    return value


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """The manifest, complete with format, version and checksum."""
    body = {"format": FORMAT, "version": VERSION, **content}
    with appearing(folder / MANIFEST) as partial:
        partial.write_text(json.dumps({**body, "checksum": _checksum(body)}, indent=1))


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest, or one sentence on why this folder is no store that can be read."""
    if not folder.is_dir():
        raise StoreError(f"there is no store {folder}; a store is a folder that gvoys.write_store makes")
    file = folder / MANIFEST
    if not file.is_file():
        raise StoreError(f"{folder} is not a store, or one whose writing was cut short: it has no {MANIFEST}")
    try:
        content = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StoreError(f"{file} is not the manifest of a store; write the store again")
    if content.get("version") != VERSION:
        raise StoreError(f"{file} has version {content.get('version')!r}; this gvoys reads version {VERSION}")
    if content.pop("checksum", None) != _checksum(content):
        raise StoreError(f"{file} is damaged: its checksum does not fit; write the store again")
    return content


def _checksum(body: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(body, sort_keys=True).encode())
