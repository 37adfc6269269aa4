"""Walks drawn from the start distribution: unbiased, with true error bars, and no more of a graph read than need be."""

from importlib import import_module

import networkx as nx
import numpy as np
import pytest
from pairs import KINDS, Kind, random_graph

import gvoys as gv
from gvoys.errors import DivergenceError, GraphError, ParameterError
from gvoys.estimators.estimate import DrawnPair
from gvoys.graphs.spectrum import max_degree
from gvoys.reference import kernel_by_vec_trick
from gvoys.walks.sampled import BATCHES, compare_drawn
from gvoys.walks.walk import Walk

drawn_value = import_module("gvoys.estimators.estimate")  # not the function of that name
LENGTH = 5


@pytest.fixture
def always(monkeypatch):
    """Small graphs are sampled too, whatever that takes."""
    monkeypatch.setattr(drawn_value, "_LEAST", 0.0)
    monkeypatch.setattr(drawn_value, "_STEP", 0.0)


def pair_of(kind, seed, n=12):
    rng = np.random.default_rng(seed)
    made = [
        random_graph(rng, size, kind, density=0.4, start=rng.uniform(-0.2, 1, size), stop=rng.uniform(-0.2, 1, size))
        for size in (n, n + 3)
    ]
    graphs, dense = zip(*made, strict=True)
    ends = {name: tuple(getattr(each, name) for each in dense) for name in ("start", "stop")}
    return graphs, ends, dense


def drawn(graphs, ends, kind, counts, seed, series):
    """One estimate with so many walkers at each length."""
    walks = [
        Walk(0, kind.labels, start=start, stop=stop)
        for graph, start, stop in zip(graphs, ends["start"], ends["stop"], strict=True)
    ]
    sides, mu = drawn_value._sides(DrawnPair(tuple(graphs), tuple(walks), series, seed), LENGTH)
    return compare_drawn(sides, mu, np.asarray(counts, np.int64) * BATCHES, 0)


@pytest.mark.parametrize("kind", [*KINDS, Kind(weighted=True, signed=True, directed=True)], ids=str)
def test_unbiased_with_true_bars(kind):
    graphs, ends, dense = pair_of(kind, 7)
    decay = 0.5 / max_degree(graphs[0]) / max_degree(graphs[1])
    series = gv.Coefficients(decay ** np.arange(LENGTH + 1.0))
    truth = kernel_by_vec_trick(*dense, LENGTH) @ series.coefficients(LENGTH)
    found = [drawn(graphs, ends, kind, [4, 4, 3, 3, 2, 1], seed, series) for seed in range(200)]
    values, bars = (np.array([getattr(each, name) for each in found]) for name in ("value", "stderr"))
    assert abs(values.mean() - truth) < 4 * values.std() / np.sqrt(len(values))
    assert np.sqrt((bars**2).mean()) == pytest.approx(values.std(), rel=0.25)
    assert 0.9 < np.mean(np.abs(values - truth) <= 1.96 * bars) < 0.99


def test_the_error_falls_like_the_root_of_the_walkers():
    graphs, ends, dense = pair_of(Kind(node_labels=True), 3)
    series = gv.Coefficients(0.05 ** np.arange(LENGTH + 1.0))
    truth = kernel_by_vec_trick(*dense, LENGTH) @ series.coefficients(LENGTH)
    sizes = [1, 4, 16, 64]
    errors = []
    for n in sizes:
        found = [drawn(graphs, ends, Kind(node_labels=True), [n] * 6, seed, series).value for seed in range(60)]
        errors.append(np.sqrt(np.mean((np.array(found) - truth) ** 2)))
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(-0.5, abs=0.1)


@pytest.mark.parametrize("kind", [Kind(), Kind(node_labels=True)], ids=str)
def test_a_graph_with_itself_has_two_sets_of_walkers(kind):
    graphs, ends, dense = pair_of(kind, 5)
    alone = [[each[0]] * 2 for each in (graphs, ends["start"], ends["stop"], dense)]
    series = gv.Coefficients((0.5 / max_degree(graphs[0]) ** 2) ** np.arange(LENGTH + 1.0))
    truth = kernel_by_vec_trick(*alone[3], LENGTH) @ series.coefficients(LENGTH)
    both = {"start": alone[1], "stop": alone[2]}
    values = np.array([drawn(alone[0], both, kind, [1] * 6, seed, series).value for seed in range(400)])
    assert abs(values.mean() - truth) < 4 * values.std() / 20


