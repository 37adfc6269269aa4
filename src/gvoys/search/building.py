"""An index of a file of graphs, part by part: a build that was killed goes on where it was, to the same bytes."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gvoys._kernels.cpu.scan import Codes
from gvoys.errors import DatasetError, GvoysError, ParameterError
from gvoys.estimators.base import as_seed
from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry import Chemistry
from gvoys.io.files import appearing, as_path, lock_beside, locked
from gvoys.io.sources import Chunk, FileSource, Skipped
from gvoys.io.store import StoreWriter, open_store, write_store
from gvoys.io.store.arrays import ArrayFile
from gvoys.io.store.manifest import checksum_file
from gvoys.search.coding import Coder
from gvoys.search.comparing import comparer_for
from gvoys.search.folder import (
    CODER,
    describe_segment,
    is_index,
    read_coder,
    write_coder,
    write_ids,
    write_manifest,
)
from gvoys.search.index import encode_graphs
from gvoys.threads import n_threads, threads
from gvoys.walks.checks import check_count
from gvoys.walks.sequences import spread_graphs

__all__ = ["build_index"]

Progress = Callable[[int, int, int], None]  # bytes or rows done, of how many, and graphs
_DONE, _JOB = "done.json", "job.json"
_SAMPLED, _SAMPLE = 8, 4096  # chunks and graphs that landmarks are chosen from


def build_index(
    source: FileSource,
    path: str | PathLike[str],
    features: Any = None,
    *,
    n_candidates: int = 384,
    width: int = 128,
    rows_per_part: int = 4096,
    on_progress: Progress | None = None,
) -> tuple[int, list[Skipped]]:
    """Make an index of all graphs of a file, in memory that does not grow with it.

    Parameters
    ----------
    source : FileSource
        What `open_graphs` returned.
    path : str or path-like
        A folder that does not exist yet, or that of a build that was interrupted.
    features : estimator or None, default=None
        As in `Index`.
    n_candidates : int, default=384
        As in `Index`.
    width : int, default=128
        As in `Index`.
    rows_per_part : int, default=4096
        Rows that are read at once.
    on_progress : callable or None, default=None
        Called after every part with how much of the input is done, how much there is, and the number of graphs.

    Returns
    -------
    n_graphs : int
        Number of graphs in the index, which `Index.open` opens.
    skipped : list of Skipped
        Rows that cannot be read.

    Raises
    ------
    ParameterError
        If the folder exists already, or an unfinished build had another input.
    DatasetError
        If no graph can be read.
    """
    folder = as_path(path)
    if is_index(folder) or (folder.exists() and any(folder.iterdir())):
        raise ParameterError(f"{folder} exists already; choose another folder, or remove it first")
    work = folder.with_name(f"{folder.name}.work")
    job = {"input": source.identity(), "rows_per_part": check_count(rows_per_part, "rows_per_part"), "width": width}
    job["features"] = _identity(features)
    with locked(lock_beside(folder), folder):
        _claim(work, json.loads(json.dumps(job)))
        chunks = list(source.chunks(rows_per_part))
        builder = _Builder(source, work, features, check_count(width, "width"))
        n_graphs, skipped = builder.run(chunks, on_progress or (lambda done, total, graphs: None))
        builder.assemble(folder, len(chunks), n_candidates, source.chemistry)
        shutil.rmtree(work)
    return n_graphs, skipped


def _identity(features: Any) -> str | int:
    """What tells one estimator from another."""
    if not hasattr(features, "save"):
        return repr(features)
    with tempfile.TemporaryDirectory() as folder:
        features.save(Path(folder) / "model.gvoys")
        return checksum_file(Path(folder) / "model.gvoys")


def _claim(work: Path, job: dict[str, Any]) -> None:
    """The folder of the parts, of this job alone."""
    if (work / _JOB).exists():
        if json.loads((work / _JOB).read_text()) != job:
            raise ParameterError(f"{work} holds an unfinished index of another input or model; remove it first")
        return
    work.mkdir(parents=True, exist_ok=True)
    with appearing(work / _JOB) as partial:
        partial.write_text(json.dumps(job))


class _Builder:
    """Makes parts, and an index of them."""

    def __init__(self, source: FileSource, work: Path, features: Any, width: int) -> None:
        self.source, self.work, self.features, self.width = source, work, features, width
        self.coder: Coder | None = read_coder(work / CODER) if (work / CODER).exists() else None

    def run(self, chunks: list[Chunk], on_progress: Progress) -> tuple[int, list[Skipped]]:
        """Make what is missing: one chunk is encoded while the next is parsed on another core."""
        self._fit(chunks)
        done, made, skipped = 0, 0, []
        for about, chunk in self._parts(chunks):
            done, made = done + chunk.end - chunk.begin, made + about["n_graphs"]
            skipped += [Skipped(*each) for each in about["skipped"]]
            on_progress(done, self.source.size, made)
        return made, skipped

    def _fit(self, chunks: list[Chunk]) -> None:
        """What compares graphs, and the landmarks, from chunks all over the file: it may be sorted."""
        if self.coder is not None:
            return
        chosen = chunks if len(chunks) <= _SAMPLED else [chunks[i * len(chunks) // _SAMPLED] for i in range(_SAMPLED)]
        read = [batch for _, batch, _ in map(self._read, chosen) if batch is not None and len(batch)]
        if not read:
            raise DatasetError(f"{self.source} holds no graph that can be read")
        batch = GraphBatch.concatenate([each[spread_graphs(each, -(-_SAMPLE // len(read)))] for each in read])
        comparer = comparer_for(self.features, batch, as_seed(0))
        write_coder(Coder.fitted(comparer, batch, self.width), self.work / CODER)
        self.coder = read_coder(self.work / CODER)

    def _parts(self, chunks: list[Chunk]) -> Iterator[tuple[dict[str, Any], Chunk]]:
        free = max(n_threads() - 1, 1)
        with ThreadPoolExecutor(1) as writer:
            waiting: Any = None
            for chunk in chunks:
                known = self._intact(chunk)
                read = None if known is not None else self._read(chunk)
                if waiting is not None:
                    yield waiting[0].result(), waiting[1]
                    waiting = None
                if known is not None:
                    yield known, chunk
                else:
                    waiting = writer.submit(self._make, free, chunk, *read), chunk  # type: ignore[misc]
            if waiting is not None:
                yield waiting[0].result(), waiting[1]

    def _folder(self, index: int) -> Path:
        return self.work / f"part-{index:05d}"

    def _intact(self, chunk: Chunk) -> dict[str, Any] | None:
        """What a part says of itself, if it is complete."""
        folder = self._folder(chunk.index)
        try:
            about: dict[str, Any] = json.loads((folder / _DONE).read_text())
            if all(checksum_file(folder / name) == wanted for name, wanted in about["files"].items()):
                return about
        except (OSError, ValueError, KeyError):
            pass
        shutil.rmtree(folder, ignore_errors=True)
        return None

    def _read(self, chunk: Chunk) -> tuple[list[str], GraphBatch | None, list[Skipped]]:
        """Graphs of a chunk that can be read, and the other rows."""
        records = self.source.records(chunk)
        try:
            built, unread = self.source.build(records.items)
            batch: GraphBatch | None = built
            bad = dict(unread)
            kept = [place for place in range(len(records.items)) if place not in bad]
            skipped = [records.skip(place, reason) for place, reason in unread]
        except GvoysError:  # some graph does not go with the others
            batch, kept, skipped = self._one_by_one(records)
        return [records.ids[place] for place in kept], batch, sorted([*records.skipped, *skipped])

    def _one_by_one(self, records: Any) -> tuple[GraphBatch | None, list[int], list[Skipped]]:
        kept, graphs, skipped = [], [], []
        for place, item in enumerate(records.items):
            try:
                batch, unread = self.source.build([item])
                if unread:
                    skipped.append(records.skip(place, unread[0][1]))
                    continue
                graphs.append(batch)
                kept.append(place)
            except GvoysError as error:
                skipped.append(records.skip(place, str(error).removeprefix("graph 0: ")))
        return (GraphBatch.concatenate(graphs) if graphs else None), kept, skipped

    def _make(self, free: int, chunk: Chunk, ids: list[str], batch: GraphBatch | None, skipped: list[Skipped]) -> Any:
        """Write a part; done.json comes last."""
        folder = self._folder(chunk.index)
        folder.mkdir()
        files = {}
        if batch is not None and len(batch):
            assert self.coder is not None
            with threads(free):
                codes = encode_graphs(self.coder, batch)
            write_store(batch, folder / "graphs")
            for name, array in codes._asdict().items():
                np.save(folder / f"{name}.npy", array)
            write_ids(folder, ids)
            files = describe_segment(folder, len(batch))["files"]
        about = {"n_graphs": len(ids), "files": files, "skipped": [list(each) for each in skipped]}
        with appearing(folder / _DONE) as partial:
            partial.write_text(json.dumps(about))
        return about

    def assemble(self, folder: Path, n_parts: int, n_candidates: int, chemistry: Chemistry | None) -> None:
        """One segment of all parts; whatever an interrupted run left of it goes first."""
        shutil.rmtree(folder, ignore_errors=True)
        segment = folder / "segment-0000"
        segment.mkdir(parents=True)
        abouts = [json.loads((self._folder(index) / _DONE).read_text()) for index in range(n_parts)]
        parts = [self._folder(index) for index, about in enumerate(abouts) if about["n_graphs"]]
        total = sum(about["n_graphs"] for about in abouts)
        with StoreWriter(segment / "graphs") as store:
            for part in parts:
                store.add(open_store(part / "graphs", verify=False))
        for name in Codes._fields:
            _join([part / f"{name}.npy" for part in parts], segment / f"{name}.npy")
        write_ids(segment, [own for part in parts for own in json.loads((part / "ids.json").read_text())["ids"]])
        shutil.copyfile(self.work / CODER, folder / CODER)
        reading = {} if chemistry is None else {"chemistry": chemistry.as_dict()}
        write_manifest(folder, n_candidates, [describe_segment(segment, total)], reading)


def _join(parts: list[Path], path: Path) -> None:
    """Arrays one after the other, of which one is in memory at a time."""
    first = np.load(parts[0], mmap_mode="r")
    joined = ArrayFile(path, first.dtype, first.shape[1] if first.ndim == 2 else None)
    for part in parts:
        joined.append(np.load(part))
    joined.finish()
