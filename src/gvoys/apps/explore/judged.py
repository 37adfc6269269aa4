"""A model's view of the graphs on a page: predictions, errors, intervals and explanations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.apps.explore.collection import Collection, Property, as_property
from gvoys.drawing.page import class_name
from gvoys.drawing.structures import LARGEST
from gvoys.errors import InputWarning, ModelError, UnsupportedError

_AT_ONCE = 200  # graphs between two progress reports
_SAME = 1.0 - 1e-9  # similarity of a graph that the model was fitted on
_FITTED_SHARE = 0.05  # of the graphs, above which the page says that the model was fitted on them

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Shares:
    """Shares of the nodes in the predictions, for the graphs that are drawn."""

    values: NDArray[np.int8]  # shares as parts of the largest of their graph, from -127 to 127
    scales: NDArray[np.float32]  # the largest share of each graph, whatever its sign
    of: list[str] | None  # the class that shares speak for; None for numbers


@dataclass(frozen=True)
class Judged:
    """Predictions of a model, with their properties and notes."""

    properties: dict[str, Property]  # predictions and errors, to colour points by
    facts: dict[str, list[str]] = field(default_factory=dict)  # what is said of each graph in words
    errors: Array | None = None  # how far off each prediction is, nan if unknown; None without a target
    measure: str = ""  # what the errors are
    note: str = ""  # what to know before trusting them
    shares: Shares | None = None  # the explanations; None if the model cannot give them


def judge(model: Any, collection: Collection, on_progress: Callable[[str], None]) -> Judged:
    """Predict every graph of a collection, compare with its target, and explain."""
    if not hasattr(model, "predict_table"):
        raise ModelError(
            f"model must be a fitted RandomWalkClassifier or RandomWalkRegressor, not {type(model).__name__}"
        )
    on_progress(f"predicting {len(collection.batch):,} graphs")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # the column "unlike" says it of each graph
        table = model.predict_table(collection.batch)
        if "prediction" not in table:
            raise ModelError("the explorer shows models of one target; fit one for each target")
        shares = _explain(model, collection, on_progress)
    target = None if collection.target is None else collection.properties[collection.target]
    judged = _classes(table, target) if hasattr(model, "classes_") else _numbers(table, target)
    likeness = {"like training graphs": as_property(np.where(table["unlike"], "no", "yes"))}
    if "similarity" in table:
        likeness["similarity to training"] = Property(np.asarray(table["similarity"], np.float64))
    properties = judged.properties | {name: property_ for name, property_ in likeness.items() if property_ is not None}
    facts, sentences = judged.facts, []
    if "nearest" in table:
        ids = (getattr(model, "training_", None) or {}).get("ids")
        names = [ids[row] if ids else f"graph {row}" for row in table["nearest"].tolist()]
        pairs = zip(names, table["similarity"], strict=True)
        facts = facts | {"nearest training graph": [f"{name}, similarity {value:.3f}" for name, value in pairs]}
    fitted = float(np.mean(table["similarity"] >= _SAME)) if "similarity" in table and len(table["similarity"]) else 0.0
    if fitted > _FITTED_SHARE:
        sentences.append(
            f"{100 * fitted:.0f} % of these graphs are among the training graphs, or cannot be told from one: "
            "errors on them say nothing about new graphs."
        )
    if shares is None:
        sentences.append("This model cannot explain its predictions.")
    return Judged(properties, facts, judged.errors, judged.measure, " ".join(sentences), shares)


def _numbers(table: Mapping[str, Array], target: Property | None) -> Judged:
    """Describe the predictions of a regressor."""
    properties = {"prediction": Property(table["prediction"]), "standard deviation": Property(table["deviation"])}
    ends = zip(table["lower"], table["upper"], strict=True)
    facts = {"95 % interval": [f"{low:.4g} to {high:.4g}".replace("-", "−") for low, high in ends]}
    true = None if target is None else target.numbers()
    if true is None:
        return Judged(properties, facts)
    error = table["prediction"] - true
    inside = np.where((true >= table["lower"]) & (true <= table["upper"]), "inside", "outside")
    covered = as_property(np.where(np.isnan(true), "", inside))
    properties |= {"error": Property(error, both_ways=True)} | ({} if covered is None else {"in the interval": covered})
    return Judged(properties, facts, np.abs(error), "absolute error")


def _classes(table: Mapping[str, Any], target: Property | None) -> Judged:
    """Describe the predictions of a classifier."""
    predicted = [_name(item) for item in table["prediction"].tolist()]
    prediction = as_property(predicted)
    properties = {} if prediction is None else {"prediction": prediction}
    keys = [key for key in table if key.startswith("probability ")]
    known = {_name(key.removeprefix("probability ")): table[key] for key in keys}
    if known:
        sure = np.array([known[name][row] for row, name in enumerate(predicted)])
        properties["probability of the prediction"] = Property(sure)
    true = None if target is None else target.names()
    if true is None:
        return Judged(properties)
    right = np.array([one == other for one, other in zip(predicted, true, strict=True)])
    outcome = as_property([f"{name}, {'right' if good else 'wrong'}" for name, good in zip(true, right, strict=True)])
    properties |= {} if outcome is None else {"outcome": outcome}
    if not known:
        return Judged(properties, errors=1.0 - right, measure="wrong")
    of_true = [known[name][row] if name in known else np.nan for row, name in enumerate(true)]
    return Judged(properties, errors=1.0 - np.array(of_true), measure="probability of another class")


def _name(value: Any) -> str:
    """Name a class as `as_property` does."""
    if isinstance(value, bool):
        return str(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return f"{number:.0f}" if number == np.round(number) else str(value)


def _explain(model: Any, collection: Collection, on_progress: Callable[[str], None]) -> Shares | None:
    drawn = np.flatnonzero(collection.batch.graph_sizes <= LARGEST)
    scales, values, of = np.zeros(len(collection.batch), np.float32), [], [""] * len(collection.batch)
    numbers = False
    for first in range(0, len(drawn), _AT_ONCE):
        on_progress(f"explaining graph {first:,} of {len(drawn):,}")
        block = drawn[first : first + _AT_ONCE]
        try:
            explanations = model.explain(collection.batch[block], n_sequences=0)
        except UnsupportedError:
            return None
        for row, explanation in zip(block.tolist(), explanations, strict=True):
            scales[row] = scale = float(np.abs(explanation.nodes).max(initial=0.0))
            values.append(np.rint(127.0 * explanation.nodes / (scale or 1.0)).astype(np.int8))
            numbers, of[row] = explanation.of is None, "" if explanation.of is None else class_name(explanation.of)
    return Shares(np.concatenate(values or [np.empty(0, np.int8)]), scales, None if numbers else of)
