"""What an explorer shows: graphs with their ids and properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.io import Graphs, Skipped, open_graphs
from gvoys.io.sources.graphs import TuSource
from gvoys.io.tu import LabelNames

__all__ = ["Collection", "Property", "as_property", "load_collection"]

_FEW = 12  # different values up to which whole numbers are classes
_MISSING = ("", "na", "n/a", "nan", "none", "null")
_NAMES = ("id", "name")  # columns that name a molecule rather than describe it
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
    """

    values: NDArray[np.float64]
    classes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Collection:
    """Graphs to be looked at.

    Parameters
    ----------
    name : str
        Title of the page.
    batch : GraphBatch
        The graphs.
    captions : list of str
        One text per graph; the page searches them and the graphs' numbers.
    properties : dict of str to Property, optional
        Values of the graphs, by name.
    label_names : LabelNames, optional
        Names of node and edge labels.
    smiles : list of str or None, default=None
        SMILES of molecules.
    places : ndarray of int or None, default=None
        Numbers of the graphs in the whole collection, if this is a sample of it.
    skipped : list of Skipped, optional
        Rows of the source that were skipped, and why.
    """

    name: str
    batch: GraphBatch
    captions: list[str]
    properties: dict[str, Property] = field(default_factory=dict)
    label_names: LabelNames = field(default_factory=LabelNames)
    smiles: list[str] | None = None
    places: NDArray[np.int64] | None = None
    skipped: list[Skipped] = field(default_factory=list)

    def __post_init__(self) -> None:
        given = {"captions": len(self.captions)} | {repr(name): len(p.values) for name, p in self.properties.items()}
        for name, length in given.items():
            if length != len(self.batch):
                raise ParameterError(f"{name} must have one value for each of {len(self.batch)} graphs, not {length}")

    def with_sizes(self) -> Collection:
        """Add the properties that every graph has: nodes, edges and mean degree.

        Returns
        -------
        Collection
            The collection with them after its own properties.
        """
        return replace(
            self, properties=self.properties | {k: v for k, v in _sizes(self.batch).items() if k not in self.properties}
        )

    def sampled(self, n_graphs: int, seed: int) -> Collection:
        """Draw a random sample of the graphs.

        Parameters
        ----------
        n_graphs : int
            Size of the sample, at least 3.
        seed : int
            Seed of the draw.

        Returns
        -------
        Collection
            The sample in the order of the collection, or the collection itself if it is no larger.
        """
        if n_graphs < 3:
            raise ParameterError(f"a map needs at least 3 graphs, not {n_graphs}")
        if len(self.batch) <= n_graphs:
            return self
        kept = np.sort(np.random.default_rng(seed).permutation(len(self.batch))[:n_graphs])
        properties = {name: replace(each, values=each.values[kept]) for name, each in self.properties.items()}
        return replace(
            self,
            batch=self.batch[kept],
            captions=[self.captions[i] for i in kept],
            properties={name: each for name, each in properties.items() if np.isfinite(each.values).any()},
            smiles=None if self.smiles is None else [self.smiles[i] for i in kept],
            places=kept,
        )


def load_collection(source: Any, **options: Any) -> Collection:
    """Load graphs to be looked at; columns of a table, and classes, become properties.

    Parameters
    ----------
    source : path, str, DataFrame or list
        Anything that `open_graphs` takes.
    **options : object
        Options of `open_graphs`: `smiles`, `id` and `root`.

    Returns
    -------
    Collection
        The graphs with their properties.
    """
    opened = open_graphs(source, **options)
    graphs = opened.read()
    named = {*_NAMES, (options.get("id") or "id").lower()}
    names = [name for name in graphs.columns if name.strip().lower() in named]
    found = {name: as_property(values) for name, values in graphs.columns.items() if name not in names}
    return Collection(
        opened.name,
        graphs.batch,
        _captions(graphs, names),
        {name: each for name, each in found.items() if each is not None},
        opened.label_names() if isinstance(opened, TuSource) else LabelNames(),
        graphs.smiles,
        skipped=graphs.skipped,
    )


def _captions(graphs: Graphs, names: list[str]) -> list[str]:
    """The id of each graph where it has one, its names, and its SMILES."""
    ids = ["" if name == str(row) else name for name, row in zip(graphs.ids, graphs.rows, strict=True)]
    columns = [ids, *(map(_as_name, graphs.columns[name]) for name in names), graphs.smiles or [""] * len(ids)]
    return [" ".join(dict.fromkeys(filter(None, row))) for row in zip(*columns, strict=True)]


def _as_name(value: Any) -> str:
    """A cell as text; a whole number as it stood in the table."""
    if isinstance(value, str):
        return value
    return "" if np.isnan(value) else f"{value:.0f}" if value == np.round(value) else str(value)


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
    missing = np.array([text.lower() in _MISSING for text in texts])
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
    return Property(codes.astype(np.float64), tuple("none" if np.isnan(each) else f"{each:.0f}" for each in distinct))


def _classes(texts: list[str]) -> Property | None:
    distinct, codes = np.unique(texts, return_inverse=True)
    return None if len(distinct) > _MANY else Property(codes.astype(np.float64), tuple(map(str, distinct)))


def _sizes(batch: GraphBatch) -> dict[str, Property]:
    """The properties that every graph has."""
    nodes = batch.graph_sizes.astype(np.float64)
    entries = np.diff(batch.entry_offsets)
    loops = np.bincount(batch.node_graphs()[batch.rows()[batch.rows() == batch.columns()]], minlength=len(batch))
    edges = entries if batch.directed else (entries + loops) / 2.0
    degree = np.where(nodes > 0, entries / np.maximum(nodes, 1.0), 0.0)
    return {"nodes": Property(nodes), "edges": Property(edges.astype(np.float64)), "mean degree": Property(degree)}
