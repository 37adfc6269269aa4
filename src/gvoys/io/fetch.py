"""Where datasets are: a folder, the cache, an installed package, or the collection's site."""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from gvoys.errors import DatasetError, InputWarning
from gvoys.io.files import did_you_mean, names_in

SITE = "https://www.chrsmrrs.com/graphkerneldatasets"

# Known SHA-256 of TU datasets. A download passes if its zip is known byte by byte, or if its files are: the collection
# may pack them anew. The digests of the zips of MUTAG, PTC_MR, ENZYMES, DD and NCI1 stand in two public programs or
# more that fetch them, those of AIDS and PROTEINS in one. Those of the files were computed from public copies; the copy
# of DD has its lines in another order.
ZIPS = {
    "AIDS": "ef65a8095846588ffd6e17f95c1968a247d8ada7295a61209c401bda23d19ab9",
    "DD": "d033d7aeb1a48c4b2b47cf0390e7fc9671de70d98c8df5b11e458d2ec5515cd2",
    "ENZYMES": "13d832eb6ffa084192daf6e5750250028a18437ee692c38d29a10cd60e18aaf4",
    "MUTAG": "c419bdc853c367d2d83da4973c45100954ae15e10f5ae2cddde6ca431f8207f6",
    "NCI1": "10e1458f3bd9224f14e6d7627e74dcfd13e48d376d73935e7bd2900590ef1d82",
    "PROTEINS": "2da8de15284b88edabca2888ce5444d62f364ed41159260977088c4e53d4d848",
    "PTC_MR": "5699a6d9f1bc5b3d71495f09ef50de53fa3e6bb24ead1150da678500229f5237",
}
CONTENTS = {
    "AIDS": "f776cec9c5a6c502228e388333ca45e27b3f933948c0f387a3a382b2cba531da",
    "ENZYMES": "5259b03b7666e739631a8f265798e859f66fb5e0ab3ab3193d7b9c9b1d1bfa11",
    "MUTAG": "bdd582166ac5e712e53e4d279c7c7f49e50bc586bc9481e1d7facf9ca92d5344",
    "NCI1": "82f5cf2e0ea78dc51395ec539761dcf1f7a0889f19d87fdbab7e6d0f86e2c16b",
    "PROTEINS": "329dabe303630daed21aff23e158b916218175a347079ecf7d8d2c964ad887b9",
    "PTC_MR": "1cd08500e1d66d7da0c24d0daf03ec35a28e4b47cbd95b8b9fafb808eef878da",
}


def data_folder(kind: str) -> Path:
    """Return the folder with data of one kind, below GVOYS_DATA or, where that is not set, the system's cache."""
    root = Path(os.environ.get("GVOYS_DATA") or _cache())
    if kind == "tu" and not (root / kind).is_dir() and (any(root.glob("*.zip")) or any(root.glob("*/*_A.txt"))):
        return root  # what GVOYS_DATA meant in 0.1
    return root / kind


def _cache() -> Path:
    import pooch

    return Path(pooch.os_cache("gvoys"))


