"""Profiles that the classifier weighs, and the meaning of "auto" there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gvoys.errors import ParameterError, UnsupportedError
from gvoys.graphs.batch import GraphBatch
from gvoys.kernels.blocks import WalkBlocks
from gvoys.kernels.inputs import check_has_labels
from gvoys.threads import threads
from gvoys.walks import Combined, CombinedProfiles, DenseProfiles, Sequences, Sketch, SparseProfiles, Walk
from gvoys.walks.checks import check_count, is_auto
from gvoys.walks.closed_walks import return_probabilities
from gvoys.walks.combined import exact_lengths
from gvoys.walks.sequences import LARGE_BUDGET, PER_GRAPH, spread_graphs
from gvoys.walks.sparse import signed_columns
from gvoys.walks.sparse_products import row_squares
from gvoys.walks.structure import usual_labels, usual_structure

_LARGE = 100  # mean nodes from which graphs have too many walks for a narrow sketch
_WIDTHS = (256, 512)
_DENSE = 3.0  # mean degree from which backtracking walks are counted
_ATTRIBUTE_LENGTH = 1  # longer walks add nothing where attributes tell nodes apart
_BANDWIDTH = 0.5  # of the root of the number of attributes, all of variance one
_RETURNS = 16  # steps of walks whose return probabilities stand for the attributes of graphs that have nothing else
_MOST_RETURNS = 2e10  # additions that they may take
_SCALED_BY = 256  # graphs that tell their mean and deviation
_FEW = 2  # times the components of a sketch: label sequences of one length that are counted rather than sketched
_LONGEST = 6  # walks of the classifier


@dataclass(frozen=True)
class LabelsAndAttributes:
    """Profiles by labels, and by attributes where they count."""

    labels: DenseProfiles | SparseProfiles | CombinedProfiles
    attributes: DenseProfiles | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, graphs: Any) -> LabelsAndAttributes:
        """Take the profiles of some graphs."""
        attributes = None if self.attributes is None else self.attributes.take(graphs)
        return LabelsAndAttributes(self.labels.take(graphs), attributes)

    def without_attributes(self) -> LabelsAndAttributes:
        """Return the profiles by labels alone."""
        return LabelsAndAttributes(self.labels)

    def iterations(self, count: int) -> LabelsAndAttributes:
        """Labels after the first Weisfeiler–Lehman iterations alone."""
        return LabelsAndAttributes(self.labels.iterations(count), self.attributes)


@dataclass(frozen=True)
class Profiler:
    """Profiling options; those that depend on data come from the fitted graphs."""

    walk: Walk  # in whose units attributes are divided by `deviation`
    sketch: Sketch
    method: Sequences | Combined | Sketch
    centre: NDArray[np.float64] | None = None
    deviation: NDArray[np.float64] | None = None
    returns: int = 0  # longest walk of the return probabilities that stand for attributes

    @classmethod
    def fitted(cls, batch: GraphBatch, walk: Walk, *, seed: int, method: Any = "auto") -> Profiler:
        """Choose what is "auto" in `walk`, and keep the scales of the attributes."""
        returns = _RETURNS if walk.structure and not walk.node_labels and _may_return(batch, walk) else 0
        attributed = _with_returns(batch[spread_graphs(batch, _SCALED_BY)], returns) if returns else batch
        centre, deviation, bandwidth = _scales(attributed, walk.attribute_bandwidth)
        backtrack = _choose_backtrack(batch) if is_auto(walk.backtrack) else walk.backtrack
        chosen = replace(walk, backtrack=backtrack, attribute_bandwidth=bandwidth).on(attributed)
        sketch = Sketch(_choose_width(batch, method), seed)
        unfit = cls(chosen, sketch, sketch, centre, deviation, returns)
        return replace(unfit, method=unfit._choose_method(batch, method))

    def profile(self, batch: GraphBatch, n_jobs: int | None = None, device: str = "cpu") -> LabelsAndAttributes:
        """Profiles of any graphs, a function of each alone; exact counts are made on the CPU, whatever the device."""
        batch = self.labelled(batch)
        method = replace(self.method, device=device) if isinstance(self.method, Sketch) else self.method
        with threads(n_jobs):
            return LabelsAndAttributes(method.profile(batch, self.by_labels), self._attributes(batch, device))

    def without_attributes(self) -> Profiler:
        """The same by labels alone."""
        return replace(self, walk=self._without_bandwidth, centre=None, deviation=None, returns=0)

    def in_sketches(self) -> Profiler:
        """The same with profiles of fixed width."""
        return replace(self, method=self.sketch)

    @property
    def by_labels(self) -> Walk:
        """The walk by the labels of `labelled` alone."""
        return self._without_bandwidth.by_structure

    @property
    def _without_bandwidth(self) -> Walk:
        return replace(self.walk, attribute_bandwidth=None)

    @property
    def walk_of_graphs(self) -> Walk:
        """The walk with bandwidths in the attributes' own units."""
        if self.walk.attribute_bandwidth is None or self.returns:
            return self._without_bandwidth
        return replace(self.walk, attribute_bandwidth=self.walk.attribute_bandwidth * self.deviation)

    def _choose_method(self, batch: GraphBatch, method: Any) -> Sequences | Combined | Sketch:
        """Choose exact counts up to the length by which they are few, and a sketch of the rest."""
        if isinstance(method, Sketch) or method == Sketch.name:
            return self.sketch
        if isinstance(method, str) and method == Sequences.name:
            return Sequences(budget=LARGE_BUDGET, per_graph=PER_GRAPH)
        if not is_auto(method) and not isinstance(method, Combined):
            raise ParameterError(
                f"method must be 'auto', 'sequences', 'sketch', or a Sketch or Combined of gvoys.walks, not {method!r}"
            )
        walk, most = self._without_bandwidth, _FEW * self.sketch.n_components
        check_has_labels(batch, walk.node_labels, walk.edge_labels)
        lengths = exact_lengths(batch, walk, most)
        if min(lengths) == walk.longest:
            return Sequences(budget=LARGE_BUDGET, per_graph=PER_GRAPH)
        return self.sketch if max(lengths) < 0 else Combined(self.sketch.n_components, self.sketch.seed, exact=lengths)

    def labelled(self, batch: GraphBatch) -> GraphBatch:
        """Return graphs with the labels that walks go by."""
        check_has_labels(batch, self.walk.node_labels, self.walk.edge_labels)
        return self.walk.labelled_by_structure(batch)[0]

    def _attributes(self, batch: GraphBatch, device: str) -> DenseProfiles | None:
        if self.centre is None or self.deviation is None:
            return None
        scaled, walk, sketch = self.attributed(batch)
        return replace(sketch, device=device).profile(scaled, walk)

    def attributed(self, batch: GraphBatch) -> tuple[GraphBatch, Walk, Sketch]:
        """Return graphs, walk and sketch for attributes in units of their deviations."""
        assert self.centre is not None
        assert self.deviation is not None
        walk = replace(self.walk.by_structure, max_length=_ATTRIBUTE_LENGTH, refine=0, backtrack=True)
        if self.returns:  # which tell nodes apart as no other label of structure does
            labels = "edge" if walk.edge_labels else None
            batch, walk = _with_returns(batch, self.returns), replace(walk, labels=labels)
        stored = batch.node_attributes if batch.n_nodes else np.empty((0, len(self.centre)))
        if stored is None or stored.shape[1] != len(self.centre):
            raise UnsupportedError(
                f"the fitted graphs had {len(self.centre)} node attributes; these must have them too"
            )
        scaled = batch._with(node_attributes=(stored - self.centre) / self.deviation)
        return scaled, walk, replace(self.sketch, n_components=2 * self.sketch.n_components)


