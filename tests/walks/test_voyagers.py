"""Sampled walks: unbiased in every mode on every kind of graph, of known variance, always the same bits."""

from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest
from pairs import KINDS, Kind, random_graph
from paper import z_score
from sklearn.base import clone

import gvoys as gv
from gvoys._compiled.cpu import voyager_steps as steps
from gvoys.errors import DivergenceError, GvoysError, ParameterError, UnsupportedError, VarianceWarning
from gvoys.graphs.labels import Labels
from gvoys.graphs.spectrum import max_degree
from gvoys.reference import kernel_by_vec_trick
from gvoys.walks.walk import Walk

RUNS = 10_000
MODES = list(product((False, True), (False, True), (1, 3), (None, 3)))  # signs, coins, walks, anchors


def graphs_of(kind, seed, density=0.3):
    """Three graphs, with loops and isolated nodes, start and stop weights of their own, in both forms."""
    rng = np.random.default_rng(seed)
    made = [
        random_graph(rng, n, kind, density=density, start=rng.uniform(0.2, 1, n), stop=rng.uniform(0.2, 1, n))
        for n in (4, 5, 7)
    ]
    return gv.GraphBatch.concatenate([batch for batch, _ in made]), [dense for _, dense in made]


def ends(dense):
    return {name: np.concatenate([getattr(one, name) for one in dense]) for name in ("start", "stop")}


def series_for(batch):
    """Such that walks of several steps count, and the variance stays small enough to see a bias."""
    return gv.Exponential(3.0 / max_degree(batch) ** 2)


def check_pairs(X, dense, series, length=40):
    mu = series.coefficients(length)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        expected = mu @ kernel_by_vec_trick(dense[i], dense[j], length)
        assert abs(z_score(X[i] * X[j] * X.shape[1], expected)) < 5


def check_lengths(X, dense, mu):
    """Each length by itself, X (n_graphs, n_lengths, RUNS)."""
    for i, j in ((0, 1), (0, 2), (1, 2)):
        expected = mu * kernel_by_vec_trick(dense[i], dense[j], 4)
        values = X[i] * X[j] * RUNS
        error = values.std(axis=1) / np.sqrt(RUNS) + 1e-9 * np.abs(expected) + 1e-15
        assert (np.abs(values.mean(axis=1) - expected) / error).max() < 5


@pytest.mark.parametrize("kind", [*KINDS, Kind(weighted=True, signed=True, directed=True, node_labels=True)], ids=str)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: "-".join(map(str, mode)))
def test_unbiased(mode, kind):
    share_signs, share_halting, n_walks, n_anchors = mode
    batch, dense = graphs_of(kind, seed=MODES.index(mode))
    voyagers = gv.GraphVoyagers(
        series_for(batch), RUNS, n_walks, 0.3, n_anchors, share_signs, share_halting, labels=kind.labels, random_state=1
    ).set_params(**ends(dense))
    check_pairs(voyagers.fit_transform(batch), dense, voyagers.series_)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("p_halt", [None, 0.3])
@pytest.mark.parametrize(("share_signs", "share_halting"), [(False, True), (True, True), (False, False), (True, False)])
def test_one_sided_walks_are_unbiased(p_halt, share_signs, share_halting, kind):
    """Every length on its own: each block of features estimates mu_i K_i."""
    batch, dense = graphs_of(kind, seed=3)
    walks = gv.OneSidedVoyagers(
        gv.Exponential(1.0), gv.Walk(4, kind.labels, **ends(dense)), RUNS, 2, p_halt, share_signs, share_halting
    )
    X = walks.fit_transform(batch).reshape(3, 5, RUNS)
    mu = walks.series_.coefficients(4)
    check_lengths(X, dense, mu)


