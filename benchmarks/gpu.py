"""device="cuda" beside two cores of the same machine; runs where there is an NVIDIA GPU, and keeps its results.

python -m benchmarks gpu writes benchmarks/results/gpu-DEVICE-DATE.json.
"""

import json
import shutil
import tempfile
import time
from datetime import date
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import gvoys as gv
from benchmarks import huge
from benchmarks.timing import measure, show
from gvoys._kernels.arguments import Ends
from gvoys.errors import DatasetError, UnsupportedError
from gvoys.walks import Walk

RESULTS = Path(__file__).parent / "results"


def run(console: Console) -> None:
    try:
        gv.profiles(gv.datasets.molecules(2), "sketch", 1, 128, device="cuda")
    except UnsupportedError as error:
        console.print(f"the GPU is left out: {error}\n", markup=False)
        return
    from numba import cuda

    found = {"device": _text(cuda.get_current_device().name), "date": date.today().isoformat()}
    found["kernel, NCI1, ms"] = _kernel(console)
    found["walker steps a second"] = _steps(console)
    found["table"] = _table(console)
    RESULTS.mkdir(exist_ok=True)
    device = found["device"].replace("NVIDIA ", "").replace(" ", "-")
    (RESULTS / f"gpu-{device}-{found['date']}.json").write_text(json.dumps(found, indent=1))


def _text(name: object) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def _nci1() -> gv.GraphBatch:
    try:
        return gv.datasets.load_tu("NCI1")[0]
    except DatasetError:
        return gv.datasets.molecules(4110, mean_nodes=30)


def _kernel(console: Console) -> float:
    """The profile kernel alone, by CUDA events, the median of 20."""
    import cupy

    from gvoys._kernels.cuda import small as module
    from gvoys.gpu import GpuSketch

    batch, n_steps, n_components = _nci1(), 9, 1024
    walk = Walk.on(batch, n_steps - 1, "node")
    ends = Ends(*(array.astype(np.float32) for array in (*walk.ends(batch), np.ones(len(batch)))))
    work, best = GpuSketch(batch, walk, ends, seed=0), np.inf
    for nodes_per_warp in (4, 5, 6, 8):
        module._NODES_PER_WARP, kept = nodes_per_warp, module._NODES_PER_WARP
        out = cupy.empty((len(batch), n_steps, n_components), np.float32)
        median = _events(work.prepare(np.arange(len(batch)), np.float32(1 / 32), out))
        module._NODES_PER_WARP = kept
        console.print(f"NCI1, {n_components} components, length 8, {nodes_per_warp} nodes per warp: {median:.3f} ms")
        best = median if nodes_per_warp == kept else best
    console.print(f"({module._NODES_PER_WARP} are used; 1.0 ms wanted)\n")
    return float(best)


def _events(launch: object) -> float:
    import cupy

    times = []
    for _ in range(23):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        launch()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return float(np.median(times[3:]))


def _steps(console: Console) -> float:
    """One-sided walks on a graph of a million nodes of degree 8."""
    batch = gv.datasets.regular(1, 1_000_000, 8)
    n_components, max_length = 100, 20
    work = measure(
        lambda: gv.profiles(batch, "voyagers", max_length, n_components, scale=8.0, device="cuda"), repeats=3
    )
    rate = n_components * batch.n_nodes * max_length / work.seconds
    console.print(f"walkers: {rate:.2e} steps a second, copies included (2e9 wanted)\n")
    return rate


def _table(console: Console) -> list[dict[str, object]]:
    folder = Path(tempfile.mkdtemp(prefix="gvoys-gpu-"))
    rows = []
    table = Table("graphs", "components, length", "CPU, two cores", "GPU, host to host", "ratio", title="sketches")
    try:
        for name, graphs, n_components, max_length in _cases(folder):
            times = {}
            for device, extra in (("cpu", {"n_jobs": 2}), ("cuda", {})):
                work = lambda d=device, e=extra: _profile(graphs, n_components, max_length, d, e)  # noqa: B023, E731
                work() if device == "cuda" or len(graphs) < 10_000 else None
                begin = time.perf_counter()
                work()
                times[device] = time.perf_counter() - begin
            ratio = times["cpu"] / times["cuda"]
            table.add_row(
                name, f"{n_components}, {max_length}", show(times["cpu"]), show(times["cuda"]), f"{ratio:.0f}"
            )
            rows.append({"graphs": name, "cpu": times["cpu"], "gpu": times["cuda"], "ratio": ratio})
    finally:
        shutil.rmtree(folder)
    console.print(table)
    return rows


def _cases(folder: Path) -> object:
    for name in ("MUTAG", "NCI1", "DD"):
        try:
            yield name, gv.datasets.load_tu(name)[0], 1024, 8
        except DatasetError:
            continue
    some = gv.datasets.molecules(10_000)
    yield "10^6 molecules", gv.GraphBatch.concatenate([some] * 100), 256, 6
    huge.write_graph(folder / "graph", huge.N_NODES)
    yield "one graph of 10^8 entries", gv.open_store(folder / "graph", verify=False), 64, 6


def _profile(graphs: gv.GraphBatch, n_components: int, max_length: int, device: str, extra: dict[str, int]) -> None:
    """Block by block, as the estimators do, so that features need not fit into memory."""
    for first in range(0, len(graphs), 20_000):
        part = graphs[first : first + 20_000]
        gv.profiles(part, "sketch", max_length, n_components, device=device, scale=16.0, **extra)