def usual_walk(batch: GraphBatch, max_length: int = _LONGEST, **fields: Any) -> Walk:
    """Return a walk by the labels that tell nodes of these graphs apart best, with an "auto" for other choices."""
    labels = usual_labels(batch)
    structure = None if labels else usual_structure(batch)
    known: dict[str, Any] = {"backtrack": "auto", "start": "ones", "stop": "ones"} | fields
    return Walk(max_length, labels, structure=structure, **known)


def _choose_backtrack(batch: GraphBatch) -> bool:
    """In graphs like molecules most walks go to and fro; in denser ones few do, and skipping them costs more."""
    return batch.n_entries > _DENSE * batch.n_nodes


def _choose_width(batch: GraphBatch, method: Any) -> int:
    """Return the components of the sketch."""
    if isinstance(method, (Sketch, Combined)):
        return check_count(method.n_components, "n_components")
    return _WIDTHS[batch.n_nodes > _LARGE * len(batch)]


def _may_return(batch: GraphBatch, walk: Walk) -> bool:
    """Whether return probabilities may stand for attributes: there are none, and it would not take long."""
    work = float(batch.graph_sizes.astype(np.float64) @ np.diff(batch.entry_offsets)) * _RETURNS / 2
    fit = not batch.directed and batch.n_entries > 0 and bool(np.all(batch.weights() > 0)) and work <= _MOST_RETURNS
    return fit and batch.node_attributes is None and is_auto(walk.attribute_bandwidth)


