"""From graphs to the profiles that the classifier weighs, and what "auto" means there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.estimators.learning.inputs import check_has_labels
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.labels import LABEL_CHOICES
from gvoys.threads import threads
from gvoys.walks import Combined, CombinedProfiles, DenseProfiles, Sequences, Sketch, SparseProfiles, Walk
from gvoys.walks.checks import check_count, is_auto
from gvoys.walks.combined import exact_lengths
from gvoys.walks.layers import usual_labels
from gvoys.walks.returns import return_probabilities
from gvoys.walks.sequences import LARGE_BUDGET, PER_GRAPH, spread_graphs
from gvoys.walks.structure import STRUCTURES, structural_labels, usual_structure

__all__ = ["LabelsAndAttributes", "Profiler", "usual_bandwidth"]

_LARGE = 100  # mean nodes from which graphs have too many walks for a narrow sketch
_WIDTHS = (256, 512)
_DENSE = 3.0  # mean degree from which backtracking walks are counted
_ATTRIBUTE_LENGTH = 1  # longer walks add nothing where attributes tell nodes apart
_BANDWIDTH = 0.5  # of the root of the number of attributes, all of variance one
_RETURNS = 16  # steps of walks whose return probabilities stand for the attributes of graphs that have nothing else
_MOST_RETURNS = 2e10  # additions that they may take
_SCALED_BY = 256  # graphs that tell their mean and deviation
_FEW = 2  # times the components of a sketch: label sequences of one length that are counted rather than sketched
_CHOICES = (*(name for name in LABEL_CHOICES if name), *STRUCTURES)


@dataclass(frozen=True)
class LabelsAndAttributes:
    """Profiles by labels, and by attributes where they count."""

    labels: DenseProfiles | SparseProfiles | CombinedProfiles
    attributes: DenseProfiles | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, graphs: Any) -> LabelsAndAttributes:
        """Those of some of the graphs."""
        attributes = None if self.attributes is None else self.attributes.take(graphs)
        return LabelsAndAttributes(self.labels.take(graphs), attributes)

    def without_attributes(self) -> LabelsAndAttributes:
        """Those by labels alone."""
        return LabelsAndAttributes(self.labels)

    def iterations(self, count: int) -> LabelsAndAttributes:
        """Labels after the first Weisfeiler–Lehman iterations alone."""
        return LabelsAndAttributes(self.labels.iterations(count), self.attributes)


@dataclass(frozen=True)
class Profiler:
    """How graphs are profiled; what depends on data comes from the graphs it was fitted on."""

    labels: str
    walk: Walk
    sketch: Sketch
    method: Sequences | Combined | Sketch
    centre: NDArray[np.float64] | None = None
    deviation: NDArray[np.float64] | None = None
    returns: int = 0  # longest walk of the return probabilities that stand for attributes

    @classmethod
    def fitted(
        cls, batch: GraphBatch, walk: Walk, *, labels: Any, n_components: Any, seed: int, method: Any = "auto"
    ) -> Profiler:
        """Choose what "auto" leaves open in `walk`, and keep the scales of the attributes."""
        labels = _choose_labels(batch, labels)
        node, edge = LABEL_CHOICES["node" if labels in STRUCTURES else labels]
        returns = _RETURNS if labels in STRUCTURES and _may_return(batch, walk) else 0
        attributed = _with_returns(batch[spread_graphs(batch, _SCALED_BY)], returns) if returns else batch
        centre, deviation, bandwidth = _scales(attributed, walk.attribute_bandwidth)
        chosen = replace(
            walk,
            node_labels=node,
            edge_labels=edge,
            backtrack=_choose_backtrack(batch, walk.backtrack),
            attribute_bandwidth=bandwidth,
        )
        chosen, sketch = chosen.checked(attributed), Sketch(_choose_width(batch, n_components), seed)
        unfit = cls(labels, chosen, sketch, sketch, centre, deviation, returns)
        return replace(unfit, method=unfit._choose_method(batch, method))

    def profile(self, batch: GraphBatch, n_jobs: int | None = None, device: str = "cpu") -> LabelsAndAttributes:
        """Profiles of any graphs, a function of each alone; exact counts are made on the CPU, whatever the device."""
        batch = self.labelled(batch)
        method = replace(self.method, device=device) if isinstance(self.method, Sketch) else self.method
        with threads(n_jobs):
            return LabelsAndAttributes(method.profile(batch, self.by_labels), self._attributes(batch, device))

    def without_attributes(self) -> Profiler:
        """The same by labels alone."""
        return replace(self, walk=self.by_labels, centre=None, deviation=None, returns=0)

    def in_sketches(self) -> Profiler:
        """The same with profiles of fixed width."""
        return replace(self, method=self.sketch)

    @property
    def by_labels(self) -> Walk:
        return replace(self.walk, attribute_bandwidth=None)

    def _choose_method(self, batch: GraphBatch, method: Any) -> Sequences | Combined | Sketch:
        """Exact counts up to the length by which they are few, and a sketch of the rest."""
        if method == Sketch.name:
            return self.sketch
        if method == Sequences.name:
            return Sequences(budget=LARGE_BUDGET, per_graph=PER_GRAPH)
        if not is_auto(method):
            raise ParameterError(f"method must be 'auto', 'sequences' or 'sketch', not {method!r}")
        walk, most = self.by_labels, _FEW * self.sketch.n_components
        lengths = exact_lengths(self.labelled(batch), walk, most)
        if min(lengths) == walk.max_length:
            return Sequences(budget=LARGE_BUDGET, per_graph=PER_GRAPH)
        return self.sketch if max(lengths) < 0 else Combined(self.sketch.n_components, self.sketch.seed, exact=lengths)

    def labelled(self, batch: GraphBatch) -> GraphBatch:
        if self.labels in STRUCTURES:
            return batch._with(node_labels=structural_labels(batch, self.labels, self.walk.max_length))
        check_has_labels(batch, *LABEL_CHOICES[self.labels])
        return batch

    def _attributes(self, batch: GraphBatch, device: str) -> DenseProfiles | None:
        if self.centre is None or self.deviation is None:
            return None
        scaled, walk, sketch = self.attributed(batch)
        return replace(sketch, device=device).profile(scaled, walk)

    def attributed(self, batch: GraphBatch) -> tuple[GraphBatch, Walk, Sketch]:
        """How labelled graphs are profiled by their attributes: in units of their deviations, by which walks."""
        assert self.centre is not None
        assert self.deviation is not None
        walk = replace(self.walk, max_length=_ATTRIBUTE_LENGTH, refine=0, backtrack=True)
        if self.returns:  # which tell nodes apart as no other label of structure does
            batch, walk = _with_returns(batch, self.returns), replace(walk, node_labels=False)
        held = batch.node_attributes if batch.n_nodes else np.empty((0, len(self.centre)))
        if held is None or held.shape[1] != len(self.centre):
            raise UnsupportedError(
                f"the fitted graphs had {len(self.centre)} node attributes; these must have them too"
            )
        scaled = batch._with(node_attributes=(held - self.centre) / self.deviation)
        return scaled, walk, replace(self.sketch, n_components=2 * self.sketch.n_components)


def _choose_labels(batch: GraphBatch, labels: Any) -> str:
    if is_auto(labels):
        return usual_labels(batch) or usual_structure(batch)
    if not isinstance(labels, str) or labels not in _CHOICES:
        raise ParameterError(f'labels must be "auto" or one of {", ".join(map(repr, _CHOICES))}, not {labels!r}')
    return labels


def _choose_backtrack(batch: GraphBatch, backtrack: Any) -> bool:
    """In graphs like molecules most walks go to and fro; in denser ones few do, and leaving them out costs more."""
    if is_auto(backtrack):
        return batch.n_entries > _DENSE * batch.n_nodes
    if not isinstance(backtrack, (bool, np.bool_)):
        raise ParameterError(f'backtrack must be "auto", True or False, not {backtrack!r}')
    return bool(backtrack)


def _choose_width(batch: GraphBatch, n_components: Any) -> int:
    if is_auto(n_components):
        return _WIDTHS[batch.n_nodes > _LARGE * len(batch)]
    if isinstance(n_components, str):
        raise ParameterError(f'n_components must be "auto" or an integer of at least 1, not {n_components!r}')
    return check_count(n_components, "n_components")


def _may_return(batch: GraphBatch, walk: Walk) -> bool:
    """Whether return probabilities may stand for attributes: there are none, and it would not take long."""
    work = float(batch.graph_sizes.astype(np.float64) @ np.diff(batch.entry_offsets)) * _RETURNS / 2
    fit = not batch.directed and batch.n_entries > 0 and bool(np.all(batch.weights() > 0)) and work <= _MOST_RETURNS
    return fit and batch.node_attributes is None and is_auto(walk.attribute_bandwidth)


def _with_returns(batch: GraphBatch, longest: int) -> GraphBatch:
    """Return probabilities as attributes; after 0 and 1 steps they are the same for all nodes."""
    return batch._with(node_attributes=return_probabilities(batch, longest)[:, 2:])


def usual_bandwidth(batch: GraphBatch) -> float:
    """The bandwidth of "auto", in standard deviations: half of their root mean square distance from the mean."""
    assert batch.node_attributes is not None
    return _BANDWIDTH * float(np.sqrt(batch.node_attributes.shape[1]))


def _scales(batch: GraphBatch, bandwidth: Any) -> tuple[Any, Any, float | None]:
    """Mean and deviation of the attributes over all nodes, and the bandwidth in deviations."""
    if bandwidth is None or (is_auto(bandwidth) and batch.node_attributes is None):
        return None, None, None
    if batch.node_attributes is None:
        raise UnsupportedError("attribute_bandwidth is given, but the graphs have no node attributes")
    held = batch.node_attributes
    deviation = held.std(axis=0)
    if is_auto(bandwidth):
        bandwidth = usual_bandwidth(batch)
    return held.mean(axis=0), np.where(deviation > 0, deviation, 1.0), bandwidth