def find_dataset(name: str, root: str | PathLike[str] | None, others: Sequence[str] = ()) -> Path:
    """Find the zip or folder of a dataset, whatever the case of its name; it is downloaded if it is nowhere else."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][\w.+&()-]*", name):
        raise DatasetError(f"{name!r} is not the name of a dataset; names look like 'MUTAG' or 'PTC_MR'")
    if root is not None and not isinstance(root, (str, PathLike)):
        raise DatasetError(f"root must be the path of a folder, not {root!r}")
    if root is not None:
        path = dataset_in(Path(root), name)
        if path is None:
            near = did_you_mean(name, [*_datasets_in(Path(root)), *others])
            raise DatasetError(f"there is neither {name}.zip nor {name}/ in {root}{near}; {_known(Path(root))}")
        return path
    path = dataset_in(data_folder("tu"), name)
    if path is not None:
        _check_digest(path)
        return path
    return _in_packages(name) or _download(_spelled(name, ZIPS), others)


def dataset_in(folder: Path, name: str) -> Path | None:
    """Return the zip or folder of a dataset, where a folder holds it."""
    path = _exactly(folder, name)
    return _exactly(folder, _spelled(name, _datasets_in(folder))) if path is None else path


def _exactly(folder: Path, name: str) -> Path | None:
    file = folder / f"{name}.zip"
    if file.is_file():
        return file
    return folder / name if (folder / name / f"{name}_A.txt").is_file() else None


def _datasets_in(folder: Path) -> list[str]:
    """Return the names that datasets in a folder may have."""
    return [name.removesuffix(".zip") for name in names_in(folder) if name.endswith(".zip") or "." not in name]


def _spelled(name: str, names: Iterable[str]) -> str:
    """Return a name in the case that it has among others, if it is there."""
    return next((other for other in names if other.lower() == name.lower()), name)


def _known(folder: Path) -> str:
    if not folder.is_dir():
        return "that folder does not exist"
    names = sorted(path.stem for path in folder.glob("*.zip"))
    return f"it holds {', '.join(names[:10])}" if names else "it holds no zip files"


def _in_packages(name: str) -> Path | None:
    package = find_spec("grakel")  # which carries MUTAG and Cuneiform with its tests; it is not imported
    if package is None or package.origin is None:
        return None
    return dataset_in(Path(package.origin).parent / "tests" / "data", name)


def _download(name: str, others: Sequence[str]) -> Path:
    import pooch

    file, folder, bar = f"{name}.zip", data_folder("tu"), _Bar(f"{name}.zip")
    pooch.get_logger().setLevel("WARNING")
    try:
        path = Path(
            pooch.retrieve(
                f"{SITE}/{file}",
                known_hash=None,  # the collection publishes none; see _check_known and _check_digest
                fname=file,
                path=folder,
                downloader=pooch.HTTPDownloader(progressbar=bar, timeout=60, hooks={"response": _check_redirect}),
            )
        )
    except Exception as error:  # requests, urllib3, pooch and the operating system each have their own
        near = did_you_mean(name, [*ZIPS, *_datasets_in(folder), *others])
        raise DatasetError(
            f"{name}{near} is not in {folder} and could not be downloaded ({_reason(error)}); put {file} into a folder "
            "and pass it as root"
        ) from None
    finally:
        bar.close()
    _check_zip(path, name)
    _check_known(path, name)
    _digest_file(path).write_text(digest(path))
    return path


class _PlainRedirect(Exception):
    """A redirect away from https, where anyone on the way could change the file."""


def _check_redirect(response: Any, **_: Any) -> None:
    """Raise _PlainRedirect before a redirect is followed that does not lead to https."""
    target = urljoin(response.url, response.headers.get("location", ""))
    if response.is_redirect and not target.startswith("https://"):
        raise _PlainRedirect(f"the site redirects to {target}, not https")


def _reason(error: Exception) -> str:
    if isinstance(error, _PlainRedirect):
        return str(error)
    status = getattr(getattr(error, "response", None), "status_code", None)
    return f"the site answers with status {status}" if status else f"{type(error).__name__} from {SITE}"


def _check_zip(path: Path, name: str) -> None:
    """Remove a download that is incomplete or is no dataset, and raise DatasetError."""
    try:
        with zipfile.ZipFile(path) as content:
            whole = content.testzip() is None and any(n.endswith(f"{name}_A.txt") for n in content.namelist())
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError, zlib.error, lzma.LZMAError):
        whole = False
    if not whole:
        path.unlink()
        raise DatasetError(f"the download of {name} is damaged or is not a dataset, and was not kept; try again")


def _check_known(path: Path, name: str) -> None:
    """Remove a download whose known digests differ, and warn of one without known digests."""
    known = is_known(path, name)
    if known is None:
        warnings.warn(
            f"there is no known SHA-256 of {name}, so that {path} was taken unchecked from {SITE}",
            InputWarning,
            stacklevel=5,
        )
    if known is False:
        path.unlink()
        raise DatasetError(
            f"the download of {name} is not the dataset that gvoys knows: its SHA-256 differs, and it was not kept; to "
            f"use a copy that you trust, put {name}.zip into a folder and pass it as root"
        )


def is_known(path: Path, name: str) -> bool | None:
    """Return whether a zip is the dataset of that name; None where its digests are not known."""
    if name not in ZIPS:
        return None
    return digest(path) == ZIPS[name] or content_digest(path, name) == CONTENTS.get(name)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_digest(path: Path, name: str) -> str:
    """Return the SHA-256 of the files of a dataset, however they are packed."""
    # it covers the names and lines of all files NAME_*.txt but the notes, in the order of their names; commas and white
    # space between numbers count as one space, and empty lines are dropped
    seen = hashlib.sha256()
    with zipfile.ZipFile(path) as content:
        files = {file.rpartition("/")[2]: file for file in content.namelist() if not file.startswith("__MACOSX")}
        for file in sorted(files):
            if file.startswith(f"{name}_") and file.endswith(".txt") and "readme" not in file.lower():
                seen.update(f"{file}\n".encode() + _lines(content.read(files[file])))
    return seen.hexdigest()


def _lines(text: bytes) -> bytes:
    lines = (b" ".join(line.replace(b",", b" ").split()) for line in text.splitlines())
    return b"".join(line + b"\n" for line in lines if line)


def _digest_file(path: Path) -> Path:
    return path.with_suffix(".zip.sha256")


def _check_digest(path: Path) -> None:
    """Compare a cached download with what it was when it arrived."""
    note = _digest_file(path)
    if path.is_file() and note.is_file() and note.read_text().strip() != digest(path):
        raise DatasetError(f"{path} has changed since it was downloaded; delete it and load the dataset again")


class _Bar:
    """The progress bar that pooch drives, drawn by rich."""

    def __init__(self, name: str) -> None:
        self.name, self.total = name, 0
        self._progress: Any = None

    def update(self, amount: int) -> None:
        from rich.progress import DownloadColumn, Progress, TimeRemainingColumn

        if self._progress is None:
            self._progress = Progress(*Progress.get_default_columns()[:2], DownloadColumn(), TimeRemainingColumn())
            self._progress.start()
            self._task = self._progress.add_task(f"downloading {self.name}", total=self.total or None)
        self._progress.advance(self._task, amount)

    def reset(self) -> None:
        if self._progress is not None:
            self._progress.reset(self._task)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
