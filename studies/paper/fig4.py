"""Figure 4: time against the number of nodes, ten connected Erdos-Renyi graphs, p = 0.1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from gvoys.datasets import erdos_renyi
from gvoys.errors import DivergenceError, GvoysError
from gvoys.estimators import RandomWalkKernel
from gvoys.exact import exact_kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import max_degree
from gvoys.paper import GraphVoyagers
from gvoys.series import Geometric, Series
from gvoys.walks import Walk
from studies.paper.result import Curve, Figure, Plan, Result, Row, slope
from studies.timing import best_of

_N_GRAPHS = 10
_N_PAIRS = _N_GRAPHS * (_N_GRAPHS + 1) // 2
_SOLVING: dict[str, Any] = {"walk": Walk(None, labels=None), "tol": 1e-6, "max_iterations": 150_000}
_DEGREE = 8
_MEMORY = 4e9  # bytes of a product graph
_GROWTH = 3.0  # of the work from one size to the next, at the least

Work = Callable[[GraphBatch, Series], Any]


def _solver(name: str) -> Work:
    return lambda batch, series: exact_kernel(batch[0], batch[1], series, solver=name, **_SOLVING)


def _voyagers(n_blocks: int, n_walks: int) -> Work:
    return lambda batch, series: GraphVoyagers(
        series, n_components=n_blocks, n_walks=n_walks, p_halt=0.2, labels=None
    ).fit_transform(batch)


def _gram(**how: Any) -> Work:
    return lambda batch, series: RandomWalkKernel(series, Walk(None, labels=None), **how).fit_transform(batch)


@dataclass
class _Way:
    """One line of the figure: what to time, and how many times that makes all kernel values of ten graphs."""

    name: str
    work: Work
    times: float
    paper: str = ""
    ours: bool = False
    seconds: list[float | None] = field(default_factory=list)
    ended: str = ""  # why there are no more


def _ways() -> list[_Way]:
    return [
        _Way("brute force", _solver("product"), _N_PAIRS, "out of memory early"),
        _Way("spectral", _solver("spectral"), _N_GRAPHS / 2, "out of memory or time before 2^14"),
        _Way("conjugate gradients", _solver("cg"), _N_PAIRS, "8 times voyagers at 2^14"),
        _Way("fixed point", _solver("fixed-point"), _N_PAIRS, "27 times voyagers at 2^13"),
        _Way("voyagers, 100 walks", _voyagers(1, 100), 1, "fastest from about 2^10 on"),
        _Way("block voyagers, 10 x 10 walks", _voyagers(10, 10), 1, "about as fast"),
        _Way("moments, exact", _gram(), 1, ours=True),
        _Way("sketch, 256 components", _gram(method="sketch", n_components=256), 1, ours=True),
    ]


def run(plan: Plan) -> Result:
    """Solvers are timed on one pair; what would pass the limit is out of time, and is not tried."""
    limit = 0.2 if plan.quick else 60.0
    dense, sizes = _ways(), [2**k for k in range(1, 8 if plan.quick else 15)]
    sparse, larger = _ways(), [2**k for k in range(4, 9 if plan.quick else 18)]
    for way in dense:  # compiled before the clock runs
        way.work(erdos_renyi(2, 16, 0.3, connected=True), Geometric(0.001))
    for n in sizes:
        plan.tell(f"fig4, {n} nodes")
        _time_all(dense, erdos_renyi(_N_GRAPHS, n, 0.1, connected=True, random_state=plan.seed), limit)
    for n in larger:
        plan.tell(f"fig4, {n} nodes of degree {_DEGREE}")
        _time_all(sparse, erdos_renyi(_N_GRAPHS, n, _DEGREE / n, random_state=plan.seed), limit)
    rows = [_row(way, sizes) for way in dense] + _crossings(dense, sizes)
    rows += [_row(way, larger, f", mean degree {_DEGREE}") for way in sparse]
    figures = [
        _figure("fig4", "ten graphs, p = 0.1, all kernel values", dense, sizes),
        _figure("fig4-sparse", f"ten graphs of mean degree {_DEGREE}", sparse, larger),
    ]
    notes = [
        "At 2^1 there are no times: the only connected graph is an edge, and with the paper's decay 1 / d_max^2 = 1 "
        "its geometric series diverges, which is refused.",
        "Solvers are timed on one pair and counted for all 55 pairs, tolerance 1e-6; spectral decomposition, which is "
        "made once for each graph, is counted five times a pair's. Out of memory: the product graph would take more "
        f"than 4 GB. Out of time: more than {limit:g} s for one pair, or for all graphs at once, by the size before.",
        "The paper's code is slower by a constant (4.6 s for one pair at 2^8), so that its crossing comes later than "
        "ours. At fixed p edges grow as N^2, and exact work with them. Voyagers walk on nodes only, but whether the "
        "series converges is checked on all edges before, and shows in their time for large graphs.",
        "Times are not for equal errors. 100 walks in one component leave an error of the size of K itself, 10 "
        "components of 10 walks more than half of K (python -m studies voyagers); solvers go to 1e-6; moments, and "
        "a sketch without labels up to rounding, are exact.",
        f"At a fixed mean degree of {_DEGREE} edges grow as N, and so do voyagers, moments and the sketch: the linear "
        "time that the paper's title is about.",
    ]
    return Result("fig4", "Figure 4: time against nodes", plan.command("fig4"), rows, figures, notes)


def _time_all(ways: list[_Way], batch: GraphBatch, limit: float) -> None:
    series = Geometric(1.0 / max_degree(batch) ** 2)
    for way in ways:
        way.seconds.append(_timed(way, batch, series, limit))


def _figure(name: str, title: str, ways: list[_Way], sizes: list[int]) -> Figure:
    curves = [Curve(way.name, [float(n) for n in sizes], way.seconds, ended=way.ended) for way in ways]
    return Figure(name, title, "nodes", "seconds", curves)


def _timed(way: _Way, batch: GraphBatch, series: Series, limit: float) -> float | None:
    """Seconds for all kernel values, or None and the reason."""
    last = next((value / way.times for value in reversed(way.seconds) if value is not None), 0.0)
    if not way.ended and last * _GROWTH > limit:
        way.ended = "out of time"
    if not way.ended and way.name == "brute force" and 20.0 * float(batch[0].n_entries) ** 2 > _MEMORY:
        way.ended = "out of memory"
    if way.ended:
        return None
    try:
        seconds, _ = best_of(partial(way.work, batch, series), 2)
    except DivergenceError:  # at two nodes decay * rho^2 = 1; larger graphs are not regular
        return None
    except (GvoysError, MemoryError) as error:
        way.ended = "out of memory" if isinstance(error, MemoryError) else f"refused: {error}"
        return None
    return seconds * way.times


def _seen(way: _Way, sizes: list[int]) -> list[tuple[int, float]]:
    return [(n, value) for n, value in zip(sizes, way.seconds, strict=True) if value is not None]


def _row(way: _Way, sizes: list[int], where: str = "") -> Row:
    paper, seen = "" if where else way.paper, _seen(way, sizes)
    if not seen:
        return Row(way.name + where, paper, way.ended)
    n, last = seen[-1]
    tail = seen[-3:]
    power = f", growing as N^{slope(*zip(*tail, strict=True)):.1f}" if len(tail) > 1 else ""
    shown = f"{last:.3g} s at 2^{n.bit_length() - 1}{power}" + (f"; then {way.ended}" if way.ended else "")
    return Row(way.name + where, paper, "" if way.ours else shown, shown if way.ours else "")


def _crossings(ways: list[_Way], sizes: list[int]) -> list[Row]:
    """From which size on voyagers and moments are faster than every solver, and by how much in the end."""
    solvers = ways[:4]
    best = np.array([min((w.seconds[i] or np.inf for w in solvers), default=np.inf) for i in range(len(sizes))])
    rows = [
        Row("faster than every solver from", "about 2^10", _from(ways[4], best, sizes), _from(ways[6], best, sizes))
    ]
    for way in solvers:
        n, seconds = (_seen(way, sizes) or [(0, 0.0)])[-1]
        if n:
            at = sizes.index(n)
            ratios = [f"{seconds / (fast.seconds[at] or np.nan):,.0f} times" for fast in (ways[4], ways[6])]
            rows.append(Row(f"{way.name} takes, at 2^{n.bit_length() - 1}", "", *ratios))
    return rows


def _from(way: _Way, best: Any, sizes: list[int]) -> str:
    ours = np.array([np.inf if value is None else value for value in way.seconds])
    slower = np.flatnonzero(ours >= best)
    first = int(slower[-1]) + 1 if len(slower) else 0
    return f"2^{sizes[first].bit_length() - 1}" if first < len(sizes) else "not reached"
