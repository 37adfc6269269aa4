"""What each part of the default classifier adds: accuracy in ten-fold cross-validation, the same folds for all."""

import warnings
from dataclasses import replace

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import StratifiedKFold

import gvoys as gv
from gvoys.errors import DatasetError, InputWarning

DATASETS = ("MUTAG", "PTC_MR", "ENZYMES", "PROTEINS")
N_SEEDS = 3
_ENDS = {"start": "ones", "stop": "ones"}
_WALK = gv.Walk(refine="auto", backtrack="auto", **_ENDS)
PARTS = {
    "node labels, linear": {"walk": _WALK.set_params(max_length=0, refine=0), "kernel": "linear"},
    "+ walks": {"walk": _WALK.set_params(refine=0), "kernel": "linear"},
    "labels + Weisfeiler–Lehman": {"walk": _WALK.set_params(max_length=0, refine=3), "kernel": "linear"},
    "+ walks and refinement": {"walk": _WALK.set_params(refine=3), "kernel": "linear"},
    "Weisfeiler–Lehman, Matérn 1/2": {"walk": _WALK.set_params(max_length=0, refine=3), "kernel": "matern12"},
    "+ walks, Matérn 1/2": {"walk": _WALK.set_params(refine=3), "kernel": "matern12"},
    "all chosen inside": {"walk": _WALK},
    "default, with attributes": {},
}
_RETURNING = _WALK.set_params(attribute_bandwidth="auto")
UNLABELLED = {
    "degrees": {"walk": _RETURNING.set_params(structure="degree")},
    "degrees and core numbers": {"walk": _RETURNING.set_params(structure="core")},
}


def run(console: Console) -> None:
    """With labels, then without."""
    for title, parts, strip in (("with labels", PARTS, False), ("labels taken away", UNLABELLED, True)):
        table = Table("", *DATASETS, title=f"{title}: ten folds, {N_SEEDS} seeds, ± over folds by their root")
        found = {name: _scores(name, parts, strip, console) for name in DATASETS}
        for part in parts:
            cells = [_cell(found[name], part) for name in DATASETS]
            table.add_row(part, *cells)
        console.print(table)


def _cell(found: dict[str, np.ndarray], part: str) -> str:
    if part not in found:
        return ""
    scores = 100 * found[part]
    return f"{scores.mean():.1f} ± {scores.std(ddof=1) / np.sqrt(len(scores)):.1f}"


def _scores(name: str, parts: dict[str, dict], strip: bool, console: Console) -> dict[str, np.ndarray]:
    try:
        batch, y = gv.datasets.load_tu(name)
    except DatasetError as error:
        console.print(f"{name} is left out: {error}", markup=False)
        return {}
    if strip:
        batch = replace(batch, node_labels=None, edge_labels=None, node_attributes=None)
    splits = [
        split for seed in range(N_SEEDS) for split in StratifiedKFold(10, shuffle=True, random_state=seed).split(y, y)
    ]
    found = {}
    for part, options in parts.items():
        with console.status(f"{name}, {part} …"), warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            model = gv.RandomWalkClassifier(**options)
            scores = [model.fit(batch[known], y[known]).score(batch[test], y[test]) for known, test in splits]
        found[part] = np.array(scores)
    return found
