"""Opening a store: the pass that checks every number, beside all of open_store, from disk and from memory.

Two stores: 200,000 molecules with labels, and one graph of 10^8 entries without.
"""

import os
import shutil
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import gvoys as gv
from gvoys.graphs.check import as_fields, check_mirrored, check_structure
from gvoys.io.store.store_reader import checksum_file
from studies.huge import write_graph
from studies.timing import measure, show

N_MOLECULES = 200_000
N_NODES = 1 << 21


def run(console: Console) -> None:
    folder = Path(tempfile.mkdtemp(prefix="gvoys-loading-"))
    parts = ("verify=False", "checksums", "mirrors", "ranges")
    columns = ("store", "bytes", "from disk", "from memory", *parts, "ranges of disk", "of memory")
    table = Table(*columns, title="Opening a store (ranges: 5 % of loading wanted)")
    try:
        gv.write_store(gv.datasets.molecules(N_MOLECULES), folder / "molecules")
        write_graph(folder / "graph", N_NODES, labelled=False)
        for name, path in ((f"{N_MOLECULES:,} molecules", folder / "molecules"), ("10^8 entries", folder / "graph")):
            table.add_row(name, *_row(path))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    console.print(table)


def _row(path: Path) -> list[str]:
    checksums = measure(lambda: [checksum_file(file, 128) for file in path.iterdir()]).seconds
    unverified = measure(lambda: len(gv.open_store(path, verify=False))).seconds
    memory = measure(lambda: len(gv.open_store(path))).seconds
    size, mirrors, ranges = _passes(path)
    disk = min(_from_disk(path) for _ in range(3))
    times = (disk, memory, unverified, checksums, mirrors, ranges)
    return [f"{size / 1e6:,.0f} MB", *map(show, times), f"{ranges / disk:.1%}", f"{ranges / memory:.1%}"]


def _passes(path: Path) -> tuple[int, float, float]:
    """Bytes, and seconds of the two passes; the store is closed then, since files that are mapped stay in memory."""
    store = gv.open_store(path)
    mirrors = measure(lambda: check_mirrored(store)).seconds
    return store.nbytes, mirrors, measure(lambda: (as_fields(store), check_structure(store))).seconds


def _from_disk(path: Path) -> float:
    """Seconds of open_store when no file of it is in memory."""
    for file in path.iterdir():
        with file.open("rb") as content:
            os.fsync(content.fileno())
            os.posix_fadvise(content.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    begin = time.perf_counter()
    gv.open_store(path)
    return time.perf_counter() - begin
