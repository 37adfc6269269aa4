"""Files that appear only when they are complete."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from gvoys.errors import ParameterError

__all__ = [
    "appearing",
    "as_path",
    "check_folder",
    "check_new",
    "check_output",
    "lock_beside",
    "locked",
    "remove_left_over",
    "remove_partial",
]

_PARTIAL = ".partial"
_TRIES = 1000  # to take a lock that others keep removing


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
        If it is nothing of that kind, or no system could have such a file.
    """
    try:
        found = Path(path)
    except TypeError:
        raise ParameterError(f"a path is text or path-like, and {path!r} is not") from None
    if "\0" in str(found):
        raise ParameterError(f"a path holds no null byte, and {str(found)!r} does")
    return found


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


def check_output(path: Path, *suffixes: str) -> None:
    """Check, before the work begins, that a file can be written.

    Parameters
    ----------
    path : Path
        File to write.
    *suffixes : str
        How its name may end, the usual one first; any name will do if none is given.

    Raises
    ------
    ParameterError
        If `path` is a folder, its folder does not exist, or its name says that it is something else.
    """
    if not path.name or path.is_dir():
        raise ParameterError(f"{path} is a folder; name the file to write")
    if suffixes and path.suffix.lower() not in suffixes:
        raise ParameterError(f"{path.name} must end in {suffixes[0]}, which is what is written")
    if not path.parent.is_dir():
        raise ParameterError(f"there is no folder {path.parent} for {path.name}")


def check_folder(path: Path) -> None:
    """Check, before the work begins, that files can be written into a folder, which need not be there yet.

    Parameters
    ----------
    path : Path
        The folder.

    Raises
    ------
    ParameterError
        If a file has its name.
    """
    if path.exists() and not path.is_dir():
        raise ParameterError(f"{path} is a file; name a folder")


def check_new(path: Path) -> None:
    """Check that a file would not be overwritten.

    Parameters
    ----------
    path : Path
        File to write.

    Raises
    ------
    ParameterError
        If it exists.
    """
    if path.exists():
        raise ParameterError(f"{path} exists already; choose another name, or remove it")


@contextmanager
def locked(lock: Path, what: Path) -> Iterator[None]:
    """Keep other runs out while a block runs; the lock of a run that was killed disappears with it.

    Parameters
    ----------
    lock : Path
        File that stands for the lock. It is removed in the end.
    what : Path
        What is locked, for the message.

    Yields
    ------
    None
        While the lock is held.

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
    file = _take(lock, fcntl)
    if file is None:
        raise ParameterError(f"another run is at work in {what}; wait for it, or choose another name")
    with file:
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _take(lock: Path, fcntl: Any) -> IO[str] | None:
    """The locked file, or None where another run holds it."""
    for _ in range(_TRIES):
        file = lock.open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_there(file, lock):
                return file
        except BlockingIOError:
            file.close()
            return None
        except BaseException:
            file.close()
            raise
        file.close()  # the run that held it has removed it: whoever comes next makes another file
    return None


def _is_there(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def lock_beside(path: Path) -> Path:
    """The lock of a file or folder that is not there yet.

    Parameters
    ----------
    path : Path
        The file or folder.

    Returns
    -------
    Path
        A hidden file beside it.
    """
    return path.with_name(f".{path.name}.lock")


def remove_left_over(path: Path) -> None:
    """Remove what killed runs left under temporary names of a file or folder; its lock must be held.

    Parameters
    ----------
    path : Path
        The file or folder that they were writing.
    """
    name = re.compile(rf"\.{re.escape(path.name)}\.\d+\.part(ial)?")
    for found in path.parent.iterdir():
        if name.fullmatch(found.name):
            shutil.rmtree(found) if found.is_dir() else found.unlink(missing_ok=True)


def remove_partial(folder: Path) -> None:
    """Remove the partial files that a killed run left in a folder.

    Parameters
    ----------
    folder : Path
        Folder to clean.
    """
    for file in folder.glob(f".*{_PARTIAL}"):
        file.unlink(missing_ok=True)
