"""Theorem 3.1: the mean of the estimate is the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.exact import exact_kernel
from gvoys.graphs.spectrum import max_degree
from gvoys.paper import GraphVoyagers
from gvoys.series import Exponential, Geometric
from gvoys.walks import Walk
from studies.paper.pairs import pair_from
from studies.paper.result import Plan, Result, Row

# Dataset, labels, series, and what differs from the paper's experiments.
_CASES: list[tuple[str, str | None, type[Exponential] | type[Geometric], dict[str, Any]]] = [
    ("MUTAG", None, Exponential, {}),
    ("MUTAG", "node", Exponential, {}),
    ("MUTAG", "node", Geometric, {}),
    ("PROTEINS", "node", Exponential, {}),
    ("ENZYMES", "node", Exponential, {}),
    ("ENZYMES", None, Exponential, {"share_signs": True, "n_walks": 4}),
    ("NCI1", "node", Geometric, {"share_halting": False}),
    ("ENZYMES", "node", Exponential, {"n_anchors": 5}),
]


def run(plan: Plan) -> Result:
    """Mean of many independent estimates of K(G, H) over K(G, H); of K(G, G) too, which is another matter."""
    count = 10_000 if plan.quick else 200_000
    rows = []
    for name, labels, kind, how in _CASES:
        plan.tell(f"unbiased, {name}")
        pair = pair_from(name, plan)
        series = kind(1.0 / max_degree(pair.graphs) ** 2)
        model = GraphVoyagers(series, count, p_halt=0.2, labels=labels, random_state=plan.seed, **how)
        first, second = (
            model.set_params(replicate=draw).fit_transform(pair.graphs) * np.sqrt(count) for draw in (0, 1)
        )
        exact = float(exact_kernel(pair.graphs[0], pair.graphs[1], series, Walk(None, labels=labels)))
        words = [kind.__name__.lower(), "labels" if labels else "no labels", *(f"{key}={how[key]}" for key in how)]
        what = f"{pair.name}, {', '.join(words)}"
        rows.append(Row(what, "1", _mean(first[0] * first[1] / exact)))
    size = float(exact_kernel(pair.graphs[0], pair.graphs[0], series, Walk(None, labels=labels)))
    same, independent = (_mean(first[0] * other[0] / size) for other in (first, second))
    rows.append(Row(f"{what}: K(G, G), both factors from the same walks", "", same))
    rows.append(Row(f"{what}: K(G, G), factors from independent walks", "", independent))
    notes = [
        f"Decay 1 / d_max^2 of the pair, p_halt 0.2, {count:,} independent components; ± is the standard error of the "
        "mean, z its distance from 1 in standard errors. The algorithm is the corrected one.",
        "The theorem holds for walks that are independent between the two graphs. On the diagonal of a Gram matrix "
        "they are the same, and the mean is too large.",
    ]
    return Result("unbiased", "Theorem 3.1: mean of the estimate over K", plan.command("unbiased"), rows, [], notes)


def _mean(ratios: NDArray[np.float64]) -> str:
    error = ratios.std() / np.sqrt(len(ratios))
    return f"{ratios.mean():.4f} ± {error:.4f}, z {(ratios.mean() - 1) / error:.1f}"
