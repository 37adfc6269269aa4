"""A kernel value by sampled walks, as many as a tolerance asks for, where they take less work than all walks."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gvoys.errors import DivergenceError
from gvoys.graphs.batch import GraphBatch
from gvoys.graphs.degrees import outgoing
from gvoys.series import Series
from gvoys.walks.drawn import BATCHES, DrawnValue, Side, compare_drawn
from gvoys.walks.growth import power_of_two
from gvoys.walks.walk import Walk

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
