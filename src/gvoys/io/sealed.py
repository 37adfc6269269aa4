"""Small JSON files that carry a checksum of their content, so that damage is found and not believed."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from gvoys.io.files import appearing

_CHECKSUM = "checksum"


def write_sealed(path: Path, content: dict[str, Any]) -> None:
    """Write a file, which appears when it is complete."""
    with appearing(path) as partial:
        partial.write_text(json.dumps({**content, _CHECKSUM: _sum_up(content)}, indent=1))


def read_sealed(path: Path) -> dict[str, Any] | None:
    """Read what `write_sealed` wrote; None if it is damaged."""
    return open_seal(read_json(path))


def open_seal(content: Any) -> dict[str, Any] | None:
    """Take the checksum off what a file says; None if it does not fit."""
    if not isinstance(content, dict):
        return None
    body = {name: value for name, value in content.items() if name != _CHECKSUM}
    return body if content.get(_CHECKSUM) == _sum_up(body) else None


def read_json(file: Path) -> Any:
    """Read a JSON file; None if it is none."""
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return None


def _sum_up(body: dict[str, Any]) -> int:
    try:
        return zlib.crc32(json.dumps(body, sort_keys=True).encode())
    except RecursionError:  # lists in lists in lists: not what was written
        return -1
