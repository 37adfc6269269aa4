"""Runs in parts: a file of graphs becomes a folder of numbered parts.

A part is a function of its chunk of the input and of the job alone. So a run that was killed goes on where it stopped
and ends with the same bytes, and parts may be made by anyone, in any order.
"""

from __future__ import annotations

import csv
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gvoys.apps.scale.job import JOB, claim_folder, read_job, remove_run
from gvoys.apps.scale.parts import (
    CHECKSUMS,
    find_intact,
    note_part,
    part_path,
    read_summary,
    skipped_beside,
    stack_rows,
    write_checksums,
    write_part,
)
from gvoys.errors import ClusterError, DatasetError, GvoysError, ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.io.files import appearing, locked, remove_left_over, remove_partial
from gvoys.io.sources import Chunk, FileSource, Records, Skipped
from gvoys.threads import n_threads, threads

SUMMARY = "_summary.json"
_OURS = r"part-\d+\.parquet|_(job|summary|checksums|skipped)\.\w+"  # names in the folder of a run


@dataclass(frozen=True)
class Summary:
    """Result of a run."""

    n_graphs: int  # number of graphs that have features
    n_skipped: int  # number of rows that were skipped, listed in NAME.skipped.csv
    n_parts: int  # number of parts
    n_unseen: int = 0  # of predictions: number of graphs with node labels that no fitted graph has
    n_unlike: int = 0  # of predictions


@dataclass(frozen=True)
class Done:
    """A part that was made."""

    chunk: Chunk  # the chunk of the input
    n_graphs: int  # number of graphs that have features
    n_skipped: int  # number of rows that were skipped
    checksum: int  # CRC-32 of the part


Columns = dict[str, Any]  # by name, arrays of shape (n_graphs,) or (n_graphs, width), or sparse features


@dataclass(frozen=True)
class Task(ABC):
    """A task that makes any part: called with a chunk, it makes the chunk's part."""

    source: FileSource  # the input
    folder: Path  # folder of the parts
    model: Any  # what computes the columns
    keeps_smiles: ClassVar[bool] = False  # beside the columns

    @property
    def skipped(self) -> Path:
        """Table of the rows that are skipped."""
        return skipped_beside(self.folder)

    @abstractmethod
    def compute(self, batch: GraphBatch) -> Columns:
        """Compute the columns of some graphs, each row of its graph alone."""

    @abstractmethod
    def empty(self) -> Columns:
        """Make the columns of no graph."""

    def __call__(self, chunk: Chunk) -> Done:
        """Make one part from beginning to end."""
        return self.write(*self.read(chunk))

    def read(self, chunk: Chunk) -> tuple[Chunk, Records, Any]:
        """Parse the graphs of a chunk: the chunk, its rows, and what `source.build` returns, or None if it cannot."""
        records = self.source.records(chunk)
        try:
            return chunk, records, self.source.build(records.items)
        except GvoysError:
            return chunk, records, None

    def write(self, chunk: Chunk, records: Records, built: Any) -> Done:
        """Compute the columns of a chunk and write its part, unless the input was changed meanwhile."""
        self._check_unchanged()  # mapped memory that was truncated must not be read
        kept, columns, skipped = self._columns(records, built)
        ids = [records.ids[row] for row in kept]
        if self.keeps_smiles and self.source.has_smiles:
            columns = {"smiles": np.array([records.items[row] for row in kept], object)} | columns
        skipped = sorted([*records.skipped, *skipped])
        self._check_unchanged()
        checksum = write_part(part_path(self.folder, chunk.index), ids, columns, skipped)
        return Done(chunk, len(ids), len(skipped), checksum)

    def _check_unchanged(self) -> None:
        if self.source.has_changed():
            raise _changed(self.source)

    def _columns(self, records: Records, built: Any) -> tuple[list[int], Columns, list[Skipped]]:
        """Return the places of the rows that have columns, the columns, and the other rows."""
        if built is None:
            return self._one_by_one(records)
        batch, unread = built
        try:
            columns = self.compute(batch)
        except GvoysError:
            return self._one_by_one(records)
        bad = dict(unread)
        kept = [row for row in range(len(records.rows)) if row not in bad]
        return kept, columns, [records.skip(row, reason) for row, reason in unread]

    def _one_by_one(self, records: Records) -> tuple[list[int], Columns, list[Skipped]]:
        """Compute the columns graph by graph, for a chunk that holds one that does not go with the others."""
        kept, rows, skipped = [], [self.empty()], []
        for position, item in enumerate(records.items):
            try:
                batch, unread = self.source.build([item])
                if unread:
                    skipped.append(records.skip(position, unread[0][1]))
                    continue
                rows.append(self.compute(batch))
                kept.append(position)
            except GvoysError as error:
                skipped.append(records.skip(position, str(error).removeprefix("graph 0: ")))
        return kept, {name: stack_rows([row[name] for row in rows]) for name in rows[0]}, skipped


Worker = Callable[[Task, Iterable[Chunk]], Iterator[Done]]
Progress = Callable[[int, int, int], None]  # bytes or rows that are done, of how many, and graphs made by this run


