"""The report of an evaluation: one page that needs no other file."""

from __future__ import annotations

import base64
import csv
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.apps.evaluation.evaluate import Evaluation, Prediction
from gvoys.apps.evaluation.folds import Fold
from gvoys.drawing.page import content_policy, describe_machine
from gvoys.drawing.structures import structure_svg
from gvoys.estimators.regressor import TWO_SIDED
from gvoys.io.files import appearing


def summarise(evaluation: Evaluation) -> dict[str, Any]:
    """Return scores by split and fold, and measures and times of each method beside the first one."""
    first, *_ = evaluation.results
    methods = {}
    for name, result in evaluation.results.items():
        measures = {key: _mean_and_deviation(result.values(key)) for key in result.measures[0]}
        methods[name] = {
            "measures": {key: {"mean": mean, "deviation": spread} for key, (mean, spread) in measures.items()},
            "fit_seconds": result.fit_seconds,
            "predict_seconds": result.predict_seconds,
        }
        if name != first:
            difference = evaluation.difference(name)
            methods[name]["difference"] = vars(difference) | {"more_than_noise": not difference.is_noise}
    return {
        "score": evaluation.score,
        "mean": evaluation.mean,
        "deviation": evaluation.deviation,
        "seeds": list(dict.fromkeys(fold.seed for fold in evaluation.folds)),
        "scores": evaluation.scores().tolist(),
        "methods": methods,
    }


def shown_measure(values: NDArray[np.float64]) -> str:
    """Return mean and deviation of a measure over folds, nan where it is not defined, as people read it."""
    mean, deviation = _mean_and_deviation(values)
    return "–" if np.isnan(mean) else f"{mean:.3f} ± {deviation:.3f}"


def _mean_and_deviation(values: Any) -> tuple[float, float]:
    return (float(np.nanmean(values)), float(np.nanstd(values))) if np.isfinite(values).any() else (np.nan, np.nan)


def write_predictions(
    path: Path, evaluation: Evaluation, ids: Sequence[str], smiles: Sequence[str] | None = None
) -> None:
    """Write every prediction with its seed, fold, truth and error; the file appears when it is complete."""
    first, *others = evaluation.results
    about = {"id": ids} | ({"smiles": smiles} if smiles else {})
    names = [*about, "seed", "fold", "truth", "prediction", "error"]
    more = ["deviation", "lower", "upper"]
    if evaluation.classes is not None:
        more = [f"probability {name}" for name in evaluation.classes.tolist()]
    with appearing(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*names, *more, "similarity", *others])
        for number, fold in enumerate(evaluation.folds):
            baseline_values = [evaluation.results[name].predictions[number].values.tolist() for name in others]
            columns = _columns(evaluation, fold, evaluation.results[first].predictions[number])
            report = [[values[graph] for graph in fold.test.tolist()] for values in about.values()]
            table.writerows(zip(*report, *columns, *baseline_values, strict=True))


def _columns(evaluation: Evaluation, fold: Fold, made: Prediction) -> list[list[Any]]:
    """Make the table's columns for the test graphs of one fold."""
    truth, values, count = evaluation.y[fold.test], made.values, len(fold.test)
    if evaluation.classes is None:
        error = values - truth
        half = TWO_SIDED * (np.full(count, np.nan) if made.deviation is None else made.deviation)
        more = [half / TWO_SIDED, values - half, values + half]
    else:
        error = (values != truth).astype(int)
        more = list(np.full((len(evaluation.classes), count), np.nan) if made.scores is None else made.scores.T)
    similarity = np.full(count, np.nan) if made.similarity is None else made.similarity
    rest = [_cells(column) for column in (truth, values, error, *more, similarity)]
    return [[fold.seed] * count, [fold.number] * count, *rest]


def _cells(values: NDArray[Any]) -> list[Any]:
    """List the values of a column; what is not known is empty."""
    return ["" if value != value else value for value in values.tolist()]


