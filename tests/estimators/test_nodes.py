"""Graph random features of nodes, and the estimator on the product graph."""

from functools import partial

import networkx as nx
import numpy as np
import pytest
from pairs import KINDS, Kind, random_graph
from scipy.linalg import expm

import gvoys as gv
from gvoys.errors import DivergenceError, GraphError, ParameterError, UnsupportedError
from gvoys.graphs.spectrum import max_degree


def matrices(make, n_seeds):
    """Mean over seeds, and its standard error, entry by entry."""
    values = np.array([make(seed) for seed in range(n_seeds)])
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(n_seeds) + 1e-12


def check(mean, error, expected, where=None):
    z = np.abs(mean - expected) / error
    assert z[slice(None) if where is None else where].max() < 5


@pytest.mark.parametrize("n_anchors", [None, 4])
def test_dot_products_of_nodes_are_the_matrix_function(n_anchors):
    """(I - decay A)^-1 off the diagonal; the diagonal is too large."""
    _, dense = random_graph(np.random.default_rng(1), 7, density=0.3)
    graph = nx.from_numpy_array(dense.A)
    expected = np.linalg.inv(np.eye(7) - 0.1 * dense.A)

    def one(seed):
        F = gv.GraphRandomFeatures(gv.Geometric(0.1), 2, 0.3, n_anchors, seed).fit_transform(graph)
        assert F.shape == (7, n_anchors or 7)
        return (F @ F.T).toarray()

    mean, error = matrices(one, 1000)
    off = ~np.eye(7, dtype=bool)
    check(mean, error, expected, off)
    assert n_anchors or ((mean - expected) / error).diagonal().max() > 5


def by_pair(batch, seed, **how):
    C, D = gv.GraphRandomFeatures(gv.Exponential(0.4), 20, random_state=seed, **how).fit(batch).pair(batch)
    return (C @ D.T).toarray()


def by_columns(batch, seed):
    return gv.GraphRandomFeatures(gv.Exponential(0.4), 20, random_state=seed).fit(batch).columns(batch, NODES).toarray()


def by_replicates(batch, seed):
    how = {"n_walks": 20, "n_anchors": 3, "random_state": seed}
    F, G = (gv.GraphRandomFeatures(gv.Exponential(0.4), replicate=k, **how).fit_transform(batch) for k in (0, 1))
    return (F @ G.T).toarray()


NODES = [4, 0, 4]
WAYS = {
    "pair": by_pair,
    "antithetic": partial(by_pair, p_halt=0.4, antithetic=True),
    "columns": by_columns,
    "replicates": by_replicates,
}


@pytest.mark.parametrize("kind", [Kind(), Kind(directed=True), Kind(directed=True, weighted=True)], ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_products_are_right_everywhere(way, kind):
    """The diagonal included."""
    if way == "replicates" and kind.directed:
        pytest.skip("a directed graph has a pair")
    batch, dense = random_graph(np.random.default_rng(2), 6, kind, density=0.3)
    expected = expm(0.4 * dense.A)
    check(*matrices(lambda seed: WAYS[way](batch, seed), 700), expected[:, NODES] if way == "columns" else expected)


def test_antithetic_walkers_have_smaller_errors():
    graph = nx.random_regular_graph(3, 60, seed=1)
    expected = np.linalg.inv(np.eye(60) - 0.1 * nx.to_numpy_array(graph))
    off = ~np.eye(60, dtype=bool)
    errors = []
    for antithetic in (False, True):
        found = [
            gv.GraphRandomFeatures(gv.Geometric(0.1), 20, 0.5, random_state=s, antithetic=antithetic).fit_transform(
                graph
            )
            for s in range(40)
        ]
        errors.append(np.sqrt(np.mean([((F @ F.T).toarray() - expected)[off] ** 2 for F in found])))
    assert errors[1] < 0.97 * errors[0]


def test_features_are_sparse_and_the_same_for_any_threads():
    graph = nx.random_regular_graph(3, 2000, seed=1)
    F = gv.GraphRandomFeatures(gv.Geometric(0.1), 10, n_jobs=1).fit_transform(graph)
    G = gv.GraphRandomFeatures(gv.Geometric(0.1), 10).fit_transform(graph)
    assert abs(F - G).nnz == 0
    assert F.nnz < 2000 * 60
    assert not np.array_equal(
        F.toarray(), gv.GraphRandomFeatures(gv.Geometric(0.1), 10, replicate=1).fit_transform(graph)
    )


CYCLE, TRIANGLES = nx.cycle_graph(5), nx.complete_graph(30)
DIRECTED, DENSE = nx.DiGraph([(0, 1)]), gv.datasets.erdos_renyi(2, 300, 0.5)


def features(decay=0.1, **how):
    return gv.GraphRandomFeatures(gv.Geometric(decay), **how)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: features().fit(DIRECTED).transform(DIRECTED), UnsupportedError, "for a directed graph use pair"),
        (lambda: features(0.6).fit(CYCLE), DivergenceError, "diverges"),
        (lambda: features().fit(CYCLE).transform(TRIANGLES), DivergenceError, "diverges"),
        (lambda: features(0.45).fit(nx.empty_graph(3)).pair(CYCLE), DivergenceError, r"at length \d+, .*; fit on it"),
        (lambda: features(n_walks=0).fit(CYCLE), ParameterError, "n_walks"),
        (lambda: features().fit(CYCLE).columns(CYCLE, [9]), ParameterError, "there is no node 9"),
        (lambda: features().fit([CYCLE, CYCLE]), GraphError, "not a graph"),
        (lambda: features(random_state=-1).fit(CYCLE), ParameterError, "random_state must be an integer from 0"),
        (lambda: features(random_state=2**70).fit(CYCLE), ParameterError, "random_state must be an integer from 0"),
        (lambda: gv.estimate_on_product(*DENSE, gv.Exponential(1e-4)), UnsupportedError, "product graph"),
        (lambda: gv.estimate_on_product(CYCLE, CYCLE, gv.Geometric(0.3)), DivergenceError, "decay"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("n_anchors", [None, 5])
def test_walking_on_the_product_is_unbiased(kind, n_anchors):
    rng = np.random.default_rng(4)
    (g, _), (h, _) = (random_graph(rng, n, kind, density=0.4) for n in (5, 6))
    series = gv.Geometric(0.5 / max(max_degree(x) for x in (g, h)) ** 2)
    expected = gv.exact_kernel(g, h, series, gv.Walk(None, labels=kind.labels))
    found = gv.estimate_on_product(
        g, h, series, gv.Walk(None, labels=kind.labels), n_components=3000, n_walks=2, n_anchors=n_anchors
    )
    assert abs(found.value - expected) < 5 * found.stderr
    assert found.n_components == 3000


def test_infinite_variance_is_announced():
    with pytest.warns(gv.errors.VarianceWarning):
        gv.GraphRandomFeatures(gv.Geometric(0.48)).fit_transform(nx.cycle_graph(5))
    with pytest.warns(gv.errors.VarianceWarning):
        gv.estimate_on_product(nx.cycle_graph(5), nx.cycle_graph(6), gv.Geometric(0.24))
    one = gv.estimate_on_product(nx.path_graph(3), nx.path_graph(3), gv.Exponential(0.1), n_components=1)
    assert np.isnan(one.stderr)
