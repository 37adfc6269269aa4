"""One graph of 10^8 adjacency entries on disk: a sketch and moments of it, mapped, beside what the machine allows.

Not part of `make bench`, since it takes minutes and a gigabyte of disk: `make bench-large`.
"""

import shutil
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console

import gvoys as gv
from studies.memory import peak_memory

N_NODES = 1 << 21
DEGREE = 48
BLOCK = 1 << 18
MAX_LENGTH, N_COMPONENTS, N_LABELS = 6, 64, 8


def run(console: Console) -> None:
    folder = Path(tempfile.mkdtemp(prefix="gvoys-huge-"))
    try:
        begin = time.perf_counter()
        write_graph(folder / "graph", N_NODES)
        console.print(f"written by blocks in {time.perf_counter() - begin:.1f} s")
        begin = time.perf_counter()
        store = gv.open_store(folder / "graph")
        console.print(f"{store}, checksums compared in {time.perf_counter() - begin:.1f} s")
        _sketch(console, folder / "graph")
        _moments(console, store)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sketch(console: Console, path: Path) -> None:
    rate = _rate_in_memory(console)
    store = gv.open_store(path, verify=False)
    begin = time.perf_counter()
    for _ in range(MAX_LENGTH):
        for first in range(0, store.n_entries, 1 << 24):
            int(store.indices[first : first + (1 << 24)].sum())
    reading = time.perf_counter() - begin
    work = partial(gv.profiles, store, gv.Walk(MAX_LENGTH), "sketch", N_COMPONENTS, scale=float(DEGREE))
    resident, seconds = peak_memory(work, beyond=False)
    additions = MAX_LENGTH * store.n_entries * N_COMPONENTS
    expected = reading + additions / rate
    states, entries = 2 * 4 * N_COMPONENTS * store.n_nodes, store.indices.nbytes
    console.print(
        f"sketch, {N_COMPONENTS} components, length {MAX_LENGTH}: {seconds:.1f} s; reading the entries {MAX_LENGTH} "
        f"times {reading:.1f} s, additions at the rate in memory {additions / rate:.1f} s: {seconds / expected:.2f} "
        f"times their sum (3 wanted)\nmemory of the process {resident / 1e9:.2f} GB (3 wanted), the states "
        f"{states / 1e9:.2f} and the mapped entries {entries / 1e9:.2f}\n"
    )


def _rate_in_memory(console: Console) -> float:
    """Additions a second on a graph of the same kind, an eighth of the size, in memory."""
    folder = Path(tempfile.mkdtemp(prefix="gvoys-huge-"))
    try:
        write_graph(folder / "graph", N_NODES >> 3)
        batch = gv.GraphBatch.concatenate([gv.open_store(folder / "graph")])  # copied into memory
    finally:
        shutil.rmtree(folder)
    gv.profiles(batch, gv.Walk(1), method="sketch", n_components=N_COMPONENTS)
    begin = time.perf_counter()
    gv.profiles(batch, gv.Walk(MAX_LENGTH), method="sketch", n_components=N_COMPONENTS, scale=float(DEGREE))
    rate = MAX_LENGTH * batch.n_entries * N_COMPONENTS / (time.perf_counter() - begin)
    console.print(f"in memory, {batch}: {rate:.2e} additions a second")
    return rate


def _moments(console: Console, store: gv.GraphBatch) -> None:
    begin = time.perf_counter()
    gv.profiles(store, gv.Walk(12, labels=None), method="moments", scale=float(DEGREE))
    seconds = time.perf_counter() - begin
    console.print(f"moments up to length 12: {seconds:.1f} s, {1e9 * seconds / 6 / store.n_entries:.2f} ns per entry\n")


# -- a random graph whose rows can be made in any order


def write_graph(path: Path, n_nodes: int, labelled: bool = True) -> None:
    """A union of random permutations and their inverses: about DEGREE neighbours per node, all over the graph."""
    bits = int(np.log2(n_nodes))
    with gv.StoreWriter(path) as writer:
        for first in range(0, n_nodes, BLOCK):
            u = np.arange(first, min(first + BLOCK, n_nodes), dtype=np.uint32)
            ends = [_permuted(u, k, bits, way) for k in range(DEGREE // 2) for way in (1, -1)]
            around = np.sort(np.stack(ends, axis=1), axis=1)
            fresh = np.ones(around.shape, bool)
            fresh[:, 1:] = around[:, 1:] != around[:, :-1]
            labels = (u % N_LABELS).astype(np.int64) if labelled else None
            writer.add_rows(fresh.sum(axis=1), around[fresh].astype(np.int32), node_labels=labels)
        writer.end_graph()


def _permuted(u: np.ndarray, key: int, bits: int, way: int) -> np.ndarray:
    """A bijection of 0 … 2^bits - 1, or its inverse: rounds of odd multiples and folded high bits."""
    mask, half = np.uint32((1 << bits) - 1), np.uint32(bits // 2)
    factors = np.random.default_rng(key).integers(1 << (bits - 1), size=4) * 2 + 1
    x = u.copy()
    for factor in factors if way > 0 else factors[::-1]:
        if way > 0:
            x = (x * np.uint32(factor)) & mask
            x ^= x >> half
        else:
            x ^= (x >> half) ^ (x >> np.uint32(2 * half) if 2 * half < bits else np.uint32(0))
            x = (x * np.uint32(pow(int(factor), -1, 1 << bits))) & mask
    return x