_N_WORST = 12  # predictions that are shown with their graphs
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .25rem .8rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
tr.ours { font-weight: 600; }
img { max-width: 30rem; vertical-align: top; }
.worst { display: flex; flex-wrap: wrap; gap: 1rem; }
.worst figure { width: 13rem; margin: 0; font-size: 13px; overflow-wrap: anywhere; }
.worst svg { max-width: 100%; max-height: 10rem; }
.note { color: #666; }
"""


def write_page(
    path: Path,
    title: str,
    evaluation: Evaluation,
    facts: Sequence[str],
    pictures: Mapping[str, Path],
    ids: Sequence[str],
    smiles: Sequence[str] | None,
) -> None:
    """Write the report; the file appears when it is complete."""
    parts = [
        f"<!doctype html><html lang='en'><meta charset='utf-8'>{content_policy()}<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        f"<h1>{escape(title)}</h1>",
        "".join(f"<p>{escape(fact)}</p>" for fact in facts),
        _table(evaluation),
        *(
            f"<img alt='{escape(name)}' title='{escape(name)}' "
            f"src='data:image/png;base64,{base64.b64encode(file.read_bytes()).decode('ascii')}'>"
            for name, file in pictures.items()
        ),
        _worst(evaluation, ids, smiles),
        f"<p class='note'>{escape(', '.join(map(' '.join, describe_machine().items())))}</p></html>",
    ]
    with appearing(path) as partial:
        partial.write_text("\n".join(parts), encoding="utf-8")


def _table(evaluation: Evaluation) -> str:
    """Write methods by measures, with the paired test."""
    first, *_ = evaluation.results
    names = list(evaluation.results[first].measures[0])
    head = "".join(f"<th>{escape(name)}</th>" for name in ["", *names, "gvoys is better by", "p"])
    rows = []
    for method, result in evaluation.results.items():
        cells = [shown_measure(result.values(name)) for name in names]
        if method == first:
            cells += ["", ""]
        else:
            difference = evaluation.difference(method)
            cells += [f"{difference.mean:.3g} ± {difference.error:.2g}", f"{difference.p:.2g}"]
        kind = " class='ours'" if method == first else ""
        rows.append(f"<tr{kind}><td>{escape(method)}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    what = (
        f"Means over folds, ± their deviation. Differences are in {evaluation.score}, with their standard error; p is "
        "that of a paired t-test over folds, corrected for training sets that overlap: below 0.05 a difference is more "
        "than noise."
    )
    return f"<table><tr>{head}</tr>{''.join(rows)}</table><p class='note'>{what}</p>"


def _worst(evaluation: Evaluation, ids: Sequence[str], smiles: Sequence[str] | None) -> str:
    """Show the predictions of the first split that are furthest from the truth."""
    result = next(iter(evaluation.results.values()))
    folds = [number for number, fold in enumerate(evaluation.folds) if fold.seed == evaluation.folds[0].seed]
    rows = np.concatenate([evaluation.folds[number].test for number in folds])
    values = np.concatenate([result.predictions[number].values for number in folds])
    truth = evaluation.y[rows]
    if evaluation.classes is None:
        error = np.abs(values - truth)
    else:
        made = [result.predictions[number] for number in folds]
        sure = [np.ones(len(item.values)) if item.scores is None else item.scores.max(axis=1) for item in made]
        error = np.where(values == truth, 0.0, np.concatenate(sure))  # the probability of a wrong class
    order = [k for k in np.argsort(-error, kind="stable")[:_N_WORST].tolist() if error[k] > 0]
    if not order:
        return ""
    figures = [_figure(ids[rows[k]], truth[k], values[k], None if smiles is None else smiles[rows[k]]) for k in order]
    return f"<h2>Furthest from the truth</h2><div class='worst'>{''.join(figures)}</div>"


def _figure(name: str, truth: Any, value: Any, smiles: str | None) -> str:
    texts = [f"{figure:.4g}" if isinstance(figure, float) else str(figure) for figure in (truth.item(), value.item())]
    text = f"{escape(str(name))}: {escape(texts[0])}, predicted {escape(texts[1])}"
    return f"<figure>{structure_svg(smiles, str(name)) if smiles else ''}<figcaption>{text}</figcaption></figure>"
