"""The card of one explained graph, as HTML, and the words that all cards share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from gvoys.drawing.attribution_drawing import drawing_with_fragments, fragment
from gvoys.drawing.shares import class_name, largest_share, number, signed

_SEQUENCES = 8  # that are shown


@dataclass(frozen=True)
class Prediction:
    """The prediction for one graph, and its uncertainty."""

    value: Any  # the class, or the number
    probability: float | None = None  # probability of the class
    deviation: float | None = None  # standard deviation of the number
    unlike: bool = False  # whether the graph is unlike all training graphs, so that the prediction is a guess

    def said(self, is_class: bool) -> str:
        """The prediction as people read it."""
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
    name, smiles = caption or f"graph {place}", explanation.smiles or ""
    drawing, fragments = drawing_with_fragments(explanation, name, _SEQUENCES)
    about = (
        f'data-order="{place}" data-rank="{rank}" data-name="{escape(name)}" data-smiles="{escape(smiles)}" '
        f'data-scale="{largest_share(explanation):.6g}"'
    )
    return "\n".join(
        [
            f'<article class="card" {about} aria-labelledby="name{place}">',
            f'<h2 id="name{place}">{escape(name)}</h2>',
            f'<p class="smiles">{escape(smiles)}</p>' if smiles else "",
            _prediction(prediction, explanation.of is not None),
            _sum(explanation, words),
            f'<div class="drawing">{drawing}</div>',
            _legend(explanation),
            '<output class="readout"></output>',
            _sequences(explanation, fragments),
            _bars(explanation),
            "</article>",
        ]
    )


def _prediction(prediction: Prediction | None, is_class: bool) -> str:
    if prediction is None:
        return ""
    unlike = '<p class="unlike">unlike all training graphs: a guess</p>' if prediction.unlike else ""
    return f'<p class="prediction">{escape(prediction.said(is_class))}</p>{unlike}'


def _sum(explanation: Any, words: Words) -> str:
    """Baseline and shares, with as many decimals as their sum."""
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


def _bars(explanation: Any) -> str:
    """A bar for each walk length; what iterations add is said where one points at it."""
    lengths = np.asarray(explanation.lengths, np.float64)
    sums = lengths.sum(axis=0)
    most = float(np.abs(sums).max(initial=0.0)) or 1.0
    rows = [_bar(length, float(sums[length]), lengths[:, length].tolist(), most) for length in range(len(sums))]
    return f'<section><h3>Walk lengths</h3><ul class="bars" aria-label="Walk lengths">{"".join(rows)}</ul></section>'


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


def _sequences(explanation: Any, fragments: Sequence[tuple[Any, str]]) -> str:
    if not fragments:
        return ""
    name, rows = "Label sequences", [_sequence(k, explanation, *sequence) for k, sequence in enumerate(fragments)]
    return f'<section><h3>{name}</h3><ul class="sequences" aria-label="{name}">{"".join(rows)}</ul></section>'


def _sequence(place: int, explanation: Any, sequence: Any, svg: str) -> str:
    """A fragment of the drawing with its labels and its share, and of how many walks it is one."""
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
