"""The explorer's collection: graphs with their names, texts and properties."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.io import Graphs, Skipped, open_graphs
from gvoys.io.sources.graph_sources import TuSource
from gvoys.io.sources.records import find_columns
from gvoys.io.tu import LabelNames

_MOST_WHOLE = 12  # different values up to which whole numbers are classes
_MISSING = ("", "na", "n/a", "nan", "none", "null")
_MOST_CLASSES = 40  # classes beyond which colours cannot be told apart


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
    """Return whether a cell of a table says nothing."""
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
    if (known != np.round(known)).any() or len(np.unique(known)) > _MOST_WHOLE:
        return Property(numbers)
    distinct, codes = np.unique(numbers, return_inverse=True)  # nan comes last, and once
    return Property(codes.astype(np.float64), tuple("none" if np.isnan(item) else f"{item:.0f}" for item in distinct))


def _classes(texts: list[str]) -> Property | None:
    distinct, codes = np.unique(texts, return_inverse=True)
    return None if len(distinct) > _MOST_CLASSES else Property(codes.astype(np.float64), tuple(map(str, distinct)))


def sizes_of(batch: GraphBatch) -> dict[str, Property]:
    """Measure the properties that every graph has."""
    nodes = batch.graph_sizes.astype(np.float64)
    entries = np.diff(batch.entry_offsets)
    loops = np.bincount(batch.node_graphs()[batch.rows()[batch.rows() == batch.columns()]], minlength=len(batch))
    edges = entries if batch.directed else (entries + loops) / 2.0
    degree = np.where(nodes > 0, entries / np.maximum(nodes, 1.0), 0.0)
    return {"nodes": Property(nodes), "edges": Property(edges.astype(np.float64)), "mean degree": Property(degree)}


_NAMES = ("name", "id")  # columns that name a graph rather than describe it
_DISTINCT = 0.9  # of the texts of a column that names graphs
_LONGEST = 300  # letters of a text that are shown
_ELEMENT = re.compile("[A-Z][a-z]?")


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
        The name of each graph; one that is empty is shown as "Graph 17".
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
    texts : dict of str to list of str, optional
        What else is known of each graph, by name; the page shows it, and searches it beside captions and SMILES.
    target : str or None, default=None
        The property that a model predicts.
    """

    name: str
    batch: GraphBatch
    captions: list[str]
    properties: dict[str, Property] = field(default_factory=dict)
    label_names: LabelNames = field(default_factory=LabelNames)
    smiles: list[str] | None = None
    places: NDArray[np.int64] | None = None
    skipped: list[Skipped] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    target: str | None = None

    def __post_init__(self) -> None:
        given = {"captions": len(self.captions)} | {repr(name): len(p.values) for name, p in self.properties.items()}
        given |= {repr(name): len(texts) for name, texts in self.texts.items()}
        given |= {} if self.smiles is None else {"smiles": len(self.smiles)}
        for name, length in given.items():
            if length != len(self.batch):
                raise ParameterError(f"{name} must have one value for each of {len(self.batch)} graphs, not {length}")
        if self.target is not None and self.target not in self.properties:
            raise ParameterError(f"target must be one of the properties {list(self.properties)}, not {self.target!r}")

    def with_sizes(self) -> Collection:
        """Add the properties that every graph has: nodes, edges and mean degree.

        Returns
        -------
        Collection
            The collection with them after its own properties.
        """
        return replace(self, properties=sizes_of(self.batch) | self.properties).reordered([*self.properties])

    def reordered(self, first: Sequence[str]) -> Collection:
        """Put some properties first.

        Parameters
        ----------
        first : sequence of str
            Their names; the first of all colours the points when the page opens.

        Returns
        -------
        Collection
            The same collection, with its properties in that order.
        """
        names = [*first, *(name for name in self.properties if name not in first)]
        return replace(self, properties={name: self.properties[name] for name in names})

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
        properties = {name: replace(item, values=item.values[kept]) for name, item in self.properties.items()}
        return replace(
            self,
            batch=self.batch[kept],
            captions=[self.captions[i] for i in kept],
            properties={
                name: item for name, item in properties.items() if name == self.target or np.isfinite(item.values).any()
            },
            smiles=None if self.smiles is None else [self.smiles[i] for i in kept],
            texts={name: [texts[i] for i in kept] for name, texts in self.texts.items()},
            places=kept,
        )


