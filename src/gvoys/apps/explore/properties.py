"""Values of graphs that points can be coloured by: numbers or classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.graphs.batch import GraphBatch

_FEW = 12  # different values up to which whole numbers are classes
_MISSING = ("", "na", "n/a", "nan", "none", "null")
_MANY = 40  # classes beyond which colours cannot be told apart


@dataclass(frozen=True)
class Property:
    """One value per graph.

    Parameters
    ----------
    values : ndarray of shape (n_graphs,)
        Numbers (nan if missing), or codes into `classes`.
    classes : tuple of str or None
        Names of the classes; None for numbers.
    both_ways : bool, default=False
        Whether numbers are too large or too small, as errors are: their colours are those of both directions from 0.
    """

    values: NDArray[np.float64]
    classes: tuple[str, ...] | None = None
    both_ways: bool = False

    def numbers(self) -> NDArray[np.float64] | None:
        """The values as numbers.

        Returns
        -------
        ndarray of shape (n_graphs,) or None
            The numbers, nan if missing; None if some class is no number.
        """
        if self.classes is None:
            return self.values
        try:
            known = [np.nan if is_missing(name) else float(name) for name in self.classes]
        except ValueError:
            return None
        return np.array(known)[self.values.astype(np.int64)]

    def names(self) -> list[str] | None:
        """The class of every graph.

        Returns
        -------
        list of str or None
            The names; None for numbers.
        """
        return None if self.classes is None else [self.classes[int(code)] for code in self.values]


def is_missing(text: str) -> bool:
    """Whether a cell of a table says nothing."""
    return text.strip().lower() in _MISSING


def as_property(values: Sequence[Any] | NDArray[Any]) -> Property | None:
    """Read values as numbers, or as classes if they are few or not numbers.

    Parameters
    ----------
    values : sequence
        One value per graph.

    Returns
    -------
    Property or None
        The property; None if all values are missing, or the classes are too many.
    """
    texts = [str(value).strip() for value in values]
    missing = np.array([is_missing(text) for text in texts], bool)
    try:
        numbers = np.array([np.nan if gone else float(text) for text, gone in zip(texts, missing, strict=True)])
    except ValueError:
        return _classes(["none" if gone else text for text, gone in zip(texts, missing, strict=True)])
    numbers[~np.isfinite(numbers)] = np.nan
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        return None
    if (known != np.round(known)).any() or len(np.unique(known)) > _FEW:
        return Property(numbers)
    distinct, codes = np.unique(numbers, return_inverse=True)  # nan comes last, and once
    return Property(codes.astype(np.float64), tuple("none" if np.isnan(item) else f"{item:.0f}" for item in distinct))


def _classes(texts: list[str]) -> Property | None:
    distinct, codes = np.unique(texts, return_inverse=True)
    return None if len(distinct) > _MANY else Property(codes.astype(np.float64), tuple(map(str, distinct)))


def sizes_of(batch: GraphBatch) -> dict[str, Property]:
    """The properties that every graph has."""
    nodes = batch.graph_sizes.astype(np.float64)
    entries = np.diff(batch.entry_offsets)
    loops = np.bincount(batch.node_graphs()[batch.rows()[batch.rows() == batch.columns()]], minlength=len(batch))
    edges = entries if batch.directed else (entries + loops) / 2.0
    degree = np.where(nodes > 0, entries / np.maximum(nodes, 1.0), 0.0)
    return {"nodes": Property(nodes), "edges": Property(edges.astype(np.float64)), "mean degree": Property(degree)}
