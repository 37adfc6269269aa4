"""What sources have in common whose graphs name their labels, weights and attributes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from gvoys.errors import DatasetError, GvoysError
from gvoys.io.convert import as_names, build_batch, check_names, read_graph
from gvoys.io.readers.parts import LABEL, Names
from gvoys.io.readers.unlabelled import warn_unlabelled
from gvoys.io.sources.base import GraphSource

# the names of fields that `open_graphs` reads; attributes are those that `find_attributes` knows
DEFAULTS: dict[str, Any] = {"node_label": LABEL, "edge_label": "label", "weight": "weight"}
DEFAULTS |= {"node_attributes": None, "edge_attributes": None}
_FIRST = 1000  # graphs among which one must have the fields that are named


class NamedSource(GraphSource):
    """Graphs whose labels, weights and attributes have names."""

    names = Names()

    @abstractmethod
    def first_graphs(self) -> Iterable[Any]:
        """Return the first graphs, as `as_batch` takes them."""

    def find_attributes(self, kind: str) -> Sequence[str]:
        """Return the names of the attributes of nodes or edges that are read where none are named."""
        return ()

    def name_fields(self, given: Mapping[str, Any]) -> None:
        """Choose what is read: fields that are given must be there, and other data that might be labels are told."""
        chosen = {**DEFAULTS, **given}
        self.names = as_names(**chosen)
        if given:
            self._check_fields()
        for kind in ("node", "edge"):
            if chosen[f"{kind}_attributes"] is None:
                found: Any = {f"{kind}_attributes": tuple(self.find_attributes(kind))}
                self.names = replace(self.names, **found)
        if self.names.node_label == LABEL:
            remedy = "give node_label={0} or --node-label {0}"
            warn_unlabelled(self.first_graphs(), remedy, self.names.node_attributes)
        read = {name: getattr(self.names, name) for name in DEFAULTS}
        self.fields = {name: list(value) if isinstance(value, tuple) else value for name, value in read.items()}

    def _check_fields(self) -> None:
        """Check that the first graph with edges, or else one with nodes, has the fields that are named."""
        problem: GvoysError | None = None
        for graph in islice(self.first_graphs(), _FIRST):
            try:
                batch = build_batch([read_graph(graph, self.names)])
                check_names(batch, self.names)
            except GvoysError as error:
                problem = problem or error
                continue
            if batch.n_nodes:
                return
        if problem is not None:
            raise DatasetError(f"{self}: {problem}")
