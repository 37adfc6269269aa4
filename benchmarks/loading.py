"""Opening a store: the pass that checks every number, beside all of open_store.

Two stores: 200,000 molecules with labels, and one graph of 10^8 entries without.
"""

import shutil
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

import gvoys as gv
from benchmarks.huge import write_graph
from benchmarks.timing import measure
from gvoys.graphs.check import as_fields, check_structure
from gvoys.graphs.store.manifest import checksum_file
from gvoys.graphs.symmetry import check_mirrored

N_MOLECULES = 200_000
N_NODES = 1 << 21


def run(console: Console) -> None:
    folder = Path(tempfile.mkdtemp(prefix="gvoys-loading-"))
    columns = ("store", "bytes", "verify=True", "verify=False", "checksums", "ranges", "mirrors", "ranges of all")
    table = Table(*columns, title="Opening a store, from the page cache (ranges: 5 % wanted)")
    try:
        gv.write_store(gv.datasets.molecules(N_MOLECULES), folder / "molecules")
        write_graph(folder / "graph", N_NODES, labelled=False)
        for name, path in ((f"{N_MOLECULES:,} molecules", folder / "molecules"), ("10^8 entries", folder / "graph")):
            table.add_row(name, *_row(path))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    console.print(table)


def _row(path: Path) -> list[str]:
    everything = measure(lambda: gv.open_store(path))
    unverified = measure(lambda: gv.open_store(path, verify=False))
    store = everything.result
    checksums = measure(lambda: [checksum_file(file, 128) for file in path.iterdir()])
    ranges = measure(lambda: (as_fields(store), check_structure(store)))
    mirrors = measure(lambda: check_mirrored(store))
    return [
        f"{store.nbytes / 1e6:,.0f} MB",
        *map(str, (everything, unverified, checksums, ranges, mirrors)),
        f"{ranges.seconds / everything.seconds:.1%}",
    ]
