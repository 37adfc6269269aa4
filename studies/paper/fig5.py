"""The walks-against-time figure of the appendix: time of voyagers as walks grow, beside the exact kernel."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gvoys.estimators import RandomWalkKernel
from gvoys.exact import exact_kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import max_degree
from gvoys.paper import GraphVoyagers
from gvoys.series import Exponential, Series
from gvoys.walks import Walk
from studies.paper.pairs import pair_from
from studies.paper.result import Curve, Figure, Plan, Result, Row, slope
from studies.timing import best_of

_NODES = (100, 180)


def run(plan: Plan) -> Result:
    """A pair from PROTEINS and one from DD of 100 to 180 nodes; exponential series, decay 1 / d_max^2."""
    walks = [10, 30, 100] if plan.quick else [10, 30, 100, 300, 1000]
    parts = [_one(name, walks, plan) for name in ("PROTEINS", "DD")]
    rows, figures = [row for rows, _ in parts for row in rows], [figure for _, figure in parts]
    notes = [
        "Brute force writes down the product graph and adds up its series. Here the product graph is sparse and takes "
        "milliseconds, far less than in the paper, and so do walks; the ratio of the two is not that of the paper. "
        "Every walk has a component of its own. Times are the best of several runs; few walks take as long as the call."
    ]
    return Result("fig5", "Time against walks (appendix)", plan.command("fig5"), rows, figures, notes)


def _one(name: str, walks: list[int], plan: Plan) -> tuple[list[Row], Figure]:
    plan.tell(f"fig5, {name}")
    chosen = pair_from(name, plan, _NODES)
    pair = chosen.graphs
    series = Exponential(1.0 / max_degree(pair) ** 2)
    exact, _ = best_of(lambda: exact_kernel(pair[0], pair[1], series, Walk(None, labels=None), solver="product"))
    moments, _ = best_of(lambda: RandomWalkKernel(series, Walk(None, labels=None)).fit_transform(pair))
    sampled = [best_of(partial(_voyagers, pair, series, count, 0))[0] for count in walks]
    flat = [float(count) for count in walks]
    curves = [
        Curve("voyagers", flat, list(sampled)),
        Curve("brute force", flat, [exact] * len(walks)),
        Curve("moments, exact", flat, [moments] * len(walks)),
    ]
    rows = [
        Row(
            f"{chosen.name}: brute force takes, beside {walks[-1]} walks",
            "almost 10 times",
            f"{exact / sampled[-1]:.1f} times ({exact:.2g} s, {sampled[-1]:.2g} s)",
            f"{exact / moments:,.0f} times moments ({moments:.2g} s), which are exact",
        ),
        Row(
            f"{chosen.name}: error with {walks[-1]} walks; slope of log time over log walks",
            "",
            f"{_error(pair, series, walks[-1], plan):.2g}; {slope(flat[1:], sampled[1:]):.2f}",
            "0; no walks",
        ),
    ]
    return rows, Figure(f"fig5-{name}", chosen.title, "walks per node", "seconds", curves)


def _voyagers(pair: GraphBatch, series: Series, walks: int, seed: int) -> Any:
    model = GraphVoyagers(series, n_components=walks, p_halt=0.2, labels=None, random_state=seed)
    return model.fit_transform(pair).astype(float)


def _error(pair: GraphBatch, series: Series, walks: int, plan: Plan) -> float:
    """The mean over ten seeds of |estimate - K| / K."""
    exact = float(exact_kernel(pair[0], pair[1], series, Walk(None, labels=None)))
    found = [X[0] @ X[1] for X in (_voyagers(pair, series, walks, plan.seed + seed) for seed in range(10))]
    return float(np.mean(np.abs(np.array(found) - exact)) / exact)