@pytest.mark.parametrize("kind", [Kind(), Kind(True, True, True, True)], ids=str)
@pytest.mark.parametrize("n_starts", [1, 3])
def test_a_few_starts_of_each_component_are_unbiased(n_starts, kind, monkeypatch):
    monkeypatch.setattr("gvoys.walks.sampled._N_STARTS", n_starts)
    batch, dense = graphs_of(kind, seed=3)
    X = gv.profiles(batch, gv.Walk(4, kind.labels, **ends(dense)), "voyagers", RUNS)
    check_lengths(X, dense, 1.0)


def test_the_time_of_a_component_does_not_grow_with_the_graph():
    costs = [
        gv.walks.SampledWalks(16).cost(Walk(4), gv.GraphBatch.from_arrays([[0, 1]], [n])).operations
        for n in (100, 4096, 10**6)
    ]
    assert costs[0] < costs[1] == costs[2]


def as_dense(batch):
    from gvoys.reference import DenseGraph

    uniform = np.full(batch.n_nodes, 1.0 / batch.n_nodes)
    return DenseGraph(batch.adjacency().toarray(), uniform, uniform)


def test_long_walks_on_molecules_are_unbiased():
    """Walks past 128 steps, where signs are drawn anew, and halting that must draw twice."""
    rng = np.random.default_rng(5)
    batch = gv.as_batch([nx.path_graph(3), nx.cycle_graph(4)])
    batch = replace(batch, node_labels=Labels.from_values(rng.integers(0, 2, 7)))
    dense = [replace(as_dense(one), node_labels=one.node_labels.decode()) for one in batch]
    P = gv.profiles(batch, gv.Walk(140), method="voyagers", n_components=40_000, scale=2.0)
    for length in (3, 127, 128, 140):
        expected = kernel_by_vec_trick(*dense, length)[length] / 4.0**length
        assert abs(z_score(P[0, length] * P[1, length] * P.shape[2], expected)) < 5
    lengths = [halting(0.02, seed) for seed in range(20_000)]
    assert abs(z_score(np.array(lengths, float), (1 - 0.02) / 0.02)) < 5
    assert max(lengths) > 400
    tail = np.mean(np.array(lengths) >= 200)
    assert abs(tail - 0.98**200) < 5 * np.sqrt(0.98**200 / 20_000)


def halting(p_halt, seed):
    return steps.halting_length(10**6, p_halt, np.array([seed, 7], np.uint64), 0, 0, 0)


def errors_of(batch, expected, n_components, n_seeds, **how):
    values = []
    for seed in range(n_seeds):
        X = gv.GraphVoyagers(gv.Exponential("auto"), n_components, random_state=seed, **how).fit_transform(batch)
        values.append(X[0] @ X[1])
    return np.sqrt(np.mean((np.array(values) / expected - 1) ** 2))


@pytest.mark.parametrize("labels", [None, "node"])
def test_the_error_falls_like_the_root_of_the_components(labels):
    """Figure 3 of the paper: the slope of log RMSE over log d_G is -1/2."""
    batch = gv.datasets.molecules(2, random_state=3)
    expected = gv.exact_kernel(
        batch[0], batch[1], gv.Exponential(1 / max_degree(batch) ** 2), gv.Walk(None, labels=labels)
    )
    widths = [25, 50, 100, 200, 400, 800]
    errors = [errors_of(batch, expected, width, 150, labels=labels) for width in widths]
    slope = np.polyfit(np.log(widths), np.log(errors), 1)[0]
    assert -0.6 < slope < -0.4


@pytest.mark.filterwarnings("ignore::gvoys.errors.VarianceWarning")
def test_one_side_and_fixed_lengths_have_less_variance():
    """At the same number of walkers: two sides, one side with halting, one side of fixed length."""
    batch = gv.datasets.molecules(2, random_state=3)
    series = gv.Geometric(0.1)
    expected = gv.exact_kernel(batch[0], batch[1], series)
    d = 20_000

    def spread(estimator):
        X = estimator.fit_transform(batch).reshape(2, -1, d)
        return (X[0] * X[1]).sum(axis=0).var() * d**2 / expected**2

    both = spread(gv.GraphVoyagers(series, d))
    halted = spread(gv.OneSidedVoyagers(series, gv.Walk(None), n_components=d, p_halt=0.2))
    fixed = spread(gv.OneSidedVoyagers(series, gv.Walk(None), n_components=d))
    assert fixed < halted < 0.5 * both


