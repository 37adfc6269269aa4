"""The two learned kernels: mu with a support vector machine on MUTAG, and with a linear layer on ENZYMES."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from gvoys.apps.evaluation.series_gain import Comparison, compare_layers, compare_machines
from gvoys.graphs.batch import GraphBatch
from gvoys.walks import Walk
from studies.paper.pairs import load_or_none
from studies.paper.result import Plan, Result, Row, shown_scores


def run(plan: Plan) -> Result:
    """Eight coefficients, walks from everywhere to everywhere, no labels, ten folds."""
    n_folds = 3 if plan.quick else 10
    rows, notes = [], []
    for name, way, paper, compare in (
        ("MUTAG", "support vector machine", ("88.3 ± 3.1", "81.4 ± 8.9"), _machines),
        ("ENZYMES", "linear layer", ("20.7 ± 4.2", "18.1 ± 3.4"), compare_layers),
    ):
        plan.tell(f"learn, {name}")
        loaded = load_or_none(name, plan)
        if loaded is None:
            notes.append(f"{name} is left out: it is nowhere to be found.")
            continue
        rows += _rows(f"{name}, {way}", paper, compare(*loaded, n_folds, (plan.seed,)))
    notes.append(
        f"Accuracies in per cent, mean and deviation over {n_folds} folds; mu and C come from the training folds "
        "alone. Where the geometric series does better than in the paper, its C is chosen in the training folds; what "
        "mu then adds is less than the paper reports."
    )
    return Result("learn", "Learned kernels", plan.command("learn"), rows, [], notes)


def _machines(batch: GraphBatch, y: NDArray[Any], n_folds: int, seeds: tuple[int, ...]) -> Comparison:
    walk = Walk(7, labels=None, start="ones", stop="ones")
    return compare_machines(batch, y, "svm", n_folds, seeds, walk=walk)


def _rows(name: str, paper: tuple[str, str], found: Comparison) -> list[Row]:
    learned = shown_scores(found.learned)
    if found.learned_on_test:
        learned += f"; C chosen on the test folds, biased by selection: {shown_scores(found.learned_on_test)}"
    return [
        Row(f"{name}: mu learned", paper[0], learned),
        Row(f"{name}: geometric", paper[1], shown_scores(found.geometric)),
    ]
