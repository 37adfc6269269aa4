"""Files that appear only when they are whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gvoys.errors import ParameterError

__all__ = ["appearing", "check_output", "locked", "remove_partial"]

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


def check_output(path: Path) -> None:
    """Refuse before the work what could not be written after it."""
    if not path.name or path.is_dir():
        raise ParameterError(f"{path} is a folder; name the file to write")
    if not path.parent.is_dir():
        raise ParameterError(f"there is no folder {path.parent} for {path.name}")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runs away from a folder; the lock of a run that was killed goes with it."""
    try:
        import fcntl
    except ImportError:  # not on this system: two runs into one folder are the user's affair
        yield
        return
    name = folder / ".lock"
    with name.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ParameterError(f"another run is at work in {folder}; wait for it, or choose another folder") from None
        try:
            yield
        finally:
            name.unlink(missing_ok=True)


def remove_partial(folder: Path) -> None:
    """Sweep up what a run that was killed left behind."""
    for file in folder.glob(f".*{_PARTIAL}"):
        file.unlink(missing_ok=True)
