"""What commands write: every output is checked here, before any work."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from gvoys.io.fetch import data_folder, dataset_in
from gvoys.io.files import check_folder, check_kept, check_new, check_output

_JOBS = ("_job.json", "job.json", "features/_job.json", "ending.json")  # of runs that go on


class RunFiles(NamedTuple):
    """What a run writes that goes on after a stop: its result, a table of skipped rows, and the folder of its work."""

    out: Path
    skipped: Path
    work: Path

    @classmethod
    def beside(cls, out: Path) -> RunFiles:
        """The table and the folder beside a file."""
        return cls(out, out.parent / f"{out.stem}.skipped.csv", out.parent / f"{out.name}.work")


def check_outputs(
    out: Path,
    *suffixes: str,
    inputs: Iterable[str | Path | None] = (),
    root: Path | None = None,
    overwrite: bool = False,
    folder: bool = False,
    beside: Iterable[Path] = (),
    work: Path | None = None,
) -> None:
    """Check that outputs take the place of no input, nor of another file without --overwrite, and can be written.

    `beside` are files that go with `out`; a run that is unfinished in the folder `work` goes on.
    """
    if folder:
        check_folder(out)
    else:
        check_output(out, *suffixes)
    check_kept([out, *beside], _files(inputs, root))
    if not overwrite and not (work and any((work / job).exists() for job in _JOBS)):
        for path in (out, *beside):
            if not _may_go(path):
                check_new(path)


def another(path: Path, taken: Iterable[Path]) -> Path:
    """The path, with a number in its name where it is taken by another output of the same command."""
    numbered = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return next(item for item in chain([path], numbered) if item not in taken)


@contextmanager
def together(folder: Path) -> Iterator[Path]:
    """Write files in a temporary folder; they appear in `folder` when all are complete."""
    folder = Path(os.path.realpath(folder))  # files are renamed, which links to other disks do not allow
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as partial:
        yield Path(partial)
        folder.mkdir(exist_ok=True)
        for file in Path(partial).iterdir():
            file.replace(folder / file.name)


def _files(inputs: Iterable[str | Path | None], root: Path | None) -> Iterator[Path]:
    """Where inputs are, of which some are names of datasets."""
    for given in inputs:
        if given is not None and given != "-":
            yield Path(given)
            if str(given) == Path(given).name and (root is not None or not os.path.exists(given)):
                dataset = dataset_in(root or data_folder("tu"), str(given))
                yield from [] if dataset is None else [dataset]


def _may_go(path: Path) -> bool:
    """Whether a path is an empty folder, or a table of rows that another run has skipped."""
    if path.is_dir():
        return not any(path.iterdir())
    if path.name.endswith(".skipped.csv"):
        from gvoys.apps.scale.run import is_table

        return is_table(path)
    return False