def run_job(
    task: Task, job: dict[str, Any], worker: Worker | None, on_progress: Progress | None, overwrite: bool = False
) -> Summary:
    """Claim the task's folder for a job, make the parts that are missing or damaged, and sum up."""
    folder = task.folder
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with locked(folder / ".lock", folder):
            if overwrite:
                remove_run(folder)
            is_new = read_job(folder) is None
            if is_new:
                path = task.skipped
                if not os.access(path.parent, os.W_OK):
                    raise ParameterError(
                        f"{path.parent} cannot be written, where {path.name} would go; choose another folder"
                    )
                if path.exists() and not is_table(path):
                    raise ParameterError(
                        f"{path} exists already, where the skipped rows would go; choose another folder"
                    )
            claim_folder(folder, job)
            try:
                return _complete(task, job, worker or run_here, on_progress)
            except GvoysError as error:
                if is_new and not isinstance(error, ClusterError):  # it would fail again
                    with suppress(ParameterError):
                        remove_run(folder)
                raise
    except GvoysError:
        with suppress(OSError):
            folder.rmdir()  # where nothing is in it
        raise


def is_table(path: Path) -> bool:
    """Return whether a file lists the skipped rows of a run, whose folder may be gone."""
    header = f"{','.join(Skipped._fields)}\n".encode()
    try:
        with path.open("rb") as file:
            return file.read(len(header)) == header
    except OSError:
        return False


def _complete(task: Task, job: dict[str, Any], worker: Worker, on_progress: Progress | None) -> Summary:
    """Make the parts of the input as it was, and sum up."""
    source, folder = task.source, task.folder
    remove_partial(folder, _OURS)
    remove_left_over(task.skipped)
    chunks = list(source.chunks(job["parameters"]["rows_per_part"]))
    intact = find_intact(folder, len(chunks))
    missing = [chunk for chunk in chunks if chunk.index not in intact]
    if missing:
        (folder / SUMMARY).unlink(missing_ok=True)
    write_checksums(folder, intact)
    try:
        made = _make_parts(task, missing, worker, on_progress)
        changed = source.has_changed() or bool(missing and source.identity() != job["input"])
    except (GvoysError, OSError):
        if not source.has_changed():
            raise
        changed = True
    if changed:  # parts may be of two files, and without others the claim to the folder goes
        for chunk in missing:
            part_path(folder, chunk.index).unlink(missing_ok=True)
        write_checksums(folder, intact)
        for file in (task.skipped, *(() if intact else (folder / CHECKSUMS, folder / JOB))):
            file.unlink(missing_ok=True)
        raise _changed(source, not intact)
    return _sum_up(task, intact | made)


def _make_parts(task: Task, missing: list[Chunk], worker: Worker, on_progress: Progress | None) -> dict[int, int]:
    """Make parts; return their checksums by number."""
    size, made = task.source.size, 0
    left, checksums = sum(chunk.end - chunk.begin for chunk in missing), {}
    report = on_progress or (lambda done, total, graphs: None)
    report(size - left, size, made)
    try:
        for done in worker(task, missing):
            note_part(task.folder, done.chunk.index, done.checksum)
            checksums[done.chunk.index] = done.checksum
            left, made = left - (done.chunk.end - done.chunk.begin), made + done.n_graphs
            report(size - left, size, made)
    finally:
        remove_partial(task.folder, _OURS)
    return checksums


def _changed(source: FileSource, alone: bool = True) -> DatasetError:
    then = "give the command again" if alone else "choose another folder, this one holds parts of the file as it was"
    return DatasetError(f"{source} was changed while it was read, so that nothing was kept of this run; {then}")


def run_here(task: Task, chunks: Iterable[Chunk]) -> Iterator[Done]:
    """Make parts in this process: while one chunk is counted and written, the next is parsed on another core."""
    with ThreadPoolExecutor(1) as writer:
        free = max(n_threads() - 1, 1)
        before = None
        for chunk in chunks:
            parsed = task.read(chunk)
            if before is not None:
                yield before.result()
            before = writer.submit(_with_threads, free, task.write, parsed)
        if before is not None:
            yield before.result()


def _with_threads(count: int, work: Callable[..., Done], arguments: tuple[Any, ...]) -> Done:
    with threads(count):
        return work(*arguments)


def _sum_up(task: Task, checksums: dict[int, int]) -> Summary:
    """Write the skipped rows of all parts, and the summary, which is there only when everything else is."""
    n_graphs = n_skipped = 0
    folder, n_parts = task.folder, len(checksums)
    write_checksums(folder, checksums)
    with appearing(task.skipped) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Skipped._fields)
        for index in range(n_parts):
            count, skipped = read_summary(part_path(folder, index))
            table.writerows(skipped)
            n_graphs, n_skipped = n_graphs + count, n_skipped + len(skipped)
    with appearing(folder / SUMMARY) as partial:
        partial.write_text(json.dumps({"graphs": n_graphs, "skipped": n_skipped, "parts": n_parts}))
    return Summary(n_graphs, n_skipped, n_parts)
