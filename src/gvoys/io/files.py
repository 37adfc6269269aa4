"""Files that appear only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gvoys.errors import ParameterError

__all__ = ["appearing", "as_path", "check_output", "locked", "remove_partial"]

_PARTIAL = ".partial"


def as_path(path: Any) -> Path:
    """A path.

    Parameters
    ----------
    path : str or path-like
        What was given.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    ParameterError
        If it is nothing of that kind.
    """
    try:
        return Path(path)
    except TypeError:
        raise ParameterError(f"a path is text or path-like, and {path!r} is not") from None


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Write a file under a temporary name; it takes its own name, in one step, when the block ends without an error.

    Parameters
    ----------
    path : Path
        File to write.

    Yields
    ------
    Path
        Temporary name to write to.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}{_PARTIAL}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def check_output(path: Path) -> None:
    """Check, before the work begins, that a file can be written.

    Parameters
    ----------
    path : Path
        File to write.

    Raises
    ------
    ParameterError
        If `path` is a folder, or its folder does not exist.
    """
    if not path.name or path.is_dir():
        raise ParameterError(f"{path} is a folder; name the file to write")
    if not path.parent.is_dir():
        raise ParameterError(f"there is no folder {path.parent} for {path.name}")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder; the lock of a run that was killed disappears with it.

    Parameters
    ----------
    folder : Path
        Folder to lock.

    Yields
    ------
    None
        While the folder is locked.

    Raises
    ------
    ParameterError
        If another run holds the lock.
    """
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
    """Remove the partial files that a killed run left in a folder.

    Parameters
    ----------
    folder : Path
        Folder to clean.
    """
    for file in folder.glob(f".*{_PARTIAL}"):
        file.unlink(missing_ok=True)
