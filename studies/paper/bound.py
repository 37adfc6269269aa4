"""Theorem 3.2: the bound on the error beside the error that is seen."""

from __future__ import annotations

import math

import numpy as np

from gvoys import theory
from gvoys.exact import exact_kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.spectrum import max_degree
from gvoys.paper import GraphVoyagers
from gvoys.series import Exponential, Geometric, Series
from gvoys.walks import Walk
from studies.paper.pairs import pair_from
from studies.paper.result import Plan, Result, Row

_EPSILON, _DELTA = 0.5, 0.05


def run(plan: Plan) -> Result:
    """Walks that the theorem asks for, and the deviation that so many walks have."""
    chosen = pair_from("MUTAG", plan)
    title, pair = chosen.title, chosen.graphs
    degree = max_degree(pair)
    rows = []
    for name, series in (
        ("exponential, decay 1 / d_max^2", Exponential(1.0 / degree**2)),
        ("geometric, decay 1 / d_max^2", Geometric(1.0 / degree**2)),
        ("geometric, decay 1 / (4 d_max^2)", Geometric(0.25 / degree**2)),
    ):
        exact = float(exact_kernel(pair[0], pair[1], series, Walk(None, labels=None)))
        asked = theory.walks_needed(pair[0], pair[1], series, _EPSILON * exact, _DELTA)
        shown = "infinitely many: c(G) is infinite" if math.isinf(asked) else f"{asked:,}"
        bound = f"gives none; its bound, computed here: {shown}"
        rows.append(Row(f"{name}: walks for {_EPSILON:.0%} of K", bound, _seen(pair, series, exact, plan)))
    notes = [
        f"{title}, no labels. The paper gives no number of walks; those beside it are its bound on this pair, computed "
        "here.",
        "The two columns are not of the same thing. The theorem bounds the deviation from the mean given g and z, for "
        f"walkers that share their signs, with chance {_DELTA}. What is seen is the error against K of walks with "
        f"signs of their own, a component each: the number after which all of ten seeds are within "
        f"{_EPSILON:.0%} of K.",
        "Where c(G) is infinite, as for the geometric series with the paper's own decay, the bound says nothing.",
    ]
    return Result("bound", "Theorem 3.2: the bound and the error", plan.command("bound"), rows, [], notes)


def _seen(pair: GraphBatch, series: Series, exact: float, plan: Plan) -> str:
    for count in 2 ** np.arange(2, 11 if plan.quick else 15):
        found = []
        for seed in range(10):
            model = GraphVoyagers(
                series, n_components=int(count), p_halt=0.2, labels=None, random_state=plan.seed + seed
            )
            X = model.fit_transform(pair).astype(float)
            found.append(abs(X[0] @ X[1] - exact))
        if max(found) <= _EPSILON * exact:
            return f"{count} walks were enough"
    return "not reached"