@pytest.mark.parametrize("signs", ["gaussian", "uniform"])
def test_other_signs_are_unbiased_too(signs):
    batch, dense = graphs_of(Kind(node_labels=True), seed=8)
    voyagers = gv.GraphVoyagers(series_for(batch), 4 * RUNS, signs=signs).set_params(**ends(dense))
    check_pairs(voyagers.fit_transform(batch), dense, voyagers.series_)


BATCH = gv.datasets.molecules(12, mean_nodes=12, random_state=2)
MAKERS = {
    "voyagers": gv.GraphVoyagers(gv.Exponential(0.1), 30, 2, n_anchors=5),
    "independent coins": gv.GraphVoyagers(gv.Exponential(0.1), 30, share_halting=False),
    "one-sided": gv.OneSidedVoyagers(gv.Exponential(0.1), gv.Walk(3, "both"), 30),
}


def maker(estimator):
    return lambda **how: clone(estimator).set_params(**how)


every = pytest.mark.parametrize("make", [*map(maker, MAKERS.values())], ids=MAKERS)


@every
def test_the_same_bits_for_any_threads_and_batches(make):
    import numba

    expected = make().fit(BATCH).transform(BATCH)
    for n_jobs in range(1, numba.config.NUMBA_NUM_THREADS + 1):
        np.testing.assert_array_equal(make(n_jobs=n_jobs).fit(BATCH).transform(BATCH), expected)
    fitted = make().fit(BATCH)
    one_by_one = [fitted.transform(BATCH[i]) for i in reversed(range(len(BATCH)))]
    np.testing.assert_array_equal(np.concatenate(one_by_one[::-1]), expected)
    np.testing.assert_array_equal(fitted.transform(BATCH[[5, 2, 7]]), expected[[5, 2, 7]])


def test_empty_graphs_and_lonely_nodes():
    graphs = [nx.empty_graph(0), nx.empty_graph(3), nx.path_graph(2)]
    X = gv.GraphVoyagers(gv.Exponential(0.1), 4000).fit_transform(graphs)
    assert (X[0] == 0).all()
    assert abs(z_score(X[1] * X[2] * 4000, 1 / 3 * 1 / 2 * 6 / 6)) < 4
    assert gv.GraphVoyagers(gv.Exponential(0.1)).fit_transform(gv.as_batch([nx.path_graph(2)])[:0]).shape == (0, 100)


