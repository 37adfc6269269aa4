"""Figure 4: time against the number of nodes, ten Erdos-Renyi graphs, p = 0.1."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gvoys.datasets import erdos_renyi
from gvoys.errors import GvoysError
from gvoys.estimators import GraphVoyagers, RandomWalkKernel
from gvoys.exact import exact_kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import max_degree
from gvoys.reproduce.result import Curve, Figure, Plan, Result, Row, slope
from gvoys.series import Geometric

__all__ = ["run"]

_N_GRAPHS = 10
_N_PAIRS = _N_GRAPHS * (_N_GRAPHS + 1) // 2
_WALKS = 100
_MEMORY = 4e9  # bytes of a product graph's matrix, or of its eigenvectors


def run(plan: Plan) -> Result:
    """Solvers are timed on one pair and counted for all 55; a solver that passed its time is out from there on."""
    sizes = [2**k for k in range(4, 9 if plan.quick else 15)]
    limit = 2.0 if plan.quick else 60.0  # seconds for one pair, or for one way of all graphs
    times: dict[str, list[float | None]] = {name: [] for name in (*_SOLVERS, *_WAYS)}
    marks: dict[str, str] = {}
    for n in sizes:
        batch = erdos_renyi(_N_GRAPHS, n, 0.1, random_state=plan.seed)
        series = Geometric(1.0 / max(max_degree(batch), 1.0) ** 2)
        for name in times:
            seconds = None if name in marks else _timed(name, batch, series, marks)
            times[name].append(seconds)
            if seconds is not None and seconds / (_N_PAIRS if name in _SOLVERS else 1) > limit:
                marks[name] = "out of time"
    curves = [Curve(name, [float(n) for n in sizes], values) for name, values in times.items()]
    rows = [Row(name, _PAPER.get(name, ""), *_summary(name, sizes, values, marks)) for name, values in times.items()]
    figure = Figure("fig4", "ten graphs, p = 0.1", "nodes", "seconds", curves)
    notes = [
        "Pairwise solvers are timed on one pair, times 55. Out of memory: the matrices would exceed 4 GB; out of time: "
        f"one pair took over {limit:g} s at the size before. At fixed p entries grow as N^2, and so does "
        "exact work.",
    ]
    return Result("fig4", "Figure 4: time against nodes", plan.command("fig4"), rows, [figure], notes)


def _solver(name: str) -> Callable[[GraphBatch, Any], object]:
    return lambda batch, series: exact_kernel(batch[0], batch[1], series, solver=name, labels=None)


def _voyagers(batch: GraphBatch, series: Any) -> object:
    return GraphVoyagers(series, n_components=_WALKS, p_halt=0.2, labels=None).fit_transform(batch)


def _moments(batch: GraphBatch, series: Any) -> object:
    return RandomWalkKernel(series, max_length=None, labels=None).fit_transform(batch)


_SOLVERS = {
    "brute force": _solver("product"),
    "spectral": _solver("spectral"),
    "conjugate gradients": _solver("cg"),
    "fixed point": _solver("fixed-point"),
}
_WAYS = {"voyagers": _voyagers, "moments": _moments}
_PAPER = {
    "voyagers": "fastest from 2^10 nodes on; 27 times fixed point at 2^13, 8 times conjugate gradients at 2^14",
    "brute force": "out of memory early",
}


def _timed(name: str, batch: GraphBatch, series: Any, marks: dict[str, str]) -> float | None:
    n = int(batch.graph_sizes[0])
    if name == "brute force" and 8.0 * n**4 > _MEMORY:
        marks[name] = "out of memory"
        return None
    try:
        (_SOLVERS | _WAYS)[name](batch, series)  # compiled, and in the caches
        begin = time.perf_counter()
        (_SOLVERS | _WAYS)[name](batch, series)
    except (GvoysError, MemoryError) as error:
        marks[name] = f"refused ({error})"
        return None
    return (time.perf_counter() - begin) * (_N_PAIRS if name in _SOLVERS else 1)


def _summary(name: str, sizes: list[int], values: list[float | None], marks: dict[str, str]) -> tuple[str, str]:
    seen = [(n, value) for n, value in zip(sizes, values, strict=True) if value is not None]
    if not seen:
        return marks.get(name, ""), ""
    n, last = seen[-1]
    end = f"; then {marks[name]}" if name in marks else ""
    tail = seen[-4:]
    power = f", growing as N^{slope(*zip(*tail, strict=True)):.1f}" if len(tail) > 1 else ""
    shown = f"{last:.3g} s at {n} nodes{power}{end}"
    return ("", shown) if name == "moments" else (shown, "")
