"""A page that shows why predictions are what they are: one file that needs no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from os import PathLike
from string import Template
from typing import Any

import numpy as np

from gvoys.drawing.attribution_drawing import drawing_with_fragments, fragment
from gvoys.drawing.page import (
    BASE_STYLE,
    class_name,
    content_policy,
    largest_share,
    number,
    read_asset,
    share_colours,
    signed,
)
from gvoys.drawing.picture import known_molecule
from gvoys.errors import ParameterError
from gvoys.io.files import appearing, as_path, check_output

_SEQUENCES = 8  # that are shown


@dataclass(frozen=True)
class Prediction:
    """The prediction for one graph, and its uncertainty."""

    value: Any  # the class, or the number
    probability: float | None = None  # probability of the class
    deviation: float | None = None  # standard deviation of the number
    unlike: bool = False  # whether the graph is unlike all training graphs, so that the prediction is a guess

    def said(self, is_class: bool) -> str:
        """Write the prediction as people read it."""
        if is_class:
            sure = "" if self.probability is None else f", probability {self.probability:.2f}"
            return class_name(self.value) + sure
        value, deviation = float(self.value), self.deviation
        if deviation is None or not deviation > 0:
            return number(value)
        decimals = max(1 - int(np.floor(np.log10(deviation))), 0)
        return f"{value:,.{decimals}f} ± {deviation:,.{decimals}f}".replace("-", "−")


@dataclass(frozen=True)
class Words:
    """Words for shares on a page."""

    noun: str  # what has shares
    classes: list[Any]  # the classes that decisions are for; [None] for numbers

    def lead(self) -> list[str]:
        """Return the sentences that introduce the page."""
        if self.classes == [None]:
            push = f"Blue {self.noun} raise the prediction, orange ones lower it."
        elif len(self.classes) == 1:
            push = f"Blue {self.noun} push towards {class_name(self.classes[0])}, orange ones away from it."
        else:
            push = f"Blue {self.noun} push towards the class that is predicted, orange ones away from it."
        total = "prediction" if self.classes == [None] else "decision"
        return [
            push,
            f"baseline + sum of {self.noun} = {total}. The baseline is the {total} for a graph without walks.",
        ]


def card(place: int, explanation: Any, caption: str, prediction: Prediction | None, words: Words, rank: int) -> str:
    """Write one explained graph as HTML; `rank` is its place when sorted by prediction."""
    name, smiles, is_class = caption or f"graph {place}", explanation.smiles or "", explanation.of is not None
    unlike = '<p class="unlike">unlike all training graphs: a guess</p>' if prediction and prediction.unlike else ""
    drawing, fragments = drawing_with_fragments(explanation, name, _SEQUENCES)
    sequences = [_sequence(k, explanation, *item) for k, item in enumerate(fragments)]
    lengths = np.asarray(explanation.lengths, np.float64)
    sums = lengths.sum(axis=0)
    most = float(np.abs(sums).max(initial=0.0)) or 1.0
    bars = [_bar(length, float(sums[length]), lengths[:, length].tolist(), most) for length in range(len(sums))]
    about = (
        f'data-order="{place}" data-rank="{rank}" data-name="{escape(name)}" data-smiles="{escape(smiles)}" '
        f'data-scale="{largest_share(explanation):.6g}"'
    )
    return "\n".join(
        [
            f'<article class="card" {about} aria-labelledby="name{place}">',
            f'<h2 id="name{place}">{escape(name)}</h2>',
            f'<p class="smiles">{escape(smiles)}</p>' if smiles else "",
            f'<p class="prediction">{escape(prediction.said(is_class))}</p>{unlike}' if prediction else "",
            _sum(explanation, words),
            f'<div class="drawing">{drawing}</div>',
            _legend(explanation),
            '<output class="readout"></output>',
            _list("Label sequences", "sequences", sequences) if sequences else "",
            _list("Walk lengths", "bars", bars),
            "</article>",
        ]
    )


def _sum(explanation: Any, words: Words) -> str:
    """Write baseline and shares, with as many decimals as their sum."""
    values = [explanation.baseline, float(np.sum(explanation.nodes)), explanation.decision]
    size = int(np.floor(np.log10(max(*map(abs, values), 1e-9))))
    decimals = max(3 - size if size >= 0 else 2 - size, 0)
    baseline, nodes, total = (f"{value:,.{decimals}f}".replace("-", "−") for value in values)
    what = "prediction" if explanation.of is None else f"decision for {class_name(explanation.of)}"
    terms = ((baseline, "baseline", ""), (nodes, f"sum of {words.noun}", "+"), (total, what, "="))
    parts = [f"{joint} <span><b>{value}</b> {escape(name)}</span>" for value, name, joint in terms]
    return f'<p class="sum">{" ".join(parts)}</p>'


def _legend(explanation: Any) -> str:
    """Explain the colours; the script changes the numbers with the scale."""
    scale = largest_share(explanation)
    if explanation.of is None:
        ends = ("lower", "higher")
    else:
        ends = (f"away from {class_name(explanation.of)}", f"towards {class_name(explanation.of)}")
    return (
        '<div class="legend"><div class="ramp" aria-hidden="true"></div>'
        f'<span><b class="low">{signed(-scale)}</b> {escape(ends[0])}</span> <span class="middle">0</span> '
        f'<span>{escape(ends[1])} <b class="high">{signed(scale)}</b></span></div>'
    )


def _list(name: str, kind: str, rows: list[str]) -> str:
    return f'<section><h3>{name}</h3><ul class="{kind}" aria-label="{name}">{"".join(rows)}</ul></section>'


def _bar(length: int, total: float, iterations: Sequence[float], most: float) -> str:
    text = f"Walks of length {length}: {signed(total)}"
    if len(iterations) > 1:
        text += f"; iterations 0 to {len(iterations) - 1}: {', '.join(map(signed, iterations))}"
    width, side = 50.0 * abs(total) / most, "right: 50%" if total < 0 else "left: 50%"
    return (
        f'<li data-said="{text}" tabindex="{0 if length == 0 else -1}" aria-label="{text}">'
        f'<span class="length">{length}</span><span class="track"><i class="{"away" if total < 0 else "towards"}" '
        f'style="{side}; width: {width:.2f}%"></i></span><span class="value">{signed(total)}</span></li>'
    )


def _sequence(place: int, explanation: Any, sequence: Any, svg: str) -> str:
    """Write a fragment of the drawing with its labels, its share and its number of walks."""
    nodes, edges = (" ".join(map(str, numbers)) for numbers in fragment(explanation, sequence))
    share = signed(float(sequence.share))
    notes = [sequence.note] * bool(sequence.note) + [f"one of {sequence.count:.3g} walks"] * (sequence.count > 1)
    note = ", ".join(notes)
    text = escape(f"{sequence.spelled}: {share} ({note})" if note else f"{sequence.spelled}: {share}")
    return (
        f'<li data-nodes="{nodes}" data-edges="{edges}" data-said="{text}" tabindex="{0 if place == 0 else -1}" '
        f'aria-label="{text}">{svg}<span class="spelled">{escape(sequence.spelled)}</span>'
        f'<small>{note}</small><span class="value">{share}</span></li>'
    )


MOST_GRAPHS = 500  # graphs on a page, which browsers still show quickly


def write_page(
    path: str | PathLike[str],
    title: str,
    facts: Sequence[str],
    explanations: Sequence[Any],
    captions: Sequence[str],
    predictions: Sequence[Prediction] | None = None,
    *,
    smiles: Sequence[str] | None = None,
    n_graphs: int = 200,
) -> None:
    """Write a page of explained graphs to a file that opens in any browser, without a network.

    Parameters
    ----------
    path : str or path-like
        The .html file to write; it appears when it is complete.
    title : str
        Title of the page.
    facts : sequence of str
        Sentences on the model and the graphs.
    explanations : sequence of Explanation
        What `explain` returned.
    captions : sequence of str
        The id or name of each graph.
    predictions : sequence of Prediction or None, default=None
        What is predicted for each; None shows the decisions of the explanations alone.
    smiles : sequence of str or None, default=None
        SMILES that the graphs were read from, by which they are drawn; None takes those of the explanations.
    n_graphs : int, default=200
        The most graphs on the page, up to 500. Of more the first ones are shown, and the page says so.

    Raises
    ------
    ParameterError
        If there are no graphs, or not as many captions as graphs, or `n_graphs` is out of range.
    """
    path = as_path(path)
    check_output(path)
    _check(explanations, n_graphs, {"captions": captions, "predictions": predictions, "smiles": smiles})
    if smiles is not None:
        explanations = [replace(item, smiles=text) for item, text in zip(explanations, smiles, strict=True)]
    shown = explanations[:n_graphs]
    are_molecules = all(known_molecule(explanation.smiles, explanation.graph) for explanation in shown)
    words = Words("atoms" if are_molecules else "nodes", list(dict.fromkeys(explanation.of for explanation in shown)))
    order = sorted(range(len(shown)), key=lambda k: (str(shown[k].of), -shown[k].decision))
    ranks = {index: rank for rank, index in enumerate(order)}  # by prediction: classes together, the largest first
    cards = [
        card(number, item, captions[number], None if predictions is None else predictions[number], words, ranks[number])
        for number, item in enumerate(shown)
    ]
    if len(explanations) > n_graphs:
        facts = [*facts, f"The page shows the first {n_graphs:,} of {len(explanations):,} graphs."]
    page = Template(_asset("page.html")).substitute(
        policy=content_policy(_asset("page.js")),
        title=escape(title),
        style=BASE_STYLE + _asset("style.css"),
        light=share_colours("light"),
        dark=share_colours("dark"),
        lead="".join(f"<p>{escape(sentence)}</p>" for sentence in words.lead()),
        facts="".join(f"<p>{escape(fact)}</p>" for fact in facts),
        cards="\n".join(cards),
        noun=words.noun[:-1],
        parts="an atom, a bond" if words.noun == "atoms" else "a node, an edge",
        script=_asset("page.js"),
    )
    with appearing(path) as partial:
        partial.write_text(page, encoding="utf-8", errors="replace")


def _check(explanations: Sequence[Any], n_graphs: int, given: dict[str, Sequence[Any] | None]) -> None:
    if not len(explanations):
        raise ParameterError("there are no explanations to show; give those of one graph at least")
    if not 1 <= n_graphs <= MOST_GRAPHS:
        raise ParameterError(f"n_graphs must lie between 1 and {MOST_GRAPHS}, not {n_graphs}")
    for name, values in given.items():
        if values is not None and len(values) != len(explanations):
            raise ParameterError(
                f"{name} must have one value for each of {len(explanations)} graphs, not {len(values)}"
            )


def _asset(name: str) -> str:
    return read_asset("gvoys.apps.explain", name)
