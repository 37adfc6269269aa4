"""A page that shows why predictions are what they are: one file that needs no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from os import PathLike
from string import Template
from typing import Any

from gvoys.apps.explain.cards import Prediction, Words, card
from gvoys.drawing.page import BASE_STYLE, content_policy, read_asset, share_colours
from gvoys.drawing.picture import known_molecule
from gvoys.errors import ParameterError
from gvoys.io.files import appearing, as_path, check_output

MOST = 500  # graphs on a page, which browsers still show quickly


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
    words = _words(shown)
    ranks = _ranks(shown)
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
    if not 1 <= n_graphs <= MOST:
        raise ParameterError(f"n_graphs must lie between 1 and {MOST}, not {n_graphs}")
    for name, values in given.items():
        if values is not None and len(values) != len(explanations):
            raise ParameterError(
                f"{name} must have one value for each of {len(explanations)} graphs, not {len(values)}"
            )


def _words(explanations: Sequence[Any]) -> Words:
    noun = (
        "atoms"
        if all(known_molecule(explanation.smiles, explanation.graph) for explanation in explanations)
        else "nodes"
    )
    return Words(noun, list(dict.fromkeys(explanation.of for explanation in explanations)))


def _ranks(explanations: Sequence[Any]) -> list[int]:
    """Place of each graph by its prediction: classes together, and the largest first."""
    order = sorted(range(len(explanations)), key=lambda k: (str(explanations[k].of), -explanations[k].decision))
    ranks = {index: rank for rank, index in enumerate(order)}
    return [ranks[index] for index in range(len(order))]


def _asset(name: str) -> str:
    return read_asset("gvoys.apps.explain", name)
