"""The sketch on NCI1 and on MUTAG, beside SciPy and GraKeL; how soon a new process has its first profile."""

import subprocess
import sys
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import gvoys as gv
from gvoys._compiled.cpu.randomness import NODE, sign_table
from gvoys.errors import DatasetError
from gvoys.walks.sketch import WIDTH
from studies.timing import measure, show

N_COMPONENTS, MAX_LENGTH = 1024, 8


def run(console: Console) -> None:
    _against_scipy(console)
    _against_grakel(console)
    _first_profile(console)


def _against_scipy(console: Console) -> None:
    try:
        batch, name = gv.datasets.load_tu("NCI1")[0], "NCI1"
    except DatasetError:
        batch, name = gv.datasets.molecules(4110), "generated molecules of the size of NCI1"

    def ours(n_jobs: int | None) -> np.ndarray:
        return gv.profiles(batch, gv.Walk(MAX_LENGTH), method="sketch", n_components=N_COMPONENTS, n_jobs=n_jobs)

    one, two = measure(lambda: ours(1)), measure(lambda: ours(None))
    with console.status("SciPy computes the same numbers …"):
        begin = time.perf_counter()
        scipy = _by_scipy(batch)
        seconds = time.perf_counter() - begin
    error = np.abs(scipy - two.result).max() / np.abs(two.result).max()
    table = Table("", "time", "", title=f"Sketch of {name}: {batch!r}, d = {N_COMPONENTS}, L = {MAX_LENGTH}")
    table.add_row("gvoys, all threads", str(two), f"{seconds / two.seconds:,.0f} times faster than SciPy (100 wanted)")
    table.add_row(
        "gvoys, one thread", str(one), f"all threads are {one.seconds / two.seconds:.2f} times as fast (1.7 wanted)"
    )
    table.add_row("SciPy, CSR @ dense", show(seconds), f"largest difference {error:.0e} of the largest feature")
    console.print(table)


def _by_scipy(batch: gv.GraphBatch) -> np.ndarray:
    """The same sketch by sparse times dense products, group by group."""
    A, codes = batch.adjacency().astype(np.float32), batch.node_labels.codes
    uniform = np.repeat(1 / batch.graph_sizes, batch.graph_sizes).astype(np.float32)[:, None]
    out = np.empty((len(batch), MAX_LENGTH + 1, N_COMPONENTS), np.float32)
    for group in range(N_COMPONENTS // WIDTH):
        bits, places = sign_table(0, NODE, np.array([group]), MAX_LENGTH + 1, batch.node_labels.hashes)
        signs = 1 - 2 * np.unpackbits(bits[0].view(np.uint8), axis=-1, bitorder="little").astype(np.float32)
        sources = (np.arange(WIDTH) - (places[0] % WIDTH)[..., None].astype(np.int64)) % WIDTH
        state = uniform * signs[0][codes]
        for t in range(MAX_LENGTH + 1):
            if t:
                state = np.take_along_axis(A @ state, sources[t][codes], axis=1) * signs[t][codes]
            out[:, t, group * WIDTH : (group + 1) * WIDTH] = np.add.reduceat(
                uniform * state, batch.node_offsets[:-1], axis=0
            )
    return out / np.float32(np.sqrt(N_COMPONENTS))


def _against_grakel(console: Console) -> None:
    try:
        batch, _ = gv.datasets.load_tu("MUTAG")
        from grakel.kernels import RandomWalkLabeled
    except (DatasetError, ImportError) as error:
        console.print(f"labelled MUTAG is skipped: {error}")
        return
    series = gv.Geometric(1 / 16)

    def ours() -> np.ndarray:
        return gv.RandomWalkKernel(series, gv.Walk(4), method="sequences").fit_transform(batch)

    def theirs() -> np.ndarray:
        graphs = [[g.adjacency().toarray(), dict(enumerate(g.node_labels.decode()))] for g in batch]
        return RandomWalkLabeled(lamda=1 / 16, method_type="fast").fit_transform(graphs)

    fast = measure(ours, repeats=20)
    with console.status("GraKeL computes the labelled kernel …"):
        slow = measure(theirs, repeats=1, warm=False)
    exact = gv.RandomWalkKernel(series, gv.Walk(None), method="exact").fit(batch[:1])
    pairs = np.random.default_rng(0).integers(0, len(batch), (200, 2))
    truth = np.array([exact._pair(batch[int(i)], batch[int(j)]) for i, j in pairs])
    errors = fast.result[tuple(pairs.T)] / truth - 1
    table = Table("", "time", "", title="MUTAG, labelled geometric kernel, decay 1/16: Gram matrix of 188 x 188")
    reached = f"error {np.sqrt(np.mean(errors**2)):.2%} (root mean square of 200 pairs, whole series; 1 % wanted)"
    table.add_row("gvoys, sequences up to length 4", str(fast), reached)
    table.add_row(
        "GraKeL, RandomWalkLabeled fast", show(slow.seconds), "wrong values: its label blocks are not transposed"
    )
    console.print(table)
    console.print(f"{slow.seconds / fast.seconds:,.0f} times faster (500 wanted)\n")


def _first_profile(console: Console) -> None:
    code = """
import time; begin = time.perf_counter()
import numpy, scipy.sparse.csgraph, scipy.sparse.linalg, scipy.special, numba, sklearn.base, sklearn.utils.validation
peers = time.perf_counter() - begin
import gvoys as gv
own = time.perf_counter() - begin - peers
gv.profiles(gv.datasets.molecules(5), "sketch", 8, 512)
print(peers, own, time.perf_counter() - begin)"""
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(4)]
    peers, own, first = np.array([run.stdout.split() for run in runs], float).min(axis=0)
    console.print(f"a new process loads NumPy, SciPy, Numba and scikit-learn in {peers:.2f} s,")
    console.print(f"gvoys in {own:.2f} s more (0.5 wanted),")
    console.print(f"and has its first profile after {first:.2f} s (2 wanted, kernels compiled before)\n")