def load_collection(
    source: Any, y: Any = None, names: Any = None, target: str | None = None, **options: Any
) -> Collection:
    """Load graphs to be looked at; columns of a table, and classes, become properties.

    Parameters
    ----------
    source : path, str, DataFrame or list
        Anything that `open_graphs` takes.
    y : array-like, dict, DataFrame or None, default=None
        Values of the graphs, or several by name; the first is the target. None takes the columns of the source.
    names : sequence of str or None, default=None
        The name of each graph; None takes ids and names of the source.
    target : str or None, default=None
        The column that a model predicts; None takes the first of `y`, or the class of a TU dataset. Graphs without a
        value are shown as well.
    **options : object
        Options of `open_graphs`: `smiles`, `id`, `root` and `chemistry`.

    Returns
    -------
    Collection
        The graphs with their properties.

    Raises
    ------
    ParameterError
        If there are not as many values or names as graphs.
    DatasetError
        If there is no such column.
    """
    opened = open_graphs(source, **options)
    graphs = opened.read()
    given = {name: _for_graphs(graphs, name, values) for name, values in _columns_of(y).items()}
    rows = zip(graphs.ids, graphs.rows, strict=True)  # ids that merely count the rows are no names
    ids = ["" if name == str(row - opened.first_row + 1) else name for name, row in rows]
    texts = _texts(graphs, ids, (options.get("id") or "id").lower())
    properties = {name: as_property(values) for name, values in (given | graphs.columns).items() if name not in texts}
    captions = _captions(graphs, ids, texts) if names is None else list(map(str, _for_graphs(graphs, "names", names)))
    shown = {name: property_ for name, property_ in properties.items() if property_ is not None}
    if target is not None:
        target = find_columns(str(opened), list(shown), [target], "target")[0]  # as the table spells it
    else:
        target = next((name for name in [*given, *opened.target_names] if name in shown), None)
    return Collection(
        opened.name,
        graphs.batch,
        captions,
        shown,
        opened.label_names() if isinstance(opened, TuSource) else LabelNames(),
        graphs.smiles,
        skipped=graphs.skipped,
        texts={name: values for name, values in texts.items() if values != captions},
        target=target,
    )


def has_bonds(collection: Collection) -> bool:
    """Return whether edges are bonds by the names of labels; H, C and S alone may be helix, coil and sheet."""
    labels, names = collection.batch.node_labels, collection.label_names
    if labels is None or collection.batch.edge_labels is None or collection.batch.directed or not names.edges:
        return False
    return all(_ELEMENT.fullmatch(str(names.nodes.get(value, value))) for value in labels.values)


def _columns_of(y: Any) -> Mapping[str, Any]:
    """Return the values of anything that holds some, by name."""
    if y is None:
        return {}
    if isinstance(y, Mapping):
        return {str(name): values for name, values in y.items()}
    if hasattr(y, "iloc") and hasattr(y, "columns"):  # a DataFrame, without importing pandas
        return {str(name): y.iloc[:, number].tolist() for number, name in enumerate(y.columns)}
    name = getattr(y, "name", None)  # of a Series
    return {"y" if name is None else str(name): y}


def _for_graphs(graphs: Graphs, name: str, values: Any) -> list[Any]:
    """Take one value for each graph; those of rows that were skipped are passed over."""
    values, n_graphs = list(values), len(graphs.batch)
    if len(values) == n_graphs + len(graphs.skipped) and graphs.skipped:
        rows = sorted([*graphs.rows, *(item.row for item in graphs.skipped)])
        values = [values[rows.index(row)] for row in graphs.rows]
    if len(values) != n_graphs:
        raise ParameterError(f"{name} must have one value for each of {n_graphs} graphs, not {len(values)}")
    return values


def _texts(graphs: Graphs, ids: list[str], id_name: str) -> dict[str, list[str]]:
    """Return the columns that name or describe graphs, and the SMILES; columns of few different texts are classes."""
    texts = {}
    for name, values in graphs.columns.items():
        shown = [_as_text(value)[:_LONGEST] for value in values]
        is_name, is_number = (
            name.lower() in (*_NAMES, id_name),
            getattr(values, "dtype", np.dtype(object)).kind in "fiub",
        )
        if is_name or (not is_number and (_differ(shown) or as_property(values) is None)):
            texts[name] = shown
    if any(ids) and ids not in texts.values():
        texts = {"id": ids} | texts
    texts = {name: shown for name, shown in texts.items() if any(shown)}
    return texts | ({"SMILES": list(graphs.smiles)} if graphs.smiles else {})


def _captions(graphs: Graphs, ids: list[str], texts: Mapping[str, list[str]]) -> list[str]:
    """Choose names for the graphs: given ids, a column called name or id, or the first column of distinct texts."""
    if any(ids):
        return ids
    others = {name: values for name, values in texts.items() if name != "SMILES"}
    by_name = [values for wanted in _NAMES for name, values in others.items() if name.lower() == wanted]
    differing = [values for values in others.values() if _differ(values)]
    return next(iter([*by_name, *differing]), [""] * len(graphs.batch))


def _differ(texts: Sequence[str]) -> bool:
    return len(texts) > 2 and len({text for text in texts if not is_missing(text)}) >= _DISTINCT * len(texts)


def _as_text(value: Any) -> str:
    """Write a cell as text; a whole number as it stood in the table."""
    if isinstance(value, str):
        return value
    return "" if np.isnan(value) else f"{value:.0f}" if value == np.round(value) else str(value)
