"""The kernels of the GPU's fast path alone, and a Gram matrix from graphs to matrix, part by part."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import gvoys as gv
from gvoys._compiled.arguments import Ends
from gvoys._compiled.cuda import sketch_small_cuda as buckets
from gvoys._compiled.cuda.device import all_finite, empty_on_host, to_host
from gvoys._compiled.cuda.products_cuda import symmetric_product
from gvoys._compiled.cuda.sketch_cuda import GpuSketch
from gvoys.errors import DatasetError
from gvoys.graphs.labels import Labels
from gvoys.walks import Sketch, Walk
from gvoys.walks.growth import choose_exponents

LENGTH, WIDTH, RUNS = 8, 1024, 20
SERIES = gv.Geometric(0.05)
WALKS: dict[str, dict[str, Any]] = {
    "node labels": {"labels": "node"},
    "both labels": {"labels": "both"},
    "non-backtracking": {"labels": "node", "backtrack": False},
    "non-backtracking, both labels": {"labels": "both", "backtrack": False},
}


def nci1() -> gv.GraphBatch:
    """NCI1, or molecules like it where it is missing; with edge labels, which it lacks."""
    try:
        batch = gv.datasets.load_tu("NCI1")[0]
    except DatasetError:
        batch = gv.datasets.molecules(4110, mean_nodes=30)
    return replace(batch, edge_labels=Labels.from_values((batch.rows() + batch.columns()) % 4))


def by_events(launch: Callable[[], Any]) -> float:
    """Median milliseconds of the device."""
    import cupy

    times = []
    for _ in range(RUNS + 3):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        launch()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return float(np.median(times[3:]))


def by_clock(work: Callable[[], Any]) -> float:
    """Median milliseconds of the host, the device's work included."""
    import cupy

    times = []
    for _ in range(RUNS + 3):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        work()
        cupy.cuda.Device().synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return float(np.median(times[3:]))


def kernels(console: Console) -> dict[str, float]:
    """Every kind of walk; within 4 times of the first is wanted."""
    import cupy

    batch, found = nci1(), {}
    table = Table("walks", "kernel, ms", "beside the first", "other shapes", title=f"{len(batch)} graphs, d = {WIDTH}")
    for name, options in WALKS.items():
        work, graphs = _sketch(batch, **options), np.arange(len(batch))
        small = buckets.is_small(work)
        out = cupy.empty((len(batch), LENGTH + 1, WIDTH), np.float32)
        found[name] = by_events(work.prepare(graphs[small], np.float32(1 / 32), out))
        rows = "nodes" if work.walk.backtrack else "entries"
        kept, tried = buckets.ROWS_PER_WARP[rows], []
        for count in (4, 5, 6, 8) if rows == "nodes" else (6, 8, 10, 14, 20):
            buckets.ROWS_PER_WARP[rows] = count
            tried.append(f"{count}: {by_events(work.prepare(graphs[small], np.float32(1 / 32), out)):.2f}")
        buckets.ROWS_PER_WARP[rows] = kept
        left = "" if small.all() else f" ({(~small).sum()} graphs too large)"
        ratio = found[name] / found["node labels"]
        table.add_row(name + left, f"{found[name]:.3f}", f"{ratio:.2f}", f"{rows} per warp: " + ", ".join(tried))
    console.print(table)
    return found


def _sketch(batch: gv.GraphBatch, **options: Any) -> GpuSketch:
    walk = Walk(LENGTH, **options).on(batch)
    ends = Ends(*(array.astype(np.float32) for array in (*walk.ends(batch), np.ones(len(batch)))))
    return GpuSketch(batch, walk, ends, seed=0)


def gram(console: Console) -> dict[str, float]:
    """From graphs on the host to a matrix in pinned memory; 15 ms is wanted for the first."""
    from gvoys.gpu import gram

    batch, found = replace(nci1(), edge_labels=None), {}
    for name, options in (("node labels", {}), ("non-backtracking", {"backtrack": False})):
        found[name] = by_clock(lambda o=options: gram(batch, SERIES, Walk(LENGTH, **o), WIDTH))
    kernel = gv.RandomWalkKernel(SERIES, gv.Walk(LENGTH), method="sketch", n_components=WIDTH, device="cuda")
    found["in double precision, with standard errors"] = by_clock(lambda: kernel.fit_transform(batch))
    _print(console, f"Gram matrix of {len(batch)} graphs, d = {WIDTH}, length {LENGTH}", found)
    return found


def _print(console: Console, title: str, found: dict[str, float]) -> None:
    table = Table("work", f"ms, median of {RUNS}", title=title)
    for name, value in found.items():
        table.add_row(name, f"{value:.3f}")
    console.print(table)


def parts(console: Console) -> dict[str, float]:
    """Each part of a Gram matrix by itself, and the rates that bound it."""
    import cupy
    from cupy import cublas

    batch = replace(nci1(), edge_labels=None)
    method, walk = Sketch(WIDTH, 0, "cuda"), Walk(LENGTH, "node")
    exponents = choose_exponents(batch, LENGTH)
    scales = np.ldexp(1.0, exponents)
    block, out = _sketch(batch, labels="node"), cupy.empty((len(batch), LENGTH + 1, WIDTH), np.float32)
    every, norm = np.arange(len(batch)), np.float32(1 / 32)
    launch = block.prepare(every, norm, out)
    launch()
    made = method.profile(batch, walk)
    weighed = made.on_device.reshape(len(batch), -1)
    K = weighed @ weighed.T
    roots = cupy.asarray(made.roots(SERIES)[..., 0].astype(np.float32))
    host = to_host(K)
    flops = len(batch) ** 2 * weighed.shape[1] / 1e9
    found = {
        "part: powers of two": by_clock(lambda: choose_exponents(batch, LENGTH)),
        "part: start, stop, codes": by_clock(lambda: list(method.sketches(batch, walk, scales))),
        "part: which graphs are small": by_clock(lambda: buckets.is_small(block)),
        "part: random maps, buckets, copy in": by_clock(lambda: block.prepare(every, norm, out)),
        "random maps alone": by_clock(lambda: block._turns(WIDTH // 128, LENGTH + 1)),
        "buckets alone": by_clock(lambda: buckets.make_buckets(block, every)),
        "part: kernel": by_events(launch),
        "kernel, by the host's clock": by_clock(launch),
        "part: look for infinities": by_clock(lambda: all_finite(out)),
        "part: weights": by_events(lambda: made.on_device * roots[..., None]),
        "part: product, symmetric": by_events(lambda: symmetric_product(weighed)),
        "product, syrk alone": by_events(lambda: cublas.syrk("N", weighed, out=K, lower=True)),
        "product, gemm": by_events(lambda: cupy.matmul(weighed, weighed.T, out=K)),
        "part: copy out": by_clock(lambda: K.get(out=host)),
        "pinned memory for it": by_clock(lambda: empty_on_host(K.shape, K.dtype)),
    }
    found["rate of syrk, TFLOP/s"] = flops / found["product, syrk alone"]
    found["rate of gemm, TFLOP/s"] = 2 * flops / found["product, gemm"]
    found["rate of copying out, GB/s"] = K.nbytes / 1e6 / found["part: copy out"]
    found["floor: kernel, product, copy out"] = sum(
        found[name] for name in ("part: kernel", "product, syrk alone", "part: copy out")
    )
    found["all parts"] = sum(value for name, value in found.items() if name.startswith("part: "))
    _print(console, "parts of it, one after the other", found)
    return found
