"""An evaluation as a table with one row for each prediction, and as a summary for machines."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.estimators.regressor import TWO_SIDED
from gvoys.evaluation.folds import Fold
from gvoys.evaluation.methods import Prediction
from gvoys.evaluation.run import Evaluation
from gvoys.io.files import appearing


def summarise(found: Evaluation) -> dict[str, Any]:
    """Return scores by split and fold, and measures and times of each method beside the first one."""
    first, *_ = found.results
    methods = {}
    for name, result in found.results.items():
        values = {measure: result.values(measure) for measure in result.measures[0]}
        methods[name] = {
            "measures": {
                key: {"mean": _mean(values_by_fold), "deviation": _deviation(values_by_fold)}
                for key, values_by_fold in values.items()
            },
            "fit_seconds": result.fit_seconds,
            "predict_seconds": result.predict_seconds,
        }
        if name != first:
            difference = found.difference(name)
            methods[name]["difference"] = vars(difference) | {"more_than_noise": not difference.is_noise}
    return {
        "score": found.score,
        "mean": found.mean,
        "deviation": found.deviation,
        "seeds": list(dict.fromkeys(fold.seed for fold in found.folds)),
        "scores": found.scores().tolist(),
        "methods": methods,
    }


def shown_measure(values: NDArray[np.float64]) -> str:
    """Return mean and deviation of a measure over folds, nan where it is not defined, as people read it."""
    return f"{_mean(values):.3f} ± {_deviation(values):.3f}" if np.isfinite(values).any() else "–"


def _mean(values: Any) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan


def _deviation(values: Any) -> float:
    return float(np.nanstd(values)) if np.isfinite(values).any() else np.nan


def write_predictions(path: Path, found: Evaluation, ids: Sequence[str], smiles: Sequence[str] | None = None) -> None:
    """Write every prediction with its seed, fold, truth and error; the file appears when it is complete."""
    first, *others = found.results
    about = {"id": ids} | ({"smiles": smiles} if smiles else {})
    names = [*about, "seed", "fold", "truth", "prediction", "error"]
    more = _more_names(found)
    with appearing(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*names, *more, "similarity", *others])
        for number, fold in enumerate(found.folds):
            baseline_values = [found.results[name].predictions[number].values.tolist() for name in others]
            columns = _columns(found, fold, found.results[first].predictions[number])
            report = [[values[graph] for graph in fold.test.tolist()] for values in about.values()]
            table.writerows(zip(*report, *columns, *baseline_values, strict=True))


def _more_names(found: Evaluation) -> list[str]:
    if found.classes is None:
        return ["deviation", "lower", "upper"]
    return [f"probability {name}" for name in found.classes.tolist()]


def _columns(found: Evaluation, fold: Fold, made: Prediction) -> list[list[Any]]:
    """Make the table's columns for the test graphs of one fold."""
    truth, values, count = found.y[fold.test], made.values, len(fold.test)
    if found.classes is None:
        error = values - truth
        half = TWO_SIDED * (np.full(count, np.nan) if made.deviation is None else made.deviation)
        more = [half / TWO_SIDED, values - half, values + half]
    else:
        error = (values != truth).astype(int)
        more = list(np.full((len(found.classes), count), np.nan) if made.scores is None else made.scores.T)
    similarity = np.full(count, np.nan) if made.similarity is None else made.similarity
    rest = [_cells(column) for column in (truth, values, error, *more, similarity)]
    return [[fold.seed] * count, [fold.number] * count, *rest]


def _cells(values: NDArray[Any]) -> list[Any]:
    """Values of a column; what is not known is empty."""
    return ["" if value != value else value for value in values.tolist()]
