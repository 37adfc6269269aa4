"""The report of an evaluation: one page that needs no other file."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from gvoys.evaluation.run import Evaluation
from gvoys.evaluation.tables import shown_measure
from gvoys.io.files import appearing
from gvoys.report.machine import describe_machine
from gvoys.report.page import content_policy
from gvoys.report.structures import structure_svg

_WORST = 12  # predictions that are shown with their graphs
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
    found: Evaluation,
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
        _table(found),
        "".join(_picture(name, file) for name, file in pictures.items()),
        _worst(found, ids, smiles),
        f"<p class='note'>{escape(', '.join(map(' '.join, describe_machine().items())))}</p></html>",
    ]
    with appearing(path) as partial:
        partial.write_text("\n".join(parts), encoding="utf-8")


def _table(found: Evaluation) -> str:
    """Methods by measures, with the paired test."""
    first, *_ = found.results
    names = list(found.results[first].measures[0])
    head = "".join(f"<th>{escape(name)}</th>" for name in ["", *names, "gvoys is better by", "p"])
    rows = []
    for method, result in found.results.items():
        cells = [shown_measure(result.values(name)) for name in names]
        if method == first:
            cells += ["", ""]
        else:
            difference = found.difference(method)
            cells += [f"{difference.mean:.3g} ± {difference.error:.2g}", f"{difference.p:.2g}"]
        kind = " class='ours'" if method == first else ""
        rows.append(f"<tr{kind}><td>{escape(method)}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    what = (
        f"Means over folds, ± their deviation. Differences are in {found.score}, with their standard error; p is that "
        "of a paired t-test over folds, corrected for training sets that overlap: below 0.05 a difference is more than "
        "noise."
    )
    return f"<table><tr>{head}</tr>{''.join(rows)}</table><p class='note'>{what}</p>"


def _picture(name: str, file: Path) -> str:
    content = base64.b64encode(file.read_bytes()).decode("ascii")
    return f"<img alt='{escape(name)}' title='{escape(name)}' src='data:image/png;base64,{content}'>"


def _worst(found: Evaluation, ids: Sequence[str], smiles: Sequence[str] | None) -> str:
    """The predictions of the first split that are furthest from the truth."""
    result = next(iter(found.results.values()))
    folds = [number for number, fold in enumerate(found.folds) if fold.seed == found.folds[0].seed]
    rows = np.concatenate([found.folds[number].test for number in folds])
    values = np.concatenate([result.predictions[number].values for number in folds])
    truth = found.y[rows]
    if found.classes is None:
        error = np.abs(values - truth)
    else:
        error = np.concatenate([_doubt(found, number, result.predictions[number]) for number in folds])
    order = [k for k in np.argsort(-error, kind="stable")[:_WORST].tolist() if error[k] > 0]
    if not order:
        return ""
    figures = [_figure(ids[rows[k]], truth[k], values[k], None if smiles is None else smiles[rows[k]]) for k in order]
    return f"<h2>Furthest from the truth</h2><div class='worst'>{''.join(figures)}</div>"


def _doubt(found: Evaluation, place: int, made: Any) -> Any:
    """Return the probability of a wrong class; 0 where the class is right."""
    truth = found.y[found.folds[place].test]
    sure = np.ones(len(truth)) if made.scores is None else made.scores.max(axis=1)
    return np.where(made.values == truth, 0.0, sure)


def _figure(name: str, truth: Any, value: Any, smiles: str | None) -> str:
    texts = [f"{figure:.4g}" if isinstance(figure, float) else str(figure) for figure in (truth.item(), value.item())]
    text = f"{escape(str(name))}: {escape(texts[0])}, predicted {escape(texts[1])}"
    return f"<figure>{structure_svg(smiles, str(name)) if smiles else ''}<figcaption>{text}</figcaption></figure>"
