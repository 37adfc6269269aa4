"""The explorer's collection: graphs with their names, texts and properties."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.apps.explore.properties import Property, as_property, is_missing, sizes_of
from gvoys.errors import ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.io import Graphs, Skipped, open_graphs
from gvoys.io.sources.graph_sources import TuSource
from gvoys.io.sources.records import find_columns
from gvoys.io.tu import LabelNames

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
        properties = {
            name: replace(values_all, values=values_all.values[kept]) for name, values_all in self.properties.items()
        }
        return replace(
            self,
            batch=self.batch[kept],
            captions=[self.captions[i] for i in kept],
            properties={
                name: values_all
                for name, values_all in properties.items()
                if name == self.target or np.isfinite(values_all.values).any()
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
    ids = _ids(graphs, opened.first_row)
    texts = _texts(graphs, ids, (options.get("id") or "id").lower())
    properties = {name: as_property(values) for name, values in (given | graphs.columns).items() if name not in texts}
    captions = _captions(graphs, ids, texts) if names is None else list(map(str, _for_graphs(graphs, "names", names)))
    shown = {name: property_ for name, property_ in properties.items() if property_ is not None}
    return Collection(
        opened.name,
        graphs.batch,
        captions,
        shown,
        opened.label_names() if isinstance(opened, TuSource) else LabelNames(),
        graphs.smiles,
        skipped=graphs.skipped,
        texts={name: part_values for name, part_values in texts.items() if part_values != captions},
        target=_target(target, [*given, *opened.target_names], shown, str(opened)),
    )


def has_bonds(collection: Collection) -> bool:
    """Whether edges are bonds by the names of labels; H, C and S alone may be helix, coil and sheet."""
    labels, names = collection.batch.node_labels, collection.label_names
    if labels is None or collection.batch.edge_labels is None or collection.batch.directed or not names.edges:
        return False
    return all(_ELEMENT.fullmatch(str(names.nodes.get(value, value))) for value in labels.values)


def _target(wanted: str | None, usual: Sequence[str], shown: Mapping[str, Property], source: str) -> str | None:
    """The name of the column that is predicted, as the table spells it."""
    if wanted is not None:
        return find_columns(source, list(shown), [wanted], "target")[0]
    return next((name for name in usual if name in shown), None)


def _columns_of(y: Any) -> Mapping[str, Any]:
    """Values by name, of anything that holds some."""
    if y is None:
        return {}
    if isinstance(y, Mapping):
        return {str(name): values for name, values in y.items()}
    if hasattr(y, "iloc") and hasattr(y, "columns"):  # a DataFrame, without importing pandas
        return {str(name): y.iloc[:, number].tolist() for number, name in enumerate(y.columns)}
    name = getattr(y, "name", None)  # of a Series
    return {"y" if name is None else str(name): y}


def _for_graphs(graphs: Graphs, name: str, values: Any) -> list[Any]:
    """One value for each graph; those of rows that were skipped are passed over."""
    values_read = list(values)
    if len(values_read) == len(graphs.batch) + len(graphs.skipped) and graphs.skipped:
        rows = sorted([*graphs.rows, *(item.row for item in graphs.skipped)])
        values_read = [values_read[rows.index(row)] for row in graphs.rows]
    if len(values_read) != len(graphs.batch):
        raise ParameterError(
            f"{name} must have one value for each of {len(graphs.batch)} graphs, not {len(values_read)}"
        )
    return values_read


def _texts(graphs: Graphs, ids: list[str], id_name: str) -> dict[str, list[str]]:
    """Columns that name graphs or say something of each, and the SMILES; columns of few different texts are classes."""
    texts = {}
    for name, values in graphs.columns.items():
        values_shown = [_as_text(value)[:_LONGEST] for value in values]
        named = name.lower() in (*_NAMES, id_name)
        if named or (not _is_number(values) and (_differ(values_shown) or as_property(values) is None)):
            texts[name] = values_shown
    if any(ids) and ids not in texts.values():
        texts = {"id": ids} | texts
    texts = {name: values_shown for name, values_shown in texts.items() if any(values_shown)}
    return texts | ({"SMILES": list(graphs.smiles)} if graphs.smiles else {})


def _captions(graphs: Graphs, ids: list[str], texts: Mapping[str, list[str]]) -> list[str]:
    """Choose names for the graphs: given ids, a column called name or id, or the first column of distinct texts."""
    if any(ids):
        return ids
    others = {name: values for name, values in texts.items() if name != "SMILES"}
    by_name = [values for wanted in _NAMES for name, values in others.items() if name.lower() == wanted]
    differing = [values for values in others.values() if _differ(values)]
    return next(iter([*by_name, *differing]), [""] * len(graphs.batch))


def _ids(graphs: Graphs, first: int) -> list[str]:
    """Return the ids that do not merely count the rows from the first one."""
    return ["" if name == str(row - first + 1) else name for name, row in zip(graphs.ids, graphs.rows, strict=True)]


def _differ(texts: Sequence[str]) -> bool:
    return len(texts) > 2 and len({text for text in texts if not is_missing(text)}) >= _DISTINCT * len(texts)


def _is_number(values: Any) -> bool:
    return getattr(values, "dtype", np.dtype(object)).kind in "fiub"


def _as_text(value: Any) -> str:
    """A cell as text; a whole number as it stood in the table."""
    if isinstance(value, str):
        return value
    return "" if np.isnan(value) else f"{value:.0f}" if value == np.round(value) else str(value)