def _with_returns(batch: GraphBatch, longest: int) -> GraphBatch:
    """Return probabilities as attributes; after 0 and 1 steps they are the same for all nodes."""
    return batch._with(node_attributes=return_probabilities(batch, longest)[:, 2:])


def usual_bandwidth(batch: GraphBatch) -> NDArray[np.float64]:
    """Return bandwidths half the root mean square distance of nodes from the mean, each in its attribute's units."""
    return _unit_bandwidth(batch) * _deviations(batch)


def _unit_bandwidth(batch: GraphBatch) -> float:
    assert batch.node_attributes is not None
    return _BANDWIDTH * float(np.sqrt(batch.node_attributes.shape[1]))


def _deviations(batch: GraphBatch) -> NDArray[np.float64]:
    assert batch.node_attributes is not None
    deviation = batch.node_attributes.std(axis=0)
    return np.where(deviation > 0, deviation, 1.0)


def _scales(batch: GraphBatch, bandwidth: Any) -> tuple[Any, Any, float | None]:
    """Return mean and unit of the attributes, deviations where the bandwidth is "auto", and the bandwidth in units."""
    if bandwidth is None or (is_auto(bandwidth) and batch.node_attributes is None):
        return None, None, None
    if batch.node_attributes is None:
        raise UnsupportedError("attribute_bandwidth is given, but the graphs have no node attributes")
    centre, n_attributes = batch.node_attributes.mean(axis=0), batch.node_attributes.shape[1]
    if is_auto(bandwidth):
        return centre, _deviations(batch), _unit_bandwidth(batch)
    Walk(attribute_bandwidth=bandwidth, labels=None).on(batch)  # checks it
    return centre, np.broadcast_to(np.asarray(bandwidth, np.float64), n_attributes).copy(), 1.0


_TABLES = 4

Array = NDArray[np.float64]


def hash_blocks(walks: WalkBlocks, profiles: list[SparseProfiles], mu: Array, width: int) -> Array:
    """Features whose products are the kernel sum_b mu_b K_b in expectation."""
    plain = [(item.blocks[r][i].keys, item.block(r, i)) for item in profiles for r, i in _places(item)]
    out = np.zeros((len(profiles[0]), width + 1))
    for block, (keys, counts) in enumerate(plain):
        factors = np.full(len(out), np.sqrt(mu[block] / walks.traces[block]))
        out[:, :-1] += _hashed(counts, factors, keys, (walks.seed, block), width)
    for block, (keys, counts) in enumerate(plain if walks.cosine else [], len(plain)):
        norms = np.sqrt(row_squares(counts.indptr, counts.data))
        factors = np.sqrt(mu[block]) / np.where(norms > 0, norms, 1.0)
        out[:, :-1] += _hashed(counts, factors, keys, (walks.seed, block), width)
    out[:, -1] = np.sqrt(mu[-1])
    return out


def _places(profiles: SparseProfiles) -> Any:
    return np.ndindex(profiles.n_iterations, profiles.n_lengths)


def _hashed(
    counts: sp.csr_array, factors: Array, keys: NDArray[np.uint64], stream: tuple[int, int], width: int
) -> Array:
    """Counts times the factor of their graph, in the columns and with the signs of their sequences."""
    n_tables = min(_TABLES, width)
    columns, signs = signed_columns(keys, stream, width, n_tables)
    pointers = n_tables * np.arange(len(keys) + 1)
    entries = ((signs / np.sqrt(n_tables)).ravel(), columns.ravel(), pointers)
    table = sp.csr_array(entries, shape=(len(keys), width))
    return np.asarray((counts @ table).toarray()) * factors[:, None]
