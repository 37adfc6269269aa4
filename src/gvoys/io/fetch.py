"""Where datasets are: a folder, the cache, an installed package, or the collection's site."""

from __future__ import annotations

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
from gvoys.io import registry
from gvoys.io.nearest import did_you_mean, names_in

SITE = "https://www.chrsmrrs.com/graphkerneldatasets"


def data_folder(kind: str) -> Path:
    """The folder with data of one kind, below GVOYS_DATA or, where that is not set, below the system's cache folder."""
    root = Path(os.environ.get("GVOYS_DATA") or _cache())
    if kind == "tu" and not (root / kind).is_dir() and _has_datasets(root):
        return root  # what GVOYS_DATA meant in 0.1
    return root / kind


def _cache() -> Path:
    import pooch

    return Path(pooch.os_cache("gvoys"))


def _has_datasets(folder: Path) -> bool:
    return any(folder.glob("*.zip")) or any(folder.glob("*/*_A.txt"))


def find_dataset(name: str, root: str | PathLike[str] | None, others: Sequence[str] = ()) -> Path:
    """The zip or folder that holds a dataset, whatever the case of its name; it is downloaded if it is nowhere else."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][\w.+&()-]*", name):
        raise DatasetError(f"{name!r} is not the name of a dataset; names look like 'MUTAG' or 'PTC_MR'")
    if root is not None and not isinstance(root, (str, PathLike)):
        raise DatasetError(f"root must be the path of a folder, not {root!r}")
    if root is not None:
        found = dataset_in(Path(root), name)
        if found is None:
            near = did_you_mean(name, [*_datasets_in(Path(root)), *others])
            raise DatasetError(f"there is neither {name}.zip nor {name}/ in {root}{near}; {_known(Path(root))}")
        return found
    found = dataset_in(data_folder("tu"), name)
    if found is not None:
        _check_digest(found)
        return found
    return _in_packages(name) or _download(_spelled(name, registry.ZIPS), others)


def dataset_in(folder: Path, name: str) -> Path | None:
    """The zip or folder of a dataset, where a folder holds it."""
    found = _exactly(folder, name)
    return _exactly(folder, _spelled(name, _datasets_in(folder))) if found is None else found


def _exactly(folder: Path, name: str) -> Path | None:
    file = folder / f"{name}.zip"
    if file.is_file():
        return file
    return folder / name if (folder / name / f"{name}_A.txt").is_file() else None


def _datasets_in(folder: Path) -> list[str]:
    """Names that datasets in a folder may have."""
    return [name.removesuffix(".zip") for name in names_in(folder) if name.endswith(".zip") or "." not in name]


def _spelled(name: str, names: Iterable[str]) -> str:
    """A name in the case that it has among others, if it is there."""
    return next((each for each in names if each.lower() == name.lower()), name)


def _known(folder: Path) -> str:
    if not folder.is_dir():
        return "that folder does not exist"
    names = sorted(path.stem for path in folder.glob("*.zip"))
    return f"it holds {', '.join(names[:10])}" if names else "it holds no zip files"


def _in_packages(name: str) -> Path | None:
    """GraKeL carries MUTAG and Cuneiform with its tests; it is located, not imported."""
    package = find_spec("grakel")
    if package is None or package.origin is None:
        return None
    return dataset_in(Path(package.origin).parent / "tests" / "data", name)


def _download(name: str, others: Sequence[str]) -> Path:
    import pooch

    file, folder, bar = f"{name}.zip", data_folder("tu"), _Bar(f"{name}.zip")
    pooch.get_logger().setLevel("WARNING")
    try:
        found = Path(
            pooch.retrieve(
                f"{SITE}/{file}",
                known_hash=None,  # the collection publishes none; see _check_known and _check_digest
                fname=file,
                path=folder,
                downloader=pooch.HTTPDownloader(progressbar=bar, timeout=60, hooks={"response": _check_redirect}),
            )
        )
    except Exception as error:  # requests, urllib3, pooch and the operating system each have their own
        near = did_you_mean(name, [*registry.ZIPS, *_datasets_in(folder), *others])
        raise DatasetError(
            f"{name}{near} is not in {folder} and could not be downloaded ({_reason(error)}); put {file} into a folder "
            "and pass it as root"
        ) from None
    finally:
        bar.close()
    _check_zip(found, name)
    _check_known(found, name)
    _digest_file(found).write_text(registry.digest(found))
    return found


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
    """Raise DatasetError for a download that is incomplete or is something else, and do not keep it."""
    try:
        with zipfile.ZipFile(path) as content:
            whole = content.testzip() is None and any(n.endswith(f"{name}_A.txt") for n in content.namelist())
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError, zlib.error, lzma.LZMAError):
        whole = False
    if not whole:
        path.unlink()
        raise DatasetError(f"the download of {name} is damaged or is not a dataset, and was not kept; try again")


def _check_known(path: Path, name: str) -> None:
    """Do not keep a download that the registry knows otherwise; warn of one that it does not know."""
    known = registry.is_known(path, name)
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


def _digest_file(path: Path) -> Path:
    return path.with_suffix(".zip.sha256")


def _check_digest(path: Path) -> None:
    """Compare a cached download with what it was when it arrived."""
    note = _digest_file(path)
    if path.is_file() and note.is_file() and note.read_text().strip() != registry.digest(path):
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
