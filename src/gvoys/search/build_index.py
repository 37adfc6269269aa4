"""An index of a file of graphs, part by part: a build that was killed goes on where it was, to the same bytes."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

from gvoys._compiled.cpu.code_scan import Codes
from gvoys.errors import DatasetError, GvoysError, ParameterError, StoreError
from gvoys.estimators.base import as_seed
from gvoys.graphs.batch import GraphBatch
from gvoys.io.chemistry import Chemistry
from gvoys.io.files import (
    appearing,
    as_path,
    check_folder,
    lock_beside,
    locked,
    partial_name,
    read_sealed,
    remove_folder,
    remove_left_over,
    remove_partial,
    write_sealed,
)
from gvoys.io.sources import Chunk, FileSource, Skipped
from gvoys.io.store import StoreWriter
from gvoys.io.store.store_reader import checksum_file
from gvoys.search.coding import Coder, comparer_for
from gvoys.search.folder import (
    CODER,
    DAMAGES,
    describe_segment,
    read_coder,
    read_segment,
    write_coder,
    write_codes,
    write_ids,
    write_manifest,
    write_segment,
)
from gvoys.search.index import Segment, encode_graphs
from gvoys.threads import n_threads, threads
from gvoys.walks.checks import check_count
from gvoys.walks.sequences import spread_graphs

Progress = Callable[[int, int, int], None]  # bytes or rows done, of how many, and graphs
_DONE, _JOB = "done.json", "job.json"
_SAMPLE_CHUNKS, _SAMPLE_GRAPHS = 8, 4096  # that landmarks are chosen from


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
    """Make an index of all graphs of a file, in memory that does not grow with it."""
    folder = as_path(path)
    work = folder.with_name(f"{folder.name}.work")
    check_folder(folder)
    check_folder(work)
    if folder.exists() and any(folder.iterdir()):
        raise ParameterError(f"{folder} exists already; choose another folder, or remove it first")
    job = {"input": source.identity(), "rows_per_part": check_count(rows_per_part, "rows_per_part"), "width": width}
    job["features"] = _identity(features)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(lock_beside(folder), folder):
        remove_left_over(folder)
        remove_left_over(work)
        remove_partial(work, ".+")
        _claim(work, json.loads(json.dumps(job)))
        try:
            chunks = list(source.chunks(rows_per_part))
            builder = _Builder(source, work, features, check_count(width, "width"))
            n_graphs, skipped = builder.run(chunks, on_progress or (lambda done, total, graphs: None))
        except GvoysError:
            if not any(work.glob("part-*")):  # nothing to go on with
                remove_folder(work)
            raise
        with appearing(folder) as partial:
            builder.assemble(partial, chunks, n_candidates, source.chemistry)
        remove_folder(work)
    return n_graphs, skipped


def _identity(features: Any) -> str | int:
    """Return a value that tells one estimator from another."""
    if not hasattr(features, "save"):
        return repr(features)
    with tempfile.TemporaryDirectory() as folder:
        features.save(Path(folder) / "model.gvoys")
        return checksum_file(Path(folder) / "model.gvoys")


def _claim(work: Path, job: dict[str, Any]) -> None:
    """Make the folder of the parts, or check that it is of this job."""
    if (work / _JOB).exists():
        begun = read_sealed(work / _JOB)
        if begun is None:
            raise ParameterError(f"{work / _JOB} is damaged; remove {work} and give the command again")
        if begun != job:
            raise ParameterError(f"{work} holds an unfinished index of another input or model; remove it first")
        return
    work.mkdir(exist_ok=True)
    if any(not file.name.startswith(".") for file in work.iterdir()):
        raise ParameterError(f"{work} is not empty and holds no unfinished index; remove it, or choose another folder")
    write_sealed(work / _JOB, job)


class _Builder:
    """Makes parts, and an index of them."""

    def __init__(self, source: FileSource, work: Path, features: Any, width: int) -> None:
        self.source, self.work, self.features, self.width = source, work, features, width
        self.coder: Coder | None = None
        with suppress(*DAMAGES):  # where there is none, or it is damaged, it is made again
            self._take_coder()

    def _take_coder(self) -> None:
        self.coder, self.coder_checksum = read_coder(self.work / CODER), checksum_file(self.work / CODER)

    def run(self, chunks: list[Chunk], on_progress: Progress) -> tuple[int, list[Skipped]]:
        """Make what is missing: one chunk is encoded while the next is parsed on another core."""
        self._fit(chunks)
        done, made, skipped = 0, 0, []
        for about, chunk in self._parts(chunks):
            done, made = done + chunk.end - chunk.begin, made + about["n_graphs"]
            skipped += [Skipped(*row) for row in about["skipped"]]
            on_progress(done, self.source.size, made)
        return made, skipped

    def _fit(self, chunks: list[Chunk]) -> None:
        """Fit the coder on graphs from the whole file, since it may be sorted."""
        if self.coder is not None:
            return
        steps = range(min(len(chunks), _SAMPLE_CHUNKS))
        chosen = [chunks[i * len(chunks) // len(steps)] for i in steps]
        read = [batch for _, batch, _ in map(self._read, chosen) if batch is not None and len(batch)]
        if not read:
            raise DatasetError(f"{self.source} holds no graph that can be read")
        batch = GraphBatch.concatenate([part[spread_graphs(part, -(-_SAMPLE_GRAPHS // len(read)))] for part in read])
        comparer = comparer_for(self.features, batch, as_seed(0))
        write_coder(Coder.fitted(comparer, batch, self.width), self.work / CODER)
        self._take_coder()

    def _parts(self, chunks: list[Chunk]) -> Iterator[tuple[dict[str, Any], Chunk]]:
        free = max(n_threads() - 1, 1)
        with ThreadPoolExecutor(1) as writer:
            waiting: list[Any] = []  # at most one part, which is written while the next chunk is read
            for chunk in chunks:
                known = self._intact(chunk)
                read = self._read(chunk) if known is None else ()
                yield from ((part.result(), of_part) for part, of_part in waiting)
                waiting = [] if known is not None else [(writer.submit(self._make, free, chunk, *read), chunk)]
                if known is not None:
                    yield known, chunk
            yield from ((part.result(), of_part) for part, of_part in waiting)

    def _folder(self, index: int) -> Path:
        return self.work / f"part-{index:05d}"

    def _intact(self, chunk: Chunk) -> dict[str, Any] | None:
        """Read the description of a part that is intact; the folder of another is removed."""
        try:
            return self._open(chunk)[0]
        except DAMAGES:
            shutil.rmtree(self._folder(chunk.index), ignore_errors=True)
            return None

    def _open(self, chunk: Chunk) -> tuple[dict[str, Any], Segment | None]:
        """Map a part that is as it was written, of this chunk and by this coder; else raise one of DAMAGES."""
        folder, coder = self._folder(chunk.index), self.coder
        about = read_sealed(folder / _DONE)
        if about is None or coder is None or about["made_from"] != [chunk.index, self.coder_checksum]:
            raise ValueError
        return about, read_segment(folder, about, coder) if about["n_graphs"] else None

    def _read(self, chunk: Chunk) -> tuple[list[str], GraphBatch | None, list[Skipped]]:
        """Graphs of a chunk that can be read, and the other rows."""
        records = self.source.records(chunk)
        try:
            built, unread = self.source.build(records.items)
            batch: GraphBatch | None = built
            bad = dict(unread)
            kept = [position for position in range(len(records.items)) if position not in bad]
            skipped = [records.skip(position, reason) for position, reason in unread]
        except GvoysError:  # some graph does not go with the others
            batch, kept, skipped = self._one_by_one(records)
        return [records.ids[position] for position in kept], batch, sorted([*records.skipped, *skipped])

    def _one_by_one(self, records: Any) -> tuple[GraphBatch | None, list[int], list[Skipped]]:
        kept, graphs, skipped = [], [], []
        for position, item in enumerate(records.items):
            try:
                batch, unread = self.source.build([item])
                if unread:
                    skipped.append(records.skip(position, unread[0][1]))
                    continue
                graphs.append(batch)
                kept.append(position)
            except GvoysError as error:
                skipped.append(records.skip(position, str(error).removeprefix("graph 0: ")))
        return (GraphBatch.concatenate(graphs) if graphs else None), kept, skipped

    def _make(self, free: int, chunk: Chunk, ids: list[str], batch: GraphBatch | None, skipped: list[Skipped]) -> Any:
        """Write a part, which is not waited for to be on the disk: it is verified before it is used."""
        folder, about = partial_name(self._folder(chunk.index)), dict[str, Any](n_graphs=0)
        if batch is not None and len(batch):
            assert self.coder is not None
            with threads(free):
                codes = encode_graphs(self.coder, batch)
            about = write_segment(Segment(batch, codes, ids), folder)
        folder.mkdir(exist_ok=True)
        about |= {"made_from": [chunk.index, self.coder_checksum], "skipped": [list(row) for row in skipped]}
        write_sealed(folder / _DONE, about)
        folder.replace(self._folder(chunk.index))
        return about

    def assemble(self, folder: Path, chunks: list[Chunk], n_candidates: int, chemistry: Chemistry | None) -> None:
        """Write an index of all parts, as one segment."""
        assert self.coder is not None
        segment, ids = folder / "segment-0000", list[str]()
        segment.mkdir(parents=True)
        with StoreWriter(segment / "graphs") as store:
            write_codes(segment, self._codes(chunks, store, ids), self.coder.root.shape[1])
        write_ids(segment, ids)
        write_coder(self.coder, folder / CODER)
        reading = {} if chemistry is None else {"chemistry": chemistry.as_dict()}
        write_manifest(folder, n_candidates, [describe_segment(segment, len(ids))], reading)

    def _codes(self, chunks: list[Chunk], store: StoreWriter, ids: list[str]) -> Iterator[Codes]:
        """Yield the codes of each part, which is verified once more; its graphs and ids are added to the others."""
        for chunk in chunks:
            try:
                _, part = self._open(chunk)
            except DAMAGES:
                damaged = self._folder(chunk.index)
                raise StoreError(f"{damaged} was damaged; give the command again, which makes it anew") from None
            if part is not None:
                store.add(part.graphs)
                ids += part.ids
                yield part.codes
