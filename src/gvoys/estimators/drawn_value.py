"""A kernel value by sampled walks, as many as a tolerance asks for, where they take less work than all walks."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DivergenceError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.degrees import outgoing
from gvoys.series import Series
from gvoys.walks.drawn import BATCHES, DrawnValue, Side, compare_drawn
from gvoys.walks.growth import power_of_two
from gvoys.walks.walk import Walk

__all__ = ["DrawnPair", "Sampled", "sample_value"]

_PILOT = 32 * BATCHES  # walkers of each graph that tell how many are needed
_MOST = 1 << 21
_STEP = 64.0  # entries of a graph that are added up in the time of one walker's step
_PER_ENTRY = 128.0  # of a sketch of eight groups, beside the same
_LEAST = float(1 << 22)  # entries that are added up in no time worth saving
_SEARCH = 16.0  # products that it takes to know how walks multiply
_RESERVE = 1.3  # more walkers than the pilot asks for


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
    """Sample walks until the standard error is at most ``floor + tolerance |K|``.

    Parameters
    ----------
    pair : DrawnPair
        What is compared.
    max_length : int or None
        Longest walk; None means the infinite series.
    truncation : float
        Share of a bound on the infinite series that may be truncated.
    tolerance, floor : float
        Relative and absolute tolerance.

    Returns
    -------
    Sampled or None
        The value; None where other methods take less work, or sampled walks cannot tell.
    """
    if not all(walk.sampled for walk in pair.walks) or not _may_pay(pair, max_length):
        return None
    length = _length(pair, max_length, truncation)
    if length is None:
        return None
    sides, mu = _sides(pair, length)
    first, counts = 0, np.full(length + 1, _PILOT)
    pilot = compare_drawn(sides, mu, counts, first)
    most = _work(pair, length, max_length is None)
    while True:
        first += int(counts[0])
        wanted = _wanted(pilot, tolerance, floor, int(counts[0]))
        counts = _allocated(pilot.sizes, wanted)
        if wanted > _MOST or 2.0 * _STEP * float(counts.sum()) > most:
            return None
        found = compare_drawn(sides, mu, counts, first)
        if found.value != 0.0 and found.stderr <= floor + tolerance * abs(found.value):
            return Sampled(found.value, found.stderr, int(counts[0]))
        pilot = found


def _may_pay(pair: DrawnPair, max_length: int | None) -> bool:
    return _work(pair, 8 if max_length is None else max_length, max_length is None) > _LEAST


def _work(pair: DrawnPair, length: int, infinite: bool) -> float:
    """What the other methods do, as entries that are added up."""
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
    """Of some entries, all over the graph."""
    assert graph.edge_weights is not None
    some = graph.edge_weights[:: max(graph.n_entries // 1024, 1)]
    return float(np.abs(some).mean()) if some.size else 1.0


def _key(seed: int, number: int) -> NDArray[np.uint64]:
    """Random bits of one of the two graphs; a graph that is compared with itself has two sets of walkers."""
    return np.asarray(np.random.SeedSequence([seed, number]).generate_state(2, np.uint64), np.uint64)


def _wanted(pilot: DrawnValue, tolerance: float, floor: float, n_walkers: int) -> int:
    """Walkers that reach the tolerance, if their variance is that of the pilot's."""
    if pilot.value == 0.0:  # no pair of walkers agreed, or none ended where it counts: more of them may
        return 16 * n_walkers
    allowed = floor + tolerance * abs(pilot.value)
    if pilot.stderr <= allowed:
        return n_walkers
    needed = _RESERVE * n_walkers * (pilot.stderr / allowed) ** 2
    return int(min(max(needed, 1.5 * n_walkers), 2 * _MOST))


def _allocated(sizes: NDArray[np.float64], wanted: int) -> NDArray[np.int64]:
    """Walkers that reach each length: in proportion to what one adds there or later."""
    later = np.maximum.accumulate(sizes[::-1])[::-1]
    shares = later / later[0] if later[0] > 0 else np.ones(len(later))
    return np.maximum(np.ceil(wanted * shares / BATCHES), 1).astype(np.int64) * BATCHES
