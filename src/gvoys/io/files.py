"""Files that appear only when they are complete."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import islice, product
from os import PathLike
from pathlib import Path
from typing import IO, Any

from gvoys.errors import ParameterError

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.partial")
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF)  # of file systems that cannot
_LOCK_TRIES = 1000  # for a lock that others keep removing
_CHECKSUM = "checksum"  # the field of a sealed file
_SIMILARITY = 0.6  # share of characters that two names must have in common
_COMPARED_NAMES = 10_000  # in a folder


def as_path(path: Any) -> Path:
    """Return a path, after a check that it can be one."""
    try:
        checked = Path(path)
    except TypeError:
        raise ParameterError(f"a path is text or path-like, and {path!r} is not") from None
    if "\0" in str(checked):
        raise ParameterError(f"a path holds no null byte, and {str(checked)!r} does")
    return checked


def partial_name(path: Path) -> Path:
    """Choose a temporary name beside a file or folder, which no other run or thread has."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Write a file or folder under a temporary name; it takes its own in one step when the block ends without error."""
    partial = partial_name(path)
    try:
        yield partial
        move_in_place(partial, path)
    finally:
        _remove(partial)


def move_in_place(partial: Path, path: Path) -> None:
    """Give a file or folder its name in one step; after a loss of power it is there completely or not at all."""
    synced = not any(_TEMPORARY.fullmatch(folder.name) for folder in (path, *path.parents))  # else with that folder
    for written in (*partial.rglob("*"), partial) if synced else ():
        _sync(written)
    partial.replace(path)
    if synced:
        _sync(path.parent)


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # a folder that may be written and not read; on Windows, any folder
        return
    try:
        os.fsync(handle)
    except OSError as error:
        error.filename = str(path)
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(handle)


def check_output(path: Path, *suffixes: str) -> None:
    """Check, before the work begins, that a file can be written whose name ends in one of some suffixes, or in any."""
    if not path.name or path.is_dir():
        raise ParameterError(f"{path} is a folder; name the file to write")
    if path.exists() and not path.is_file():
        raise ParameterError(f"{path} is no regular file; name the file to write")
    if suffixes and path.suffix.lower() not in suffixes:
        raise ParameterError(f"{path.name} must end in {suffixes[0]}, which is what is written")
    if not path.parent.is_dir():
        raise ParameterError(f"there is no folder {path.parent} for {path.name}")
    _check_writable(path.parent)


def check_folder(path: Path) -> None:
    """Check, before the work begins, that files can be written into a folder, which need not be there yet."""
    there = next(folder for folder in (path, *path.parents) if folder.exists())
    if not there.is_dir():
        raise ParameterError(f"{there} is a file; name a folder")
    _check_writable(there)


def _check_writable(folder: Path) -> None:
    try:
        tempfile.TemporaryFile(dir=folder).close()  # permissions alone do not tell: file systems may be read-only
    except OSError as error:
        raise ParameterError(f"{folder} cannot be written ({error.strerror}); choose another folder") from None


def check_new(path: Path) -> None:
    """Check that a file would not be overwritten."""
    if os.path.lexists(path):
        raise ParameterError(f"{path} exists already; choose another name, or give overwrite=True or --overwrite")


def check_kept(outputs: Iterable[Path], inputs: Iterable[str | PathLike[str] | None]) -> None:
    """Check that no output is an input, lies in the folder of one, or is a folder that holds one."""
    paths = [Path(given) for given in inputs if given is not None and os.path.exists(given)]
    for out, given in product(outputs, paths):
        target, kept = Path(os.path.realpath(out)), Path(os.path.realpath(given))
        if target == kept or (out.exists() and out.samefile(given)):
            relation = "is"
        elif kept in target.parents:
            relation = "lies in"
        elif target in kept.parents:
            relation = "is a folder that holds"
        else:
            continue
        raise ParameterError(f"the output {out} {relation} the input {given}; choose another output")


@contextmanager
def locked(lock: Path, what: Path) -> Iterator[None]:
    """Keep other runs out while a block runs; the lock of a run that was killed disappears with it."""
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
    """Return the locked file, or None where another run holds it."""
    for _ in range(_LOCK_TRIES):
        file = lock.open("a")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                    return file
        except BlockingIOError:
            file.close()
            return None
        except BaseException:
            file.close()
            raise
        file.close()  # the run that held it has removed it: whoever comes next makes another file
    return None


def lock_beside(path: Path) -> Path:
    """Return the lock of a file or folder that is not there yet: a hidden file beside it."""
    return path.with_name(f".{path.name}.lock")


def remove_folder(path: Path) -> None:
    """Remove a folder, which loses its name in one step."""
    gone = partial_name(path)
    path.replace(gone)
    shutil.rmtree(gone)


def remove_left_over(path: Path) -> None:
    """Remove what killed runs left under temporary names of a file or folder; all its writers take the lock we hold."""
    remove_partial(path.parent, re.escape(path.name))


def remove_partial(folder: Path, names: str) -> None:
    """Remove what killed runs left in a folder of files whose names match; all their writers take the lock we hold."""
    temporary = re.compile(rf"\.({names})\.[0-9a-f]+\.part(ial)?")  # earlier versions put the process there
    for path in folder.glob(".*"):
        if temporary.fullmatch(path.name):
            _remove(path)


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


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
    """Read a JSON file; None if it is not JSON."""
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return None


def _sum_up(body: dict[str, Any]) -> int:
    try:
        return zlib.crc32(json.dumps(body, sort_keys=True).encode())
    except RecursionError:  # lists in lists in lists: not what was written
        return -1


def did_you_mean(name: str, names: Iterable[str], folder: str = "") -> str:
    """Suggest the name that may have been meant, as the end of a message."""
    by_name = {known.strip().lower(): known for known in reversed(list(names))}
    matches = get_close_matches(name.strip().lower(), by_name, 1, _SIMILARITY)
    if not matches or name in by_name.values():
        return ""
    return f" (did you mean {folder + by_name[matches[0]]!r}?)"


def names_in(folder: Path) -> list[str]:
    """Return the names of the files and folders in a folder, hidden ones aside; none if there is no such folder."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in islice(entries, _COMPARED_NAMES) if not entry.name.startswith("."))
    except OSError:
        return []
