"""Theorem 3.3: among variables g of mean 0 and variance 1, signs give the least variance."""

from __future__ import annotations

import numpy as np

from gvoys.paper import GraphVoyagers
from gvoys.series import Exponential
from studies.paper.pairs import pair_from
from studies.paper.result import Plan, Result, Row


def run(plan: Plan) -> Result:
    """The variance of one component's product, for three distributions of g on the same pair."""
    pair = pair_from("MUTAG", plan)
    count = 20_000 if plan.quick else 200_000
    found = {}
    for signs in ("rademacher", "uniform", "gaussian"):
        model = GraphVoyagers(Exponential("auto"), n_components=count, p_halt=0.2, signs=signs, random_state=plan.seed)
        X = model.fit_transform(pair.graphs).astype(float) * np.sqrt(count)
        values = X[0] * X[1]
        squares = (values - values.mean()) ** 2
        found[signs] = (float(squares.mean()), float(squares.std() / np.sqrt(count)))
    least = min(found, key=lambda name: found[name][0])
    rows = [
        Row(f"variance with {name} g", "least" if name == "rademacher" else "more", f"{value:.4g} ± {error:.1g}")
        for name, (value, error) in found.items()
    ]
    said = "as Theorem 3.3 says" if least == "rademacher" else "against Theorem 3.3, by chance"
    notes = [f"{pair.title}, node labels, {count:,} components. {least.capitalize()} g have the least, {said}."]
    return Result("rademacher", "Theorem 3.3: which g", plan.command("rademacher"), rows, [], notes)
