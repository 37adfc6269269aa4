"""The two learned kernels: mu with a support vector machine on MUTAG, and with a linear layer on ENZYMES."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from gvoys.apps.evaluation.baselines import Comparison, compare_series
from gvoys.apps.evaluation.folds import fold_splits
from gvoys.estimators import RandomWalkFeatures
from gvoys.estimators.learned_series import learn_series
from gvoys.graphs.batch import GraphBatch
from gvoys.series import Geometric, Series
from gvoys.walks import Walk
from studies.paper.pairs import load_or_none
from studies.paper.result import Plan, Result, Row, shown_scores


def run(plan: Plan) -> Result:
    """Eight coefficients, walks from everywhere to everywhere, no labels, ten folds."""
    n_folds = 3 if plan.quick else 10
    rows, notes = [], []
    for name, way, paper, compare in (
        ("MUTAG", "support vector machine", ("88.3 ± 3.1", "81.4 ± 8.9"), _machines),
        ("ENZYMES", "linear layer", ("20.7 ± 4.2", "18.1 ± 3.4"), _layers),
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


_WALK = Walk(7, labels=None, start="ones", stop="ones")


def _machines(batch: GraphBatch, y: NDArray[Any], n_folds: int, seeds: tuple[int, ...]) -> Comparison:
    return compare_series(batch, y, "svm", n_folds, seeds, walk=_WALK)


def _layers(batch: GraphBatch, y: NDArray[Any], n_folds: int, seeds: tuple[int, ...]) -> Comparison:
    """A linear layer on eight walk lengths without labels, 200 steps."""
    comparison = Comparison()
    for train, test in (split for seed in seeds for split in fold_splits(True, y, n_folds, seed)):
        learned = learn_series(batch[train], y[train], "layer", walk=_WALK)
        for series, scores in ((Geometric("auto"), comparison.geometric), (learned, comparison.learned)):
            scores.append(_score_layer(series, batch, y, train, test))
    return comparison


def _score_layer(series: Series, batch: GraphBatch, y: NDArray[Any], train: Any, test: Any) -> float:
    features = RandomWalkFeatures(series, _WALK).fit(batch[train])
    X, new = features.transform(batch[train]), features.transform(batch[test])
    size = np.sqrt((X**2).sum(axis=1).mean())
    return float(LogisticRegression(max_iter=200).fit(X / size, y[train]).score(new / size, y[test]))


def _rows(name: str, paper: tuple[str, str], found: Comparison) -> list[Row]:
    learned = shown_scores(found.learned)
    if found.learned_on_test:
        learned += f"; C chosen on the test folds, biased by selection: {shown_scores(found.learned_on_test)}"
    return [
        Row(f"{name}: mu learned", paper[0], learned),
        Row(f"{name}: geometric", paper[1], shown_scores(found.geometric)),
    ]
