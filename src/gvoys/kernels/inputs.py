"""Graphs beside those that were fitted: what they must have, and what is likely to be a mistake."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from gvoys.errors import InputWarning, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import hash_label
from gvoys.walks.walk import Walk

_TRIED = 100  # unseen labels that are looked for in another spelling
_LONGEST = 60  # characters of a label in a message
_INSIDE = ("gvoys", "sklearn", "joblib")


def warn_user(message: str) -> None:
    """Warn at the line that called us, whether through scikit-learn or not."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, InputWarning, stacklevel=level)


def unused_attributes(learner: Any, batch: GraphBatch) -> list[str]:
    """Return the kinds of attributes, "node" and "edge", that graphs have and that a learner never uses."""
    kinds = ("edge",) if is_classifier(learner) else ("node", "edge")
    return [kind for kind in kinds if getattr(batch, f"{kind}_attributes") is not None]


def warn_of_unused(learner: Any, batch: GraphBatch) -> None:
    """Warn of attributes that graphs have and that a learner never uses."""
    unused = unused_attributes(learner, batch)
    if unused:
        name = type(learner).__name__
        remedy = "RandomWalkKernel uses them, with a bandwidth for each"
        warn_user(f"{' and '.join(unused)} attributes are not used by {name}; {remedy}")


def check_walk_of_learner(walk: Walk, *without: str) -> Walk:
    """Check that a learner can use a walk: without some fields, and with start and stop weights that have a name."""
    for name in without:
        if getattr(walk, name) is not None:
            kind = "edge attributes" if name.startswith("edge") else "node attributes"
            raise UnsupportedError(f"this learner cannot use {kind}; pass {name}=None")
    for name in ("start", "stop"):
        if not isinstance(getattr(walk, name), str):
            raise UnsupportedError(f'learners cannot use arrays for {name}; pass "uniform" or "ones"')
    return walk


def missing_labels(batch: GraphBatch, node: bool, edge: bool) -> str | None:
    """The first kind of labels, "node" or "edge", that is used and that graphs lack where they have something to label.

    None where nothing is missing.
    """
    for kind, used, stored in (("node", node, batch.n_nodes), ("edge", edge, batch.n_entries)):
        if used and stored and getattr(batch, f"{kind}_labels") is None:
            return kind
    return None


def check_has_labels(batch: GraphBatch, node: bool, edge: bool) -> None:
    """Graphs must have the kinds of labels that are compared."""
    kind = missing_labels(batch, node, edge)
    if kind is not None:
        raise UnsupportedError(
            f"the fitted graphs had {kind} labels and these have none; add them, or fit without {kind} labels"
        )


def unseen_nodes(batch: GraphBatch, seen: NDArray[np.uint64]) -> NDArray[np.bool_] | None:
    """Whether the hash of each node's label is not among the `seen` ones; None where no label of the table is new."""
    labels = batch.node_labels
    new = None if labels is None else ~np.isin(labels.hashes, seen)
    return None if labels is None or new is None or not new.any() else new[labels.codes]


def describe_unseen(batch: GraphBatch, seen: NDArray[np.uint64]) -> str | None:
    """A sentence on the node labels whose hash is not among the `seen` ones, where there are any."""
    labels, nodes = batch.node_labels, unseen_nodes(batch, seen)
    if labels is None or nodes is None or not nodes.any():
        return None
    counts = np.bincount(labels.codes[nodes], minlength=len(labels.hashes))
    n_graphs = len(np.unique(batch.node_graphs()[nodes]))
    has = "has" if n_graphs == 1 else "have"
    common = _shown(labels.values[int(counts.argmax())])
    return (
        f"{n_graphs:,} of {len(batch):,} graphs {has} node labels that no fitted graph has "
        f"({_percent(nodes.mean())} of nodes), such as {common}"
        + _other_type((labels.values[int(code)] for code in np.flatnonzero(counts)[:_TRIED]), seen)
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.001 else "under 0.1 %"


def _shown(label: Any) -> str:
    text = repr(label)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _other_type(labels: Iterable[Any], seen: NDArray[np.uint64]) -> str:
    """Say what to do where labels were fitted as another type, as in '1' and 1."""
    for label in labels:
        for other in _spellings(label):
            if np.isin(np.uint64(hash_label(other)), seen):
                these, fitted = (f"{_kind(item)} such as {_shown(item)}" for item in (label, other))
                return f"; labels are {these}, fitted ones {fitted}: convert them"
    return ""


def _kind(label: Any) -> str:
    return "strings" if isinstance(label, str) else "numbers"


def _spellings(label: Any) -> Iterator[Any]:
    """The same number as another type, or written differently."""
    number = _number(label)
    if number is None:
        return
    whole = number == int(number)
    texts = [str(label), str(number), *([str(int(number)), f"{int(number)}.0"] if whole else [])]
    if isinstance(label, str):
        yield number
    yield from (text for text in texts if text != label)


def _number(label: Any) -> float | int | None:
    try:
        number = label.item() if isinstance(label, np.generic) else label
        if isinstance(number, str):
            number = int(number) if number.strip().lstrip("+-").isdecimal() else float(number)
        return number if isinstance(number, (int, float)) and math.isfinite(number) else None
    except (ValueError, OverflowError):
        return None


_SHARE = 0.01  # of graphs like the fitted ones that are taken for unlike, at most
_SAME = 1e-6  # what rounding may take from the cosine of equal graphs
_ROWS = 256  # graphs that are compared with all others at once


def similarity_floor(inner: NDArray[np.float64], some: NDArray[np.int64] | None = None) -> float | None:
    """Return the similarity to the nearest fitted graph below which at most about 1 % of new graphs fall.

    It is the 1st percentile, over the fitted graphs, of the largest cosine with another fitted graph. If a new graph
    is drawn as they were, the k-th smallest of n such cosines is above its own with probability k / (n + 1) at most.
    Copies of a graph are left aside: in a collection in which every graph is there twice, only copies would be like it.
    """
    if some is None:
        sizes, some = np.sqrt(inner.diagonal()), np.arange(len(inner))
        scales = np.where(sizes > 0, 1.0 / np.where(sizes > 0, sizes, 1.0), 0.0)
    else:
        scales = np.ones(inner.shape[1])
    nearest = np.empty(len(inner))
    for first in range(0, len(inner), _ROWS):
        rows = slice(first, first + _ROWS)
        cosines = inner[rows] * scales[some[rows], None] * scales
        cosines[cosines > 1.0 - _SAME] = -np.inf  # copies
        cosines[np.arange(len(cosines)), some[rows]] = -np.inf
        nearest[rows] = cosines.max(axis=1, initial=-np.inf)
    known = np.sort(nearest[nearest > -np.inf])
    return float(known[max(int(_SHARE * (len(known) + 1)) - 1, 0)]) if len(known) else None


def find_unlike(
    unseen: NDArray[np.float64], similarity: NDArray[np.float64] | None, floor: float | None
) -> NDArray[np.bool_]:
    """Whether each graph is unlike all fitted ones: it has labels that they lack, or is less similar than the floor."""
    if similarity is None or floor is None:
        return unseen > 0
    return (unseen > 0) | (similarity < floor - _SAME)
