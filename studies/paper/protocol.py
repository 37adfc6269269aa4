"""Accuracies by the paper's method under other protocols: where Table 1 may differ from the paper's, and why."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from gvoys.apps.evaluation.baselines import GRID
from gvoys.graphs.batch import GraphBatch
from gvoys.series import Geometric
from studies.paper.pairs import load_or_none
from studies.paper.paper import ACCURACIES
from studies.paper.result import Plan, Result, Row, shown_scores
from studies.paper.table1 import WALKS, fold_kernels, score_folds, voyager_features

# Draws of the walks, and what differs from Table 1.
_OTHERS: dict[str, tuple[int, dict[str, Any]]] = {
    f"one component of {WALKS} walks": (3, {"n_components": 1, "n_walks": WALKS}),
    "decay 1e-05": (1, {"series": Geometric(1e-5)}),
}


def run(plan: Plan) -> Result:
    """Three things that the paper does not say: how C was chosen, d_G, and the decay."""
    n_folds = 3 if plan.quick else 10
    rows, notes = [], []
    for name in ("MUTAG",) if plan.quick else ("MUTAG", "PTC_MR", "ENZYMES"):
        loaded = load_or_none(name, plan)
        if loaded is None:
            notes.append(f"{name} is skipped: it is not in the folder of datasets.")
            continue
        plan.tell(f"protocol, {name}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of machines stopped early, as in Table 1
            rows += _rows(name, *loaded, n_folds, plan.seed)
    notes.append(
        f"As in Table 1 but for what a row names: {WALKS} components of one walk, decay 1 / d_max^2, C chosen in the "
        f"training folds, mean and deviation over {n_folds} folds. One component of {WALKS} walks describes a graph by "
        "one number; its rows have 3 draws of the walks. C chosen on each test fold is biased by selection."
    )
    return Result("protocol", "Table 1: other protocols", plan.command("protocol"), rows, [], notes)


def _rows(name: str, batch: GraphBatch, y: NDArray[Any], n_folds: int, seed: int) -> list[Row]:
    shown: dict[str, list[str]] = {what: [] for what in ("C chosen on each test fold", *_OTHERS)}
    for labels in (None, "node"):
        folds = fold_kernels(voyager_features(batch, labels, seed), y, n_folds, seed)
        shown["C chosen on each test fold"].append(shown_scores([_best_on_test(*fold) for fold in folds]))
        for what, (n_draws, how) in _OTHERS.items():
            draws = (voyager_features(batch, labels, seed + i, **how) for i in range(n_draws))
            shown[what].append(shown_scores([score for X in draws for score in score_folds(X, y, n_folds, seed)]))
    paper = "{} ± {}, with labels {} ± {}".format(*ACCURACIES[name][1], *ACCURACIES[name][2])
    share = np.unique(y, return_counts=True)[1].max() / len(y)
    rows = [Row(f"{name}: {what}", paper, ", with labels ".join(both)) for what, both in shown.items()]
    return [Row(f"{name}: the most frequent class for all graphs", "", f"{100 * share:.1f}"), *rows]


def _best_on_test(K: Any, new: Any, y: NDArray[Any], truth: NDArray[Any]) -> float:
    return max(SVC(kernel="precomputed", C=C, max_iter=20_000).fit(K, y).score(new, truth) for C in GRID["C"])