def test_infinite_variance_is_announced():
    cycle = [nx.cycle_graph(5), nx.cycle_graph(7)]
    with pytest.warns(VarianceWarning, match="lower p_halt or the decay, or use OneSidedVoyagers"):
        gv.GraphVoyagers(gv.Geometric(0.23), p_halt=0.2).fit(cycle)
    gv.GraphVoyagers(gv.Geometric(0.22), p_halt=0.2).fit(cycle)
    with pytest.warns(VarianceWarning):
        gv.GraphVoyagers(gv.Geometric(0.23)).fit([nx.path_graph(40)]).transform([nx.cycle_graph(5)])


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"series": gv.Geometric(0.3)}, DivergenceError, "the decay must be below"),
        ({"series": "geometric"}, ParameterError, "series must be"),
        ({"n_components": 0}, ParameterError, "n_components must be an integer of at least 1"),
        ({"n_walks": 1.5}, ParameterError, "n_walks must be an integer of at least 1"),
        ({"p_halt": 1.0}, ParameterError, "p_halt must lie between 0 and 1"),
        ({"p_halt": 0.0}, ParameterError, "p_halt must lie between 0 and 1"),
        ({"n_anchors": 0}, ParameterError, "n_anchors must be an integer of at least 1"),
        ({"share_signs": 1}, ParameterError, "share_signs must be True or False"),
        ({"share_halting": None}, ParameterError, "share_halting must be True or False"),
        ({"signs": "cauchy"}, ParameterError, "signs must be one of 'rademacher', 'gaussian', 'uniform'"),
        ({"replicate": 256}, ParameterError, "replicate must be an integer from 0 to 255"),
        ({"labels": "node"}, UnsupportedError, "the graphs have no node labels"),
    ],
)
def test_refusals(how, error, message):
    how = {"series": gv.Exponential(0.1), **how}
    with pytest.raises(error, match=message) as caught:
        gv.GraphVoyagers().set_params(**how).fit([nx.cycle_graph(4), nx.cycle_graph(5)])
    assert isinstance(caught.value, GvoysError)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda fitted: fitted.transform([nx.complete_graph(9)]), DivergenceError, "fit on graphs like these"),
        (lambda fitted: fitted.transform([nx.complete_graph(30)]), DivergenceError, "diverges"),
        (lambda _: gv.profiles(BATCH, Walk(3), "voyagers", 10, replicate=-1), ParameterError, "replicate must be"),
        (lambda _: gv.GraphVoyagers().fit([nx.cycle_graph(5)]), DivergenceError, "OneSidedVoyagers takes a walk with"),
        (
            lambda _: gv.RandomWalkFeatures(method="voyagers", lengths="summed").fit([nx.path_graph(3)]),
            UnsupportedError,
            "lengths='summed' needs labels",
        ),
    ],
)
def test_refusals_say_what_to_do(call, error, message):
    fitted = gv.GraphVoyagers(gv.Geometric(0.01)).fit([nx.path_graph(4)])
    with pytest.raises(error, match=message):
        call(fitted)


def test_graphs_without_weights_walk_the_same_beside_weighted_ones():
    heavy = nx.cycle_graph(4)
    nx.set_edge_attributes(heavy, 2.0, "weight")
    fitted = gv.GraphVoyagers(gv.Exponential(0.1), 5).fit([nx.path_graph(5), heavy])
    np.testing.assert_array_equal(
        fitted.transform([nx.path_graph(5), heavy])[0], fitted.transform([nx.path_graph(5)])[0]
    )


def test_hubs_and_decays_near_the_degree_are_taken():
    """Scales and lengths come from how walks multiply, not from the largest degree."""
    hub = gv.GraphVoyagers(gv.Geometric(0.7e-4), 50).fit([nx.star_graph(10_000), nx.path_graph(5)])
    assert np.isfinite(hub.transform([nx.star_graph(10_000)])).all()
    lengths = [
        gv.GraphVoyagers(gv.Geometric(d), p_halt=0.05).fit([nx.path_graph(5)]).max_length_ for d in (0.25, 0.2499)
    ]
    assert abs(lengths[0] - lengths[1]) <= 1
    light = nx.path_graph(8)
    nx.set_edge_attributes(light, 1e-3, "weight")
    assert gv.GraphVoyagers(p_halt=0.05).fit([light]).max_length_ < 300


def test_walks_that_leave_the_range_are_refused():
    graph = nx.gnp_random_graph(60, 0.5, seed=1, directed=True)
    graph.add_edges_from((i, 60 + i % 5) for i in range(60))
    with pytest.raises(ParameterError, match="graph 0: its walks of length 400 leave the range"):
        gv.profiles([graph], gv.Walk(400), method="voyagers", n_components=50)


@pytest.mark.filterwarnings("ignore::gvoys.errors.VarianceWarning")
@pytest.mark.parametrize("p_halt", [0.2, 0.999])
def test_long_series_do_not_overflow(p_halt):
    X = gv.GraphVoyagers(gv.Geometric(0.2499), p_halt=p_halt).fit_transform([nx.path_graph(5), nx.cycle_graph(4)])
    assert np.isfinite(X).all()
