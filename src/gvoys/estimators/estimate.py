"""One kernel value to a relative error: groups of components are added until the error bar is short enough."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import ConvergenceError, DivergenceError, ParameterError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.build import check_joinable
from gvoys.graphs.spectrum import max_degree, outgoing
from gvoys.io.convert import as_one_graph
from gvoys.series import Series, check_number, check_series
from gvoys.walks.checks import check_seed
from gvoys.walks.dense import DenseProfiles
from gvoys.walks.growth import choose_truncation, power_of_two
from gvoys.walks.methods import Moments
from gvoys.walks.profiles import rounding_floor, widened
from gvoys.walks.sampled import BATCHES, DrawnValue, Side, compare_drawn
from gvoys.walks.sketch import WIDTH, Sketch
from gvoys.walks.walk import Walk, check_walk, takes_walk

_PILOT = 32 * BATCHES  # walkers of each graph that tell how many should go how far; four times as many, how many
_MOST = 1 << 21
_STEP = 64.0  # entries of a graph that are added up in the time of one walker's step
_PER_ENTRY = 128.0  # of a sketch of eight groups, beside the same
_LEAST = float(1 << 22)  # entries that are added up in no time worth saving
_SEARCH = 16.0  # products that it takes to know how walks multiply
_RESERVE = 2.0  # more walkers than the pilot asks for, so that few draws miss the tolerance
_DRAWS = 8  # at most
_HUB = 6.0  # what a step may multiply loads by, beside the mean
_LOOKED_AT = 4096  # nodes, from all over a graph; and a sixteenth of it those of the largest degrees


class Sampled(NamedTuple):
    """A value that was sampled to a tolerance."""

    value: float
    stderr: float
    n_walkers: int


class DrawnPair(NamedTuple):
    """Two graphs, the walks on each, and what weighs their lengths."""

    graphs: tuple[GraphBatch, GraphBatch]
    walks: tuple[Walk, Walk]
    series: Series
    seed: int


def sample_value(
    pair: DrawnPair, max_length: int | None, truncation: float, tolerance: float, floor: float
) -> Sampled | None:
    """Sample walks until the standard error is at most ``floor + tolerance |K|``."""
    if not all(walk.sampled for walk in pair.walks) or not _may_pay(pair, max_length):
        return None
    length = _length(pair, max_length, truncation)
    if length is None:
        return None
    sides, mu = _sides(pair, length)
    if any(_has_hubs(side.graph) for side in sides):
        return None
    most = _work(pair, length, max_length is None)
    sizes, n_walkers, first = compare_drawn(sides, mu, np.full(length + 1, _PILOT), 0).sizes, 4 * _PILOT, _PILOT
    while (counts := _allocated(sizes, n_walkers, most)) is not None:
        pilot, first = compare_drawn(sides, mu, counts, first), first + int(counts[0])
        if pilot.value != 0.0:
            counts = _allocated(sizes, _wanted(pilot, tolerance, floor, n_walkers), most)
            return None if counts is None else _pooled(sides, mu, counts, first, (tolerance, floor))
        n_walkers *= 16  # no pair of walkers agreed, or none ended where it counts: more of them may
    return None


def _pooled(
    sides: tuple[Side, Side],
    mu: NDArray[np.float64],
    counts: NDArray[np.int64],
    first: int,
    wanted: tuple[float, float],
) -> Sampled | None:
    """Independent draws, whose number of walkers the pilot has set; all of them count.

    A draw of a low value has a short bar. To draw again where a bar is too long, and to keep only the last draw, would
    keep low values more often than high ones.
    """
    draws: list[DrawnValue] = []
    tolerance, floor = wanted
    while len(draws) < _DRAWS:
        draws.append(compare_drawn(sides, mu, counts, first + len(draws) * int(counts[0])))
        value = float(np.mean([draw.value for draw in draws]))
        n_walkers = len(draws) * int(counts[0])
        stderr = math.sqrt(sum(draw.stderr**2 for draw in draws)) / len(draws)
        stderr = max(stderr, abs(value) / n_walkers)  # for what so few nodes have that no walker met one
        if value != 0.0 and stderr <= floor + tolerance * abs(value):
            return Sampled(value, stderr, n_walkers)
    return None


def _has_hubs(graph: GraphBatch) -> bool:
    """Whether a few nodes multiply the load of a walker by so much more than others that bars cannot be trusted.

    That is a step's number of neighbours times their weight: of the nodes of the largest degrees, and of some others.
    """
    degrees = np.diff(graph.indptr)
    if not graph.n_entries:
        return False
    usual = np.linspace(0, graph.n_nodes - 1, min(graph.n_nodes, _LOOKED_AT)).astype(np.int64)
    count = min(graph.n_nodes, _LOOKED_AT // 16)
    largest = np.argpartition(degrees, graph.n_nodes - count)[graph.n_nodes - count :]
    loads = [_loads(graph, degrees, nodes) for nodes in (usual, largest)]
    mean = float(loads[0] @ degrees[usual]) / max(float(degrees[usual].sum()), 1.0)  # of the nodes where walkers are
    return float(max(load.max() for load in loads)) > _HUB * mean


def _loads(graph: GraphBatch, degrees: Any, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Estimate the factor by which a step from these nodes multiplies a walker's load."""
    if graph.edge_weights is None:
        return degrees[nodes].astype(np.float64)
    first = np.minimum(graph.indptr[nodes].astype(np.int64), graph.n_entries - 1)
    last = np.maximum(graph.indptr[nodes + 1].astype(np.int64) - 1, 0)
    weights = [np.abs(graph.edge_weights[positions]) for positions in (first, (first + last) // 2, last)]
    return np.asarray(degrees[nodes] * np.mean(weights, axis=0))


def _may_pay(pair: DrawnPair, max_length: int | None) -> bool:
    return _work(pair, 8 if max_length is None else max_length, max_length is None) > _LEAST


def _work(pair: DrawnPair, length: int, infinite: bool) -> float:
    """Return the work of the other methods, in added entries."""
    entries = float(sum(graph.n_entries for graph in pair.graphs))
    if pair.walks[0].labelled:
        return _PER_ENTRY * length * entries
    return (length + (_SEARCH if infinite else 0.0)) * entries


def _length(pair: DrawnPair, max_length: int | None, truncation: float) -> int | None:
    """The longest walk, by the largest degrees; None where these do not say that the series converges."""
    if max_length is not None:
        return max_length
    growth = math.prod(float(outgoing(graph).max(initial=0.0)) for graph in pair.graphs)
    try:
        return pair.series.truncation_length(growth, truncation)
    except DivergenceError:
        return None


def _sides(pair: DrawnPair, length: int) -> tuple[tuple[Side, Side], NDArray[np.float64]]:
    """Both graphs, divided by the same power of two, and the weights of the lengths then."""
    mean = [graph.n_entries / max(graph.n_nodes, 1) for graph in pair.graphs]
    weight = [1.0 if graph.edge_weights is None else _usual_weight(graph) for graph in pair.graphs]
    scale = power_of_two(math.sqrt(math.prod(mean) * math.prod(weight)))
    one, other = (
        Side(graph, replace(walk, max_length=length), _key(pair.seed, number), scale)
        for number, (graph, walk) in enumerate(zip(pair.graphs, pair.walks, strict=True))
    )
    return (one, other), pair.series.coefficients(length, scale)


def _usual_weight(graph: GraphBatch) -> float:
    """Return the mean weight of a sample of entries."""
    assert graph.edge_weights is not None
    sample = graph.edge_weights[:: max(graph.n_entries // 1024, 1)]
    return float(np.abs(sample).mean()) if sample.size else 1.0


def _key(seed: int, number: int) -> NDArray[np.uint64]:
    """Random bits of one of the two graphs; a graph that is compared with itself has two sets of walkers."""
    return np.asarray(np.random.SeedSequence([seed, number]).generate_state(2, np.uint64), np.uint64)


def _wanted(pilot: DrawnValue, tolerance: float, floor: float, n_walkers: int) -> int:
    """Walkers that reach the tolerance, if they are shared among lengths as the pilot's are."""
    allowed = floor + tolerance * abs(pilot.value)
    return int(min(max(_RESERVE * n_walkers * (pilot.stderr / allowed) ** 2, _PILOT), 2 * _MOST))


def _allocated(sizes: NDArray[np.float64], wanted: int, most: float) -> NDArray[np.int64] | None:
    """Walkers that reach each length: in proportion to what one adds there or later; None if they work for too long."""
    later = np.maximum.accumulate(sizes[::-1])[::-1]
    shares = later / later[0] if later[0] > 0 else np.ones(len(later))
    counts = np.maximum(np.ceil(wanted * shares / BATCHES), 1).astype(np.int64) * BATCHES
    return None if wanted > _MOST or 2.0 * _STEP * float(counts.sum()) > most else counts


_FIRST = 8  # groups to begin with


@dataclass(frozen=True)
class Estimate:
    """Kernel value with its standard error."""

    value: float  # the estimate
    stderr: float  # its standard error; value +- 1.96 stderr is a 95 % interval
    n_components: int  # number of components that were used, or of walkers on each graph

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        return self.value - 1.96 * self.stderr, self.value + 1.96 * self.stderr


class Tolerance(NamedTuple):
    """Relative and absolute tolerance of a standard error."""

    rtol: float
    atol: float

    def met_by(self, found: Estimate) -> bool:
        """Whether the standard error is at most atol + rtol |value|."""
        return found.stderr <= self.atol + self.rtol * abs(found.value)

    def __str__(self) -> str:
        return f"rtol = {self.rtol:g}" + (f" and atol = {self.atol:g}" if self.atol else "")


@takes_walk()
def estimate(
    g: Any,
    h: Any,
    series: Series,
    walk: Walk = Walk(max_length=None),  # noqa: B008 (immutable)
    rtol: float = 0.01,
    atol: float = 0.0,
    *,
    random_state: int = 0,
    max_components: int = 1 << 20,
) -> Estimate:
    """Estimate K(g, h) until its standard error is at most ``atol + rtol |K|``.

    Without labels and attributes the value is exact, with a standard error of 0. Of large graphs, walks are sampled
    instead where that takes less work: walkers start where `start` says, and read no more of a graph than where they
    go, so that the time does not grow with it. Graphs with hubs are not sampled, unless their weights make up for the
    degrees: too few walkers would meet the hubs for a true error bar. Of weighted graphs one pass over the weights
    bounds an infinite series.

    Parameters
    ----------
    g : graph
        One graph of any kind that `as_batch` takes.
    h : graph
        The other graph.
    series : Geometric, Exponential or Coefficients
        The weights of the walk lengths; the decay must be a number, since nothing is fitted to resolve "auto".
    walk : Walk, default=Walk(max_length=None)
        What is counted. With ``max_length=None`` the infinite series is truncated with an error of at most a thousandth
        of `rtol` of a bound on it (see `RandomWalkFeatures`); a divergent one raises DivergenceError. Start and stop
        weights that are arrays have one number for each node of g and of h, or are pairs of arrays.
    rtol : float, default=0.01
        Relative tolerance, above 0 and at most 0.3.
    atol : float, default=0.0
        Absolute tolerance, for values near zero, which no relative one reaches.
    random_state : int, default=0
        Seed; the result is a pure function of it, the graphs and the parameters.
    max_components : int, default=1048576
        Largest number of components.

    Returns
    -------
    Estimate
        The value with its standard error.

    Raises
    ------
    ConvergenceError
        If `max_components` are not enough, as for values near zero without `atol`.

    Examples
    --------
    >>> import gvoys as gv
    >>> one, other = gv.datasets.molecules(2)
    >>> found = estimate(one, other, gv.Exponential(0.1), rtol=0.01)
    >>> found.stderr <= 0.01 * found.value
    True
    """
    if not isinstance(rtol, (float, np.floating)) or not 0 < rtol <= 0.3:
        # beyond that the rule to stop where the value is large beside its error would itself bias the value
        raise ParameterError(f"rtol must lie between 0 and 0.3, not {rtol!r}")
    if not isinstance(atol, (int, float, np.integer, np.floating)) or not 0 <= atol < np.inf:
        raise ParameterError(f"atol must be a number of at least 0, not {atol!r}")
    if not isinstance(max_components, (int, np.integer)) or max_components < _FIRST * WIDTH:
        raise ParameterError(f"max_components must be an integer of at least {_FIRST * WIDTH}, not {max_components!r}")
    graphs = as_one_graph(g, "g"), as_one_graph(h, "h")
    check_joinable(graphs)
    halves = [half.on(graph) for half, graph in zip(check_walk(walk).on_pair(graphs[0].n_nodes), graphs, strict=True)]
    (g, one), (h, other) = (half.labelled_by_structure(graph) for half, graph in zip(halves, graphs, strict=True))
    graphs = g, h
    check_number(check_series(series, one.n_iterations), lambda: max(map(max_degree, graphs)))
    length, seed = walk.max_length, check_seed(random_state)
    drawn = DrawnPair(graphs, (one, other), series, seed)
    sampled = sample_value(drawn, length, 1e-3 * rtol, rtol, atol)
    if sampled is not None:
        return Estimate(*sampled)
    pair = GraphBatch.concatenate(graphs)
    if length is None:
        length = choose_truncation(pair, series, 1e-3 * rtol)[0]
    ends = {name: _joined([getattr(half, name) for half in halves]) for name in ("start", "stop")}
    joined = replace(one, max_length=length, **ends)
    if joined.plain:
        return Estimate(float(Moments().profile(pair, joined).gram(series)[0, 1]), 0.0, 1)
    return _refine(pair, series, joined, seed, Tolerance(rtol, atol), max_components)


def _refine(
    pair: GraphBatch, series: Series, walk: Walk, seed: int, tolerance: Tolerance, max_components: int
) -> Estimate:
    values = np.empty((3, 0))
    n_groups = _FIRST
    while True:
        new = n_groups - values.shape[1]
        profiles = Sketch(new * WIDTH, seed, first_group=values.shape[1]).profile(pair, walk)
        values = np.hstack([values, _group_values(profiles, series, new)])
        result = _summarise(values, profiles.rounding)
        if tolerance.met_by(result):
            return result
        if 2 * n_groups * WIDTH > max_components:
            raise ConvergenceError(
                f"{result.n_components} components leave {result.value:.4g} with a standard error of "
                f"{result.stderr:.2g}, above {tolerance}; raise rtol, atol or max_components, or use exact_kernel"
            )
        n_groups *= 2


def _group_values(profiles: DenseProfiles, series: Series, n_groups: int) -> Any:
    """K(g, h), K(g, g) and K(h, h) by each group on its own, (3, n_groups)."""
    roots = profiles.roots(series)[..., None, None]
    shape = (2, profiles.n_lengths, profiles.n_iterations, n_groups, WIDTH)
    g, h = profiles.values.reshape(shape) * roots
    return np.array([np.einsum("lrgj,lrgj->g", a, b) * n_groups for a, b in ((g, h), (g, g), (h, h))])


def _summarise(values: Any, own: Any) -> Estimate:
    """The mean over groups, and its error by their spread, never below the rounding of both graphs' sketches."""
    between, *diagonal = values
    n_groups = len(between)
    error = widened(between.std(ddof=1) / np.sqrt(n_groups), n_groups)
    ends = [np.array([lengths.mean()]) for lengths in diagonal]
    floor = rounding_floor(own[:1], own[1:], *ends)[0, 0]
    return Estimate(float(between.mean()), float(np.hypot(error, floor)), n_groups * WIDTH)


def _joined(ends: list[Any]) -> Any:
    """Return the start or stop weights of both graphs."""
    return ends[0] if isinstance(ends[0], str) else np.concatenate([np.asarray(part, float) for part in ends])