@pytest.mark.parametrize("rtol", [0.1, 0.02])
def test_it_reaches_the_tolerance_on_large_graphs(rtol):
    graphs = [nx.barabasi_albert_graph(20_000, 8, seed=s) for s in range(2)]
    batch = gv.as_batch(graphs).normalized("row")
    rng = np.random.default_rng(0)
    weights = [np.abs(rng.normal(size=20_000)) / 20_000 for _ in range(4)]
    ends = {"start": weights[:2], "stop": weights[2:]}
    joined = {name: np.concatenate(both) for name, both in ends.items()}
    series = gv.Geometric(0.5)
    truth = gv.RandomWalkKernel(series, gv.Walk(None, **joined)).fit_transform(batch)[0, 1]
    z = []
    for seed in range(20):
        found = gv.estimate(batch[0], batch[1], series, gv.Walk(None, **ends), rtol, random_state=seed)
        assert 0 < found.stderr <= rtol * found.value
        z.append((found.value - truth) / found.stderr)
    assert np.abs(z).max() < 4
    assert np.std(z) == pytest.approx(1, abs=0.5)


def test_no_value_is_kept_because_it_is_low(always):
    """A draw of a low value has a short bar. To draw again until a bar is short had z = -9 here."""
    batch = gv.as_batch([nx.gnm_random_graph(3000, 9000, seed=s) for s in range(2)])
    rng, series = np.random.default_rng(0), gv.Exponential(0.05)
    stop = tuple(np.exp(2.0 * rng.normal(size=3000)) for _ in range(2))
    truth = gv.exact_kernel(batch[0], batch[1], gv.Coefficients(series.coefficients(3)), gv.Walk(None, stop=stop))
    found = [
        gv.estimate(batch[0], batch[1], series, gv.Walk(3, stop=stop), rtol=0.1, random_state=seed)
        for seed in range(600)
    ]
    values, bars = (np.array([getattr(each, name) for each in found]) for name in ("value", "stderr"))
    assert (bars > 0).all()
    assert (bars <= 0.1 * values).all()
    assert abs(values.mean() - truth) < 3.5 * values.std() / np.sqrt(len(values))
    assert 0.92 < np.mean(np.abs(values - truth) <= 1.96 * bars) < 0.98


def test_no_more_is_read_than_where_walkers_go(monkeypatch):
    """With a length, nothing passes over the graph; without one, its degrees do."""
    graph = gv.datasets.erdos_renyi(1, 3000, 0.4)  # no fewer entries than sampling takes
    ends = {"start": (np.ones(3000),) * 2, "stop": (np.arange(3000.0),) * 2}
    known = gv.estimate(graph, graph, gv.Geometric(1e-7), gv.Walk(None, **ends), 0.1)
    monkeypatch.setattr(gv.GraphBatch, "concatenate", None)
    monkeypatch.setattr(drawn_value, "outgoing", None)
    found = gv.estimate(graph, graph, gv.Geometric(1e-7), gv.Walk(8, **ends), 0.1)
    assert found.stderr > 0
    assert abs(found.value - known.value) < 5 * np.hypot(found.stderr, known.stderr)


def test_nothing_in_common_is_not_taken_for_zero(always):
    """No pair of walkers agrees, which may be chance: the sketch tells."""
    one, other = (gv.GraphBatch.from_arrays([[0, 1], [1, 2]], [3], node_labels=list(3 * c)) for c in "CN")
    with pytest.raises(gv.errors.ConvergenceError, match="above rtol"):
        gv.estimate(one, other, gv.Exponential(0.5), max_components=2048)


def test_walkers_that_are_stuck(always):
    path = nx.DiGraph([(0, 1), (1, 2), (2, 3)])
    truth = gv.exact_kernel(path, path, gv.Geometric(0.5), gv.Walk(None, start="ones", stop="ones"))
    found = gv.estimate(path, path, gv.Geometric(0.5), gv.Walk(None, start="ones", stop="ones"), rtol=0.02)
    assert abs(found.value - truth) < 5 * found.stderr
    empty = gv.as_batch([nx.empty_graph(5)])
    assert gv.estimate(
        empty, empty, gv.Geometric(0.5), gv.Walk(None, start="ones", stop="ones")
    ).value == pytest.approx(25)


@pytest.mark.parametrize(
    ("decay", "how", "error", "message"),
    [
        (0.5, {}, DivergenceError, "the decay must be below"),
        (1e-7, {"start": np.ones(3000)}, ParameterError, "start must be"),
        (1e-7, {"stop": (np.ones(3), np.ones(3000))}, ParameterError, "of 3000 numbers, one per node, not of shape"),
        (1e-7, {"h": gv.datasets.molecules(1)}, GraphError, "node labels"),
    ],
)
def test_what_is_wrong_is_said(decay, how, error, message):
    g, h = gv.datasets.erdos_renyi(2, 3000, 0.3)
    with pytest.raises(error, match=message):
        gv.estimate(g, how.pop("h", h), gv.Geometric(decay), gv.Walk(None, **how))
