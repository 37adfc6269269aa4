"""Figure 3 and its appendix: the error of the estimate against the number of walks."""

from __future__ import annotations

import numpy as np

from gvoys.estimators import RandomWalkFeatures
from gvoys.exact import exact_kernel
from gvoys.graphs.batch import GraphBatch
from gvoys.paper import GraphVoyagers
from gvoys.series import Exponential
from gvoys.walks import Walk
from studies.paper.pairs import pair_from
from studies.paper.result import Curve, Figure, Plan, Result, Row, slope

_DATASETS = ("NCI1", "ENZYMES", "PROTEINS", "DD", "MUTAG", "PTC_MR")
_SEEDS = 10
_COMPONENTS = 2 ** np.arange(7, 12)  # of sketches, whose groups are of 128


def run(plan: Plan) -> Result:
    """p_halt 0.2, exponential series, decay 1 / d_max^2, ten seeds."""
    walks = 2 ** np.arange(3, 9 if plan.quick else 13)
    rows, figures, notes = [], [], []
    for name in ("MUTAG", "PTC_MR") if plan.quick else _DATASETS:
        plan.tell(f"fig3, {name}")
        pair = pair_from(name, plan)
        curves = [
            _curve(f"voyagers, {what}", pair.graphs, walks, labels, plan, "voyagers")
            for what, labels in (("no labels", None), ("labels", "node"))
        ]
        curves.append(_curve("sketch, labels", pair.graphs, _COMPONENTS, "node", plan, "sketch"))
        figures.append(Figure(f"fig3-{name}", pair.title, "walks per node, or components", "relative error", curves))
        slopes = [slope(curve.x, curve.y) for curve in curves]
        last = [curve.y[-1] for curve in curves]
        rows.append(
            Row(
                f"{pair.name}: slope of log error over log walks",
                "falls",
                f"{slopes[0]:.2f}, with labels {slopes[1]:.2f}",
                f"sketch {slopes[2]:.2f}; without labels moments are exact",
            )
        )
        rows.append(
            Row(
                f"{pair.name}: error with {walks[-1]} walks, sketch with {_COMPONENTS[-1]} components",
                "",
                f"{last[0]:.2g}, with labels {last[1]:.2g}",
                f"{last[2]:.2g}",
            )
        )
    notes.append(
        "Every walk has a component of its own (d_G = number of walks): with one component the error has a floor that "
        "no number of walks lowers. Errors are means over ten seeds of |estimate - K| / K."
    )
    return Result("fig3", "Figure 3: error against walks", plan.command("fig3"), rows, figures, notes)


def _curve(name: str, pair: GraphBatch, walks: object, labels: str | None, plan: Plan, method: str) -> Curve:
    errors, spread, counts = [], [], [int(count) for count in np.asarray(walks)]
    for count in counts:
        found = [_error(pair, count, labels, plan.seed + seed, method) for seed in range(_SEEDS)]
        errors.append(float(np.mean(found)))
        spread.append(float(np.std(found) / np.sqrt(_SEEDS)))
    return Curve(name, [float(count) for count in counts], list(errors), spread)


def _error(pair: GraphBatch, count: int, labels: str | None, seed: int, method: str) -> float:
    series = Exponential("auto")
    if method == "sketch":
        model = RandomWalkFeatures(series, Walk(None, labels=labels), n_components=count, random_state=seed)
    else:
        model = GraphVoyagers(series, n_components=count, p_halt=0.2, labels=labels, random_state=seed)
    X = model.fit_transform(pair).astype(float)
    exact = exact_kernel(pair[0], pair[1], model.series_, Walk(None, labels=labels))
    return float(abs(X[0] @ X[1] - exact) / exact)
