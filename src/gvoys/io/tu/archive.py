"""The files of one dataset, in a zip or in a folder; a zip is read in memory and never unpacked to disk."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from gvoys.errors import DatasetError

_FREE = 32 * 2**20  # bytes of text that a zip of any size may hold
_TIMES = 25  # and how many times its own size besides; the zips of the collection hold 5 to 10 times theirs
LARGEST = 8 * 2**30  # bytes of text in one dataset; the largest of the collection has about 2 GiB

# what a damaged zip makes the standard library raise
_DAMAGE = (
    *(zipfile.BadZipFile, EOFError, OSError, RuntimeError, ValueError),
    *(IndexError, struct.error, zlib.error, lzma.LZMAError),
)


class Archive(ABC):
    """The files NAME_part.txt of one dataset."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name

    def file_name(self, part: str) -> str:
        """The name NAME_part.txt of one of the dataset's files."""
        return f"{self.name}_{part}.txt"

    def read(self, part: str) -> bytes | None:
        """The bytes of a file, such as "A" or "graph_indicator"; None where there is no such file."""
        return self._read(self.file_name(part))

    def read_notes(self) -> bytes | None:
        """What the collection says about the dataset; None where it says nothing."""
        return self.read("label_readme") or self._read("README.txt")

    @abstractmethod
    def _read(self, name: str) -> bytes | None:
        """The bytes of a file of this name."""


class _Folder(Archive):
    def _read(self, name: str) -> bytes | None:
        file = self.path / name
        if not file.is_file():
            return None
        _check_size(file.stat().st_size, self.path)
        return file.read_bytes()


class _Zip(Archive):
    def __init__(self, path: Path, name: str, content: zipfile.ZipFile) -> None:
        super().__init__(path, name)
        self.content = content
        self.entries: dict[str, list[zipfile.ZipInfo]] = {}
        for entry in content.infolist():
            self.entries.setdefault(PurePosixPath(entry.filename).name, []).append(entry)
        _check_entries(content, path)

    def _read(self, name: str) -> bytes | None:
        entries = self.entries.get(name)
        if entries is None:
            return None
        if len(entries) > 1:
            where = " and ".join(repr(entry.filename) for entry in entries[:2])
            raise DatasetError(f"{self.path} holds {name} {len(entries)} times, as {where}; remove all but one")
        entry = entries[0]
        try:
            return self.content.read(entry)
        except _DAMAGE as error:
            raise DatasetError(
                f"{self.path}: {entry.filename} cannot be read ({error}); fetch the file again"
            ) from None


def _check_entries(content: zipfile.ZipFile, path: Path) -> None:
    for entry in content.infolist():
        parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
        if ".." in parts or entry.filename.startswith(("/", "\\")) or ":" in entry.filename:
            raise DatasetError(f"{path}: the entry {entry.filename!r} points outside the archive; do not use this file")
    size, held = sum(entry.file_size for entry in content.infolist()), path.stat().st_size
    _check_size(size, path)
    if size > _FREE + _TIMES * held:
        raise DatasetError(
            f"{path}: {size / 2**20:,.0f} MiB of text in a zip of {held / 2**20:,.1f} MiB, over {_TIMES} times its "
            f"size and {_FREE / 2**20:g} MiB; unpack it and pass the folder"
        )


def _check_size(size: int, path: Path) -> None:
    if size > LARGEST:
        raise DatasetError(f"{path}: {size / 2**30:.1f} GiB of text; one dataset may have {LARGEST / 2**30:g} GiB")


@contextmanager
def open_archive(path: Path, name: str) -> Iterator[Archive]:
    """Open NAME.zip or NAME/; raise DatasetError if it is damaged, too large, or names files outside itself."""
    if path.is_dir():
        yield _Folder(path, name)
        return
    try:
        content = zipfile.ZipFile(path)
    except _DAMAGE as error:
        raise DatasetError(f"{path} is not a readable zip file ({error}); fetch it again") from None
    with content:
        yield _Zip(path, name, content)
