"""Whether anything grows in a long run: python -m studies soak [--seconds 300]

Rounds of fit, transform, embed, kernel, and a store that is written, opened and closed. The first fifth of the time
warms up; after that memory, open files, temporary files and compiled files must stay as they are.
"""

import argparse
import ctypes
import gc
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numba
from rich.console import Console
from rich.table import Table

import gvoys as gv
from gvoys.apps.scale import embed_file, write_gram
from gvoys.apps.scale.job import Parameters
from studies.memory import field

SMALL = Parameters(decay=1 / 16, walk=gv.Walk(3), method="sketch", n_components=64, rows_per_part=40)
N_GRAPHS = 120
LIMITS = {"memory": 16e6, "handles": 0, "temporary": 0, "compiled": 0}  # bytes and numbers that it may grow by
_HANDLES = Path("/proc/self/fd")


@dataclass(frozen=True)
class Seen:
    """What a process holds: bytes in memory, open files, temporary files, and compiled files of Numba."""

    memory: float
    handles: int
    temporary: int
    compiled: int


def one_round(folder: Path, seed: int) -> None:
    """Make everything once, of graphs that no other round has, and remove it."""
    batch = gv.datasets.molecules(N_GRAPHS, mean_nodes=12, random_state=seed)
    gv.write_store(batch, folder / "store")
    store = gv.open_store(folder / "store")
    gv.RandomWalkFeatures(walk=gv.Walk(3), n_components=64, random_state=seed).fit(store).transform(store)
    gv.RandomWalkKernel(walk=gv.Walk(3)).fit_transform(store[:40])
    embed_file(folder / "store", folder / "features", SMALL)
    write_gram(folder / "store", folder / "K.npy", SMALL)
    del store
    for file in sorted(folder.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()


def look(temporary: Path) -> Seen:
    """What this process holds now."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    folders = [Path(gv.__file__).parent, *([Path(numba.config.CACHE_DIR)] if numba.config.CACHE_DIR else [])]
    return Seen(
        field("VmRSS"),
        len(os.listdir(_HANDLES)),
        sum(1 for _ in temporary.rglob("*")),
        sum(1 for folder in folders for _ in folder.rglob("*.nb?")),
    )


def soak(seconds: float, temporary: Path) -> list[Seen]:
    """Rounds for so many seconds; what was held after each that came after the warm-up."""
    begin, seen, n_rounds = time.perf_counter(), [], 0
    folder = temporary / "soak"
    folder.mkdir()
    while (passed := time.perf_counter() - begin) < seconds or len(seen) < 3:
        one_round(folder, n_rounds)
        n_rounds += 1
        if passed > seconds / 5 and n_rounds > 3:
            seen.append(look(temporary))
    return seen


def growth(seen: Sequence[Seen]) -> dict[str, tuple[float, float]]:
    """First and last value of each: medians of the thirds, since a single look at memory is noisy."""
    third = max(len(seen) // 3, 1)
    values = {name: [asdict(each)[name] for each in seen] for name in LIMITS}
    return {name: (median(found[:third]), median(found[-third:])) for name, found in values.items()}


def main(arguments: list[str], console: Console) -> int:
    parser = argparse.ArgumentParser(prog="python -m studies soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    seconds = parser.parse_args(arguments).seconds
    if not _HANDLES.exists():
        console.print("this system does not say what a process holds; nothing was measured")
        return 0
    with tempfile.TemporaryDirectory(prefix="gvoys-soak-") as name:
        tempfile.tempdir = name  # what anything makes there and leaves is seen
        try:
            seen = soak(seconds, Path(name))
        finally:
            tempfile.tempdir = None
    found = growth(seen)
    table = Table("what", "first third", "last third", "may grow by", title=f"{len(seen)} rounds after the warm-up")
    for what, (first, last) in found.items():
        table.add_row(what, f"{first:,.0f}", f"{last:,.0f}", f"{LIMITS[what]:,.0f}")
    console.print(table)
    grown = [what for what, (first, last) in found.items() if last - first > LIMITS[what]]
    console.print(f"grows: {', '.join(grown)}" if grown else "nothing grows")
    return int(bool(grown))
