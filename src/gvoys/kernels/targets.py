"""Targets and weights of the graphs to learn from: read, checked, and what is odd about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from gvoys.errors import ParameterError
from gvoys.graphs.check import as_array
from gvoys.kernels.inputs import warn_user

_ABSURD = 100.0  # deviations from the median
_SHOWN = 5  # classes that a message names


@dataclass(frozen=True)
class Targets:
    """The class of each graph, as a code, and its weight."""

    codes: NDArray[np.int64]  # places among the classes
    weights: NDArray[np.float64] | None = None  # positive numbers; None means that all are one

    def take(self, graphs: Any) -> Targets:
        """Take the targets of some graphs."""
        return Targets(self.codes[graphs], None if self.weights is None else self.weights[graphs])

    def graph_weights(self, class_weight: Any) -> NDArray[np.float64]:
        """Weight of each graph, with that of its class: a dictionary by codes, "balanced" or None."""
        weights = np.ones(len(self.codes)) if self.weights is None else self.weights
        if class_weight is None:
            return weights
        if isinstance(class_weight, str):
            totals = np.bincount(self.codes, weights)
            shares = weights.sum() / (np.count_nonzero(totals) * np.where(totals > 0, totals, 1.0))
        else:
            shares = np.array([class_weight.get(code, 1.0) for code in range(int(self.codes.max()) + 1)])
        return weights * shares[self.codes]

    def balanced(self, class_weight: Any) -> tuple[Any, NDArray[np.float64] | None]:
        """Weights of classes and of graphs as scikit-learn takes them.

        scikit-learn balances classes by their numbers of graphs, whatever those weigh; here a graph of weight 2 counts
        twice.
        """
        if self.weights is None or not isinstance(class_weight, str):
            return class_weight, self.weights
        return None, self.graph_weights(class_weight)


def read_columns(y: Any, count: int) -> tuple[list[tuple[NDArray[Any], NDArray[np.int64]]], bool]:
    """Classes and codes of every column of y, and whether there are several."""
    targets = as_array(y)
    if targets.ndim != 2 or len(targets) != count or targets.shape[1] < 2:
        return [read_classes(targets[:, 0] if targets.shape == (count, 1) else targets, count)], False
    return [_read_column(targets, index) for index in range(targets.shape[1])], True


def _read_column(targets: NDArray[Any], place: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    try:
        return read_classes(targets[:, place], len(targets))
    except ParameterError as error:
        raise ParameterError(f"column {place} of y: {error}") from None


def read_classes(y: Any, count: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes, and the code of each graph's."""
    targets = as_array(y)
    if targets.shape != (count,):
        raise ParameterError(f"y must hold one class for each of the {count} graphs, not shape {targets.shape}")
    missing = next((i for i, name in enumerate(targets.tolist()) if is_missing_class(name)), None)
    if missing is not None:
        raise ParameterError(f"y has no class for graph {missing}: it is {targets[missing]!r}; leave such graphs out")
    classes, codes = distinct_classes(targets)
    check_classification_targets(np.asarray(targets.tolist()))  # which takes no objects, as a table may hold them
    if len(classes) < 2:
        raise ParameterError(f"all {count} graphs are of one class, {classes.tolist()}; two are needed")
    return classes, codes


def distinct_classes(targets: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes in their order, and the place of each target among them."""
    try:
        classes, codes = np.unique(targets, return_inverse=True)
    except TypeError:
        kinds = sorted({type(name).__name__ for name in targets.tolist()})
        raise ParameterError(f"y mixes classes of types {', '.join(kinds)}; convert them to one") from None
    return classes, codes.astype(np.int64)


def is_missing_class(name: Any) -> bool:
    return name is None or type(name).__name__ == "NAType" or (isinstance(name, float) and name != name)


def check_targets(y: Any, count: int, several: bool = False) -> NDArray[np.float64]:
    """One finite number for each graph, or, where that is possible, several."""
    try:
        targets = np.asarray(y, np.float64)
    except (TypeError, ValueError):
        targets = np.empty(0)
    columns = several and targets.ndim == 2 and targets.shape[1] > 0 and len(targets) == count
    if (targets.shape != (count,) and not columns) or not np.isfinite(targets).all():
        raise ParameterError(f"y must hold one finite number for each of the {count} graphs")
    return targets[:, 0] if columns and targets.shape[1] == 1 else targets


def weigh_extremes(targets: NDArray[np.float64], weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Less weight for numbers that are absurdly far from all others, with a warning that names the first.

    One such number would be all that mean and deviation, and with them a model, know.
    """
    columns = targets.reshape(len(targets), -1)
    away = np.abs(columns - np.median(columns, axis=0))
    usual = 1.4826 * np.median(away, axis=0)  # the deviation of normal numbers
    far = (away / np.where(usual > 0, usual, np.inf)).max(axis=1)
    if (far <= _ABSURD).all():
        return weights
    first = int(far.argmax())
    n_far = np.count_nonzero(far > _ABSURD)
    warn_user(
        f"{n_far} of {len(targets)} targets are over {_ABSURD:g} deviations away from the others, such as "
        f"{targets[first]} of graph {first}; they count less: correct them, or learn their logarithm"
    )
    values = np.ones(len(targets)) if weights is None else weights
    return np.where(far > _ABSURD, values * (_ABSURD / np.maximum(far, _ABSURD)) ** 2 / len(targets), values)


def check_weights(sample_weight: Any, count: int) -> NDArray[np.float64] | None:
    """One non-negative number for each graph, and not all zero; None where all are one, as if none were given."""
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (count,) or not (np.isfinite(weights) & (weights >= 0)).all():
        raise ParameterError(
            f"sample_weight must hold one finite number of at least 0 for each of the {count} graphs"
            + (f", not shape {weights.shape}" if weights.shape != (count,) and weights.size else "")
        )
    if count and not weights.any():
        raise ParameterError("sample_weight is 0 for every graph; at least one must weigh something")
    return None if (weights == 1).all() else weights


def warn_of_single_graphs(classes: NDArray[Any], codes: NDArray[np.int64], calibrated: bool) -> None:
    """Classes of which there is nothing to validate with."""
    names = [repr(name) for name in classes[np.bincount(codes) == 1].tolist()]
    if not names:
        return
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    owners = f"class {names[0]} has" if len(names) == 1 else f"classes {', '.join(names[:_SHOWN])}{more} have"
    lost = ", and predict_proba cannot be calibrated" if calibrated else ""
    warn_user(f"{owners} a single graph, so that nothing can be validated on it{lost}; add graphs, or merge classes")


def warn_of_constant(count: int, value: float) -> None:
    """Targets that are all the same number, from which nothing can be learned."""
    warn_user(f"all {count:,} targets are {value:.6g}, so that every prediction will be; is it the right column?")
