"""Files that appear only when they are whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["appearing", "remove_partial"]

_PARTIAL = ".partial"


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """A name to write to; when all went well the file takes its own, in one step."""
    partial = path.with_name(f".{path.name}.{os.getpid()}{_PARTIAL}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def remove_partial(folder: Path) -> None:
    """Sweep up what a run that was killed left behind."""
    for file in folder.glob(f".*{_PARTIAL}"):
        file.unlink(missing_ok=True)
